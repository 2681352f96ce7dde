"""Changes of the source that may help a run, by what its lines do."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from simtmm.analysis.source_changes import changes, regrouped
from simtmm.analysis.source_changes.arithmetic import of_arithmetic, without_divisions
from simtmm.analysis.source_changes.cooperation import of_whole_blocks
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.launch_shape import of_launch_shape
from simtmm.analysis.source_changes.lines import (
    BOUND,
    ESTIMATE,
    SIMULATED,
    WORTH_TRYING,
    Candidate,
    Line,
    all_of,
    chunk_name,
    ideal_chunks,
    rows_of_warp,
)
from simtmm.analysis.source_changes.loads import (
    are_scattered,
    in_vectors,
    is_chain,
    of_constants,
    of_divergent_constants,
    of_neighbours,
    of_vectors,
    of_waits,
)
from simtmm.analysis.source_changes.reloads import of_reloads, reloads_together
from simtmm.analysis.source_changes.reuse import (
    of_larger_tiles,
    of_own_data,
    of_results,
    of_reuse,
    together,
)
from simtmm.analysis.source_changes.serial import of_serial_work
from simtmm.analysis.source_changes.shared_memory import of_shared_memory
from simtmm.analysis.source_changes.uneven import long_blocks
from simtmm.analysis.turns import Turns, turns_of
from simtmm.machine import Machine
from simtmm.stalls import ATOMICS, LOADS, STORES, Stalls
from simtmm.trace.schema import TraceLaunch

SPREAD = 1.5  # chunks a request of what consecutive threads would need
GLOBAL_LOADS = tuple(kind for kind in LOADS if not kind.startswith("local"))
GLOBAL = (*GLOBAL_LOADS, *(kind for kind in STORES if not kind.startswith("local")))
LAYOUT = "change the indices or the layout (a structure of arrays, say)"
SCATTERED = "sort or renumber what their indices choose, so that neighbours lie side by side"
LOCKED = 0.5  # of a change's weight, from which on more blocks would wait for the lock, and not work
OF_BANKS = 128  # bytes that banks give at once


def candidates_of(
    machine: Machine, stalls: Stalls, lines: Sequence[Line], part: Excerpt, launch: TraceLaunch | None
) -> Iterator[Candidate]:
    """All that may help. launch: the longest one's shape, None where it is not known: its blocks are rows then."""
    locks = [each for each in turns_of(stalls) if each.is_lock]
    of_locks = list(_of_locks(locks, lines, stalls))
    yield from of_locks
    is_locked = any(each.weight >= LOCKED for each in of_locks)
    for each in _besides_locks(machine, stalls, lines, part, launch):
        if not _is_of_turns(each, locks, is_locked):
            yield each


def _besides_locks(
    machine: Machine, stalls: Stalls, lines: Sequence[Line], part: Excerpt, launch: TraceLaunch | None
) -> Iterator[Candidate]:
    """Likewise, of a program without locks."""
    across = machine.cores.warp_width if launch is None else launch.block[0]
    whole = max(1, int(stalls.ticks.sum()))
    chunks = max(1, sum(line.chunks for line in lines))
    written = {line.at[2] for line in lines if line.kind in (*STORES, *ATOMICS)}
    tiles: list[Candidate] = []
    accesses: list[Candidate] = []
    others: list[Candidate] = []
    reloads: list[Candidate] = []
    fields: Counter[tuple[str, str, bool]] = Counter()  # of structures: places that access an array, so far
    for line in lines:
        of_time, of_chunks = line.ticks / whole, line.chunks / chunks
        if max(of_time, of_chunks) < WORTH_TRYING:
            continue
        weight = of_time + of_chunks
        is_read = line.kind in GLOBAL_LOADS and line.at[2] not in written
        chained = line.kind in GLOBAL_LOADS and is_chain(part, line)  # no load can be earlier, wider, or of a tile
        again = list(of_reloads(machine, line, weight, part)) if is_read else []
        reloads += again
        if line.kind in GLOBAL:
            kind = line.at[0], line.at[2], line.kind in STORES
            accesses += _of_access(machine, line, weight, across, fields[kind], part)
            fields[kind] += len(line.numbers)
        if again:  # a register makes all else there needless
            continue
        if line.kind in GLOBAL and not chained:
            others += of_vectors(machine, line, of_time if line.kind in LOADS else weight, part)
        if line.kind in GLOBAL_LOADS and not chained:
            others += of_waits(line, of_time, part)
        if is_read and not chained:
            tiles += of_reuse(machine, line, weight, part)
        if is_read:
            yield from of_constants(machine, line, weight, part)
        if line.kind in ATOMICS:
            yield from _of_atomics(line, weight)
    of_arrays = list(_of_arrays(accesses))
    yield from of_arrays
    yield from _of_all_arrays(of_arrays)
    yield from (*tiles, *together(tiles), *reloads, *reloads_together(reloads))
    yield from of_own_data(lines, chunks, part)
    yield from of_larger_tiles(lines, whole, chunks, part)
    yield from of_results(machine, lines, whole, chunks, part)
    yield from _of_local_memory(lines, whole, chunks, launch)
    arithmetic = list(of_arithmetic(machine, stalls, whole))
    yield from arithmetic
    others += of_shared_memory(stalls, lines, whole, part)
    yield from others
    yield from in_vectors([each for each in others if each.change == "vectorize"])
    cooperation = list(of_whole_blocks(stalls, lines, part))
    yield from cooperation
    yield from _of_remainders(cooperation, arithmetic)
    if not part.words:
        yield from _of_blocks(part)
    yield from of_divergent_constants(machine, stalls, whole)
    yield from of_serial_work(stalls, part, launch)
    yield from of_neighbours(machine, lines, whole, part, launch)
    yield from of_launch_shape(machine, part, launch)


