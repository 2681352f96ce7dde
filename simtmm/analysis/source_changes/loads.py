"""Changes of single accesses: wider ones, earlier ones, and such as need none."""

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.blocks import are_alike, widened
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.launch_shape import blocks_that_fit
from simtmm.analysis.source_changes.lines import (
    BOUND,
    ESTIMATE,
    VECTOR_BYTES,
    WORTH_TRYING,
    Candidate,
    Line,
    all_of,
    times_again,
)
from simtmm.analysis.source_changes.operations import Flags, Integers, Operations, count_distinct, firsts, packed
from simtmm.analysis.source_changes.reordered import before
from simtmm.machine import Machine
from simtmm.stalls import STORES, Count, Stalls
from simtmm.stalls.places import THREADS
from simtmm.trace.schema import TraceLaunch
from simtmm.workload import BARRIER, MOST_SECTOR_BYTES, MOST_SECTORS, SECTOR_BITS, SHARED, SYNC, Workload

LINKS, NEARLY_ALL = 8, 0.9  # loads of a warp, and the part of them that wait for the one before, that make a chain
FLOATS = 4  # of the widest vector
AGAIN = 1.5  # times that a block loads a chunk, from which on it does not load each once
VECTORS = (16, 8, 4, 2)  # elements of a vector
NEIGHBOURING = ("load", "async", "store")
SECTOR = 32  # bytes that move at least, where how many a request accesses is not known
SEVERAL = 2.0  # words of a warp's load of constants, from which on it is not a load of one
LIKELY = 0.5  # banks, on average, that have more words than passes
CONSTANT_BYTES = 1 << 16  # of all that constant memory holds
MOST_LOOKED_AT = 4096  # chunks
LEAST = 8  # chunks of a request that say whether they lie anywhere
MULTIPLES = 0.9  # of the distances, that are multiples of one: chance makes half of them multiples of two
DIFFERENT = 0.5  # of the distances from chunk to chunk: where more differ, chunks lie anywhere


