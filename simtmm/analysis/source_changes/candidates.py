"""Changes of the source that may help a run, by what its lines do."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from simtmm.analysis.source_changes import changes, regrouped
from simtmm.analysis.source_changes.cooperation import of_whole_blocks
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import BOUND, SIMULATED, WORTH_TRYING, Candidate, Line
from simtmm.analysis.source_changes.operations import Flags, Operations
from simtmm.analysis.source_changes.uneven import MANY_TIMES, uneven, work_of_blocks
from simtmm.machine import Machine
from simtmm.stalls import ATOMICS, LOADS, STORES, Stalls
from simtmm.stalls.places import THREADS
from simtmm.workload import MOST_SECTOR_BYTES, MOST_SECTORS, SECTOR_BITS, SHARED, Workload

SPREAD = 1.5  # chunks a request of what consecutive threads would need
GLOBAL_LOADS = tuple(kind for kind in LOADS if not kind.startswith("local"))
GLOBAL = (*GLOBAL_LOADS, *(kind for kind in STORES if not kind.startswith("local")))
SHARED_ACCESSES = ("shared_load", "shared_store")
OF_BANKS = 128  # bytes that banks give at once
COMPUTED = 0.4  # floating-point instructions for each value that is read from shared memory
IN_REGISTERS = 2  # results for which a value is used
VECTOR_BYTES = 16  # of a thread, at most
CONSTANT_BYTES = 1 << 16  # of all that constant memory holds


def candidates_of(
    machine: Machine, stalls: Stalls, lines: Sequence[Line], part: Excerpt, across: int
) -> Iterator[Candidate]:
    """All that may help. across: threads of a block along x."""
    whole = max(1, int(stalls.ticks.sum()))
    chunks = max(1, sum(line.chunks for line in lines))
    written = {line.at[2] for line in lines if line.kind in (*STORES, *ATOMICS)}
    tiles: list[Candidate] = []
    for line in lines:
        of_time, of_chunks = line.ticks / whole, line.chunks / chunks
        if max(of_time, of_chunks) < WORTH_TRYING:
            continue
        weight = of_time + of_chunks
        if line.kind in GLOBAL:
            yield from _of_access(machine, line, weight, across)
        if line.kind in GLOBAL_LOADS:
            yield from _of_waits(machine, line, of_time, part)
        if line.kind in GLOBAL_LOADS and line.at[2] not in written:
            tiles += _of_reuse(machine, line, weight, part)
            yield from _of_constants(machine, line, weight, part)
        if line.kind in SHARED_ACCESSES:
            yield from _of_banks(line, of_time)
        if line.kind in ATOMICS:
            yield from _of_atomics(line, weight)
    yield from tiles
    yield from _together(tiles)
    yield from _of_registers(stalls, lines, whole)
    yield from of_whole_blocks(stalls, lines, part)
    if not part.words:
        yield from _of_blocks(part)


def _of_access(machine: Machine, line: Line, weight: float, across: int) -> Iterator[Candidate]:
    """Whether consecutive threads access consecutive elements: those of a warp in as many rows as a block has there."""
    if not line.executions or not line.requests or not line.threads:
        return
    of_request, of_thread = line.bytes_asked / line.executions, line.bytes_asked / line.threads
    rows = max(1, machine.cores.warp_width // max(1, across))
    ideal = rows * max(1, round(-(-of_request // (rows * machine.chunk_bytes))))
    now = line.chunks / line.requests
    if now < SPREAD * ideal:
        return
    window = max(2, int(machine.chunk_bytes // max(1.0, of_thread)))
    passes = rows * max(1, round(-(-of_request // (rows * OF_BANKS))))  # rows often begin in the same bank
    name = _chunks(machine)
    verb = "store to" if line.kind in STORES else "read"
    yield Candidate(
        "coalesce",
        f"let consecutive threads {verb} consecutive elements of {line.at[2] or 'the array'}: change the indices or "
        f"the layout; a request takes {now:.3g} {name}s, where {ideal} would do",
        line.at, 2 * weight, SIMULATED, tuple(line.numbers),
        lambda of, chosen: changes.coalesced(of, chosen, ideal, rows, window, passes),
    )  # fmt: skip


def _of_reuse(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether the warps of a block load the same."""
    of = Operations(part.workload)
    here = of.chunks_of(np.isin(part.workload.place, line.numbers))
    if not len(here):
        return
    pairs = np.stack([of.block[of.of_chunk[here]], part.workload.chunks[here]])
    times = len(here) / len(np.unique(pairs, axis=1).T)
    if times < 2:
        return
    yield Candidate(
        "tile",
        f"load {line.at[2] or 'it'} once for each block, a tile at a time, into shared memory: a block loads each "
        f"{_chunks(machine)} {times:.3g} times now",
        line.at, weight, BOUND, tuple(line.numbers), _in_tiles(part, line),
    )  # fmt: skip


