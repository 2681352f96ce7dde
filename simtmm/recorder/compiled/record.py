"""Record a kernel as it is compiled: its PTX, run on the CPU."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.cuda.compilers import supported_architectures
from simtmm.cuda.compilers.architecture import OF_TODAY
from simtmm.cuda.linked import LinkedModule
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel
from simtmm.provenance import provenance
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.cpu.unrecorded import HOW_COMPILED
from simtmm.recorder.launches import ProgramRun
from simtmm.recorder.limits import most_events
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.schema import sampled_blocks

WARP_SIZE = 32


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    most: int | None = None,
    sample_blocks: int | None = None,
    architecture: int | None = None,
) -> Trace:
    """Record a kernel as compiled; see simtmm.recorder.record. architecture: compute capability times ten."""
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    linked = module_of(kernel, parameters, architecture or _of_today())
    inputs = kernel.inputs(parameters)
    arrays = {name: np.array(array, array.dtype.newbyteorder("="), order="C") for name, array in inputs.items()}
    execution = CompiledLaunches(linked, arrays, limit, f"kernel {kernel.name}")
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path)
        stack.callback(recorder.abandon)
        run = ProgramRun(kernel, parameters, arrays, execution, HOW_COMPILED)
        for batch in run.batches():
            if sample_blocks:
                batch = batch.of_blocks(sampled_blocks(run.launches[-1].blocks, sample_blocks))
            recorder.add(batch)
            if progress:
                progress(recorder.events)
        warnings = [*run.warnings(), *execution.warnings]
        run.check()
        trace = recorder.finish(
            kernel.name,
            run.parameters,
            run.launches,
            execution.table(),
            execution.sites.sites,
            _provenance(linked, warnings),
            sample_blocks,
            form="compiled",
            architecture=linked.units[0].target,
            warp_size=WARP_SIZE if execution.for_warps else None,
        )
    return Trace(trace.info, Path(output)) if output else trace


def _of_today() -> int:
    known = supported_architectures()
    return max((number for number in known if number <= OF_TODAY), default=known[0])


def _provenance(linked: LinkedModule, warnings: list[str]) -> dict[str, Any]:
    import hashlib

    text = "\0".join(unit.ptx for unit in linked.units)
    return {
        **provenance(),
        "recorder": "compiled",
        "source": hashlib.sha256(text.encode()).hexdigest()[:20],
        **({"warnings": warnings} if warnings else {}),
    }