def _of_access(
    machine: Machine, line: Line, weight: float, across: int, earlier: int = 0, part: Excerpt | None = None
) -> Iterator[Candidate]:
    """Whether consecutive threads access consecutive elements: those of a warp in as many rows as a block has there.

    Where they access elements that lie anywhere, no other indices of threads nor a tile would do.

    earlier: places at other lines that access the same array.
    """
    if not line.executions or not line.requests or not line.threads:
        return
    of_request, of_thread = line.bytes_asked / line.executions, line.bytes_asked / line.threads
    rows = rows_of_warp(machine, across)
    ideal = ideal_chunks(machine, of_request, across)
    now = line.chunks / line.requests
    if now < SPREAD * ideal:
        return
    window = max(2, int(machine.chunk_bytes // max(1.0, of_thread)))
    passes = rows * max(1, round(-(-of_request // (rows * OF_BANKS))))  # rows often begin in the same bank
    name = chunk_name(machine)
    verb = "store to" if line.kind in STORES else "read"
    is_scattered = part is not None and are_scattered(part.workload, line.numbers)
    how = SCATTERED if is_scattered else "change the indices or the layout, or go through a tile in shared memory"
    yield Candidate(
        "coalesce",
        f"let consecutive threads {verb} consecutive elements of {line.at[2] or 'the array'}: {how}; a request takes "
        f"{now:.3g} {name}s, where {ideal} would do",
        line.at, 2 * weight, BOUND if is_scattered else SIMULATED, tuple(line.numbers),
        lambda of, chosen: changes.coalesced(of, chosen, ideal, rows, window, passes, earlier),
    )  # fmt: skip


def _of_arrays(accesses: Sequence[Candidate]) -> Iterator[Candidate]:
    """Of changed layouts of one array that: loads and stores, at one line or at several, change together."""
    of_arrays: defaultdict[tuple[str, str], list[Candidate]] = defaultdict(list)
    for each in accesses:
        if each.at[2]:
            of_arrays[each.at[0], each.at[2]].append(each)
        else:
            yield each
    for (_, array), several in of_arrays.items():
        hottest = max(several, key=lambda each: each.weight)
        others = len({each.at[1] for each in several}) - 1
        if len(several) == 1:
            yield hottest
            continue
        words = hottest.words
        is_scattered = any(each.how == BOUND for each in several)
        if others:
            words = (
                f"let consecutive threads access consecutive elements of {array}, here and at {others} more line"
                f"{'s' * (others > 1)}: {SCATTERED if is_scattered else LAYOUT};{hottest.words.partition(';')[2]}"
            )
        weight = sum(each.weight for each in several)
        yield all_of(several, hottest.change, words, hottest.at, weight, BOUND if is_scattered else SIMULATED)


def _of_all_arrays(of_arrays: Sequence[Candidate]) -> Iterator[Candidate]:
    """Of layouts of single arrays that: other indices of threads change the accesses of several at once.

    Arrays whose elements lie anywhere are not among them.
    """
    several = [each for each in of_arrays if each.at[2] and each.how == SIMULATED]
    for file in dict.fromkeys(each.at[0] for each in several):
        own = [each for each in several if each.at[0] == file]
        if len(own) < 2:
            continue
        hottest, names = max(own, key=lambda each: each.weight), sorted(each.at[2] for each in own)
        yield all_of(
            own,
            "coalesce",
            f"let consecutive threads access consecutive elements of {', '.join(names[:-1])} and {names[-1]} at once: "
            "let threadIdx.x count what is consecutive in memory, say",
            (*hottest.at[:2], ""), sum(each.weight for each in own), SIMULATED,
        )  # fmt: skip


def _of_remainders(cooperation: Sequence[Candidate], arithmetic: Sequence[Candidate]) -> Iterator[Candidate]:
    """Threads that are chosen by a remainder: consecutive ones are chosen without."""
    for compact in cooperation:
        for divide in arithmetic:
            if (compact.change, divide.change) == ("compact", "divide") and compact.at[:2] == divide.at[:2]:
                words = f"{compact.words}; and they are found without a division"
                gone = replace(divide, make=without_divisions)
                yield all_of([compact, gone], "compact", words, compact.at, compact.weight + divide.weight, BOUND)


def _of_local_memory(lines: Sequence[Line], whole: int, chunks: int, launch: TraceLaunch | None) -> Iterator[Candidate]:
    """Whether threads keep what does not fit into their registers, or arrays that are indexed by a variable."""
    local = [line for line in lines if line.kind.startswith("local")]
    weight = sum(line.ticks for line in local) / whole + sum(line.chunks for line in local) / chunks
    if weight < WORTH_TRYING:
        return
    hottest = max(local, key=lambda line: (line.ticks, line.chunks))
    at, numbers = (*hottest.at[:2], ""), tuple(number for line in local for number in line.numbers)
    if launch is not None and launch.spill_bytes_per_thread:
        words = (
            "let threads have more registers (-maxrregcount, __launch_bounds__), or keep fewer values at a time: "
            f"{launch.spill_bytes_per_thread} bytes of each thread are spilled to local memory"
        )
        yield Candidate("local memory", words, at, 2 * weight, BOUND, numbers, regrouped.left_out)
        return
    words = (
        "keep this array in registers, which takes indices that the compiler knows (unroll the loops over it; sort it, "
        "or find its median, by a network of min and max), or in shared memory: an array that is indexed by a variable "
        "is in local memory"
    )
    yield Candidate("local memory", words, at, 2 * weight, ESTIMATE, numbers, changes.in_shared_memory)


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


def _of_locks(locks: Sequence[Turns], lines: Sequence[Line], stalls: Stalls) -> Iterator[Candidate]:
    """Whether threads take turns at locks; a block could take each once for all that its threads do."""
    whole, chunks = max(1, int(stalls.ticks.sum())), max(1, sum(line.chunks for line in lines))
    for lock in locks:
        own = [line for line in lines if set(line.numbers) <= set(lock.numbers)]
        within = [line for line in lines if line.at[0] == lock.file and lock.line <= line.at[1] <= lock.last]
        weight = sum(line.ticks for line in within) / whole + sum(line.chunks for line in own) / chunks
        if weight < WORTH_TRYING:
            continue
        yield Candidate(
            "lock",
            "do without this lock, at which threads take turns: update what it guards by atomics (atomicAdd, or a loop "
            "of atomicCAS on the value), or let a warp or a block gather its updates and take the lock once; or have "
            f"more locks, for less data each (more waiting for {lock.array} than is simulated goes with it)",
            (lock.file, lock.line, lock.array), 2 * weight, ESTIMATE, lock.numbers, changes.combined_in_blocks,
        )  # fmt: skip


def _is_of_turns(each: Candidate, locks: Sequence[Turns], is_locked: bool) -> bool:
    """Whether a change is nothing where threads take turns: few lanes work behind a lock whatever they do, an update of
    the lock itself is no sum, and of more blocks more would wait.
    """
    if is_locked and each.change == "spread":
        return True
    of_lanes = each.change in ("compact", "balance")
    return any(
        (of_lanes and each.at[0] == lock.file and lock.line <= each.at[1] <= lock.last)
        or (each.numbers and set(each.numbers) <= set(lock.numbers))
        for lock in locks
    )


def _of_blocks(part: Excerpt) -> Iterator[Candidate]:
    """Whether some blocks do many times what others do."""
    if (found := long_blocks(part.machine, part.workload)) is not None:
        words, times = found
        yield Candidate("even out", words, ("", 0, ""), 1.0, SIMULATED, (), lambda of, _: changes.evened_out(of, times))
