"""Record a kernel on a GPU through CuPy, launch by launch: as written (launches.py), and as compiled
(compiled_device.py). Only this module imports cupy.
"""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simtmm.errors import RecordingError, shown_error
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel
from simtmm.provenance import provenance
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.compiled.record import recorded
from simtmm.recorder.gpu.compiled_device import CompiledDevice
from simtmm.recorder.gpu.device import INSTALL, Build, Device, DeviceMemory
from simtmm.recorder.gpu.launches import GpuLaunches
from simtmm.recorder.launches import ProgramRun
from simtmm.recorder.limits import most_bytes, most_events
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder

SHARE = 0.8  # of the free device memory that a recording takes


def load_cupy() -> Any:
    """CuPy, where it and a GPU are there. Raises RecordingError with what is missing and how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise RecordingError(f"a GPU needs CuPy, which can't be imported ({shown_error(error)}): {INSTALL}") from None
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
        reason = "CUDA finds none"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        devices, reason = 0, shown_error(error)
    if not devices:
        raise RecordingError(
            f"CuPy finds no GPU ({reason}): an NVIDIA GPU and its driver are needed; "
            f"if you have them, CuPy may be for another CUDA version: {INSTALL}"
        )
    return cupy


def record_compiled(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    most: int | None = None,
    sample_blocks: int | None = None,
    device_memory: int | None = None,
    architecture: int | None = None,
) -> Trace:
    """Record what the compiler makes of a kernel, its PTX instrumented; see simtmm.recorder.record."""
    limit, gpu = _begun(output, most)
    linked = module_of(kernel, parameters, architecture or gpu.architecture())
    memory, room = _placed(gpu, kernel, parameters, device_memory)
    device = CompiledDevice(gpu, memory, room, sample_blocks)
    arrays = memory.host.arrays
    execution = CompiledLaunches(linked, arrays, limit, f"kernel {kernel.name}", machine_code=False, device=device)
    device.table = execution.runs.sites.table
    origin = {"recorder": "gpu", **gpu.versions()}
    return recorded(kernel, parameters, execution, arrays, output, progress, sample_blocks, origin)


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    most: int | None = None,
    sample_blocks: int | None = None,
    device_memory: int | None = None,
) -> Trace:
    """Record a kernel; see simtmm.recorder.record."""
    limit, device = _begun(output, most)
    build = Build(device, kernel, kernel.defines(parameters), recording=True)
    memory, room = _placed(device, kernel, parameters, device_memory)
    execution = GpuLaunches(device, build, memory, room, limit, sample_blocks)
    run = ProgramRun(kernel, parameters, memory.host.arrays, execution)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path, most_bytes())
        stack.callback(recorder.abandon)
        for batch in run.batches():
            recorder.add(batch, run.launches)
            if progress:
                progress(recorder.events)
        # Of blocks that are not recorded nobody knows what they touch.
        warnings = run.warnings() if sample_blocks is None else []
        run.check(lambda wrong: "".join(f"; {warning}" for warning in warnings))
        doubts = {"warnings": warnings} if warnings else {}
        origin = {
            **provenance(),
            "recorder": "gpu",
            "source": build.digest,
            **device.versions(),
            **kernel.origin,
            **doubts,
        }
        trace = recorder.finish(
            kernel.name, run.parameters, run.launches, memory.host.table(), build.sites, origin, sample_blocks
        )
    return Trace(trace.info, Path(output)) if output else trace


def _begun(output: str | Path | None, most: int | None) -> tuple[int, Device]:
    """How many events there may be, and the GPU; a place that can't be written to is refused before it is used."""
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    return limit, Device(load_cupy())


def _placed(
    gpu: Device, kernel: Kernel, parameters: dict[str, int | float | str], device_memory: int | None
) -> tuple[DeviceMemory, int]:
    """The kernel's arrays on the GPU, and how many bytes a recording may take beside them."""
    with gpu.told(f"kernel {kernel.name}"):
        memory = DeviceMemory(gpu, kernel.inputs(parameters))
    return memory, device_memory if device_memory is not None else int(SHARE * gpu.free_bytes())