def of_vectors(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether threads load or store neighbours one after another: then as vectors."""
    if weight < WORTH_TRYING or not line.requests or not line.threads:
        return
    array, of_thread = line.at[2] or "it", line.bytes_asked / line.threads
    of, chosen = part.operations, part.operations.at(line.numbers)
    if times_again(machine, line, of, chosen) >= AGAIN:  # what comes next is the same element
        return
    most = min(VECTOR_BYTES // max(1.0, of_thread), _between_barriers(of, chosen))
    times = next((each for each in VECTORS if each <= most), 1)
    is_once, shares_chunks = _is_once(machine, line, of, chosen)
    if times > 1 and (is_once or regrouped.are_adjacent(of, chosen, times)):
        verb = "store" if line.kind in STORES else "load"
        vector = f"float{times}" if times <= FLOATS else f"uint{FLOATS}"
        yield Candidate(
            "vectorize",
            f"{verb} {times} elements of {array} at once, as a vector ({vector}, say): a thread {verb}s "
            f"{of_thread:.3g} byte{'s' * (of_thread != 1)} at a time now, where {VECTOR_BYTES} are possible",
            line.at, weight, ESTIMATE if shares_chunks else BOUND, tuple(line.numbers),
            lambda of, chosen: regrouped.vectorized(of, chosen, times, of.block if shares_chunks else None),
        )  # fmt: skip


def of_neighbours(
    machine: Machine, lines: Sequence[Line], whole: int, part: Excerpt, launch: TraceLaunch | None
) -> Iterator[Candidate]:
    """Whether each thread accesses few bytes, next to those of its neighbours: then one takes what several do now.

    Blocks without barriers, whose warps all do the same. whole: ticks of all warps.
    """
    own, of = part.workload, part.operations
    accesses = [line for line in lines if line.requests and line.threads]
    if launch is None or not accesses or any(line.kind not in NEIGHBOURING for line in accesses):
        return
    if np.isin(own.kind, (BARRIER, SYNC, SHARED)).any() or not all(
        _are_side_by_side(machine, line) for line in accesses
    ):
        return
    most = max(line.bytes_asked / line.threads for line in _by_place(accesses))
    room = blocks_that_fit(machine, launch, 1)
    blocks = int(np.diff(own.launch_blocks).max(initial=0))
    fitting = (each for each in VECTORS if each * most <= VECTOR_BYTES and blocks // each >= part.machine.cores.groups)
    times = next((each for each in fitting if are_alike(of, each)), 1)
    if times < 2 or not room:
        return
    hottest = max(accesses, key=lambda line: (line.ticks, line.chunks))
    of_thread = round(hottest.bytes_asked / hottest.threads)
    vector = {1: "uchar", 2: "ushort"}.get(of_thread, "float") + str(times)
    vector = vector if times <= FLOATS else f"uint{max(2, times * of_thread // 4)}"
    words = (
        f"let a thread take {times} neighbouring elements, and access them as a vector ({vector}, "
        f"say): a thread accesses {most:.3g} byte{'s' * (most != 1)} here, where {VECTOR_BYTES} are possible at once"
    )
    yield Candidate(
        "vectorize", words, (*hottest.at[:2], ""), sum(line.ticks for line in accesses) / whole, ESTIMATE, (),
        lambda of, _: _of_neighbours(of, times, room, machine.chunk_bytes, accesses),
    )  # fmt: skip


def _by_place(lines: Sequence[Line]) -> Iterator[Line]:
    """Lines with the bytes of all their places at once, as those of a pixel: a vector has room for all of them."""
    for line in lines:
        yield replace(line, bytes_asked=line.bytes_asked * len(line.numbers))


def _are_side_by_side(machine: Machine, line: Line) -> bool:
    """Whether all threads of warps access elements at a line, and no more chunks than those of all its places, side by
    side, take.
    """
    if line.threads < NEARLY_ALL * machine.cores.warp_width * line.executions:
        return False
    of_request = line.bytes_asked / line.executions * len(line.numbers)
    return line.chunks <= (of_request / machine.chunk_bytes + 1) * line.requests


def _of_neighbours(of: Operations, times: int, room: int, chunk_bytes: int, lines: Sequence[Line]) -> Workload:
    """Warps widened so; accesses at several places of a line, which are of the same chunks, become one."""
    for line in lines:
        chosen = of.at(line.numbers)
        if len(line.numbers) > 1 and regrouped.are_adjacent(of, chosen, len(line.numbers)):
            of = Operations(regrouped.vectorized(of, chosen, len(line.numbers)))
    return widened(of, times, room, chunk_bytes)


def of_waits(line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether warps load at it again and again: then the next ones early."""
    if weight < WORTH_TRYING or not line.requests or not line.threads:
        return
    if _of_a_warp(part.operations, part.operations.at(line.numbers)) >= 2:
        which = f"elements of {line.at[2]}" if line.at[2] else "elements"
        yield Candidate(
            "load ahead",
            f"load the next {which} before working on these (software prefetch, or cp.async into a second tile)",
            line.at, weight, BOUND, tuple(line.numbers), regrouped.loaded_ahead,
        )  # fmt: skip


def is_chain(part: Excerpt, line: Line) -> bool:
    """Whether the loads at a line go anywhere, those of a warp's threads or one behind another, and each waits for the
    one before, with no other load that could say where it goes.
    """
    of, chosen = part.operations, part.operations.at(line.numbers)
    if _of_a_warp(of, chosen) < LINKS or regrouped.are_chained(of, chosen) < NEARLY_ALL:
        return False
    return are_scattered(part.workload, line.numbers) or _go_anywhere(of, chosen)


def _go_anywhere(of: Operations, chosen: Flags) -> bool:
    """Whether a warp's requests are as far from one another as chance has it: a loop over an array has few steps."""
    numbers = np.flatnonzero(chosen & (of.listed > 0))[:MOST_LOOKED_AT]
    at = of.workload.chunks[(np.cumsum(of.listed) - of.listed)[numbers]]
    is_same = np.diff(of.warp[numbers]) == 0
    steps = np.diff(at)[is_same]
    different = count_distinct(packed(of.warp[numbers][1:][is_same], steps))
    return bool(different > DIFFERENT * len(steps) > 0)


def _of_a_warp(of: Operations, chosen: Flags) -> float:
    """How many of these operations a warp has that has any."""
    return int(chosen.sum()) / max(1, count_distinct(of.warp[chosen]))


def _between_barriers(of: Operations, chosen: Flags) -> float:
    """How many of these operations a warp has between two barriers, where it has any: no vector goes across one."""
    interval = before(of, np.isin(of.workload.kind, (BARRIER, SYNC)))
    return int(chosen.sum()) / max(1, count_distinct(packed(of.warp[chosen], interval[chosen])))


def _is_once(machine: Machine, line: Line, of: Operations, chosen: Flags) -> tuple[bool, bool]:
    """Whether a block loads each element once; and whether then several of its warps take parts of a chunk."""
    here = of.chunks_of(chosen)
    distinct = int(np.count_nonzero(firsts(of.block[of.of_chunk[here]], of.workload.chunks[here])))
    asked = line.bytes_asked / line.requests * int(np.count_nonzero(chosen & (of.listed > 0)))
    is_once = len(here) < AGAIN * distinct
    shares = not is_once and asked < AGAIN * distinct * machine.chunk_bytes
    return is_once or shares, shares


def in_vectors(several: Sequence[Candidate]) -> Iterator[Candidate]:
    """Vectors at several lines at once."""
    if len(several) < 2:
        return
    hottest = max(several, key=lambda each: each.weight)
    count = len({each.at[1] for each in several}) - 1
    where = f"here and at {count} more line{'s' * (count > 1)}" if count else "here, of each array"
    words = f"load several elements at once, as a vector (float4, say), {where}"
    weight = sum(each.weight for each in several)
    how = ESTIMATE if any(each.how == ESTIMATE for each in several) else BOUND
    yield all_of(several, "vectorize", words, (*hottest.at[:2], ""), weight, how)


def of_constants(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether all threads of a warp load the same element of a small array."""
    if not line.executions or line.threads < 2 * line.executions:
        return
    of = part.operations
    here = of.chunks_of(part.operations.at(line.numbers))
    of_thread = line.bytes_asked / line.threads
    if not len(here) or len(here) != count_distinct(of.of_chunk[here]) or not len(part.workload.sectors):
        return
    accessed = part.workload.sectors[here].astype(np.int64)
    bytes_accessed = sum((accessed >> SECTOR_BITS * sector) & MOST_SECTOR_BYTES for sector in range(MOST_SECTORS))
    touched = count_distinct(part.workload.chunks[here]) * machine.chunk_bytes
    # Loads move whole sectors: threads that ask for more than one holds share its elements
    most = SECTOR if line.bytes_asked >= 2 * SECTOR * line.executions else of_thread
    if touched > CONSTANT_BYTES or np.any((bytes_accessed == 0) | (bytes_accessed > most)):
        return
    yield Candidate(
        "constant",
        f"keep {line.at[2] or 'it'} in constant memory (__constant__): all threads of a warp read the same element",
        line.at, weight, BOUND, tuple(line.numbers), regrouped.in_registers,
    )  # fmt: skip


def of_divergent_constants(machine: Machine, stalls: Stalls, whole: int) -> Iterator[Candidate]:
    """Whether threads of a warp read different elements of constant memory: its cache serves one word at a time."""
    arrays, known = len(stalls.places.arrays), stalls.places.threads
    assert known is not None
    of_lines: defaultdict[tuple[str, int], list[int]] = defaultdict(list)
    for number in np.flatnonzero(known[:, THREADS.index("executions")]).tolist():
        site = stalls.places.sites[number // arrays]
        if site.kind == "constant_load":
            of_lines[site.file, site.line].append(number)
    for (file, line), numbers in of_lines.items():
        executions = known[numbers, THREADS.index("executions")]
        work = [stalls.places.place(number)[0].thread_instructions - 1 for number in numbers]
        words = (int(stalls.counts[numbers, Count.INSTRUCTIONS].sum()) - int(executions @ work)) / executions.sum()
        weight = float(stalls.ticks[numbers].sum()) / whole
        if words < SEVERAL or weight < WORTH_TRYING:
            continue
        passes = [passes_of_any(count, machine.banks.count) for count in range(machine.cores.warp_width + 1)]
        yield Candidate(
            "constant",
            "keep what is read here in shared memory (or in global memory, through the L1), or let all threads of a "
            f"warp read the same element: they read {words:.3g} different words of constant memory here, which serves "
            "one at a time",
            (file, line, ""), 2 * weight, ESTIMATE, tuple(numbers),
            partial(regrouped.from_constants, passes=np.array(passes)),
        )  # fmt: skip


def passes_of_any(words: int, banks: int) -> int:
    """Passes that so many different words take which lie in any of the banks: mostly no bank has more of them."""
    passes, above = 0, float(banks)
    while passes < words and above >= LIKELY:
        passes += 1
        above = banks * sum(
            math.comb(words, count) * (banks - 1) ** (words - count) / banks**words
            for count in range(passes + 1, words + 1)
        )
    return max(1, passes)


def are_scattered(workload: Workload, places: Sequence[int]) -> bool:
    """Whether the chunks of requests at some places are as far apart as chance has it.

    Rows, columns and fields of structures are at few distances from one another, and broadcasts at none. Where a
    branch chooses the threads that access them, these are multiples of one step.
    """
    of = Operations(workload)
    chosen = np.isin(workload.place, places) & (of.listed >= LEAST)
    here = of.chunks_of(chosen)[:MOST_LOOKED_AT]
    if not len(here):
        return False
    request = of.of_chunk[here]
    is_same = np.diff(request) == 0
    apart = np.diff(workload.chunks[here])[is_same]
    different = count_distinct(packed(request[1:][is_same], apart))
    return bool(different > DIFFERENT * len(apart) > 0) and not _are_multiples(apart)


def _are_multiples(apart: Integers) -> bool:
    """Whether distances are nearly all multiples of the one that is there most often, of more than one chunk."""
    distances, number = np.unique(np.abs(apart), return_counts=True)
    step = int(distances[number.argmax()])
    return step > 1 and float((apart % step == 0).mean()) >= MULTIPLES
