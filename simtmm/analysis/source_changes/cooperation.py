"""Changes of how the threads of a block share work: which of them do it, between which barriers, and for how much."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.arithmetic import divides
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, SIMULATED, WORTH_TRYING, Candidate, Line
from simtmm.analysis.source_changes.operations import Flags, Operations, count_distinct, firsts
from simtmm.analysis.source_changes.serial import with_their_sites
from simtmm.stalls import Count, Stalls
from simtmm.stalls.places import BARRIER as KIND_OF_BARRIER
from simtmm.stalls.places import THREADS, WORK
from simtmm.workload import ASYNC, ATOMIC, BARRIER, LOAD, REDUCE, STORE, SYNC

FULL = 0.6  # of a warp's lanes: lines that fewer take part in could be done by fewer warps
ROUNDS = 4  # of each warp: what it does less often is no loop
TIMES = 4  # blocks whose work one does
LEFT = 0.25  # of what is loaded before the first barrier, that may be stored behind it
_FUNCTIONS = re.compile(
    r"\b(?:sin|cos|tan|sincos|sinpi|cospi|pow|exp|log|sqrt|rsqrt|cbrt|hypot|a?sinh?|a?cosh?|a?tanh?|atan2|erfc?|fmod)"
    r"(?:2|10|1p|m1)?f?\("
)  # with branches of their own
_BRANCHES = re.compile(r"\b(?:if|for|while|switch|and|or)\b|\?|&&|\|\|")


def of_whole_blocks(stalls: Stalls, lines: Sequence[Line], part: Excerpt) -> Iterator[Candidate]:
    """All of them that may help."""
    whole = max(1, int(stalls.ticks.sum()))
    of = part.operations
    is_barrier = np.isin(part.workload.kind, (BARRIER, SYNC))
    if not is_barrier.any() or np.diff(part.workload.block_warps).max(initial=0) > 1:  # else no warp has work to take
        yield from _of_lanes(stalls, whole)
    yield from _of_rounds_of_lanes(stalls, whole)
    if not is_barrier.any():
        return
    yield from _of_idle_barriers(lines, of, whole)
    yield from _of_barriers(lines, of, whole)
    yield from _of_rounds(of)


def _of_lanes(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether few lanes of each warp take part in what takes time."""
    known = stalls.places.threads
    assert known is not None
    executions, threads = (known[:, THREADS.index(name)] for name in ("executions", "threads"))
    ticks = stalls.ticks.sum(axis=1)
    width = int(max(1, (threads / np.maximum(1, executions)).max(initial=1)))
    found: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    functions = _lines_of_functions(stalls, (executions > 0) & (threads >= FULL * width * executions))
    for number in np.flatnonzero((executions > 0) & (threads < FULL * width * executions)).tolist():
        place, _ = stalls.places.place(number)
        if place.line and (place.file, place.line) not in functions:
            found[place.file, place.line].append(number)
    of_lines = {at: int(ticks[with_their_sites(stalls, numbers)].sum()) for at, numbers in found.items()}
    numbers = [number for each in found.values() for number in each]
    if sum(of_lines.values()) < WORTH_TRYING * whole:
        return
    lanes = float(threads[numbers].sum() / max(1, executions[numbers].sum()))
    file, line = max(of_lines, key=lambda at: of_lines[at])
    yield Candidate(
        "compact",
        f"let consecutive threads do what every so many threads do now (sort their work by its kind, or choose it by "
        f"the warp, where they branch): {lanes:.3g} of {width} lanes of a warp take "
        "part here, where whole warps could and others would have nothing to do",
        (file, line, ""), 2 * sum(of_lines.values()) / whole, BOUND, tuple(with_their_sites(stalls, numbers)),
        lambda of, chosen: regrouped.compacted(of, chosen, lanes / width),
    )  # fmt: skip


def _lines_of_functions(stalls: Stalls, are_full: Flags) -> set[tuple[str, int]]:
    """Lines whose branches are those of functions that they call, as of sinf for large arguments, or of a division of
    64 bits, which is shorter for small numbers: no order of threads changes these. All lanes come to them, and the
    line has no branch of its own.

    are_full: of each place, whether most lanes of a warp take part.
    """
    found = set()
    for number in np.flatnonzero(are_full).tolist():
        place, _ = stalls.places.place(number)
        calls = place.line and (_FUNCTIONS.search(place.source) or divides(place.source))
        if calls and not _BRANCHES.search(place.source):
            found.add((place.file, place.line))
    return found


