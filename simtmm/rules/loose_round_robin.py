"""Loose round-robin: warps take turns, and one that is not ready loses its own. `scheduler = "round-robin"`."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp


def loose_round_robin(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The next ready warp in the order of slots, behind the slot granted last and going round."""
    last = group.granted_last.slot if group.granted_last else -1
    return min(ready, key=lambda warp: (warp.slot <= last, warp.slot))
