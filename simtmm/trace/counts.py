"""Trace -> counts: work, span, memory operations and threads in use, what the models take.

Nothing here comes from an engine, so that prediction and simulation are independent.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.compiled import Compiled
from simtmm.errors import TraceError
from simtmm.machine import Machine
from simtmm.machine.tables import LARGEST_SEGMENT
from simtmm.trace.coalescing import HALF_WARP
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower
from simtmm.trace.schema import Kind
from simtmm.trace.spans import name_of_block, spans
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LARGEST, LOAD, SHARED, STORE, Workload

_WORK, _JOIN, _BARRIER = int(Kind.WORK), int(Kind.JOIN), int(Kind.BARRIER)
_LOAD, _STORE, _ATOMIC = int(Kind.LOAD), int(Kind.STORE), int(Kind.ATOMIC)
# What is counted of a block, a column each.
_ALL_WORK, _SPAN, _BARRIERS, _ACCESSES, _THREAD_ACCESSES, _READ, _WRITTEN, _WIDEST = range(8)
_COLUMNS = 8


@dataclass(frozen=True)
class LaunchCounts:
    """The counts of one launch; see Counts.

    threads, blocks: of the whole launch. active_blocks: blocks that a core group may hold at once. blocks_in_use:
    blocks that the whole machine holds at once, at most. warps_in_use: likewise, their warps.
    instructions: times that warps take an issue port; a shared of conflict degree d counts d times.
    uncoalesced_instructions: memory instructions of warps that list more chunks than neighbouring words would, of the
        size of the launch's widest access: of 4 bytes one for 32 threads and chunks of 128 bytes, or one for each
        half-warp with memory.coalescing = "half-warp-segments". An atomic lists an entry for each thread.
    uncoalesced_operations: the chunks that those list.
    barriers: barriers that a block passes, of the block with most.
    accesses: accesses to global memory, thread by thread. thread_accesses: of the thread with most.
    bytes_read, bytes_written: what those accesses ask for; an atomic both reads and writes.
    store_operations, atomic_operations: of the memory operations, the chunks of stores and the updates of atomics.
    """

    kernel: str
    work: int
    span: int
    memory_operations: int
    memory_instructions: int
    threads: int
    blocks: int
    active_blocks: int
    blocks_in_use: int
    warps_in_use: int
    threads_per_core: float
    instructions: int = 0
    uncoalesced_instructions: int = 0
    uncoalesced_operations: int = 0
    barriers: int = 0
    accesses: int = 0
    thread_accesses: int = 0
    bytes_read: int = 0
    bytes_written: int = 0
    store_operations: int = 0
    atomic_operations: int = 0


@dataclass(frozen=True)
class Counts:
    """What a program does, for a machine's W and C.

    work: T1, operations of all threads; an access to global or shared memory is one, OP(n) is n.
    span: Tinf, operations on the longest path: within a launch a block's barriers order its threads' work, and
        launches follow one another.
    memory_operations: M, chunks of C words after coalescing; an atomic counts once for each update.
    memory_instructions: warp instructions that go to global memory.
    threads_per_core: threads a core has in use, that is resident at once. Over launches the mean that keeps
        the sum of M / threads_per_core, the harmonic mean weighted by memory operations.
    warps_in_use: warps the machine has resident at once, averaged likewise.
    launches: the same, launch by launch.
    waits: times L that a warp waits for memory one after another, of the warp with most in each launch, summed over
        launches. Asyncs in flight together are one wait; stores that take less than L are left out. Without cache hits
        a run takes waits * L at least.
    """

    work: int
    span: int
    memory_operations: int
    memory_instructions: int
    threads_per_core: float
    warps_in_use: float
    launches: tuple[LaunchCounts, ...]
    waits: int = 0

    @classmethod
    def of_launch(cls, launch: LaunchCounts, waits: int = 0) -> "Counts":
        """Those of a program of one launch."""
        return cls(
            work=launch.work,
            span=launch.span,
            memory_operations=launch.memory_operations,
            memory_instructions=launch.memory_instructions,
            threads_per_core=launch.threads_per_core,
            warps_in_use=float(launch.warps_in_use),
            launches=(launch,),
            waits=waits,
        )

    def to_dict(self) -> dict[str, Any]:
        """All but the launches, for JSON."""
        return {
            "work": self.work,
            "span": self.span,
            "memory_operations": self.memory_operations,
            "memory_instructions": self.memory_instructions,
            "threads_per_core": self.threads_per_core,
            "warps_in_use": self.warps_in_use,
            "launches": len(self.launches),
            "waits": self.waits,
        }


def count(trace: Trace, machine: Machine, workload: Workload | None = None) -> Counts:
    """Count what a trace does on a machine. workload: what `lower` gives, where it is there already.

    Raises TraceError where the work does not fit 64 bits, and what `lower` raises.
    """
    workload = lower(trace, machine) if workload is None else workload
    specification = CountingSpecification.of(machine)
    work, span, *others, widest = _of_threads(trace)
    chunks, instructions, stores, atomics = _memory_operations(workload)
    issued, uncoalesced, uncoalesced_chunks = _of_warps(workload, specification.lowering, widest)
    launches = []
    for number, launch in enumerate(trace.info.launches):
        warps = -(-launch.threads_per_block // specification.lowering.warp_width)
        active = int(workload.launch_limits[number])
        in_use = min(launch.blocks, active * specification.groups)
        launches.append(
            LaunchCounts(
                kernel=launch.kernel,
                work=int(work[number]),
                span=int(span[number]),
                memory_operations=int(chunks[number]),
                memory_instructions=int(instructions[number]),
                threads=launch.blocks * launch.threads_per_block,
                blocks=launch.blocks,
                active_blocks=active,
                blocks_in_use=in_use,
                warps_in_use=in_use * warps,
                threads_per_core=in_use * launch.threads_per_block / specification.processors,
                instructions=int(issued[number]),
                uncoalesced_instructions=int(uncoalesced[number]),
                uncoalesced_operations=int(uncoalesced_chunks[number]),
                store_operations=int(stores[number]),
                atomic_operations=int(atomics[number]),
                **{name: int(column[number]) for name, column in zip(_OTHERS, others, strict=True)},
            )
        )
    return Counts(
        work=int(work.sum()),
        span=int(span.sum()),
        memory_operations=int(chunks.sum()),
        memory_instructions=int(instructions.sum()),
        threads_per_core=_mean([(launch.memory_operations, launch.threads_per_core) for launch in launches]),
        warps_in_use=_mean([(launch.memory_operations, launch.warps_in_use) for launch in launches]),
        launches=tuple(launches),
        waits=_waits(workload, specification.waits_for_stores),
    )


def _mean(weighted: list[tuple[int, float]]) -> float:
    """The harmonic mean of the values that are above 0, by weight; by equal weights where all weigh nothing."""
    weighted = [(weight, value) for weight, value in weighted if value > 0]
    if not any(weight for weight, _ in weighted):
        weighted = [(1, value) for _, value in weighted]
    total = sum(weight / value for weight, value in weighted)
    return sum(weight for weight, _ in weighted) / total if total else 0.0


def _memory_operations(workload: Workload) -> tuple[npt.NDArray[np.int64], ...]:
    """Of each launch: chunks, memory instructions, chunks of stores, updates of atomics."""
    kind, warps = workload.kind, workload.block_warps[workload.launch_blocks]
    operations = workload.warp_operations[warps]
    return (
        np.diff(workload.warp_chunks[warps]),
        _of_launches((kind >= LOAD) & (kind <= ATOMIC), operations),
        _of_launches(np.where(kind == STORE, workload.amount, 0), operations),
        _of_launches(np.where(kind == ATOMIC, workload.amount, 0), operations),
    )


def _of_launches(values: npt.NDArray[Any], operations: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Of each launch the sum of its operations' values. operations: where the launches begin, and the end."""
    return np.diff(np.concatenate([np.zeros(1, np.int64), np.cumsum(values, dtype=np.int64)])[operations])


