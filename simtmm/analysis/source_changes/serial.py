"""Changes of what one thread of a block does while the others have nothing to do, or wait for it."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import ESTIMATE, WORTH_TRYING, Candidate
from simtmm.analysis.source_changes.operations import Flags, Integers, Operations
from simtmm.stalls import Stalls
from simtmm.stalls.places import BARRIER, JOIN, THREADS
from simtmm.trace.schema import TraceLaunch
from simtmm.workload import ASYNC, LISTED, LOAD, PASSES_SHIFT, SHARED, STORE, Workload

LANES = 32  # threads whose accesses of consecutive elements take a pass together
ROUNDS = 4  # of a loop, at least: what one thread does less often is no loop worth sharing
STORES = ("shared_store", "store")


def of_serial_work(stalls: Stalls, part: Excerpt, launch: TraceLaunch | None) -> Iterator[Candidate]:
    """Whether a single thread of a block goes round a loop.

    launch: the longest one's shape, None where it is not known.
    """
    known, whole = stalls.places.threads, max(1, int(stalls.ticks.sum()))
    if launch is None or launch.threads_per_block < 2 or known is None:
        return
    of = Operations(part.workload)
    executions, threads = (known[:, THREADS.index(name)] for name in ("executions", "threads"))
    alone: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number in np.flatnonzero((executions > 0) & (threads == executions)).tolist():
        place, _ = stalls.places.place(number)
        if place.line and place.kind not in (BARRIER, JOIN):
            alone[place.file, place.line].append(number)
    looping = {at: rounds for at, own in alone.items() if (rounds := _rounds(of, own)) >= ROUNDS}
    of_lines = {at: alone[at] for at in looping}
    numbers = [number for each in of_lines.values() for number in with_their_sites(stalls, each)]
    chosen = np.isin(part.workload.place, numbers)
    if not chosen.any():
        return
    warps = np.unique(of.warp[chosen])
    blocks = len(np.unique(of.block[chosen]))
    if len(warps) > blocks:
        return
    waiting = _of_waiting(stalls)
    ticks = stalls.ticks.sum(axis=1)
    of_line = {at: int(ticks[with_their_sites(stalls, own)].sum()) for at, own in of_lines.items()}
    file, line = max(of_line, key=lambda at: of_line[at])
    weight = (sum(of_line.values()) + waiting) / whole
    if weight < WORTH_TRYING:
        return
    of_block = launch.threads_per_block
    is_copy = any(stalls.places.place(number)[0].kind in STORES for number in of_lines[file, line])
    tree = "all threads of the block share it: a tree in shared memory, or __shfl_down_sync() within warps first"
    how = "all threads of the block load and store a part each" if is_copy else tree
    yield Candidate(
        "share",
        f"let {how}; one thread of {of_block:,} goes round this loop {looping[file, line]:,.3g} times, one step "
        "after another, while the others have nothing to do",
        (file, line, ""), 2 * weight, ESTIMATE, tuple(numbers),
        lambda of, chosen: shared_by_threads(of, chosen, of_block, _lines(stalls, of_lines)),
    )  # fmt: skip


def with_their_sites(stalls: Stalls, numbers: list[int]) -> list[int]:
    """All numbers of the sites of some: what is computed for an access is of its site, and of no array."""
    arrays = len(stalls.places.arrays)
    sites = sorted({number // arrays for number in numbers})
    return [site * arrays + array for site in sites for array in range(arrays)]


def _rounds(of: Operations, numbers: list[int]) -> float:
    """How often a warp comes to a line, on average: to all copies of it that a compiler made, at which it does most."""
    there = np.isin(of.workload.place, numbers)
    if not there.any():
        return 0.0
    kind, warp = of.workload.kind[there].astype(np.int64), of.warp[there]
    return float(np.bincount(kind).max() / len(np.unique(warp)))


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
