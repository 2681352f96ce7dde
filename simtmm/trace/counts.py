"""Trace -> counts: work, span, memory operations and threads in use, what the models take.

Nothing here comes from an engine, so that prediction and simulation are independent.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.machine.tables import LARGEST_SEGMENT
from simtmm.native import Loop
from simtmm.trace.coalescing import HALF_WARP
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from simtmm.trace.thread_counts import of_threads
from simtmm.watch import tell
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LOAD, SHARED, STORE, Workload


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

    work: T1, operations of all threads; an access to memory is one, OP(n) is n, each instruction of a compiled program
        is one.
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
    work_by_class: of the work, instructions by class (WORK_CLASSES of simtmm/trace/schema.py) of all threads, as far as
        classes are known: those of compiled programs, accesses that are events apart.
    """

    work: int
    span: int
    memory_operations: int
    memory_instructions: int
    threads_per_core: float
    warps_in_use: float
    launches: tuple[LaunchCounts, ...]
    waits: int = 0
    work_by_class: Mapping[str, int] = field(default_factory=dict)

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

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Counts":
        """From the form that dataclasses.asdict gives. Raises KeyError or TypeError for another one."""
        launches = tuple(LaunchCounts(**launch) for launch in table["launches"])
        return cls(**{**table, "launches": launches})

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
            "work_by_class": dict(self.work_by_class),
        }


def count(trace: Trace, machine: Machine, workload: Workload | None = None) -> Counts:
    """Count what a trace does on a machine. workload: what `lower` gives, where it is there already.

    Raises TraceError where the work does not fit 64 bits, and what `lower` raises.
    """
    workload = lower(trace, machine) if workload is None else workload
    specification = CountingSpecification.of(machine)
    threads = of_threads(trace)
    widest = threads.of_launches.pop("widest")
    tell("counting memory operations", 0)
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
                **{name: int(column[number]) for name, column in threads.of_launches.items()},
            )
        )
    return Counts(
        work=sum(launch.work for launch in launches),
        span=sum(launch.span for launch in launches),
        memory_operations=int(chunks.sum()),
        memory_instructions=int(instructions.sum()),
        threads_per_core=_mean([(launch.memory_operations, launch.threads_per_core) for launch in launches]),
        warps_in_use=_mean([(launch.memory_operations, launch.warps_in_use) for launch in launches]),
        launches=tuple(launches),
        waits=_waits(workload, specification.waits_for_stores),
        work_by_class=threads.work_by_class,
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
    _WAITS(workload.kind, workload.amount, workload.warp_operations, int(stores), asyncs, of_warps)
    launches = workload.block_warps[workload.launch_blocks]
    return sum(int(of_warps[first:last].max(initial=0)) for first, last in pairwise(launches.tolist()))


def _count_waits(kind, amount, warp_operations, stores, finish, of_warps):  # type: ignore[no-untyped-def]
    """Of each warp the time that it takes in units of L, where nothing but waiting takes any.

    stores: 1 where a store is waited for, else 0. finish: room for when each of a warp's asyncs finishes.
    """
    for warp in range(of_warps.shape[0]):
        now = np.int64(0)
        asyncs = np.int64(0)
        for operation in range(warp_operations[warp], warp_operations[warp + 1]):
            what = kind[operation]
            if what in (LOAD, ATOMIC) or (what == STORE and stores != 0):
                now += 1
            elif what == ASYNC:
                finish[asyncs] = now + 1  # no earlier than that of the one before
                asyncs += 1
            elif what in (JOIN, BARRIER) and amount[operation] < asyncs:  # a barrier's amount is 0
                now = max(now, finish[asyncs - 1 - amount[operation]])
        of_warps[warp] = max(now, finish[asyncs - 1]) if asyncs > 0 else now


_WAITS = Loop(_count_waits)


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
