"""Trace -> Workload: threads to warps of W in lockstep, addresses to chunks of C words.

Of the threads of a warp that are at different sites, those at the lowest site go first, so that they meet again
behind a branch or a loop. Threads at a barrier wait until all living threads of their warp are at one. What
threads do at one site at once is one operation of the warp:

    work            compute, of as many instructions as the thread with most operations has; neighbours merge;
                    work of no operations is nothing
    load, async,
    store           the chunks that the threads touch, duplicates merged, in the order of their first thread
    atomic          a chunk for each thread, in order
    shared_*        shared, with the conflict degree of the banks
    join            join, leaving out as many asyncs as the thread that leaves out fewest

With memory.coalescing = "half-warp-segments" a load, async or store lists instead, for each half-warp, a chunk for
each transaction that serves it, the chunk in which its segment lies (simtmm/trace/coalescing.py); so a chunk may be
listed several times.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simtmm.compiled import Compiled
from simtmm.errors import MachineError, TraceError, WorkloadError
from simtmm.machine import Machine
from simtmm.trace.coalescing import HALF_WARP, coalesce
from simtmm.trace.io import Trace
from simtmm.trace.schema import EVENT, Batch, Events, Kind, TraceInfo
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LARGEST, LOAD, SHARED, STORE, Workload

WIDEST_ACCESS = 256  # bytes, and so at most this many words of a bank
NO_SITE = 1 << 30  # above every site: a thread that is done
AT_BARRIER = 1 << 29  # likewise: one that waits
BEYOND = 1 << 62  # addresses and counts of a trace are below it
MOST_BLOCKS = 2**31 - 1  # of a launch: a trace numbers them with 32 bits

_WORK, _LOAD, _ASYNC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC)
_STORE, _ATOMIC, _JOIN, _BARRIER = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.JOIN), int(Kind.BARRIER)
_SHARED_ATOMIC = int(Kind.SHARED_ATOMIC)


def lower(trace: Trace, machine: Machine, progress: Callable[[int, int], None] | None = None) -> Workload:
    """The workload that a trace is on a machine.

    W, C, the width of a word, the rule of coalescing and the banks are the machine's. Each launch carries its
    occupancy: as many blocks as Eq (5.2) of the dissertation lets a group hold. progress: called with (events done,
    events in all).

    Raises WorkloadError where a block does not fit the machine or a warp's work does not fit 64 bits, TraceError where
    the trace is damaged.
    """
    info = trace.info
    limits = _occupancy(info, machine)
    pieces = []
    done = 0
    for span in spans(trace):
        pieces.append(_lower_span(span, info, machine))
        done += len(span.events)
        if progress:
            progress(done, info.events)
    return _assemble(pieces, info, machine, limits)


def fit(workload: Workload, info: TraceInfo, machine: Machine) -> Workload:
    """A workload that was lowered on a machine with room for any block, with the occupancy of this one.

    What `lower` gives for this machine, where the other has its W, C, width of a word, rule of coalescing and banks.
    Raises WorkloadError where a block does not fit.
    """
    limits = np.array(_occupancy(info, machine), dtype=np.int64)
    return replace(workload, launch_limits=limits, origin=_origin(info, machine))


def _origin(info: TraceInfo, machine: Machine) -> str:
    return f"{info.kernel} on {machine.name}"


def _occupancy(info: TraceInfo, machine: Machine) -> list[int]:
    """Blocks of each launch that a group holds at once."""
    limits = []
    for number, launch in enumerate(info.launches):
        try:
            limits.append(
                machine.active_blocks(launch.threads_per_block, launch.registers_per_thread, launch.shared_memory_bytes)
            )
        except MachineError as error:
            raise WorkloadError(f"{info.kernel}: launch {number} of {launch.kernel}: {error}") from None
    return limits


@dataclass(frozen=True)
class Span:
    """A stretch of consecutive blocks, those without events included.

    events: as in Batch. ends: int64[blocks]. threads: int64[blocks], threads of a block of each. first: the number of
    its first block, over all launches.
    """

    events: Events
    ends: npt.NDArray[np.int64]
    threads: npt.NDArray[np.int64]
    first: int


def spans(trace: Trace) -> Iterator[Span]:
    """The trace as stretches of blocks without gaps, up to the last block of the last launch. Raises TraceError."""
    launches = trace.info.launches
    for number, launch in enumerate(launches):
        if launch.blocks > MOST_BLOCKS:
            raise TraceError(
                f"{trace.info.kernel}: launch {number} of {launch.kernel}: {launch.blocks} blocks: must be below 2^31"
            )
    sizes = np.array([launch.threads_per_block for launch in launches], dtype=np.int64)
    offsets = np.cumsum([0, *(launch.blocks for launch in launches)], dtype=np.int64)
    block_threads = np.repeat(sizes, np.diff(offsets))
    begun = 0

    def gapless(batch: Batch) -> Span:
        numbers = offsets[batch.launch] + batch.block
        counts = np.zeros(int(numbers[-1]) + 1 - begun, dtype=np.int64)
        counts[numbers - begun] = np.diff(batch.ends, prepend=0)
        return Span(batch.events, np.cumsum(counts), block_threads[begun : begun + len(counts)], begun)

    for batch in trace.batches():
        if len(batch.ends):
            span = gapless(batch)
            yield span
            begun += len(span.ends)
    rest = block_threads[begun:]
    if len(rest):
        yield Span(np.empty(0, dtype=EVENT), np.zeros(len(rest), dtype=np.int64), rest, begun)


def name_of_block(info: TraceInfo, number: int) -> str:
    """Kernel, launch and block, for a message; the number counts the blocks of all launches."""
    for index, launch in enumerate(info.launches):
        if number < launch.blocks:
            return f"{info.kernel}: launch {index} of {launch.kernel}, block {number}"
        number -= launch.blocks
    raise IndexError(number)


@dataclass(frozen=True)
class _Piece:
    kind: npt.NDArray[np.uint8]
    amount: npt.NDArray[np.int64]
    chunks: npt.NDArray[np.int64]
    warp_operations: npt.NDArray[np.int64]  # operations of each warp
    warp_chunks: npt.NDArray[np.int64]  # chunks of each warp
    block_warps: npt.NDArray[np.int64]  # warps of each block


def _lower_span(span: Span, info: TraceInfo, machine: Machine) -> _Piece:
    width = machine.cores.warp_width
    block_warps = -(-span.threads // width)
    warps = int(block_warps.sum())
    events = len(span.events)
    by_thread = machine.memory.coalescing == "half-warp-segments"
    most_chunks = (
        events
        if by_thread
        else int(((span.events["bytes"].astype(np.int64) + machine.chunk_bytes - 2) // machine.chunk_bytes + 1).sum())
    )
    kind = np.empty(events, dtype=np.uint8)
    amount = np.empty(events, dtype=np.int64)
    chunks = np.empty(most_chunks, dtype=np.int64)
    warp_operations = np.empty(warps, dtype=np.int64)
    warp_chunks = np.empty(warps, dtype=np.int64)
    operations, chunk_count, refused = _lockstep(
        span.events, span.ends, span.threads, width, machine.chunk_bytes, machine.banks.count,
        machine.banks.word_bytes, machine.banks.lanes or width, by_thread,
        kind, amount, chunks, warp_operations, warp_chunks,
    )  # fmt: skip
    if refused >= 0:
        raise _refusal(span, refused, info)
    kind, amount, chunks = kind[:operations].copy(), amount[:operations].copy(), chunks[:chunk_count].copy()
    if by_thread:
        chunks, warp_chunks = _by_half_warps(span.events, kind, amount, chunks, warp_operations, machine)
    return _Piece(kind, amount, chunks, warp_operations, warp_chunks, block_warps)


def _refusal(span: Span, block: int, info: TraceInfo) -> TraceError | WorkloadError:
    """What is wrong with a block that can't be lowered."""
    events = span.events[span.ends[block - 1] if block else 0 : span.ends[block]]
    most = int(events["value"][events["kind"] != _BARRIER].max())
    where = name_of_block(info, span.first + block)
    if most >= BEYOND:
        return TraceError(f"{where}: value {most}: addresses and counts must be below 2^62")
    return WorkloadError(f"{where}: a warp's work without anything in between: its operations must be below 2^63")


