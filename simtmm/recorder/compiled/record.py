"""Record a kernel as it is compiled: its PTX, run on the CPU."""

import contextlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.cuda.compilers import architecture_of_today
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Array, Kernel, Wrong
from simtmm.recorder.compiled.finish import finished
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.cpu.unrecorded import HOW_COMPILED
from simtmm.recorder.launches import ProgramRun
from simtmm.recorder.limits import most_bytes, most_events
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.sampled_blocks import sampled_blocks


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    most: int | None = None,
    sample_blocks: int | None = None,
    architecture: int | None = None,
    machine_code: bool = True,
) -> Trace:
    """Record a kernel as compiled; see simtmm.recorder.record.

    architecture: compute capability times ten. machine_code: whether the machine's instructions are recorded where they
    can be had, else those of PTX.
    parameters: all of the kernel, by name.
    output: where the trace goes; held in memory if left out.
    progress: told how many events there are so far.
    most: events at most.
    sample_blocks: blocks of each launch at most.
    """
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    linked = module_of(kernel, parameters, architecture or architecture_of_today())
    inputs = kernel.inputs(parameters)
    arrays = {name: np.array(array, array.dtype.newbyteorder("="), order="C") for name, array in inputs.items()}
    execution = CompiledLaunches(linked, arrays, limit, f"kernel {kernel.name}", machine_code)
    return recorded(kernel, parameters, execution, arrays, output, progress, sample_blocks)


def recorded(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    execution: CompiledLaunches,
    arrays: Mapping[str, Array],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    sample_blocks: int | None = None,
    origin: Mapping[str, Any] | None = None,
) -> Trace:
    """The trace of a kernel whose launches an execution runs, on these arrays; the answer is checked.

    origin: a note on where it was recorded, in addition to those of every trace.
    parameters: all of the kernel, by name.
    execution: what runs the launches.
    arrays: those of the kernel by name, filled with its inputs.
    output: where the trace goes; held in memory if left out.
    progress: told how many events there are so far.
    sample_blocks: blocks of each launch at most.
    arrays: by name, of any shape, filled with the kernel's inputs.
    """
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path, most_bytes())
        execution.runs.straight = not sample_blocks
        stack.callback(recorder.abandon)
        run = ProgramRun(kernel, parameters, arrays, execution, HOW_COMPILED)
        for batch in run.batches():
            if sample_blocks:
                batch = batch.of_blocks(sampled_blocks(run.launches[-1].blocks, sample_blocks))
            recorder.add(batch, run.launches)
            if progress:
                progress(recorder.events)
        warnings = [*run.warnings(), *execution.warnings]
        run.check(lambda wrong: _in_other_orders(kernel, parameters, run, wrong))
        trace = finished(
            recorder, kernel.name, run.parameters, run.launches, execution.runs, [execution.linked], warnings,
            sample_blocks, origin={**kernel.origin, **(origin or {})},
        )  # fmt: skip
    return Trace(trace.info, Path(output)) if output else trace


def _in_other_orders(kernel: Kernel, parameters: Mapping[str, int | float | str], run: ProgramRun, wrong: Wrong) -> str:
    from simtmm.recorder.compiled.other_orders import told  # late: most answers are right

    return told(kernel, parameters, run.before, wrong)
