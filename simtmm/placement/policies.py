"""Placement rules: each gives the core group that takes the next block."""

from collections.abc import Sequence
from typing import Any, cast

from simtmm.errors import SimtmmError
from simtmm.placement.seen import GroupState, PendingBlock, Placement

Groups = Sequence[GroupState]


def _with_room(groups: Groups, block: PendingBlock) -> list[GroupState]:
    return [group for group in groups if group.fits(block)]


def breadth_first(groups: Groups, block: PendingBlock) -> GroupState | None:
    """The group with the fewest blocks, of equals the one with the lowest number: what machines do (section 6)."""
    return min(_with_room(groups, block), key=lambda group: group.blocks, default=None)


def depth_first(groups: Groups, block: PendingBlock) -> GroupState | None:
    """The group with the lowest number that has room: one is full before the next has a block."""
    return next(iter(_with_room(groups, block)), None)


def fewest_warps(groups: Groups, block: PendingBlock) -> GroupState | None:
    """The group with the fewest warps, of equals the one with the lowest number: for blocks of different sizes."""
    return min(_with_room(groups, block), key=lambda group: group.warps, default=None)


class taking_turns:  # noqa: N801 (a rule, made anew for each launch)
    """The next group behind the one that took a block last, going round, that has room."""

    def __init__(self) -> None:
        self._last = -1

    def __call__(self, groups: Groups, block: PendingBlock) -> GroupState | None:
        """Of all groups and the next block, the one that takes it."""
        fitting = _with_room(groups, block)
        if not fitting:
            return None
        chosen = min(fitting, key=lambda group: (group.number <= self._last, group.number))
        self._last = chosen.number
        return chosen


def in_clusters(blocks: int, groups: int) -> Placement:
    """So many blocks in a row go to core groups of one neighbourhood: so many groups in a row.

    The first block of a cluster chooses the neighbourhood with the fewest blocks; the others wait for room there.
    Within it a block goes to the group with the fewest blocks. Raises SimtmmError for a number below 1.
    """
    for name, value in (("blocks", blocks), ("groups", groups)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise SimtmmError(f"in_clusters: {name} = {value!r}: must be a whole number of at least 1")

    class Clusters:
        def __init__(self) -> None:
            self._cluster, self._home = -1, -1

        def __call__(self, all_groups: Groups, block: PendingBlock) -> GroupState | None:
            fitting = _with_room(all_groups, block)
            if block.number // blocks != self._cluster:
                if not fitting:
                    return None
                load: dict[int, int] = {}
                for group in all_groups:
                    load[group.number // groups] = load.get(group.number // groups, 0) + group.blocks
                self._home = min((group.number // groups for group in fitting), key=lambda home: (load[home], home))
                self._cluster = block.number // blocks
            here = [group for group in fitting if group.number // groups == self._home]
            return min(here, key=lambda group: group.blocks, default=None)

    Clusters.__name__ = f"in_clusters({blocks}, {groups})"
    made: Any = Clusters
    return cast(Placement, made)


PLACEMENTS: dict[str, Any] = {
    each.__name__: each for each in (breadth_first, depth_first, fewest_warps, taking_turns, in_clusters)
}
"""The rules by name; `in_clusters` makes one of two numbers."""
