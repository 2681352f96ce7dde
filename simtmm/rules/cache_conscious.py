"""Cache-conscious: fewer warps load while the L1 misses more than it hits.

After CCWS (Rogers et al., MICRO 2012), which scores warps by the locality that they lose; a rule sees hits and misses.
"""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp, Rule

LOADS = ("load", "async")


def cache_conscious(few: int = 2, slack: int = 8) -> Rule:
    """The oldest ready warp; but loads are of the oldest few warps alone while the group's warps miss too often.

    few: warps that may load then, at least 1; those at a barrier do not count. slack: misses [chunks] of the living
    warps beyond their hits from which on this holds.
    """

    def rule(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp | None:
        warps = group.warps
        may = list(ready)
        if sum(warp.misses - warp.hits for warp in warps) > slack:
            loading = [warp for warp in warps if warp.state != "barrier"][:few]
            may = [warp for warp in ready if warp.operation not in LOADS or warp in loading]
        return min(may, key=lambda warp: warp.age, default=None)

    rule.__doc__ = cache_conscious.__doc__
    rule.__name__ = f"cache_conscious({few}, {slack})"
    return rule
