"""Whether a placement rule keeps what its author promises: launches are drawn for each law."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from simtmm.errors import SimtmmError
from simtmm.placement import Placement
from simtmm.rules import rule_name
from simtmm.testing.checking import BrokenPromiseError
from simtmm.testing.placement_bench import Launched, Shape, Work, launched
from simtmm.testing.placement_laws import PLACEMENT_LAWS, PlacementLaw, placement_law
from simtmm.testing.searching import CONTRACT, check_search, laws_of, smallest_found

MOST_BLOCKS = 16
Case = tuple[Shape, list[Work], list[Work]]  # the blocks, and those of the second launch


@dataclass(frozen=True)
class LaunchExample:
    """A counter-example. wrong: the number of the question that shows it. launch: the first one."""

    promise: str
    what: str
    shape: Shape
    wrong: int
    launch: Launched

    @property
    def size(self) -> tuple[int, ...]:
        """By which one counter-example is smaller than another."""
        return self.shape.groups, self.wrong, self.shape.blocks, self.shape.warps

    def __str__(self) -> str:
        rows = [("tick", "block", "warps", "blocks of groups", "")]
        for at, turn in enumerate(self.launch.turns[: self.wrong + 1]):
            held = " ".join(str(group.blocks) for group in turn.groups)
            to = "waits" if turn.chosen is None else f"group {turn.chosen}"
            here = "   <- here" if at == self.wrong else ""
            rows.append((str(turn.tick), str(turn.block.number), str(turn.block.warps), held, to + here))
        wide = [max(len(row[column]) for row in rows) for column in range(5)]
        lines = [
            f"{row[0]:>{wide[0]}}  {row[1]:>{wide[1]}}  {row[2]:>{wide[2]}}  {row[3]:<{wide[3]}}  {row[4]}".rstrip()
            for row in rows
        ]
        held = f"of {self.shape.blocks} blocks and {self.shape.warps} warps each"
        return "\n".join([f"{self.shape.groups} core groups {held}", *lines])


def check_placement(
    rule: Placement, promises: Iterable[PlacementLaw | str], *, draws: int = 200, seed: int = 0
) -> None:
    """Look for launches in which a placement rule breaks a promise of its author's.

    rule: a function of all core groups and the next block, or a class of such (simtmm.placement). promises: laws of
    simtmm.testing.placement_laws, or their names. draws: of launches, for each promise, at least 1. seed: of the draws.

    Raises BrokenPromiseError, an AssertionError, with the smallest counter-example that was seen, also where the rule
    gives a group without room, or what is no group; SimtmmError for a promise or a number that is none.
    """
    laws = laws_of(promises, PlacementLaw, placement_law, PLACEMENT_LAWS)
    check_search(draws, seed)
    for law in laws:
        found = smallest_found(_cases(law.pair), partial(_judged, rule, law), draws, seed)
        if found:
            raise BrokenPromiseError(rule_name(rule), found, found.what, kind="placement")


@st.composite
def _cases(draw: DrawFn, pair: str) -> Case:
    """Few groups of little room, and blocks of a few sizes and lengths: equal ones as often as not."""
    shape = Shape(draw(st.integers(1, 5)), draw(st.integers(1, 4)), draw(st.integers(4, 12)))
    sizes = draw(st.sampled_from([st.just(1), st.just(2), st.integers(1, 4)]))
    lengths = draw(st.sampled_from([st.just(5), st.integers(1, 9)]))
    fewest = draw(st.sampled_from([1, MOST_BLOCKS // 2]))  # lists are short else, and few groups ever full
    blocks = st.lists(st.builds(Work, sizes, lengths), min_size=fewest, max_size=MOST_BLOCKS)
    work = draw(blocks)
    if pair != "future":
        return shape, work, work
    kept = draw(st.integers(0, len(work)))
    return shape, work, work[:kept] + draw(blocks)


def _judged(rule: Placement, law: PlacementLaw, case: Case) -> LaunchExample | None:
    """The counter-example that a case is, None if the rule keeps the law in it."""
    shape, work, other = case
    try:
        runs = [launched(rule, shape, each) for each in ([work, other] if law.pair else [work])]
    except SimtmmError as error:
        return LaunchExample(CONTRACT, str(error), shape, -1, Launched((), len(work)))
    found = law.function(*runs)
    return None if found is None else LaunchExample(law.name, found[1], shape, found[0], runs[0])
