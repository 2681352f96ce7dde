"""Changes that keep data near where they are used again: tiles of a block in shared memory, results in registers."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from simtmm.analysis.source_changes import changes, regrouped
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import (
    BOUND,
    ESTIMATE,
    VECTOR_BYTES,
    WORTH_TRYING,
    Candidate,
    Line,
    all_of,
    chunk_name,
    times_again,
)
from simtmm.analysis.source_changes.operations import Flags, Integers, Operations, count_distinct, firsts, packed
from simtmm.analysis.source_changes.reordered import before, issued_together
from simtmm.machine import Machine
from simtmm.stalls import ATOMICS, LOADS, STORES
from simtmm.workload import (
    ASYNC,
    BARRIER,
    SHARED,
    SYNC,
    Workload,
)

AGAIN = 1.5  # times that a block asks for a byte, from which on a tile spares loads
MORE = 1.5  # times as often as different elements can be, from which on a warp loads some again
SECTOR = 32  # bytes
REGISTERS = 32  # elements that a thread has room for beside its own
SAME = 1.01  # times as many bytes
OF_A_TILE = 16  # of a warp's loads that it no longer waits for one by one where a block loads tiles
UNROLLED = 8  # rounds of a loop whose loads compilers issue together
MOSTLY = 0.5  # of a warp's steps from load to load
TWICE = 2  # as many rows, and columns, of a tile
OFTEN = 4  # times that a warp stores to the same place, or a block to its own data


def of_reuse(machine: Machine, line: Line, weight: float, part: Excerpt) -> Iterator[Candidate]:
    """Whether the warps of a block load the same."""
    of = part.operations
    chosen = part.operations.at(line.numbers)
    here = of.chunks_of(chosen)
    if not len(here) or not line.requests:
        return
    distinct = count_distinct(packed(of.block[of.of_chunk[here]], part.workload.chunks[here]))
    times = len(here) / distinct
    asked = line.bytes_asked / line.requests * int(np.count_nonzero(chosen & (of.listed > 0)))
    if times < 2 or asked < AGAIN * distinct * machine.chunk_bytes:  # else threads go through chunks by themselves
        return
    yield Candidate(
        "tile",
        f"load {line.at[2] or 'it'} once for each block, a tile at a time, into shared memory: a block loads each "
        f"{chunk_name(machine)} {times:.3g} times now",
        line.at, weight, BOUND, tuple(line.numbers), _in_tiles(part, line),
    )  # fmt: skip


def _in_tiles(part: Excerpt, line: Line) -> Callable[[Operations, Flags], Workload]:
    """What a tile makes of the loads: reads of shared memory, as vectors where threads read adjacent elements."""
    times = int(VECTOR_BYTES // max(1.0, line.bytes_asked / max(1, line.threads)))
    own = part.operations.at(line.numbers)
    in_vectors = times > 1 and regrouped.are_adjacent(part.operations, own, times)

    def change(of: Operations, chosen: Flags) -> Workload:
        shared = changes.shared_by_blocks(of, chosen)
        reads = chosen & (shared.kind == SHARED)
        if in_vectors:
            shared = regrouped.vectorized(Operations(shared), reads, times)
            chosen = np.isin(shared.place, line.numbers)
        loads = chosen & (shared.kind == ASYNC)  # of a tile all threads load at once, and then wait together
        return issued_together(Operations(shared), loads, OF_A_TILE)

    return change


def together(tiles: Sequence[Candidate]) -> Iterator[Candidate]:
    """Tiles of several arrays of a line at once."""
    of_lines: defaultdict[tuple[str, int], list[Candidate]] = defaultdict(list)
    for each in tiles:
        of_lines[each.at[:2]].append(each)
    for (file, line), several in of_lines.items():
        if len(several) < 2:
            continue
        names = " and ".join(sorted(each.at[2] or "an array" for each in several))
        words = f"load {names} once for each block, a tile of each at a time, into shared memory"
        yield all_of(several, "tile", words, (file, line, ""), sum(each.weight for each in several), BOUND)


def of_larger_tiles(lines: Sequence[Line], whole: int, chunks: int, part: Excerpt) -> Iterator[Candidate]:
    """Whether blocks load tiles that other blocks load, too: of larger ones each loads fewer for a result.

    whole: ticks of all warps. chunks: of all lines.
    """
    of = part.operations
    stored = {line.at[:2] for line in lines if line.kind == "shared_store"}
    written = {line.at[2] for line in lines if line.kind in (*STORES, *ATOMICS)}
    tiles = [line for line in lines if line.kind in LOADS and line.at[:2] in stored and line.at[2] not in written]
    shared = {id(line): _blocks_of_each_chunk(of, line) for line in tiles}
    tiles = [line for line in tiles if shared[id(line)] >= TWICE]
    weight = sum(line.ticks / whole + line.chunks / chunks for line in tiles)
    if weight < WORTH_TRYING:
        return
    hottest = max(tiles, key=lambda line: (line.ticks, line.chunks))
    names = sorted({line.at[2] or "an array" for line in tiles})
    where = {line.at[:2] for line in tiles}
    numbers = [number for line in lines if line.at[:2] in where for number in line.numbers]
    yield Candidate(
        "tile",
        f"let a block compute {TWICE * TWICE} times as many results, several in each thread, from tiles of "
        f"{' and '.join(names)} that are twice as large: {shared[id(hottest)]:.3g} blocks load each chunk now",
        (*hottest.at[:2], ""), weight, BOUND, tuple(numbers),
        lambda of, chosen: regrouped.with_part(of, chosen, 1 / TWICE),
    )  # fmt: skip


def _blocks_of_each_chunk(of: Operations, line: Line) -> float:
    """How many blocks load a chunk of a line, on average."""
    here = of.chunks_of(of.at(line.numbers))
    accessed = of.workload.chunks[here]
    owned = count_distinct(packed(accessed, of.block[of.of_chunk[here]]))
    return owned / max(1, count_distinct(accessed))


def of_own_data(lines: Sequence[Line], chunks: int, part: Excerpt) -> Iterator[Candidate]:
    """Whether a block works again and again on data that no other block accesses, between its barriers."""
    of = part.operations
    if not np.isin(part.workload.kind, (BARRIER, SYNC)).any():
        return
    for array, several in _by_array(lines).items():
        weight = sum(line.chunks for line in several) / chunks
        if weight < WORTH_TRYING or {line.kind in STORES for line in several} != {True, False}:
            continue
        numbers = tuple(number for line in several for number in line.numbers)
        here = of.chunks_of(part.operations.at(numbers))
        accessed = part.workload.chunks[here]
        owned = count_distinct(packed(accessed, of.block[of.of_chunk[here]]))
        is_shared = count_distinct(accessed) < owned
        if is_shared or len(here) < 2 * OFTEN * max(1, owned):
            continue
        hottest = max(several, key=lambda line: line.chunks)
        yield Candidate(
            "tile",
            f"let each block load its part of {array} into shared memory, work on it there, and store it at the end: "
            f"it accesses each of its chunks {len(here) / owned:.3g} times now",
            hottest.at, 2 * weight, BOUND, numbers, changes.owned_by_blocks,
        )  # fmt: skip


def of_results(machine: Machine, lines: Sequence[Line], whole: int, chunks: int, part: Excerpt) -> Iterator[Candidate]:
    """Whether threads update the same element in memory again and again, at one line or at several."""
    of, sure = part.operations, []
    for (file, line_number, array), several in _by_line(lines).items():
        weight = sum(line.ticks / whole + line.chunks / chunks for line in several)
        if weight < WORTH_TRYING or not array or not any(line.kind in STORES for line in several):
            continue
        times = {id(line): _times(machine, of, line) for line in several}
        repeated = [line for line in several if times[id(line)] >= OFTEN]
        stored = max((times[id(line)] for line in repeated if line.kind in STORES), default=0.0)
        if not stored:
            continue
        words = (
            f"keep the element of {array} in a register while the loop goes on, and store it once behind it: a thread "
            f"stores to the same place {stored:.3g} times now"
        )
        numbers = tuple(number for line in repeated for number in line.numbers)
        at = file, line_number, array
        is_unrolled = all(times_again(machine, line, of, _places_of(of, line)) >= OFTEN for line in repeated)
        make = partial(_once_a_warp, is_unrolled=is_unrolled)
        yield (one := Candidate("accumulate", words, at, 2 * weight, ESTIMATE, numbers, make))
        sure += [one] * is_unrolled
    if len(sure) > 1:
        hottest, count = max(sure, key=lambda each: each.weight), len(sure) - 1
        words = f"{hottest.words}; likewise at {count} more line{'s' * (count > 1)}"
        weight = sum(each.weight for each in sure)
        yield all_of(sure, "accumulate", words, (*hottest.at[:2], ""), weight, ESTIMATE)


def _times(machine: Machine, of: Operations, line: Line) -> float:
    """How often a warp lists a chunk at a place, on average; or, all of it, at all places of an unrolled loop.

    Between two barriers: what is stored before one is for others.
    """
    chosen = _places_of(of, line)
    here = of.chunks_of(chosen)
    at_places = len(here) / max(1, int(_first_of_warps(of, here).sum()))
    times = max(at_places, times_again(machine, line, of, chosen))
    barriers = np.isin(of.workload.kind, (BARRIER, SYNC))
    if times < OFTEN or not barriers.any():
        return times
    interval = before(of, barriers)[of.of_chunk[here]]
    return len(here) / max(1, int(firsts(of.warp[of.of_chunk[here]], interval, of.workload.chunks[here]).sum()))


def _places_of(of: Operations, line: Line) -> Flags:
    return of.at(line.numbers)


def _first_of_warps(of: Operations, here: Integers, is_unrolled: bool = False) -> Flags:
    """Of listed chunks the first by a warp at each place, or, where a loop is unrolled, by each kind of access."""
    at = (of.workload.kind if is_unrolled else of.workload.place)[of.of_chunk[here]].astype(np.int64)
    return firsts(of.warp[of.of_chunk[here]], at, of.workload.chunks[here])


def _once_a_warp(of: Operations, chosen: Flags, is_unrolled: bool = False) -> Workload:
    """At each place a warp lists each chunk once; loads that the stores kept back are issued together then."""
    here = of.chunks_of(chosen)
    kept = np.zeros(len(chosen), bool)
    kept[of.of_chunk[here[_first_of_warps(of, here, is_unrolled)]]] = True
    left = Operations(regrouped.left_out(of, chosen & ~kept & (of.listed > 0)))
    return issued_together(left, _are_regular(left), UNROLLED)


def _are_regular(of: Operations) -> Flags:
    """bool[operations]: asyncs of places at which a warp mostly goes on by the same distance.

    No earlier load says where these load from, so an unrolled loop need not wait for one.
    """
    asyncs = np.flatnonzero((of.workload.kind == ASYNC) & (of.listed > 0))
    first = (np.append(0, np.cumsum(of.listed)))[asyncs]  # chunk of each
    order = np.lexsort((asyncs, of.warp[asyncs], of.workload.place[asyncs]))
    place, warp = of.workload.place[asyncs][order], of.warp[asyncs][order]
    is_next = (np.diff(place) == 0) & (np.diff(warp) == 0)
    distance = np.diff(of.workload.chunks[first][order])[is_next]
    found = np.zeros(len(of.listed), bool)
    for number in np.unique(place):
        own = distance[place[1:][is_next] == number]
        if len(own) and np.unique(own, return_counts=True)[1].max() >= MOSTLY * len(own):
            found[asyncs[of.workload.place[asyncs] == number]] = True
    return found


def _by_array(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Loads and stores of global memory, by the array's name."""
    found: defaultdict[str, list[Line]] = defaultdict(list)
    for line in lines:
        if line.at[2] and line.kind in (*LOADS, *STORES) and not line.kind.startswith("local"):
            found[line.at[2]].append(line)
    return found


def _by_line(lines: Sequence[Line]) -> dict[tuple[str, int, str], list[Line]]:
    """Likewise, by line and array."""
    found: defaultdict[tuple[str, int, str], list[Line]] = defaultdict(list)
    for several in _by_array(lines).values():
        for line in several:
            found[line.at].append(line)
    return found