def _waits(workload: Workload, stores: bool) -> int:
    """Over launches, the sum of the waits of the warp with most. stores: whether a store is waited for."""
    of_warps = np.empty(workload.warps, dtype=np.int64)
    asyncs = np.empty(int(np.count_nonzero(workload.kind == ASYNC)), dtype=np.int64)
    _count_waits(workload.kind, workload.amount, workload.warp_operations, stores, asyncs, of_warps)
    launches = workload.block_warps[workload.launch_blocks]
    return sum(int(of_warps[first:last].max(initial=0)) for first, last in pairwise(launches.tolist()))


@Compiled
def _count_waits(kind, amount, warp_operations, stores, finish, of_warps):  # type: ignore[no-untyped-def]
    """Of each warp the time that it takes in units of L, where nothing but waiting takes any.

    stores: whether a store is waited for. finish: room for when each of a warp's asyncs finishes.
    """
    for warp in range(len(of_warps)):
        now = 0
        asyncs = 0
        for operation in range(warp_operations[warp], warp_operations[warp + 1]):
            what = kind[operation]
            if what in (LOAD, ATOMIC) or (what == STORE and stores):
                now += 1
            elif what == ASYNC:
                finish[asyncs] = now + 1  # no earlier than that of the one before
                asyncs += 1
            elif what in (JOIN, BARRIER) and amount[operation] < asyncs:  # a barrier's amount is 0
                now = max(now, finish[asyncs - 1 - amount[operation]])
        of_warps[warp] = max(now, finish[asyncs - 1]) if asyncs else now


