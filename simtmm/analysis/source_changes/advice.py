"""Which changes of the source are worth trying, and what each gains."""

from collections.abc import Iterator, Sequence

import numpy as np

from simtmm.analysis.cost import cost
from simtmm.analysis.source_changes.candidates import candidates_of
from simtmm.analysis.source_changes.excerpt import Excerpt, excerpt_of
from simtmm.analysis.source_changes.launches import of_launches, of_long_blocks
from simtmm.analysis.source_changes.lines import BOUND, SIMULATED, Advice, Candidate, Line
from simtmm.engine import known_cycles
from simtmm.engine.causes import longest_launch
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.parallel.threads import in_order
from simtmm.result import Result
from simtmm.stalls import Count, Stalls
from simtmm.stalls.places import THREADS
from simtmm.trace.schema import TraceLaunch
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload

SECONDS = 3.0  # of all that is tried, about, the program as it is among it
MOST_TRIED = 8
ON_ALL = 5  # simulations of all of a run, at least, that there has to be time for to try long blocks on it
MOST_TOLD = 5
WORTH_TELLING = 1.1
EXACT = {"barrier", "coalesce", "last warp", "pad"}  # whose source would do just what is simulated: of these, also
WORTH_TELLING_EXACT = 1.02
REORDERING = {"coarsen", "larger blocks", "smaller blocks"}  # changes by which blocks run in another order
LARGER = "x16"  # an L2 that much larger holds what a run accesses, or as much of it in any order
AS_GOOD = 0.97  # of the gain
OF_BOUND = 0.7  # of what a bound gains counts where changes are put in order


def advise(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    launches: Sequence[TraceLaunch] = (),
    seconds: float = SECONDS,
) -> tuple[Advice, ...]:
    """What a programmer could change, the greatest gain first; at most MOST_TOLD, each with WORTH_TELLING at least, or
    WORTH_TELLING_EXACT. The arguments are those of `try_changes`.
    """
    return worth_telling(try_changes(machine, workload, result, launches, seconds))


def worth_telling(found: Sequence[Advice]) -> tuple[Advice, ...]:
    """The changes among those tried that reports show, as `advise` says."""
    told = [each for each in found if each.gain >= (WORTH_TELLING_EXACT if _is_exact(each) else WORTH_TELLING)]
    return tuple(_without_parts(told)[:MOST_TOLD])


def _is_exact(of: Advice) -> bool:
    return of.change in EXACT and of.how == SIMULATED


def try_changes(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    launches: Sequence[TraceLaunch] = (),
    seconds: float = SECONDS,
    is_left: bool = False,
) -> tuple[Advice, ...]:
    """What a programmer could change, whatever it gains, the greatest gain first.

    How much is tried follows from the work there is, as in `what_if.try_out`: it is the same on any computer. Of a run
    that takes too long, a part is tried.

    launches: their shapes, in order; each block is treated as a row of threads if left out.
    is_left: whether the result is of less than the workload.
    """
    stalls = result.stalls
    if stalls is None or not result.ticks or not workload.has_places:
        return ()
    lines = list(counted_lines(stalls))
    part = excerpt_of(machine, workload, result, seconds / (MOST_TRIED + 1))
    found = list(of_launches(machine, workload, result, part is not None and not part.words))
    if part is not None and part.words and cost(machine, workload, result) <= seconds / ON_ALL:
        found += of_long_blocks(machine, workload, result)
    if part is not None and lines:
        launch = launches[longest_launch(result)] if launches else None
        candidates = sorted(candidates_of(machine, stalls, lines, part, launch), key=lambda each: -each.weight)
        is_whole = part.workload is workload and part.machine is machine and not is_left
        found += _tried(part, candidates[:MOST_TRIED], result, is_whole)
        known_cycles.store()
    return tuple(sorted(found, key=lambda each: (-_likely(each), each.array)))


def _likely(of: Advice) -> float:
    """What a change gains for sure, about: of two that gain nearly the same the one that was simulated comes first."""
    return 1 + (of.gain - 1) * (OF_BOUND if of.how == BOUND else 1)


