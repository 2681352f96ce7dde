"""Two levels (Narasiman et al., MICRO 2011): warps in sets, which reach their long loads one after another."""

from collections.abc import Sequence

from simtmm.rules.seen import CoreGroup, ReadyWarp, Rule


def two_level(size: int = 8) -> Rule:
    """Round-robin within the current set of slots for as long as one of its warps is ready, then the next such set.

    size: slots of a set.
    """

    def rule(ready: Sequence[ReadyWarp], group: CoreGroup) -> ReadyWarp:
        last = group.granted_last.slot if group.granted_last else -1
        current = max(last, 0) // size

        def turn(warp: ReadyWarp) -> tuple[bool, bool, int, bool, int]:
            of_set = warp.slot // size
            return of_set != current, of_set < current, of_set, warp.slot <= last, warp.slot

        return min(ready, key=turn)

    rule.__doc__ = two_level.__doc__
    rule.__name__ = f"two_level({size})"
    return rule