def _of_warps(
    workload: Workload, specification: LoweringSpecification, widest: npt.NDArray[np.int64]
) -> tuple[npt.NDArray[np.int64], ...]:
    """Of each launch: instructions, uncoalesced memory instructions, and the chunks that those list.

    widest: bytes of the widest access of each launch.
    """
    kind, amount, width = workload.kind, workload.amount, specification.warp_width
    together, chunk = width, specification.chunk_bytes
    if specification.half_warp_segments:
        together, chunk = min(width, HALF_WARP), LARGEST_SEGMENT
    fewest = -(-width // together) * np.maximum(-(-together * widest // chunk), 1)
    memory = (kind >= LOAD) & (kind <= ATOMIC)
    operations = workload.warp_operations[workload.block_warps[workload.launch_blocks]]
    uncoalesced = memory & (amount > np.repeat(fewest, np.diff(operations)))
    repeated = (kind == COMPUTE) | (kind == SHARED)

    return (
        _of_launches(np.where(repeated, amount, memory), operations),
        _of_launches(uncoalesced, operations),
        _of_launches(np.where(uncoalesced, amount, 0), operations),
    )


_OTHERS = ("barriers", "accesses", "thread_accesses", "bytes_read", "bytes_written")


def _of_threads(trace: Trace) -> list[npt.NDArray[np.int64]]:
    """Work and span of each launch, what _OTHERS names, and bytes of the widest access to global memory."""
    pieces = [np.empty((0, _COLUMNS), np.int64)]
    for stretch in spans(trace):
        phases = int(np.count_nonzero(stretch.events["kind"] == Kind.BARRIER)) + 1
        made = np.zeros((len(stretch.ends), _COLUMNS), dtype=np.int64)
        refused = _count_blocks(stretch.events, stretch.ends, np.zeros(phases, dtype=np.int64), made)
        if refused >= 0:
            raise _too_much_work(trace, stretch.first + refused)
        pieces.append(made)
    blocks = np.concatenate(pieces)
    _check_work(trace, blocks[:, _ALL_WORK])
    starts = np.cumsum([0, *(launch.blocks for launch in trace.info.launches)], dtype=np.int64)[:-1]
    if not len(starts):
        return [np.zeros(0, np.int64)] * _COLUMNS
    longest = (_SPAN, _BARRIERS, _THREAD_ACCESSES, _WIDEST)
    return [
        (np.maximum if column in longest else np.add).reduceat(blocks[:, column], starts) for column in range(_COLUMNS)
    ]


def _check_work(trace: Trace, work: npt.NDArray[np.int64]) -> None:
    """Refuse a program whose work, of all blocks together, does not fit 64 bits. No other count is larger: spans and
    instructions are sums over some of it, or a bounded number for each event.
    """
    upper, lower_half = np.cumsum(work >> 32), np.cumsum(work & 0xFFFFFFFF)  # each fits
    beyond = upper + (lower_half >> 32) >= 1 << 31
    if beyond.any():
        raise _too_much_work(trace, int(beyond.argmax()))


def _too_much_work(trace: Trace, block: int) -> TraceError:
    where = name_of_block(trace.info, block)
    return TraceError(f"{where}: with it the program has 2^63 operations and more: its work must be below 2^63")


@Compiled
def _count_blocks(events, ends, phase_longest, counted):  # type: ignore[no-untyped-def]
    """Of each block work, barriers, accesses and bytes, and the sum over its phases, from barrier to barrier, of the
    busiest thread's work. Returns -1, or the block whose work does not fit 64 bits.
    """
    begin = 0
    for block in range(len(ends)):
        last_phase = 0
        phase = 0
        busy = np.int64(0)
        work = np.int64(0)
        thread = -1
        all_accesses = np.int64(0)
        accesses = np.int64(0)
        most_accesses = np.int64(0)
        read = np.int64(0)
        written = np.int64(0)
        widest = np.int64(0)
        for index in range(begin, ends[block]):
            event = events[index]
            kind = event.kind
            if event.thread != thread:
                thread = event.thread
                phase = 0
                busy = np.int64(0)
                accesses = np.int64(0)
            if kind == _BARRIER:
                phase += 1
                busy = np.int64(0)
                last_phase = max(last_phase, phase)
                continue
            if kind == _JOIN:
                continue
            operations = np.int64(event.value) if kind == _WORK else np.int64(1)
            if operations < 0 or work > LARGEST - operations:
                return block
            work += operations
            busy += operations
            phase_longest[phase] = max(phase_longest[phase], busy)
            if _LOAD <= kind <= _ATOMIC:
                all_accesses += 1
                accesses += 1
                most_accesses = max(most_accesses, accesses)
                widest = max(widest, np.int64(event.bytes))
                if kind != _STORE:
                    read += event.bytes
                if kind >= _STORE:
                    written += event.bytes
        for phase in range(last_phase + 1):
            counted[block, _SPAN] += phase_longest[phase]
            phase_longest[phase] = 0
        counted[block, _ALL_WORK] = work
        counted[block, _BARRIERS] = last_phase
        counted[block, _ACCESSES] = all_accesses
        counted[block, _THREAD_ACCESSES] = most_accesses
        counted[block, _READ] = read
        counted[block, _WRITTEN] = written
        counted[block, _WIDEST] = widest
        begin = ends[block]
    return -1
