"""First come, first served: `scheduler = "fifo"` of a machine."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp


def fifo(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The warp that became ready first, the oldest of equals."""
    return min(ready, key=lambda warp: (warp.ready_time, warp.age))
