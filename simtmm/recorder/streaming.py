"""Workload and counts of a kernel whose trace is not kept: what is recorded is lowered and counted as it comes.

For programs whose events fit no memory, and whose file would take longer to write and read than to record.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import RecordingError
from simtmm.kernel import Kernel, load_kernel
from simtmm.machine import Machine
from simtmm.recorder.compiler import build
from simtmm.recorder.limits import NO_LIMIT
from simtmm.recorder.memory import GlobalMemory, trace_launch
from simtmm.recorder.runner import Room, Runner
from simtmm.trace.counts import Counts, LaunchCounts, count
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.lower import lower
from simtmm.trace.schema import Batch, TraceInfo, TraceLaunch
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
    """
    loaded = load_kernel(kernel)
    launches: list[TraceLaunch] = []
    workloads: list[Workload] = []
    counts: list[tuple[int, LaunchCounts]] = []
    for trace in _pieces(loaded, loaded.resolve(parameters), launches):
        workload = lower(trace, machine)
        workloads.append(workload)
        counts.append((len(launches) - 1, count(trace, machine, workload).launches[0]))
    nothing = _trace(loaded.name, launches, [])
    limits = lower(nothing, machine).launch_limits
    made = _joined(workloads, launches, limits, f"{loaded.name} on {machine.name}")
    return made, _counts(count(nothing, machine, made), counts)


def _pieces(kernel: Kernel, parameters: Mapping[str, Any], launches: list[TraceLaunch]) -> Iterator[Trace]:
    """Traces of some blocks after one another, as if each were a launch; `launches` grows as they come."""
    program = build(kernel, kernel.defines(parameters), False)
    memory = GlobalMemory(kernel.inputs(parameters), shared=True)
    before = {name: array.copy() for name, array in memory.arrays.items()}
    recorder = TraceRecorder()
    with Runner(kernel, program, memory) as runner:
        room = Room(NO_LIMIT, recorder, in_memory=False)
        for launch in kernel.launches(parameters, memory.arrays):
            launches.append(trace_launch(launch))
            for batch in runner.run(launch, 0, room):
                blocks = len(batch.block)
                piece = dataclasses.replace(launches[-1], grid=(blocks, 1, 1))
                events = Batch(batch.events, batch.launch, np.arange(blocks, dtype=np.int32), batch.ends)
                yield _trace(kernel.name, [piece], [events])
    recorder.abandon()
    if wrong := kernel.check(parameters, before, memory.arrays):
        raise RecordingError(f"kernel {kernel.name}: wrong answer: {wrong}")


def _trace(kernel: str, launches: Sequence[TraceLaunch], batches: list[Batch]) -> Trace:
    events = sum(len(batch.events) for batch in batches)
    return Trace(TraceInfo(kernel, {}, tuple(launches), (), (), events, digest=""), batches)


def _joined(workloads: Sequence[Workload], launches: Sequence[TraceLaunch], limits: Integers, origin: str) -> Workload:
    """The blocks of all pieces behind one another."""

    def offsets(arrays: list[Integers]) -> Integers:
        return np.cumsum(np.concatenate([[0], *(np.diff(array) for array in arrays)]), dtype=np.int64)

    return Workload(
        kind=np.concatenate([np.empty(0, np.uint8), *(piece.kind for piece in workloads)]),
        amount=np.concatenate([np.empty(0, np.int64), *(piece.amount for piece in workloads)]),
        chunks=np.concatenate([np.empty(0, np.int64), *(piece.chunks for piece in workloads)]),
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
