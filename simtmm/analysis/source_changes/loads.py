"""Changes of single accesses: wider ones, earlier ones, and such as need none."""

from collections.abc import Iterator, Sequence

import numpy as np

from simtmm.analysis.source_changes import regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import BOUND, VECTOR_BYTES, WORTH_TRYING, Candidate, Line, all_of
from simtmm.analysis.source_changes.operations import Flags, Operations
from simtmm.machine import Machine
from simtmm.stalls import STORES
from simtmm.workload import MOST_SECTOR_BYTES, MOST_SECTORS, SECTOR_BITS

AGAIN = 1.5  # times that a block loads a chunk, from which on it does not load each once
VECTORS = (4, 2)  # elements of a vector
CONSTANT_BYTES = 1 << 16  # of all that constant memory holds


def of_vectors(line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether threads load or store neighbours one after another: then as vectors."""
    if weight < WORTH_TRYING or not line.requests or not line.threads:
        return
    array, of_thread = line.at[2] or "it", line.bytes_asked / line.threads
    chosen, of = np.isin(part.workload.place, line.numbers), Operations(part.workload)
    most = min(VECTOR_BYTES // max(1.0, of_thread), _of_a_warp(of, chosen))
    times = next((each for each in VECTORS if each <= most), 1)
    if times > 1 and _can_be_vectors(of, chosen, times):
        verb = "store" if line.kind in STORES else "load"
        yield Candidate(
            "vectorize",
            f"{verb} {times} elements of {array} at once, as a vector (float{times}, say): a thread {verb}s "
            f"{of_thread:.3g} bytes at a time now, where {VECTOR_BYTES} are possible",
            line.at, weight, BOUND, tuple(line.numbers),
            lambda of, chosen: regrouped.vectorized(of, chosen, times),
        )  # fmt: skip


def of_waits(line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether warps load at it again and again: then the next ones early."""
    if weight < WORTH_TRYING or not line.requests or not line.threads:
        return
    if _of_a_warp(Operations(part.workload), np.isin(part.workload.place, line.numbers)) >= 2:
        which = f"elements of {line.at[2]}" if line.at[2] else "elements"
        yield Candidate(
            "load ahead",
            f"load the next {which} before working on these (software prefetch, or cp.async into a second tile)",
            line.at, weight, BOUND, tuple(line.numbers), regrouped.loaded_ahead,
        )  # fmt: skip


def _of_a_warp(of: Operations, chosen: Flags) -> float:
    """How many of these operations a warp has that has any."""
    return int(chosen.sum()) / max(1, len(np.unique(of.warp[chosen])))


def _can_be_vectors(of: Operations, chosen: Flags, times: int) -> bool:
    """Whether what a thread loads in a row lies side by side, or could, as a block loads each element once."""
    here = of.chunks_of(chosen)
    of_blocks = np.stack([of.block[of.of_chunk[here]], of.workload.chunks[here]])
    is_once = len(here) < AGAIN * np.unique(of_blocks, axis=1).shape[1]
    return is_once or regrouped.are_adjacent(of, chosen, times)


def in_vectors(several: Sequence[Candidate]) -> Iterator[Candidate]:
    """Vectors at several lines at once."""
    if len(several) < 2:
        return
    hottest = max(several, key=lambda each: each.weight)
    count = len({each.at[1] for each in several}) - 1
    where = f"here and at {count} more line{'s' * (count > 1)}" if count else "here, of each array"
    words = f"load several elements at once, as a vector (float4, say), {where}"
    weight = sum(each.weight for each in several)
    yield all_of(several, "vectorize", words, (*hottest.at[:2], ""), weight, BOUND)


def of_constants(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether all threads of a warp load the same element of a small array."""
    if not line.executions or line.threads < 2 * line.executions:
        return
    of = Operations(part.workload)
    here = of.chunks_of(np.isin(part.workload.place, line.numbers))
    of_thread = line.bytes_asked / line.threads
    if not len(here) or len(here) != len(np.unique(of.of_chunk[here])) or not len(part.workload.sectors):
        return
    accessed = part.workload.sectors[here].astype(np.int64)
    bytes_accessed = sum((accessed >> SECTOR_BITS * sector) & MOST_SECTOR_BYTES for sector in range(MOST_SECTORS))
    touched = len(np.unique(part.workload.chunks[here])) * machine.chunk_bytes
    if touched > CONSTANT_BYTES or np.any((bytes_accessed == 0) | (bytes_accessed > of_thread)):
        return
    yield Candidate(
        "constant",
        f"keep {line.at[2] or 'it'} in constant memory (__constant__): all threads of a warp read the same element",
        line.at, weight, BOUND, tuple(line.numbers), regrouped.in_registers,
    )  # fmt: skip