def _by_half_warps(
    events: Events,
    kind: npt.NDArray[np.uint8],
    amount: npt.NDArray[np.int64],
    accesses: npt.NDArray[np.int64],
    warp_operations: npt.NDArray[np.int64],
    machine: Machine,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The chunks of memory operations, and how many each warp has; `amount` is set to how many each operation has.

    accesses: for each memory operation the events of the threads that take part, `amount` of them.
    """
    memory = np.flatnonzero((kind >= LOAD) & (kind <= ATOMIC))
    event = events[accesses]
    operation = np.repeat(memory, amount[memory])
    half_warp = event["thread"] % machine.cores.warp_width // HALF_WARP
    begins = np.ones(len(accesses), dtype=bool)
    # Updates of one word are not served together, so each thread of an atomic is on its own.
    begins[1:] = (np.diff(operation) != 0) | (np.diff(half_warp) != 0) | (kind[operation[1:]] == ATOMIC)
    starts = np.flatnonzero(begins)
    ends = np.append(starts[1:], len(accesses)) if len(accesses) else starts
    sizes = np.maximum(event["bytes"], 1).astype(np.int64)
    found = coalesce(event["value"].astype(np.int64), sizes, ends)
    transfers = np.bincount(operation[starts], weights=found.counts, minlength=len(kind)).astype(np.int64)
    amount[memory] = transfers[memory]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(transfers, dtype=np.int64)])
    of_warps = np.diff(before[np.concatenate([np.zeros(1, np.int64), np.cumsum(warp_operations)])])
    return found.addresses // machine.chunk_bytes, of_warps


def _assemble(pieces: list[_Piece], info: TraceInfo, machine: Machine, limits: list[int]) -> Workload:
    def offsets(counts: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.cumsum(np.concatenate([np.zeros(1, np.int64), *counts]), dtype=np.int64)

    def joined(arrays: list[npt.NDArray[np.int64]]) -> npt.NDArray[np.int64]:
        return np.concatenate([np.empty(0, np.int64), *arrays])

    return Workload(
        kind=np.concatenate([np.empty(0, np.uint8), *(piece.kind for piece in pieces)]),
        amount=joined([piece.amount for piece in pieces]),
        chunks=joined([piece.chunks for piece in pieces]),
        warp_operations=offsets([piece.warp_operations for piece in pieces]),
        warp_chunks=offsets([piece.warp_chunks for piece in pieces]),
        block_warps=offsets([piece.block_warps for piece in pieces]),
        launch_blocks=offsets([np.array([launch.blocks for launch in info.launches], dtype=np.int64)]),
        launch_limits=np.array(limits, dtype=np.int64),
        origin=_origin(info, machine),
    )


@Compiled
def _lockstep(  # type: ignore[no-untyped-def]  # Numba finds the types
    events, ends, threads, width, chunk_bytes, banks, bank_bytes, lanes_together, by_thread,
    kind, amount, chunks, warp_operations, warp_chunks,
):  # fmt: skip
    """Fill the output arrays; the number of operations and of chunks, and -1, or the block that can't be lowered.

    by_thread: whether a memory operation lists, in the place of chunks, the events of its threads.
    """
    most_threads = 0
    for block in range(len(threads)):
        most_threads = max(most_threads, threads[block])
    thread_start = np.empty(most_threads + 1, dtype=np.int64)
    most_lanes = min(width, most_threads)
    position = np.empty(most_lanes, dtype=np.int64)  # of each lane: its next event,
    stop = np.empty(most_lanes, dtype=np.int64)  # where its events end,
    at = np.empty(most_lanes, dtype=np.int32)  # and the site of the next one
    # Words that a shared access touches, a chain for each bank.
    chain = np.empty(banks, dtype=np.int64)
    word_of = np.empty(most_lanes * WIDEST_ACCESS, dtype=np.int64)
    next_of = np.empty(most_lanes * WIDEST_ACCESS, dtype=np.int64)

    operations = 0
    chunk_count = 0
    warp = 0
    begin = 0
    for block in range(len(ends)):
        # Where the events of each thread begin.
        thread = 0
        for event in range(begin, ends[block]):
            while thread <= events[event].thread:
                thread_start[thread] = event
                thread += 1
        while thread <= threads[block]:
            thread_start[thread] = ends[block]
            thread += 1
        begin = ends[block]

        for first in range(0, threads[block], width):
            lanes = min(width, threads[block] - first)
            first_operation = operations
            first_chunk = chunk_count
            for lane in range(lanes):
                position[lane] = thread_start[first + lane]
                stop[lane] = thread_start[first + lane + 1]
                at[lane] = NO_SITE
                if position[lane] < stop[lane]:
                    event = events[position[lane]]
                    at[lane] = AT_BARRIER if event.kind == _BARRIER else event.site
            while True:
                site = at[0]
                for lane in range(1, lanes):
                    site = min(site, at[lane])
                if site == NO_SITE:
                    break
                leader = 0
                while at[leader] != site:
                    leader += 1
                what = events[position[leader]].kind
                most = np.int64(0)
                least = np.int64(1) << 62
                start = chunk_count
                words = 0
                degree = 0
                together = -1
                total_degree = 0
                for lane in range(leader, lanes):
                    if at[lane] != site:
                        continue
                    event = events[position[lane]]
                    if event.kind != what:
                        continue
                    value = np.int64(event.value)
                    if what != _BARRIER and (value < 0 or value >= BEYOND):
                        return operations, chunk_count, block
                    if by_thread and what in (_LOAD, _ASYNC, _STORE, _ATOMIC):
                        chunks[chunk_count] = position[lane]
                        chunk_count += 1
                    elif what in (_LOAD, _ASYNC, _STORE):
                        last = (value + np.int64(max(event.bytes, 1)) - 1) // chunk_bytes
                        for chunk in range(value // chunk_bytes, last + 1):
                            known = chunk_count - 1
                            while known >= start and chunks[known] != chunk:
                                known -= 1
                            if known < start:
                                chunks[chunk_count] = chunk
                                chunk_count += 1
                    elif what == _ATOMIC:
                        chunks[chunk_count] = value // chunk_bytes
                        chunk_count += 1
                    elif what == _WORK:
                        most = max(most, value)
                    elif what == _JOIN:
                        least = min(least, value)
                    elif what != _BARRIER:
                        if lane // lanes_together != together:  # these lanes are served in a pass of their own
                            together = lane // lanes_together
                            total_degree += degree
                            degree = 0
                            words = 0
                            for bank in range(banks):
                                chain[bank] = -1
                        array = value >> 32 << 32
                        offset = value - array
                        last = (offset + np.int64(max(event.bytes, 1)) - 1) // bank_bytes
                        for word in range(offset // bank_bytes, last + 1):
                            bank = word % banks
                            depth = 1
                            link = chain[bank]
                            # Threads that read one word are served at once; updates of it are not.
                            while link >= 0 and (what == _SHARED_ATOMIC or word_of[link] != array + word):
                                link = next_of[link]
                                depth += 1
                            if link < 0:
                                word_of[words] = array + word
                                next_of[words] = chain[bank]
                                chain[bank] = words
                                words += 1
                                degree = max(degree, depth)
                    position[lane] += 1
                    at[lane] = NO_SITE
                    if position[lane] < stop[lane]:
                        following = events[position[lane]]
                        at[lane] = AT_BARRIER if following.kind == _BARRIER else following.site
                if what == _WORK:
                    if most == 0:
                        continue
                    if operations > first_operation and kind[operations - 1] == COMPUTE:
                        if amount[operations - 1] > LARGEST - most:
                            return operations, chunk_count, block
                        amount[operations - 1] += most
                        continue
                    kind[operations] = COMPUTE
                    amount[operations] = most
                elif what == _JOIN:
                    kind[operations] = JOIN
                    amount[operations] = least
                elif what == _BARRIER:
                    kind[operations] = BARRIER
                    amount[operations] = 0
                elif what in (_LOAD, _ASYNC, _STORE, _ATOMIC):
                    kind[operations] = (
                        LOAD if what == _LOAD else ASYNC if what == _ASYNC else STORE if what == _STORE else ATOMIC
                    )
                    amount[operations] = chunk_count - start
                else:
                    passes = (lanes + lanes_together - 1) // lanes_together
                    kind[operations] = SHARED
                    amount[operations] = max(1, (total_degree + degree + passes - 1) // passes)
                operations += 1
            warp_operations[warp] = operations - first_operation
            warp_chunks[warp] = chunk_count - first_chunk
            warp += 1
    return operations, chunk_count, -1
