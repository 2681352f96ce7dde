"""Changes of what one thread of a block does while the others have nothing to do, or wait for it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import ESTIMATE, WORTH_TRYING, Candidate
from simtmm.analysis.source_changes.operations import Flags, Integers, Operations, count_distinct, firsts
from simtmm.stalls import LOADS, Stalls
from simtmm.stalls.places import BARRIER, JOIN, THREADS
from simtmm.trace.schema import TraceLaunch
from simtmm.workload import ASYNC, LISTED, LOAD, PASSES_SHIFT, SHARED, STORE, Workload

LANES = 32  # threads whose accesses of consecutive elements take a pass together
ROUNDS = 4  # of a loop, at least: what one thread does less often is no loop worth sharing
STORES = ("shared_store", "store")


def of_serial_work(stalls: Stalls, part: Excerpt, launch: TraceLaunch | None) -> Iterator[Candidate]:
    """Whether a single thread of a block goes round a loop, or a single warp round one that copies."""
    if launch is None or launch.threads_per_block < 2 or stalls.places.threads is None:
        return
    of = part.operations
    executions, threads = (stalls.places.threads[:, THREADS.index(name)] for name in ("executions", "threads"))
    yield from _shared(stalls, of, (executions > 0) & (threads == executions), launch.threads_per_block, "thread")
    warps = int(np.diff(part.workload.block_warps).max(initial=0))
    if warps > 1:
        by_one = _are_of_one_warp(of, threads > executions)
        yield from _shared(stalls, of, by_one, warps, "warp")


def _are_of_one_warp(of: Operations, asked: Flags) -> Flags:
    """bool[places]: of those asked for, at which one warp of each block does anything."""
    chosen = asked[of.workload.place]
    place = of.workload.place[chosen].astype(np.int64)
    warps, blocks = (
        np.bincount(place[firsts(number[chosen], place)], minlength=len(asked)) for number in (of.warp, of.block)
    )
    alone: Flags = (warps > 0) & (warps == blocks)
    return alone


def _shared(stalls: Stalls, of: Operations, by_one: Flags, times: int, one: str) -> Iterator[Candidate]:
    """What one of a block does alone, shared among all that are like it.

    by_one: bool[places]: at which a single one of a block does anything. times: how many there are. one: what it is.
    """
    alone: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number in np.flatnonzero(by_one).tolist():
        place, _ = stalls.places.place(number)
        if place.line and place.kind not in (BARRIER, JOIN):
            alone[place.file, place.line].append(number)
    kinds = {at: {stalls.places.place(number)[0].kind for number in own} for at, own in alone.items()}
    if one == "warp":  # a warp that reduces has a tree of its own, or is the last that does
        kinds = {at: own for at, own in kinds.items() if own & {*STORES} and own & {*LOADS}}
    looping = {at: rounds for at in kinds if (rounds := _rounds(of, alone[at])) >= ROUNDS}
    of_lines = {at: alone[at] for at in looping}
    numbers = [number for each in of_lines.values() for number in with_their_sites(stalls, each)]
    chosen = of.at(numbers)
    if not chosen.any() or count_distinct(of.warp[chosen]) > count_distinct(of.block[chosen]):
        return
    ticks, whole = stalls.ticks.sum(axis=1), max(1, int(stalls.ticks.sum()))
    of_line = {at: int(ticks[with_their_sites(stalls, own)].sum()) for at, own in of_lines.items()}
    file, line = max(of_line, key=lambda at: of_line[at])
    weight = (sum(of_line.values()) + _of_waiting(stalls)) / whole
    if weight < WORTH_TRYING:
        return
    tree = "all threads of the block share it: a tree in shared memory, or __shfl_down_sync() within warps first"
    how = f"all {one}s of the block load and store a part each" if kinds[file, line] & {*STORES} else tree
    yield Candidate(
        "share",
        f"let {how}; one {one} of {times:,} goes round this loop {looping[file, line]:,.3g} times, one step "
        "after another, while the others have nothing to do",
        (file, line, ""), 2 * weight, ESTIMATE, tuple(numbers),
        lambda of, chosen: shared_by_threads(of, chosen, times, _lines(stalls, of_lines)),
    )  # fmt: skip


def with_their_sites(stalls: Stalls, numbers: list[int]) -> list[int]:
    """All numbers of the sites of some: what is computed for an access is of its site, and of no array."""
    arrays = len(stalls.places.arrays)
    sites = sorted({number // arrays for number in numbers})
    return [site * arrays + array for site in sites for array in range(arrays)]


def _rounds(of: Operations, numbers: list[int]) -> float:
    """How often a warp comes to a line, on average: to all copies of it that a compiler made, at which it does most."""
    there = of.at(numbers)
    if not there.any():
        return 0.0
    kind, warp = of.workload.kind[there].astype(np.int64), of.warp[there]
    return float(np.bincount(kind).max() / count_distinct(warp))


def _of_waiting(stalls: Stalls) -> int:
    """Ticks that warps wait at barriers."""
    return int(stalls.ticks[: len(stalls.places)][stalls.places.are_of((BARRIER,))].sum())


def _lines(stalls: Stalls, of_lines: dict[tuple[str, int], list[int]]) -> Integers:
    """int64[places]: of each place of these lines, the first of its line."""
    found = np.arange(len(stalls.places))
    for numbers in of_lines.values():
        found[with_their_sites(stalls, numbers)] = numbers[0]
    return found


def shared_by_threads(of: Operations, chosen: Flags, threads: int, line: Integers) -> Workload:
    """What one thread does is done by all of its block, a part of it each.

    Its warp stands for all of them: it does one in so many of the rounds, and its accesses are of consecutive elements.
    line: of each place, a number of its line, at all of whose places a loop may go round.
    """
    own = of.workload
    merged = replace(own, place=np.where(chosen, line[own.place], own.place))
    places: Integers = np.unique(merged.place[chosen])
    for kinds in ((ASYNC, LOAD), (STORE,), (SHARED,)):
        accesses = np.isin(merged.place, places) & np.isin(merged.kind, kinds)
        if accesses.any():
            merged = regrouped.vectorized(Operations(merged), accesses, threads)
    now = Operations(merged)
    side_by_side = np.isin(merged.place, places) & (now.listed > 0)
    passes = -(-((merged.amount >> PASSES_SHIFT) + 1) // LANES)
    amount = np.where(side_by_side, (merged.amount & LISTED) | (passes - 1 << PASSES_SHIFT), merged.amount)
    now = Operations(replace(merged, amount=amount))
    return regrouped.with_part(now, np.isin(merged.place, places) & (now.listed == 0), 1 / threads)