def best_of(*found: Sequence[Advice]) -> tuple[Advice, ...]:
    """Of several lists the greatest gains, MOST_TOLD at most."""
    return tuple(sorted((each for some in found for each in some), key=lambda each: -_likely(each))[:MOST_TOLD])


def _without_parts(found: Sequence[Advice]) -> list[Advice]:
    """Of a change to several arrays at once, that or the changes to each, which gain about as much.

    found: the greatest gain first.
    """
    kept: list[Advice] = []
    for each in found:
        alike = [other for other in kept if _is_of_same(other, each)]
        whole = next((other for other in (*alike, each) if not other.array), None)
        if alike and whole is not None and each.line:
            if whole is each or each.gain < AS_GOOD * whole.gain:
                continue
            kept.remove(whole)
        kept.append(each)
    return kept


def _is_of_same(one: Advice, other: Advice) -> bool:
    """Whether both change the same, at one line; other indices of threads change accesses at all lines."""
    of_line = one.line == other.line or one.change == "coalesce"
    return of_line and (one.change, one.file) == (other.change, other.file)


def _tried(part: Excerpt, candidates: Sequence[Candidate], of: Result, is_whole: bool) -> Iterator[Advice]:
    """Each of them, simulated by the engine that simulated the run: what is not compiled for it stays so.

    of: the run's result. is_whole: whether the part is all of the run, of which that tells how long it takes.
    """
    if not candidates:
        return
    try:
        before = of.cycles if is_whole else known_cycles.cycles_of(part.machine, part.workload, of.engine)
    except SimtmmError:  # a part that can't be simulated by itself
        return
    operations = part.operations

    def after(each: Candidate) -> float | None:
        chosen = part.operations.at(each.numbers)
        if each.numbers and not chosen.any():
            return None
        try:
            return known_cycles.cycles_of(part.machine, each.make(operations, chosen), of.engine)
        except SimtmmError:
            return None

    outcomes = in_order(after, candidates, known_cycles.at_once(of.engine))
    for each, cycles in zip(candidates, outcomes, strict=True):
        if cycles and before:
            gain = before / cycles
            if each.change in REORDERING and gain >= WORTH_TELLING:
                gain = min(gain, _gain_in_any_order(part, each.make(operations, np.zeros(0, bool)), of.engine, gain))
            yield Advice(each.change, each.words, *each.at, gain, each.how, part.words)


def _gain_in_any_order(part: Excerpt, changed: Workload, engine: str, gain: float) -> float:
    """What a change of the order of blocks gains where that decides nothing about what a warm L2 holds: where it is
    empty at first, or large enough, whichever gains more. gain: with the machine's own L2, warm.
    """
    l2 = part.machine.memory.l2
    if l2 is None or l2.start != "warm":
        return gain
    gains = []
    for key, value in (("memory.l2.start", "cold"), ("memory.l2.sets", LARGER)):
        try:
            other = part.machine.replace({key: value})
            before, after = (known_cycles.cycles_of(other, each, engine) for each in (part.workload, changed))
        except SimtmmError:
            continue
        if after:
            gains.append(before / after)
    return max(gains, default=gain)


def counted_lines(stalls: Stalls) -> Iterator[Line]:
    """What was counted, line by line."""
    places, known = stalls.places, stalls.places.threads
    if known is None:
        return
    found: dict[tuple[object, ...], Line] = {}
    columns = [THREADS.index(name) for name in ("executions", "threads", "bytes_asked")]
    ticks = stalls.ticks.sum(axis=1)
    for number in np.flatnonzero(stalls.counts[: len(places)].any(axis=1)).tolist():
        place, array = places.place(number)
        key = place.file, place.line, array, place.kind
        line = found.setdefault(key, Line((place.file, place.line, array), place.kind, []))
        counts = stalls.counts[number]
        line.numbers.append(number)
        line.ticks += int(ticks[number])
        line.requests += int(counts[Count.REQUESTS])
        line.chunks += int(counts[Count.CHUNKS])
        line.conflicts += int(counts[Count.CONFLICTS])
        executions, threads, asked = known[number, columns].tolist()
        line.executions += executions
        line.threads += threads
        line.bytes_asked += asked
    yield from found.values()
