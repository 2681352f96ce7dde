"""The oldest first: `scheduler = "oldest"` of a machine."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp


def oldest(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The warp that was placed first."""
    return min(ready, key=lambda warp: warp.age)
