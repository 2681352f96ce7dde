"""Trace -> counts: work, span, memory operations and threads in use, what the models take.

Nothing here comes from an engine, so that prediction and simulation are independent.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.display import Displayed
from simtmm.machine import Machine
from simtmm.machine.tables.memory import LARGEST_SEGMENT
from simtmm.trace.coalescing import HALF_WARP
from simtmm.trace.io import Trace
from simtmm.trace.lower import Progress, check_fits, lower_or_stream
from simtmm.trace.specification import CountingSpecification
from simtmm.trace.streamed import AnyWorkload
from simtmm.trace.thread_counts import ThreadCounts, of_threads
from simtmm.workload import Tally, Tallying, Workload


@dataclass(frozen=True)
class LaunchCounts:
    """The counts of one launch; see Counts.

    threads, blocks: of the whole launch. active_blocks: blocks that a core group may hold at once. blocks_in_use:
    blocks that the whole machine holds at once, at most. warps_in_use: likewise, their warps.
    instructions: times that warps take an issue port; a shared of conflict degree d counts d times.
    uncoalesced_instructions: memory instructions of warps that list more chunks than neighbouring words would, of the
        size of the launch's widest access: of 4 bytes one for 32 threads and chunks of 128 bytes, or one for each
        half-warp with memory.coalescing = "half-warp-segments". An atomic lists an entry for each thread, or
        as memory.atomics has it.
    uncoalesced_operations: the chunks that those list.
    barriers: barriers that a block passes, of the block with most.
    accesses: accesses to global memory, thread by thread. thread_accesses: of the thread with most.
    bytes_read, bytes_written: what those accesses ask for; an atomic both reads and writes.
    store_operations, atomic_operations: of the memory operations, the chunks of stores and the updates of atomics.
    waits: see Counts.
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
    waits: int = 0


