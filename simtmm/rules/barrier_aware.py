"""Barrier-aware: those first for whom most others wait (after PRO, Anantpur and Govindarajan, IPDPS 2015)."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp


def barrier_aware(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The oldest ready warp of the block that has most warps at its barrier."""
    waiting = [warp.block for warp in group.warps if warp.state == "barrier"]
    return min(ready, key=lambda warp: (-waiting.count(warp.block), warp.age))
