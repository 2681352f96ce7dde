"""Changes that keep what a thread loads again and again in a register."""

from collections.abc import Iterator, Sequence

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import ESTIMATE, Candidate, Line, all_of
from simtmm.analysis.source_changes.operations import (
    Flags,
    Integers,
    Operations,
    count_distinct,
    firsts,
    packed,
    positions,
)
from simtmm.machine import Machine
from simtmm.workload import MOST_SECTOR_BYTES, MOST_SECTORS, SECTOR_BITS, Workload

MORE = 1.5  # times as often as different elements can be, from which on a warp loads some again
SECTOR = 32  # bytes
REGISTERS = 32  # elements that a thread has room for beside its own
SAME = 1.01  # times as many bytes


def of_reloads(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether each thread loads the same element again and again; lines of arrays that the program does not write."""
    of = part.operations
    chosen = part.operations.at(line.numbers)
    here = of.chunks_of(chosen)
    requests = int(np.count_nonzero(chosen & (of.listed > 0)))
    if not requests or not line.threads:
        return
    elements = _elements(machine, line, of, here, requests)
    of_thread = line.bytes_asked / line.threads
    is_apart = line.threads < line.executions * machine.cores.warp_width
    needed = _needed(of, here, elements, of_thread, is_apart)
    times = len(here) / max(1, int(needed[_first_of_each_warp(of, here)].sum()))
    of_warp = requests / times / count_distinct(of.warp[of.of_chunk[here]])  # that are left
    if times < MORE or of_warp > REGISTERS:  # else it goes along a chunk, or comes back to it too late
        return
    yield Candidate(
        "reload",
        f"keep the element of {line.at[2] or 'the array'} in a register (no volatile; const and __restrict__, where "
        f"stores through other pointers hold the compiler back): a thread loads the same one {times:.3g} times now",
        line.at, 2 * weight, ESTIMATE, tuple(line.numbers),
        lambda of, chosen: _once(of, chosen, elements, of_thread, is_apart),
    )  # fmt: skip


def reloads_together(reloads: Sequence[Candidate]) -> Iterator[Candidate]:
    """Elements of several arrays kept in registers at once."""
    if len({each.at[2] for each in reloads}) < 2:
        return
    hottest = max(reloads, key=lambda each: each.weight)
    names = sorted({each.at[2] or "an array" for each in reloads})
    words = (
        f"keep the elements of {', '.join(names[:-1])} and {names[-1]} in registers (no volatile; const and "
        "__restrict__, where stores through other pointers hold the compiler back): a thread loads the same ones again "
        "and again"
    )
    weight = sum(each.weight for each in reloads)
    yield all_of(reloads, "reload", words, (*hottest.at[:2], ""), weight, ESTIMATE)


def _first_of_each_warp(of: Operations, here: Integers) -> Flags:
    """bool[...]: of listed chunks those that their warp lists for the first time, at whichever place."""
    return firsts(of.warp[of.of_chunk[here]], of.workload.chunks[here])


def _elements(machine: Machine, line: Line, of: Operations, here: Integers, requests: int) -> float | None:
    """How many elements a chunk has, where a request may be of one of them; None where its sectors say how many.

    They don't where threads ask for more bytes than they access, as several for the same element.
    """
    elements = machine.chunk_bytes * line.threads / max(1, line.bytes_asked)
    if not len(of.workload.sectors):
        return elements
    of_sector = _of_sectors(of, here)
    accessed = int(np.where(of_sector.any(axis=0), of_sector.sum(axis=0), machine.chunk_bytes).sum())
    return elements if line.bytes_asked / line.requests * requests > SAME * accessed else None


def _of_sectors(of: Operations, here: Integers) -> Integers:
    """int64[MOST_SECTORS, ...]: bytes that each listed chunk's request accesses in each sector; 0 in all for all."""
    accessed = of.workload.sectors[here].astype(np.int64)
    return np.stack([accessed >> SECTOR_BITS * sector & MOST_SECTOR_BYTES for sector in range(MOST_SECTORS)])


def _needed(
    of: Operations, here: Integers, elements: float | None, of_thread: float, is_apart: bool = False
) -> Integers:
    """int64[...]: of each listed chunk, how many lists of it by its warp may all be of different elements.

    Threads that go through a chunk list it once for each part of it that they access at once, and so do others that
    come to it: each set of accessed bytes counts as often as a sector has elements, as several threads may access the
    same one, and once if it is all of the chunk. elements: as `_elements` gives. of_thread: bytes of an element.
    is_apart: whether threads of a warp have branched apart: where one set has all that the others have, only that
    counts then, as the others are of a part of the same threads.
    """
    if elements is not None:
        return np.full(len(here), max(1, round(elements)), np.int64)
    of_sector = _of_sectors(of, here)
    most = of_sector.max(axis=0, initial=0)
    rounds = np.where(most > 0, max(1, round(SECTOR / max(1.0, of_thread))), 1)
    keys = packed(of.warp[of.of_chunk[here]], of.workload.chunks[here])
    is_new = firsts(keys, of.workload.sectors[here].astype(np.int64))
    _, group = np.unique(keys, return_inverse=True)
    if not is_apart:
        return np.bincount(group, weights=np.where(is_new, rounds, 0)).astype(np.int64)[group]
    of_sector = np.where(most > 0, of_sector, SECTOR)
    of_all = np.zeros((len(of_sector), int(group.max(initial=-1)) + 1), np.int64)
    for sector, accessed in enumerate(of_sector):
        np.maximum.at(of_all[sector], group, accessed)
    has_all = is_new & (of_sector == of_all[:, group]).all(axis=0)
    counts = has_all | (is_new & ~(np.bincount(group, weights=has_all) > 0)[group])
    found: Integers = np.bincount(group, weights=np.where(counts, rounds, 0)).astype(np.int64)[group]
    return found


def _once(of: Operations, chosen: Flags, elements: float | None, of_thread: float, is_apart: bool = False) -> Workload:
    """A warp lists each chunk as often as it may access different elements of it, at whichever of the places."""
    here = of.chunks_of(chosen)
    turn = positions(packed(of.warp[of.of_chunk[here]], of.workload.chunks[here]), in_order=False)
    kept = np.zeros(len(chosen), bool)
    kept[of.of_chunk[here[turn < _needed(of, here, elements, of_thread, is_apart)]]] = True
    return regrouped.left_out(of, chosen & ~kept & (of.listed > 0))