@dataclass(frozen=True)
class Counts(Displayed):
    """A program's work, for a machine's W and C.

    work: T1, operations of all threads: an access to memory counts 1, OP(n) counts n, and each instruction of a
        compiled program 1.
    span: Tinf, operations on the longest path: a block's barriers order its threads' work within a launch, and launches
        follow one another.
    memory_operations: M, chunks of C words after coalescing; an atomic counts once for each update, or as
        memory.atomics says.
    memory_instructions: warp instructions that access global memory.
    threads_per_core: threads in use on a core, that is, resident at once. Over several launches, the harmonic mean
        weighted by memory operations, which keeps the sum of M / threads_per_core.
    warps_in_use: warps resident at once on the machine, averaged the same way.
    launches: the same for each launch.
    waits: how often a warp waits for memory in a row, each time for L: the most of any warp of a launch, summed over
        launches. Asyncs in flight together are one wait; stores that take less than L do not count. Without cache hits,
        a run takes at least waits * L.
    work_by_class: the instructions of all threads by class (WORK_CLASSES of simtmm/trace/schema.py), as far as classes
        are known: those of compiled programs, without accesses that are events.
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

    def __repr__(self) -> str:
        return (
            f"Counts(work: {self.work:,}, span: {self.span:,}, memory operations: {self.memory_operations:,}, "
            f"threads per core: {self.threads_per_core:.4g})"
        )

    @classmethod
    def of_launch(cls, launch: LaunchCounts) -> "Counts":
        """The counts of a program of one launch.

        launch: the counts of that launch.
        """
        return cls(
            work=launch.work,
            span=launch.span,
            memory_operations=launch.memory_operations,
            memory_instructions=launch.memory_instructions,
            threads_per_core=launch.threads_per_core,
            warps_in_use=float(launch.warps_in_use),
            launches=(launch,),
            waits=launch.waits,
        )

    @classmethod
    def of_launches(cls, launches: Sequence[LaunchCounts], work_by_class: Mapping[str, int]) -> "Counts":
        """The counts of a program of these launches. work_by_class: over all of them."""
        return cls(
            work=sum(launch.work for launch in launches),
            span=sum(launch.span for launch in launches),
            memory_operations=sum(launch.memory_operations for launch in launches),
            memory_instructions=sum(launch.memory_instructions for launch in launches),
            threads_per_core=_mean([(launch.memory_operations, launch.threads_per_core) for launch in launches]),
            warps_in_use=_mean([(launch.memory_operations, launch.warps_in_use) for launch in launches]),
            launches=tuple(launches),
            waits=sum(launch.waits for launch in launches),
            work_by_class=work_by_class,
        )

    @classmethod
    def from_dict(cls, table: Mapping[str, Any]) -> "Counts":
        """From the form that dataclasses.asdict returns.

        table: counts by the names of the fields.

        Raises KeyError or TypeError for any other form.
        """
        launches = tuple(LaunchCounts(**launch) for launch in table["launches"])
        return cls(**{**table, "launches": launches})

    def to_dict(self) -> dict[str, Any]:
        """Everything except the launches, for JSON."""
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


def count(trace: Trace, machine: Machine, workload: AnyWorkload | None = None) -> Counts:
    """Count what a trace does on a machine. workload: what `lower` gives, where it is there already.

    Raises TraceError where the work does not fit 64 bits, and what `lower` raises.
    """
    threads = of_threads(trace)
    tallying = _tallying(trace, machine, threads)
    if not isinstance(workload, Workload):
        held, tallies = lower_or_stream(trace, machine, tallying=tallying, most_held=0)
        return _counts(trace, machine, threads, held.launch_limits, tallies)
    return _counts(trace, machine, threads, workload.launch_limits, workload.tallied(tallying))


def lower_and_count(
    trace: Trace, machine: Machine, progress: Progress | None = None, places: bool = False
) -> tuple[AnyWorkload, Counts]:
    """What `lower_or_stream` gives, and the counts, in one go.

    progress: told how many events are done, and of how many.
    places: whether operations have their place in the program.

    Raises what `lower` and `count` raise.
    """
    check_fits(trace.info, machine)
    threads = of_threads(trace)
    tallying = _tallying(trace, machine, threads)
    workload, tallies = lower_or_stream(trace, machine, progress, tallying, places=places)
    return workload, _counts(trace, machine, threads, workload.launch_limits, tallies)


def _tallying(trace: Trace, machine: Machine, threads: ThreadCounts) -> Tallying:
    """What adds up operations as counts take them."""
    specification = CountingSpecification.of(machine)
    width, together, chunk = machine.cores.warp_width, machine.cores.warp_width, machine.chunk_bytes
    if specification.lowering.half_warp_segments:
        together, chunk = min(width, HALF_WARP), LARGEST_SEGMENT
    widest = threads.of_launches["widest"]  # bytes of the widest access of each launch
    fewest = -(-width // together) * np.maximum(-(-together * widest // chunk), 1)
    return Tallying(len(trace.info.launches), fewest, specification.waits_for_stores)


def _counts(
    trace: Trace, machine: Machine, threads: ThreadCounts, limits: npt.NDArray[np.int64], tallies: tuple[Tally, ...]
) -> Counts:
    specification = CountingSpecification.of(machine)
    of_launches = {name: column for name, column in threads.of_launches.items() if name != "widest"}
    launches = []
    for number, (launch, tally) in enumerate(zip(trace.info.launches, tallies, strict=True)):
        warps = -(-launch.threads_per_block // specification.lowering.warp_width)
        active = int(limits[number])
        in_use = min(launch.blocks, active * specification.groups)
        launches.append(
            LaunchCounts(
                kernel=launch.kernel,
                memory_operations=tally.chunks,
                memory_instructions=tally.memory,
                threads=launch.blocks * launch.threads_per_block,
                blocks=launch.blocks,
                active_blocks=active,
                blocks_in_use=in_use,
                warps_in_use=in_use * warps,
                threads_per_core=in_use * launch.threads_per_block / specification.processors,
                instructions=tally.issued,
                uncoalesced_instructions=tally.uncoalesced,
                uncoalesced_operations=tally.uncoalesced_chunks,
                store_operations=tally.stored,
                atomic_operations=tally.updated,
                waits=tally.waits,
                **{name: int(column[number]) for name, column in of_launches.items()},
            )
        )
    return Counts.of_launches(launches, threads.work_by_class)


def _mean(weighted: list[tuple[int, float]]) -> float:
    """The harmonic mean of the values that are above 0, by weight; by equal weights where all weigh nothing."""
    weighted = [(weight, value) for weight, value in weighted if value > 0]
    if not any(weight for weight, _ in weighted):
        weighted = [(1, value) for _, value in weighted]
    total = sum(weight / value for weight, value in weighted)
    return sum(weight for weight, _ in weighted) / total if total else 0.0
