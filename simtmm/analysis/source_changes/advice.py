"""Which changes of the source are worth trying, and what each gains."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from simtmm.analysis.source_changes import changes
from simtmm.analysis.source_changes.excerpt import Excerpt, excerpt_of
from simtmm.analysis.source_changes.operations import Flags, Operations
from simtmm.analysis.source_changes.uneven import MANY_TIMES, uneven, work_of_blocks
from simtmm.engine import simulate
from simtmm.engine.causes import longest_launch
from simtmm.errors import SimtmmError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.stalls import ATOMICS, LOADS, STORES, Count, Stalls
from simtmm.stalls.places import THREADS
from simtmm.trace.schema import TraceLaunch
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import SHARED, Workload

SECONDS = 3.0  # of all that is tried, about, the program as it is among it
MOST_TRIED = 8
MOST_TOLD = 5
WORTH_TELLING = 1.1
WORTH_TRYING = 0.03  # of the time, or of the chunks
SPREAD = 1.5  # chunks a request of what consecutive threads would need
GLOBAL_LOADS = tuple(kind for kind in LOADS if not kind.startswith("local"))
GLOBAL = (*GLOBAL_LOADS, *(kind for kind in STORES if not kind.startswith("local")))
SHARED_ACCESSES = ("shared_load", "shared_store")
OF_BANKS = 128  # bytes that banks give at once
COMPUTED = 0.4  # floating-point instructions for each value that is read from shared memory
IN_REGISTERS = 2  # results for which a value is used
SIMULATED, BOUND = "simulated", "bound"


@dataclass(frozen=True)
class Advice:
    """A change of the source.

    change: which, a word of docs/advice.md. words: what to do, and why.
    file, line, array: where; "" and 0 if that is the launch.
    gain: the time as it is over the time with the change.
    how: "simulated" where the changed operations are those that the changed source would do, "bound" where they leave
    out something that it takes: the gain is at most this then.
    part: what of the run was simulated for it; "" for all.
    """

    change: str
    words: str
    file: str
    line: int
    array: str
    gain: float
    how: str
    part: str

    @property
    def where(self) -> str:
        """The place, as in "sgemm.cu:9 (A)"."""
        at = f"{self.file}:{self.line}" if self.line else ""
        return f"{at} ({self.array})" if self.array and at else at


@dataclass(frozen=True)
class _Candidate:
    """A change before it is tried. weight: what makes it likely to help. numbers: of its places; none for blocks."""

    change: str
    words: str
    at: tuple[str, int, str]
    weight: float
    how: str
    numbers: tuple[int, ...]
    make: Callable[[Operations, Flags], Workload]


@dataclass
class _Line:
    """What was counted of the places of a line at which one array is accessed in one way."""

    at: tuple[str, int, str]
    kind: str
    numbers: list[int]
    ticks: int = 0
    requests: int = 0
    chunks: int = 0
    conflicts: int = 0
    executions: int = 0
    threads: int = 0
    bytes_asked: int = 0


def advise(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    launches: Sequence[TraceLaunch] = (),
    seconds: float = SECONDS,
) -> tuple[Advice, ...]:
    """What a programmer could change, the greatest gain first; at most MOST_TOLD, each with WORTH_TELLING at least.

    How much is tried follows from the work there is, as in `what_if.try_out`: it is the same on any computer. Of a run
    that takes too long, a part is tried.

    launches: their shapes, in order; each block is treated as a row of threads if left out.
    """
    stalls = result.stalls
    if stalls is None or not result.ticks or not workload.has_places:
        return ()
    lines = list(_lines(stalls))
    part = excerpt_of(machine, workload, result, seconds / (MOST_TRIED + 1))
    found: list[Advice] = []
    if part is not None and lines:
        across = launches[longest_launch(result)].block[0] if launches else machine.cores.warp_width
        candidates = sorted(_candidates(machine, stalls, lines, part, across), key=lambda each: -each.weight)[
            :MOST_TRIED
        ]
        found += _tried(part, candidates, result.engine)
    told = [each for each in found if each.gain >= WORTH_TELLING]
    return tuple(sorted(told, key=lambda each: -each.gain)[:MOST_TOLD])


def _tried(part: Excerpt, candidates: Sequence[_Candidate], engine: str) -> Iterator[Advice]:
    """Each of them, simulated by the engine that simulated the run: what is not compiled for it stays so."""
    if not candidates:
        return
    try:
        before = simulate(part.machine, part.workload, engine, breakdown=False).cycles
    except SimtmmError:  # a part that can't be simulated by itself
        return
    of = Operations(part.workload)
    for each in candidates:
        chosen = np.isin(part.workload.place, each.numbers)
        if each.numbers and not chosen.any():
            continue
        try:
            after = simulate(part.machine, each.make(of, chosen), engine, breakdown=False).cycles
        except SimtmmError:
            continue
        if after and before:
            yield Advice(each.change, each.words, *each.at, before / after, each.how, part.words)


def _lines(stalls: Stalls) -> Iterator[_Line]:
    """What was counted, line by line."""
    places, known = stalls.places, stalls.places.threads
    if known is None:
        return
    found: dict[tuple[object, ...], _Line] = {}
    columns = [THREADS.index(name) for name in ("executions", "threads", "bytes_asked")]
    ticks = stalls.ticks.sum(axis=1)
    for number in np.flatnonzero(stalls.counts[: len(places)].any(axis=1)).tolist():
        place, array = places.place(number)
        key = place.file, place.line, array, place.kind
        line = found.setdefault(key, _Line((place.file, place.line, array), place.kind, []))
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


def _candidates(
    machine: Machine, stalls: Stalls, lines: Sequence[_Line], part: Excerpt, across: int
) -> Iterator[_Candidate]:
    """All that may help. across: threads of a block along x."""
    whole = max(1, int(stalls.ticks.sum()))
    chunks = max(1, sum(line.chunks for line in lines))
    written = {line.at[2] for line in lines if line.kind in (*STORES, *ATOMICS)}
    for line in lines:
        of_time, of_chunks = line.ticks / whole, line.chunks / chunks
        if max(of_time, of_chunks) < WORTH_TRYING:
            continue
        weight = of_time + of_chunks
        if line.kind in GLOBAL:
            yield from _of_access(machine, line, weight, across)
        if line.kind in GLOBAL_LOADS and line.at[2] not in written:
            yield from _of_reuse(machine, line, weight, part)
        if line.kind in SHARED_ACCESSES:
            yield from _of_banks(line, of_time)
        if line.kind in ATOMICS:
            yield from _of_atomics(line, weight)
    yield from _of_registers(stalls, lines, whole)
    if not part.words:
        yield from _of_blocks(part)


def _of_access(machine: Machine, line: _Line, weight: float, across: int) -> Iterator[_Candidate]:
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
    yield _Candidate(
        "coalesce",
        f"let consecutive threads {verb} consecutive elements of {line.at[2] or 'the array'}: change the indices or "
        f"the layout; a request takes {now:.3g} {name}s, where {ideal} would do",
        line.at, 2 * weight, SIMULATED, tuple(line.numbers),
        lambda of, chosen: changes.coalesced(of, chosen, ideal, rows, window, passes),
    )  # fmt: skip


def _of_reuse(machine: Machine, line: _Line, weight: float, part: Excerpt) -> Iterator[_Candidate]:
    """Whether the warps of a block load the same."""
    of = Operations(part.workload)
    here = of.chunks_of(np.isin(part.workload.place, line.numbers))
    if not len(here):
        return
    pairs = np.stack([of.block[of.of_chunk[here]], part.workload.chunks[here]])
    times = len(here) / len(np.unique(pairs, axis=1).T)
    if times < 2:
        return
    yield _Candidate(
        "tile",
        f"load {line.at[2] or 'it'} once for each block, a tile at a time, into shared memory: a block loads each "
        f"{_chunks(machine)} {times:.3g} times now",
        line.at, weight, BOUND, tuple(line.numbers), changes.shared_by_blocks,
    )  # fmt: skip


def _of_banks(line: _Line, weight: float) -> Iterator[_Candidate]:
    if not line.executions or line.conflicts < WORTH_TRYING * line.executions:
        return
    now = 1 + line.conflicts / line.executions
    yield _Candidate(
        "pad",
        f"pad or swizzle {line.at[2] or 'the tile'}: bank conflicts make each access take {now:.3g} passes instead "
        "of 1",
        line.at, 2 * weight, SIMULATED, tuple(line.numbers), changes.without_conflicts,
    )  # fmt: skip


def _of_atomics(line: _Line, weight: float) -> Iterator[_Candidate]:
    array = line.at[2] or "the words"
    yield _Candidate(
        "aggregate", f"let one thread of a warp update {array} for those that update the same word", line.at, weight,
        SIMULATED, tuple(line.numbers), changes.combined_in_warps,
    )  # fmt: skip
    yield _Candidate(
        "privatize", f"keep a copy of {array} for each block in shared memory, and add it up at the end", line.at,
        1.5 * weight, SIMULATED, tuple(line.numbers), changes.combined_in_blocks,
    )  # fmt: skip


def _of_registers(stalls: Stalls, lines: Sequence[_Line], whole: int) -> Iterator[_Candidate]:
    """Whether reading shared memory takes much of the time, and what is read is computed with."""
    assert stalls.places.threads is not None
    each = np.repeat([site.floating_point_instructions for site in stalls.places.sites], len(stalls.places.arrays))
    computed = int(stalls.places.threads[:, THREADS.index("times")] @ each)
    if computed < COMPUTED * sum(line.threads for line in lines if line.kind == "shared_load"):
        return
    of_lines: defaultdict[tuple[str, int], list[_Line]] = defaultdict(list)
    for line in lines:
        if line.kind == "shared_load":
            of_lines[line.at[:2]].append(line)
    for (file, line_number), own in of_lines.items():
        weight = sum(line.ticks for line in own) / whole
        if weight >= WORTH_TRYING:
            numbers = tuple(number for line in own for number in line.numbers)
            yield _Candidate(
                "registers",
                "compute several results in each thread, in registers, so that a value read from shared memory is used "
                f"for {IN_REGISTERS} of them or more",
                (file, line_number, ""), weight, BOUND, numbers,
                lambda of, chosen: changes.kept_in_registers(of, chosen & _reads(of), IN_REGISTERS),
            )  # fmt: skip


def _reads(of: Operations) -> Flags:
    found: Flags = of.workload.kind == SHARED
    return found


def _of_blocks(part: Excerpt) -> Iterator[_Candidate]:
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
    yield _Candidate(
        "even out",
        f"share out the work of {which}: it {found.words}",
        ("", 0, ""), 1.0, SIMULATED, (), lambda of, _: changes.evened_out(of, times),
    )  # fmt: skip


def _chunks(machine: Machine) -> str:
    """What a chunk is called where bytes of that size move."""
    return {32: "sector", 64: "line", 128: "line"}.get(machine.chunk_bytes, "chunk")
