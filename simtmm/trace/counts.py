"""Trace -> counts: work, span, memory operations and threads in use, what the models take.

Nothing here comes from an engine, so that prediction and simulation are independent.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.machine import Machine
from simtmm.trace.compiled import Compiled
from simtmm.trace.io import Trace
from simtmm.trace.lower import Span, lower, spans
from simtmm.trace.schema import Kind
from simtmm.workload import ASYNC, ATOMIC, JOIN, LOAD, STORE, Workload

_WORK, _JOIN, _BARRIER = int(Kind.WORK), int(Kind.JOIN), int(Kind.BARRIER)


@dataclass(frozen=True)
class LaunchCounts:
    """The counts of one launch; see Counts.

    threads, blocks: of the whole launch. active_blocks: blocks that a core group may hold at once. blocks_in_use:
    blocks that the whole machine holds at once, at most. warps_in_use: likewise, their warps.
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


@dataclass(frozen=True)
class Counts:
    """What a program does, for a machine's W and C.

    work: T1, operations of all threads; an access to global or local memory is one, OP(n) is n.
    span: Tinf, operations on the longest path: within a launch a block's barriers order its threads' work, and
        launches follow one another.
    memory_operations: M, chunks of C words after coalescing; an atomic counts once for each update.
    memory_instructions: warp instructions that go to global memory.
    threads_per_core: threads a core has in use, that is resident at once. Over launches the mean that keeps
        the sum of M / threads_per_core, the harmonic mean weighted by memory operations.
    warps_in_use: warps the machine has resident at once, averaged likewise.
    launches: the same, launch by launch.
    waits: memory instructions that a warp waits for one after another, of the warp with most in each launch, summed
        over launches. Without cache hits a run takes waits * L at least.
    """

    work: int
    span: int
    memory_operations: int
    memory_instructions: int
    threads_per_core: float
    warps_in_use: float
    launches: tuple[LaunchCounts, ...]
    waits: int = 0

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
    """Count what a trace does on a machine. workload: what `lower` gives, where it is there already."""
    workload = lower(trace, machine) if workload is None else workload
    work, span = _work_and_span(trace)
    chunks, instructions = _memory_operations(workload)
    launches = []
    for number, launch in enumerate(trace.info.launches):
        warps = -(-launch.threads_per_block // machine.cores.warp_width)
        active = int(workload.launch_limits[number])
        in_use = min(launch.blocks, active * machine.cores.groups)
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
                threads_per_core=in_use * launch.threads_per_block / machine.processors,
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
        waits=_waits(workload, machine),
    )


def _mean(weighted: list[tuple[int, float]]) -> float:
    """The harmonic mean of the values that are above 0, by weight; by equal weights where all weigh nothing."""
    weighted = [(weight, value) for weight, value in weighted if value > 0]
    if not any(weight for weight, _ in weighted):
        weighted = [(1, value) for _, value in weighted]
    total = sum(weight / value for weight, value in weighted)
    return sum(weight for weight, _ in weighted) / total if total else 0.0


def _memory_operations(workload: Workload) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Chunks and memory instructions of each launch."""
    warps = workload.block_warps[workload.launch_blocks]
    memory = (workload.kind >= LOAD) & (workload.kind <= ATOMIC)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(memory, dtype=np.int64)])
    return np.diff(workload.warp_chunks[warps]), np.diff(before[workload.warp_operations[warps]])


def _waits(workload: Workload, machine: Machine) -> int:
    """Over launches, the sum of what the warp waits for that waits most; a join right behind an async is one wait."""
    kind = workload.kind
    waited = (kind == LOAD) | (kind == ATOMIC)
    if machine.memory.stores == "blocking":
        waited |= kind == STORE
    waited[1:] |= (kind[1:] == JOIN) & (kind[:-1] == ASYNC)
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(waited, dtype=np.int64)])
    of_warps = np.diff(before[workload.warp_operations])
    launches = workload.block_warps[workload.launch_blocks]
    return sum(int(of_warps[first:last].max(initial=0)) for first, last in pairwise(launches.tolist()))


def _work_and_span(trace: Trace) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Work and span of each launch."""
    works, longest = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for stretch in spans(trace):
        block_work, block_span = _of_blocks(stretch)
        works.append(block_work)
        longest.append(block_span)
    work, span = np.concatenate(works), np.concatenate(longest)
    starts = np.cumsum([0, *(launch.blocks for launch in trace.info.launches)], dtype=np.int64)[:-1]
    if not len(starts):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    return np.add.reduceat(work, starts), np.maximum.reduceat(span, starts)


def _of_blocks(stretch: Span) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    work = np.zeros(len(stretch.ends), dtype=np.int64)
    span = np.zeros(len(stretch.ends), dtype=np.int64)
    phases = int(np.count_nonzero(stretch.events["kind"] == Kind.BARRIER)) + 1
    _count_blocks(stretch.events, stretch.ends, np.zeros(phases, dtype=np.int64), work, span)
    return work, span


@Compiled
def _count_blocks(events, ends, phase_longest, work, span):  # type: ignore[no-untyped-def]
    """Work of each block, and the sum over its phases, from barrier to barrier, of the busiest thread's work."""
    begin = 0
    for block in range(len(ends)):
        last_phase = 0
        phase = 0
        busy = np.int64(0)
        thread = -1
        for index in range(begin, ends[block]):
            event = events[index]
            if event.thread != thread:
                thread = event.thread
                phase = 0
                busy = np.int64(0)
            if event.kind == _BARRIER:
                phase += 1
                busy = np.int64(0)
                last_phase = max(last_phase, phase)
                continue
            if event.kind == _JOIN:
                continue
            operations = np.int64(event.value) if event.kind == _WORK else np.int64(1)
            work[block] += operations
            busy += operations
            phase_longest[phase] = max(phase_longest[phase], busy)
        for phase in range(last_phase + 1):
            span[block] += phase_longest[phase]
            phase_longest[phase] = 0
        begin = ends[block]
