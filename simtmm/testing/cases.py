"""Machines and workloads that are drawn for a law of scheduling rules: a strategy a kind.

They are small, so that a counter-example can be read: one or two core groups, up to six warps in each, and some dozens
of instructions a warp. Nothing couples their groups. The machine's own scheduler plays no part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from simtmm.machine import Machine
from simtmm.workload import Workload

Warp = list[list[Any]]
Blocks = list[list[Warp]]
LONGEST = 40  # turns in a row that a warp wants: more than no_starvation lets others have


@dataclass(frozen=True)
class Case:
    """A machine, and the workload of one run, or those of two."""

    machine: Machine
    workload: Workload
    again: Workload | None = None

    @property
    def workloads(self) -> list[Workload]:
        """Those of its runs."""
        return [self.workload] if self.again is None else [self.workload, self.again]


def cases(kinds: tuple[str, ...], pair: str = "") -> SearchStrategy[Case]:
    """Cases of these kinds (names in KINDS); pair: as of simtmm.testing.laws.Law."""
    return st.sampled_from(kinds).flatmap(lambda kind: _case(kind, pair))


@st.composite
def _case(draw: DrawFn, kind: str, pair: str) -> Case:
    on_stall = draw(st.booleans())
    machine = draw(_machines(kind, on_stall))
    blocks = draw(KINDS[kind](on_stall))
    if not pair:
        return Case(machine, _workload(blocks))
    again = {"same": st.just(blocks), "future": _other_future(blocks), "others": _other_blocks(blocks)}[pair]
    return Case(machine, _workload(blocks), _workload(draw(again)))


def _workload(blocks: Blocks) -> Workload:
    return Workload.from_dict({"blocks": [{"warps": warps} for warps in blocks]})


@st.composite
def _machines(draw: DrawFn, kind: str, on_stall: bool) -> Machine:
    few = kind == "slots"
    tables: dict[str, Any] = {
        "name": "drawn",
        "ticks_per_cycle": draw(st.sampled_from([1, 1, 1, 10])),
        "cores": {
            "groups": 2 if kind == "grouped" else 1 if few else draw(st.sampled_from([1, 1, 1, 2])),
            "cores_per_group": 8,
            "warp_width": 8,
            "max_threads_per_core": 16,
            "issue_ports": draw(st.sampled_from([1, 1, 1, 2])),
        },
        "scheduling": {
            "switch": "on-stall" if on_stall else "every-instruction",
            "ports": draw(st.sampled_from(["any", "any", "own"])),
            "pipeline_depth": draw(st.sampled_from([0, 0, 1, 4])),
        },
        "memory": {"latency": draw(st.sampled_from([5, 20, 60])), "chunk_words": 8},
        "limits": {"blocks_per_group": draw(st.sampled_from([2, 3, 3, 1])) if few else 16, "warps_per_group": 16},
    }
    if draw(st.booleans()):
        tables["memory"]["l1"] = {"sets": draw(st.integers(1, 2)), "ways": draw(st.integers(1, 2)), "latency": 3}
    return Machine.from_dict(tables)


def turns(number: int, on_stall: bool) -> Warp:
    """Operations that make a warp want so many turns in a row, of a cycle each."""
    if on_stall:  # a join without asyncs ends a segment, and takes no time
        return [["compute", 1], ["join"]] * number
    return [["compute", number]] if number else []


@st.composite
def _always(draw: DrawFn, on_stall: bool) -> Blocks:
    """Warps that want turns all the time, equally many."""
    return [[turns(draw(st.integers(1, LONGEST)), on_stall)] * draw(st.integers(2, 5))]


@st.composite
def _crowded(draw: DrawFn, on_stall: bool) -> Blocks:
    """The same, at least three warps, and long enough for each to be starved by the others."""
    warp = turns(LONGEST, on_stall)
    numbers = range(draw(st.integers(3, 5)))
    return [[warp] for _ in numbers] if draw(st.booleans()) else [[warp for _ in numbers]]


@st.composite
def _staggered(draw: DrawFn, on_stall: bool) -> Blocks:
    """The same, from different ticks on."""
    length = draw(st.integers(1, LONGEST))
    pauses = draw(st.lists(st.integers(0, 12), min_size=2, max_size=5))
    return [[[*([["pause", pause]] if pause else []), *turns(length, on_stall)] for pause in pauses]]


@st.composite
def _late(draw: DrawFn, on_stall: bool) -> Blocks:
    """One warp comes late, or now and then, while the others want turns all the time."""
    others = [turns(draw(st.integers(1, LONGEST)), on_stall)] * draw(st.integers(1, 4))
    times = draw(st.lists(st.integers(1, 20), min_size=1, max_size=3))
    late = [operation for pause in times for operation in [["pause", pause], *turns(1, on_stall)]]
    where = draw(st.integers(0, len(others)))
    warps = [*others[:where], late, *others[where:]]
    return [[warp] for warp in warps] if draw(st.booleans()) else [warps]


@st.composite
def _phases(draw: DrawFn, on_stall: bool) -> Blocks:
    """Warps that compute, then sleep or load, over and over."""

    def warp() -> Warp:
        phases = draw(st.lists(st.tuples(st.integers(1, 12), _waits()), min_size=1, max_size=3))
        return [operation for number, wait in phases for operation in [*turns(number, on_stall), wait]]

    return [[warp() for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 2)))]


def _waits() -> SearchStrategy[list[Any]]:
    return st.one_of(st.integers(1, 12).map(lambda number: ["pause", number]), _loads())


def _loads() -> SearchStrategy[list[Any]]:
    chunks = st.lists(st.integers(0, 5), min_size=1, max_size=2)
    return st.tuples(st.sampled_from(["load", "load", "async", "store"]), chunks).map(list)


@st.composite
def _barriers(draw: DrawFn, on_stall: bool) -> Blocks:
    """Blocks whose warps meet, and come to their barriers at different times."""

    def block() -> list[Warp]:
        meetings, warps = draw(st.integers(1, 3)), draw(st.integers(2, 3))

        def warp() -> Warp:
            lengths = [draw(st.integers(0, 6)) for _ in range(meetings)]
            return [each for number in lengths for each in [*turns(number, on_stall), ["barrier"]]]

        return [warp() for _ in range(warps)]

    return [block() for _ in range(draw(st.integers(1, 3)))]


@st.composite
def _memory(draw: DrawFn, on_stall: bool) -> Blocks:
    """Warps that load and store few chunks, some of them the same."""
    compute = st.integers(1, 3).map(lambda number: ["compute", number])
    operations = st.lists(st.one_of(_loads(), _loads(), compute, st.just(["join"])), min_size=1, max_size=8)
    return [[draw(operations) for _ in range(draw(st.integers(1, 3)))] for _ in range(draw(st.integers(1, 3)))]


@st.composite
def _slots(draw: DrawFn, on_stall: bool) -> Blocks:
    """More blocks than places: slots come and go."""
    warp = st.integers(0, 20).map(lambda number: turns(number, on_stall))
    return draw(st.lists(st.lists(warp, min_size=1, max_size=2), min_size=4, max_size=8))


@st.composite
def _misses(draw: DrawFn, on_stall: bool) -> Blocks:
    """Warps that load over and over what no small cache holds, and compute in between."""
    loads, apart = draw(st.integers(3, 6)), draw(st.integers(1, 5))
    compute = turns(draw(st.integers(1, 3)), on_stall)

    def warp(number: int) -> Warp:
        return [each for load in range(loads) for each in [["load", [loads * number + apart * load]], *compute]]

    numbers = range(draw(st.integers(3, 5)))
    return [[warp(number)] for number in numbers] if draw(st.booleans()) else [[warp(number) for number in numbers]]


@st.composite
def _mixed(draw: DrawFn, on_stall: bool) -> Blocks:
    """Blocks that meet beside blocks that load and blocks that compute."""
    return [*draw(_barriers(on_stall)), *draw(_memory(on_stall)), *draw(_always(on_stall))]


@st.composite
def _grouped(draw: DrawFn, on_stall: bool) -> Blocks:
    """A block for each of two groups."""
    kinds = st.sampled_from([_always, _late, _phases, _memory])
    return [[warp for block in draw(draw(kinds)(on_stall)) for warp in block] for _ in range(2)]


KINDS: dict[str, Callable[[bool], SearchStrategy[Blocks]]] = {
    "always": _always,
    "crowded": _crowded,
    "staggered": _staggered,
    "late": _late,
    "phases": _phases,
    "barriers": _barriers,
    "memory": _memory,
    "slots": _slots,
    "misses": _misses,
    "mixed": _mixed,
    "grouped": _grouped,
}
"""Kinds of workloads: functions of whether warps keep their port until they stall, which give a strategy."""


@st.composite
def _other_future(draw: DrawFn, blocks: Blocks) -> Blocks:
    """The same up to some operation of each warp, and something else behind."""

    def other(warp: Warp) -> Warp:
        kept = warp[: draw(st.integers(0, len(warp)))]
        meetings = sum(operation[0] == "barrier" for operation in warp[len(kept) :])
        more = draw(st.lists(_waits(), max_size=2))
        return [*kept, *more, *[["barrier"]] * meetings, *turns(draw(st.integers(0, 3)), on_stall=True)]

    return [[other(warp) for warp in warps] for warps in blocks]


@st.composite
def _other_blocks(draw: DrawFn, blocks: Blocks) -> Blocks:
    """The first block the same, the others other, of as many warps."""
    first, *others = blocks
    return [first, *draw(_other_future(others))]
