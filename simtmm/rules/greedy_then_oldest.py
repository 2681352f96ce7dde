"""Greedy, then oldest (GTO of Rogers et al., MICRO 2012): `scheduler = "greedy-oldest"` of a machine."""

from collections.abc import Sequence

from simtmm.rules.oldest import oldest
from simtmm.rules.seen import CoreGroup, ReadyWarp


def greedy_then_oldest(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
    """The warp granted last for as long as it is ready, then the oldest."""
    last = group.granted_last
    return last if last is not None and last in ready else oldest(ready, group)
