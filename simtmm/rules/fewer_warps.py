"""Fewer active warps: a throttle on how many have begun, so that their working sets share the caches."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp, Rule


def fewer_warps(most: int = 4) -> Rule:
    """The oldest of the active warps; another begins only where fewer than so many are active.

    most: active warps, at least 1. A warp is active from its first turn to its end, but not while it stands at a
    barrier: those that it waits for have to begin.
    """

    def rule(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp | None:
        active = sum(warp.issued > 0 and warp.state != "barrier" for warp in group.warps)
        may = [warp for warp in ready if warp.issued or active < most]
        return min(may, key=lambda warp: (not warp.issued, warp.age), default=None)

    rule.__doc__ = fewer_warps.__doc__
    rule.__name__ = f"fewer_warps({most})"
    return rule
