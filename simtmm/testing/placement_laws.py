"""Laws that the author of a placement rule may promise.

In the formulas t is a question, b(t) its block, G(t) the core groups, F(t) those of them that have room for the block,
g(t) the group that the rule gives, n(g) the blocks and w(g) the warps that are resident in g.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from simtmm.errors import SimtmmError, nearest
from simtmm.placement import GroupState
from simtmm.testing.placement_bench import Launched, Turn

Found = tuple[int, str] | None  # the number of the question that breaks it, and a sentence


@dataclass(frozen=True)
class PlacementLaw:
    """A law of a launch.

    function: of a launch; with `pair` of two: "same" of the same blocks, "future" of blocks that differ from some
    number on. Gives the number of the question that breaks it and a sentence, or None.
    """

    name: str
    function: Callable[..., Found]
    pair: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "__doc__", self.function.__doc__)

    def __repr__(self) -> str:
        return self.name


def _law(pair: str = "") -> Callable[[Callable[..., Found]], PlacementLaw]:
    return lambda function: PlacementLaw(function.__name__, function, pair)


def _each(launch: Launched, wrong: Callable[[Turn], str]) -> Found:
    """The first question that was answered with a group, of which `wrong` has something to say."""
    for at, turn in enumerate(launch.turns):
        if turn.chosen is not None and (what := wrong(turn)):
            return at, what
    return None


def _first_by(launch: Launched, key: Callable[[GroupState], Any], why: str) -> Found:
    def wrong(turn: Turn) -> str:
        right = min(turn.fitting, key=key).number
        return (
            "" if turn.chosen == right else f"block {turn.block.number} went to group {turn.chosen}, not {right}: {why}"
        )

    return _each(launch, wrong)


@_law()
def places_all(launch: Launched) -> Found:
    """Every block is placed, and once: the rule does not hold back for ever.

    Formula: |{t: b(t) = b, g(t) != none}| = 1 for each block b
    """
    placed = [turn.block.number for turn in launch.turns if turn.chosen is not None]
    if launch.unplaced:
        return len(launch.turns) - 1, f"{launch.unplaced} blocks are never placed: no block is resident any more"
    if placed != list(range(len(placed))):
        return len(launch.turns) - 1, f"blocks were placed as {placed}"
    return None


@_law()
def work_conserving(launch: Launched) -> Found:
    """No block waits while a group has room for it.

    Formula: F(t) != {} implies g(t) != none
    """
    for at, turn in enumerate(launch.turns):
        if turn.chosen is None and turn.fitting:
            return at, f"block {turn.block.number} waits, and group {turn.fitting[0].number} has room"
    return None


def balanced_within(blocks: int) -> PlacementLaw:
    """A promise of balance, of so many blocks at least 1. Raises SimtmmError for another number."""
    if isinstance(blocks, bool) or not isinstance(blocks, int) or blocks < 1:
        raise SimtmmError(f"balanced_within({blocks!r}): must be a whole number of at least 1")

    def law(launch: Launched) -> Found:
        """A group that takes a block has then at most so many more than any other that had room.

        Formula: n(g(t)) + 1 - n(g) <= blocks for each g in F(t)
        """

        def wrong(turn: Turn) -> str:
            assert turn.chosen is not None
            taken = turn.groups[turn.chosen].blocks + 1
            least = min(turn.fitting, key=lambda group: group.blocks)
            if taken - least.blocks <= blocks:
                return ""
            return (
                f"group {turn.chosen} has {taken} blocks then, and group {least.number}, which had room, {least.blocks}"
            )

        return _each(launch, wrong)

    return PlacementLaw(f"balanced_within({blocks})", law)


@_law()
def fewest_blocks_first(launch: Launched) -> Found:
    """The group with the fewest blocks takes the next, of equals the one with the lowest number.

    Formula: g(t) = argmin {(n(g), g): g in F(t)}
    """
    return _first_by(launch, lambda group: (group.blocks, group.number), "it had the fewest blocks")


@_law()
def fewest_warps_first(launch: Launched) -> Found:
    """The group with the fewest warps takes the next block, of equals the one with the lowest number.

    Formula: g(t) = argmin {(w(g), g): g in F(t)}
    """
    return _first_by(launch, lambda group: (group.warps, group.number), "it had the fewest warps")


@_law()
def lowest_group_first(launch: Launched) -> Found:
    """The group with the lowest number that has room takes the next block.

    Formula: g(t) = min F(t)
    """
    return _first_by(launch, lambda group: group.number, "it is the first with room")


@_law()
def takes_turns(launch: Launched) -> Found:
    """The next group behind the one that took a block last, going round, takes the next.

    Formula: g(t) = argmin {(g <= g(t - 1), g): g in F(t)}, t - 1 being the question before that was answered
    """
    last = -1
    for at, turn in enumerate(launch.turns):
        if turn.chosen is None:
            continue
        right = min((group.number for group in turn.fitting), key=lambda number: (number <= last, number))
        if turn.chosen != right:
            return at, f"block {turn.block.number} went to group {turn.chosen}, not {right}, whose turn it was"
        last = turn.chosen
    return None


def together(blocks: int, groups: int) -> PlacementLaw:
    """A promise of neighbourhoods. blocks: of a cluster, in a row. groups: of a neighbourhood, in a row."""

    def law(launch: Launched) -> Found:
        """All blocks of a cluster are placed in groups of one neighbourhood.

        Formula: floor(b(t) / blocks) = floor(b(t') / blocks) implies floor(g(t) / groups) = floor(g(t') / groups)
        """
        homes: dict[int, int] = {}

        def wrong(turn: Turn) -> str:
            assert turn.chosen is not None
            home = homes.setdefault(turn.block.number // blocks, turn.chosen // groups)
            here = turn.chosen // groups
            return (
                "" if here == home else f"block {turn.block.number} is in neighbourhood {here}, its cluster in {home}"
            )

        return _each(launch, wrong)

    return PlacementLaw(f"together({blocks}, {groups})", law)


@_law("same")
def same_places(launch: Launched, again: Launched) -> Found:
    """The same launch, placed twice, is placed the same: no luck, no clock, no memory of an earlier launch.

    Formula: g(t) = g'(t), of two runs of one launch
    """
    return _differ(launch, again)


@_law("future")
def no_future(launch: Launched, other: Launched) -> Found:
    """An answer depends on what was seen so far, not on blocks that come later, or on how long any takes.

    Formula: g(t) = g'(t) while G(s) = G'(s) and b(s) = b'(s) for each s <= t
    """
    return _differ(launch, other)


def _differ(launch: Launched, other: Launched) -> Found:
    for at, (one, two) in enumerate(zip(launch.turns, other.turns, strict=False)):
        if (one.groups, one.block) != (two.groups, two.block):
            return None
        if one.chosen != two.chosen:
            return at, f"block {one.block.number} went to group {one.chosen}, and to group {two.chosen} the other time"
    return None


PLACEMENT_LAWS: dict[str, PlacementLaw] = {
    law.name: law
    for law in (
        places_all, work_conserving, fewest_blocks_first, fewest_warps_first, lowest_group_first, takes_turns,
        same_places, no_future,
    )
}  # fmt: skip
"""Laws without a number."""
_COMMON = (places_all, same_places, no_future)
PLACEMENT_PROMISES: dict[str, tuple[PlacementLaw, ...]] = {
    "breadth_first": (*_COMMON, work_conserving, fewest_blocks_first, balanced_within(1)),
    "depth_first": (*_COMMON, work_conserving, lowest_group_first),
    "fewest_warps": (*_COMMON, work_conserving, fewest_warps_first),
    "taking_turns": (*_COMMON, work_conserving, takes_turns),
    "in_clusters": (*_COMMON, together(2, 2)),
}
"""What the rules of simtmm.placement promise; in_clusters of 2 blocks a cluster and 2 groups a neighbourhood."""


def placement_law(name: str) -> PlacementLaw:
    """The law of that name. Raises SimtmmError for an unknown one."""
    if name not in PLACEMENT_LAWS:
        raise SimtmmError(f"promise {name!r}: unknown{nearest(name, PLACEMENT_LAWS)}")
    return PLACEMENT_LAWS[name]