def _of_rounds_of_lanes(stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether threads of a warp go round their loops different numbers of times."""
    known = stalls.places.threads
    assert known is not None
    executions, threads, times = (known[:, THREADS.index(name)] for name in ("executions", "threads", "times"))
    ticks, width = stalls.ticks.sum(axis=1), int(max(1, (threads / np.maximum(1, executions)).max(initial=1)))
    issued = stalls.counts[: len(stalls.places), Count.INSTRUCTIONS]
    warps = int(next(iter(executions[executions > 0]), 0))  # that begin, all of which come by the first place
    updates = {(site.file, site.line) for site in stalls.places.sites if site.kind == "shared_atomic"}
    functions = _lines_of_functions(stalls, (executions > 0) & (threads >= FULL * width * executions))
    barriers = _times_at_barriers(stalls)
    chosen: list[int] = []
    done = possible = 0.0
    of_lines: defaultdict[tuple[str, int], int] = defaultdict(int)
    for number in np.flatnonzero(executions > 0).tolist():
        place, _ = stalls.places.place(number)
        own, rounds = (float(threads[number]), float(executions[number])), float(executions[number])
        if place.kind == WORK:  # a loop without accesses is one, of as many instructions as its longest thread has
            own = float(times[number]) * place.thread_instructions, float(issued[number])
            rounds = max(rounds, own[1] / place.thread_instructions)
        if not place.line or own[0] >= FULL * width * own[1] or rounds < ROUNDS * warps:
            continue
        if rounds <= barriers.get(place.function, 0):  # all threads go round as often, as they meet each time
            continue
        if (place.file, place.line) in updates | functions:  # threads that go round until it is their turn
            continue
        chosen.append(number)
        done, possible = done + own[0], possible + own[1]
        of_lines[place.file, place.line] += int(ticks[number])
    if not chosen or sum(of_lines.values()) < WORTH_TRYING * whole:
        return
    file, line = max(of_lines, key=lambda at: of_lines[at])
    lanes = done / possible
    yield Candidate(
        "balance",
        f"give the threads of a warp as many rounds each: sort or group the work by its length, let a thread take new "
        f"work when it is done, or let the threads of a warp share each long loop: {lanes:.3g} of {width} lanes work "
        "here, on average",
        (file, line, ""), 2 * sum(of_lines.values()) / whole, ESTIMATE, tuple(chosen),
        lambda of, chosen: regrouped.with_part(of, chosen, lanes / width),
    )  # fmt: skip


def _times_at_barriers(stalls: Stalls) -> dict[str, float]:
    """How often warps come to the barrier of each function that they come to most."""
    found: dict[str, float] = {}
    known = stalls.places.threads
    assert known is not None
    times = known[:, THREADS.index("executions")]
    for number in np.flatnonzero(stalls.places.are_of((KIND_OF_BARRIER,)) & (times[: len(stalls.places)] > 0)).tolist():
        function = stalls.places.place(number)[0].function
        found[function] = max(found.get(function, 0.0), float(times[number]))
    return found


def _hottest_barrier(lines: Sequence[Line], whole: int) -> tuple[tuple[str, int, str], float]:
    """Where warps wait most at barriers, and its part of the time; of programs without lines, nowhere, and all."""
    found = max((line for line in lines if line.kind == "barrier"), key=lambda line: line.ticks, default=None)
    return (("", 0, ""), 1.0) if found is None else ((*found.at[:2], ""), found.ticks / whole)


def _of_idle_barriers(lines: Sequence[Line], of: Operations, whole: int) -> Iterator[Candidate]:
    """Whether barriers order nothing: the next one does."""
    if not regrouped.idle_barriers(of).any():
        return
    at, share = _hottest_barrier(lines, whole)
    yield Candidate(
        "barrier",
        "leave out this barrier: no thread of a block accesses memory between it and the next one, or the end, so that "
        "it orders nothing",
        at, 1 + share, SIMULATED, (), lambda of, _: regrouped.without_idle_barriers(of),
    )  # fmt: skip


def _of_barriers(lines: Sequence[Line], of: Operations, whole: int) -> Iterator[Candidate]:
    """Whether all warps wait at barriers between which one works."""
    lonely = regrouped.lonely_barriers(of)
    if not lonely.any():
        return
    at, share = _hottest_barrier(lines, whole)
    several = (
        "let the last warp go on alone, by shuffles or with __syncwarp(): between some barriers one warp of a block "
        "works, and the others only come to the barriers"
    )
    one = (
        "leave out barriers of the block, which is one warp: its threads exchange values by shuffles, or in shared "
        "memory with __syncwarp()"
    )
    yield Candidate(
        "last warp",
        several if np.diff(of.workload.block_warps).max(initial=0) > 1 else one,
        at, 1 + share, SIMULATED, (),
        lambda of, _: regrouped.left_alone(of),
    )  # fmt: skip


def _stores_of_several_warps(of: Operations) -> bool:
    """Whether more than one warp of a block stores where no other block does: then threads have results of their own,
    and blocks do not reduce what they load.
    """
    stores = (of.workload.kind == STORE) & (of.listed > 0)
    here = of.chunks_of(stores)
    if not len(here):
        return False
    block, chunk = of.block[of.of_chunk[here]], of.workload.chunks[here]
    chunks, blocks = np.unique(chunk[firsts(block, chunk)], return_counts=True)
    own = np.isin(chunk, chunks[blocks == 1])
    warps = np.unique(of.warp[of.of_chunk[here[own]]])
    return len(warps) > count_distinct(block[own])


def _of_rounds(of: Operations) -> Iterator[Candidate]:
    """Whether blocks reduce what they load: what comes behind the first barrier is then done once for several."""
    own = of.workload
    warps = np.unique(np.diff(own.block_warps))
    blocks = np.diff(own.launch_blocks)
    if len(warps) != 1 or int(blocks.max(initial=0)) < 2 * TIMES:
        return
    is_behind = regrouped.behind_first_barrier(of)
    loads = of.listed * np.isin(own.kind, (LOAD, ASYNC))
    results = of.listed * np.isin(own.kind, (STORE, ATOMIC, REDUCE))
    if loads[is_behind].any() or results[~is_behind].any():
        return
    loaded, left = int(loads.sum()), int(results.sum())
    if not 0 < left <= LEFT * loaded or _stores_of_several_warps(of):
        return
    yield Candidate(
        "coarsen",
        f"let a block take the elements of {TIMES} blocks or more before its first barrier: what comes behind it is "
        "done once for them then",
        ("", 0, ""), 1.5, SIMULATED, (), lambda of, _: regrouped.coarsened(of, TIMES),
    )  # fmt: skip