def _in_tiles(part: Excerpt, line: Line) -> Callable[[Operations, Flags], Workload]:
    """What a tile makes of the loads: reads of shared memory, as vectors where threads read adjacent elements."""
    times = int(VECTOR_BYTES // max(1.0, line.bytes_asked / max(1, line.threads)))
    own = np.isin(part.workload.place, line.numbers)
    in_vectors = times > 1 and regrouped.are_adjacent(Operations(part.workload), own, times)

    def change(of: Operations, chosen: Flags) -> Workload:
        shared = changes.shared_by_blocks(of, chosen)
        reads = chosen & (shared.kind == SHARED)
        return regrouped.vectorized(Operations(shared), reads, times) if in_vectors else shared

    return change


def _together(tiles: Sequence[Candidate]) -> Iterator[Candidate]:
    """Tiles of several arrays of a line at once."""
    of_lines: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
    for each in tiles:
        of_lines[each.at[:2]].append(each)
    for (file, line), several in of_lines.items():
        if len(several) < 2:
            continue
        names = " and ".join(sorted(each.at[2] or "an array" for each in several))

        def change(of: Operations, chosen: Flags, several: Sequence[Candidate] = tuple(several)) -> Workload:
            for each in several:
                left = np.isin(of.workload.place, each.numbers)
                of = Operations(each.make(of, left))
            return of.workload

        yield Candidate(
            "tile",
            f"load {names} once for each block, a tile of each at a time, into shared memory",
            (file, line, ""), sum(each.weight for each in several), BOUND,
            tuple(number for each in several for number in each.numbers), change,
        )  # fmt: skip


def _of_waits(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether warps load at it again and again: then several at once, or the next ones early."""
    if weight < WORTH_TRYING or not line.requests or not line.threads:
        return
    array, of_thread = line.at[2] or "it", line.bytes_asked / line.threads
    chosen, of = np.isin(part.workload.place, line.numbers), Operations(part.workload)
    of_warp = int(chosen.sum()) / max(1, len(np.unique(of.warp[chosen])))
    needed = line.bytes_asked / line.executions / machine.chunk_bytes
    times = min(int(VECTOR_BYTES // max(1.0, of_thread)), int(of_warp))
    if times > 1 and line.chunks / line.requests < SPREAD * max(1.0, needed) and _can_be_vectors(of, chosen, times):
        yield Candidate(
            "vectorize",
            f"load {times} elements of {array} at once, as a vector (float{times}, say): a thread loads "
            f"{of_thread:.3g} bytes at a time now, where {VECTOR_BYTES} are possible",
            line.at, weight, BOUND, tuple(line.numbers),
            lambda of, chosen: regrouped.vectorized(of, chosen, times),
        )  # fmt: skip
    if of_warp >= 2:
        yield Candidate(
            "load ahead",
            f"load the next {'elements' if array == 'it' else 'elements of ' + array} before working on these "
            "(software prefetch, or cp.async into a second tile)",
            line.at, weight, BOUND, tuple(line.numbers), regrouped.loaded_ahead,
        )  # fmt: skip


def _can_be_vectors(of: Operations, chosen: Flags, times: int) -> bool:
    """Whether what a thread loads in a row lies side by side, or could, as each element is loaded once."""
    chunks = of.workload.chunks[of.chunks_of(chosen)]
    is_once = len(chunks) < SPREAD * len(np.unique(chunks))
    return is_once or regrouped.are_adjacent(of, chosen, times)


def _of_constants(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
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
        line.at, weight, BOUND, tuple(line.numbers), regrouped.in_constant_memory,
    )  # fmt: skip


def _of_banks(line: Line, weight: float) -> Iterator[Candidate]:
    if not line.executions or line.conflicts < WORTH_TRYING * line.executions:
        return
    now = 1 + line.conflicts / line.executions
    yield Candidate(
        "pad",
        f"pad or swizzle {line.at[2] or 'the tile'}: bank conflicts make each access take {now:.3g} passes instead "
        "of 1",
        line.at, 2 * weight, SIMULATED, tuple(line.numbers), changes.without_conflicts,
    )  # fmt: skip


def _of_atomics(line: Line, weight: float) -> Iterator[Candidate]:
    array = line.at[2] or "the words"
    yield Candidate(
        "aggregate", f"let one thread of a warp update {array} for those that update the same word", line.at, weight,
        SIMULATED, tuple(line.numbers), changes.combined_in_warps,
    )  # fmt: skip
    yield Candidate(
        "privatize", f"keep a copy of {array} for each block in shared memory, and add it up at the end", line.at,
        1.5 * weight, SIMULATED, tuple(line.numbers), changes.combined_in_blocks,
    )  # fmt: skip


def _of_registers(stalls: Stalls, lines: Sequence[Line], whole: int) -> Iterator[Candidate]:
    """Whether reading shared memory takes much of the time, and what is read is computed with."""
    assert stalls.places.threads is not None
    each = np.repeat([site.floating_point_instructions for site in stalls.places.sites], len(stalls.places.arrays))
    computed = int(stalls.places.threads[:, THREADS.index("times")] @ each)
    if computed < COMPUTED * sum(line.threads for line in lines if line.kind == "shared_load"):
        return
    of_lines: defaultdict[tuple[str, int], list[Line]] = defaultdict(list)
    for line in lines:
        if line.kind == "shared_load":
            of_lines[line.at[:2]].append(line)
    for (file, line_number), own in of_lines.items():
        weight = sum(line.ticks for line in own) / whole
        if weight >= WORTH_TRYING:
            numbers = tuple(number for line in own for number in line.numbers)
            yield Candidate(
                "registers",
                "compute several results in each thread, in registers, so that a value read from shared memory is used "
                f"for {IN_REGISTERS} of them or more",
                (file, line_number, ""), weight, BOUND, numbers,
                lambda of, chosen: changes.kept_in_registers(of, chosen & _reads(of), IN_REGISTERS),
            )  # fmt: skip


def _reads(of: Operations) -> Flags:
    found: Flags = of.workload.kind == SHARED
    return found


def _of_blocks(part: Excerpt) -> Iterator[Candidate]:
    """Whether some blocks do many times what others do."""
    found = uneven(part.workload)
    if found is None:
        return
    first, last = part.workload.launch_blocks[found.launch : found.launch + 2].tolist()
    own = work_of_blocks(part.workload)[first:last]
    median = max(1.0, float(np.median(own)))
    long = np.flatnonzero(own >= MANY_TIMES * median)
    times = {first + int(block): int(own[block] / median) for block in long}
    which = f"block {found.block:,}" if len(long) == 1 else f"{len(long):,} blocks, {found.block:,} most of all"
    yield Candidate(
        "even out",
        f"share out the work of {which}: it {found.words}",
        ("", 0, ""), 1.0, SIMULATED, (), lambda of, _: changes.evened_out(of, times),
    )  # fmt: skip


def _chunks(machine: Machine) -> str:
    """What a chunk is called where bytes of that size move."""
    return {32: "sector", 64: "line", 128: "line"}.get(machine.chunk_bytes, "chunk")
