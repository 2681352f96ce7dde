"""Workload and counts of a kernel whose trace is not kept: what is recorded is lowered and counted as it comes.

For programs whose events fit no memory, and whose file would take longer to write and read than to record.
"""

import dataclasses
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from simtmm.computer import NO_LIMIT
from simtmm.kernel import load_kernel
from simtmm.machine import Machine
from simtmm.recorder.compiler import build
from simtmm.recorder.cpu.launches import CpuLaunches, Room
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.launches import ProgramRun
from simtmm.trace.counts import Counts, LaunchCounts, count
from simtmm.trace.info import TraceInfo
from simtmm.trace.io import Trace
from simtmm.trace.lower import lower
from simtmm.trace.schema import Batch, TraceLaunch, TraceSite
from simtmm.workload import Workload

Integers = npt.NDArray[np.int64]

# Of a launch what follows from its events: sums over its blocks, and what the block with most has.
SUMS = ("work", "uncoalesced_instructions", "uncoalesced_operations", "accesses", "bytes_read", "bytes_written")
LARGEST = ("span", "barriers", "thread_accesses")


def workload_and_counts(kernel: str, parameters: Mapping[str, object], machine: Machine) -> tuple[Workload, Counts]:
    """What `lower` and `count` give for the trace of a kernel on a machine; memory holds a batch of events.

    Records on the CPU, and checks the answer. A launch's bound on uncoalesced accesses is taken batch by batch, so it
    is the same where all blocks of a launch have accesses of one width. Raises KernelError, CompilerError,
    RecordingError, and WorkloadError for a block that does not fit.

    kernel: its name or the path of its folder.
    parameters: values of some of its parameters, as texts or numbers.
    """
    loaded = load_kernel(kernel)
    resolved = loaded.resolve(parameters)
    memory = GlobalMemory(loaded.inputs(resolved), shared=True)
    workloads: list[Workload] = []
    counts: list[tuple[int, LaunchCounts]] = []
    program = build(loaded, loaded.defines(resolved), False)
    with CpuLaunches(loaded, program, memory, Room(NO_LIMIT, in_memory=False)) as execution:
        run = ProgramRun(loaded, resolved, memory.arrays, execution, before=memory.before)
        for batch in run.batches():
            trace = _piece(loaded.name, run.launches[-1], batch, execution.sites)
            workload = lower(trace, machine)
            workloads.append(workload)
            counts.append((len(run.launches) - 1, count(trace, machine, workload).launches[0]))
        run.check()
    nothing = _trace(loaded.name, run.launches, [])
    limits = lower(nothing, machine).launch_limits
    joined = _joined(workloads, run.launches, limits, f"{loaded.name} on {machine.name}")
    return joined, _counts(count(nothing, machine, joined), counts)


def _piece(kernel: str, launch: TraceLaunch, batch: Batch, sites: Sequence[TraceSite]) -> Trace:
    """The trace of some blocks of a launch, as if they were a launch of their own."""
    blocks = len(batch.block)
    numbers = np.arange(blocks, dtype=np.int32)
    alone = Batch(batch.events, np.zeros(blocks, np.int32), numbers, batch.ends)
    return _trace(kernel, [dataclasses.replace(launch, grid=(blocks, 1, 1))], [alone], sites)


def _trace(
    kernel: str, launches: Sequence[TraceLaunch], batches: list[Batch], sites: Sequence[TraceSite] = ()
) -> Trace:
    events = sum(len(batch.events) for batch in batches)
    return Trace(TraceInfo(kernel, {}, tuple(launches), (), tuple(sites), events, digest=""), batches)


def _joined(workloads: Sequence[Workload], launches: Sequence[TraceLaunch], limits: Integers, origin: str) -> Workload:
    """The blocks of all pieces behind one another."""

    def offsets(arrays: list[Integers]) -> Integers:
        return np.cumsum(np.concatenate([[0], *(np.diff(array) for array in arrays)]), dtype=np.int64)

    return Workload(
        kind=np.concatenate([np.empty(0, np.uint8), *(piece.kind for piece in workloads)]),
        amount=np.concatenate([np.empty(0, np.int64), *(piece.amount for piece in workloads)]),
        chunks=np.concatenate([np.empty(0, np.int64), *(piece.chunks for piece in workloads)]),
        sectors=np.concatenate([np.empty(0, np.uint32), *(piece.sectors for piece in workloads)]),
        warp_operations=offsets([piece.warp_operations for piece in workloads]),
        warp_chunks=offsets([piece.warp_chunks for piece in workloads]),
        block_warps=offsets([piece.block_warps for piece in workloads]),
        launch_blocks=np.cumsum([0, *(launch.blocks for launch in launches)], dtype=np.int64),
        launch_limits=limits,
        origin=origin,
    )


def _counts(of_workload: Counts, pieces: Sequence[tuple[int, LaunchCounts]]) -> Counts:
    """Counts that follow from the workload, with those that follow from events."""
    launches = []
    for number, launch in enumerate(of_workload.launches):
        mine = [piece for of, piece in pieces if of == number]
        from_events = {
            **{name: sum(getattr(piece, name) for piece in mine) for name in SUMS},
            **{name: max((getattr(piece, name) for piece in mine), default=0) for name in LARGEST},
        }
        launches.append(dataclasses.replace(launch, **from_events))
    return dataclasses.replace(
        of_workload,
        work=sum(launch.work for launch in launches),
        span=sum(launch.span for launch in launches),
        launches=tuple(launches),
    )
