"""Record a kernel on a GPU through CuPy, launch by launch (passes.py). Only this module imports cupy."""

import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from simtmm.errors import RecordingError, shown_error
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel
from simtmm.provenance import provenance
from simtmm.recorder.device import INSTALL, Build, Device, DeviceMemory, launch_words
from simtmm.recorder.limits import MOST_LAUNCHES, most_events
from simtmm.recorder.memory import trace_launch
from simtmm.recorder.passes import Recording
from simtmm.recorder.unmarked import Touched, Unmarked
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.schema import TraceLaunch

SHARE = 0.8  # of the free device memory that a recording takes


def load_cupy() -> Any:
    """CuPy, where it and a GPU are there. Raises RecordingError with what is missing and how to get it."""
    try:
        import cupy
    except ImportError as error:
        raise RecordingError(
            f"a GPU is used through CuPy, which is not here ({shown_error(error)}): {INSTALL}"
        ) from None
    try:
        devices = cupy.cuda.runtime.getDeviceCount()
        said = "CUDA finds none"
    except cupy.cuda.runtime.CUDARuntimeError as error:
        devices, said = 0, shown_error(error)
    if not devices:
        raise RecordingError(
            f"CuPy is here but no GPU that it can use ({said}): an NVIDIA GPU and its driver are needed; "
            f"if they are there, CuPy may be for another CUDA: {INSTALL}"
        )
    return cupy


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
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    device = Device(load_cupy())
    build = Build(device, kernel, kernel.defines(parameters), recording=True)
    with device.told(f"kernel {kernel.name}"):
        memory = DeviceMemory(device, kernel.inputs(parameters))
    before = {name: array.copy() for name, array in memory.host.arrays.items()}
    room = device_memory if device_memory is not None else int(SHARE * device.free_bytes())
    recording = Recording(device, build, memory, room, sample_blocks)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path)
        stack.callback(recorder.abandon)
        unmarked, touched = Unmarked(memory.host.arrays, before), Touched(memory.host.table())
        launches: list[TraceLaunch] = []
        for launch in kernel.launches(parameters, memory.host.arrays):
            where = launch_words(kernel, launch, len(launches))
            if len(launches) == MOST_LAUNCHES:
                raise RecordingError(f"{where}: a trace holds no more launches; does host.py launch for ever?")
            unmarked.begin([given for given in launch.arguments if isinstance(given, str)], recorder.events)
            touched.begin()
            with device.told(where):
                for batch in recording.run(launch, len(launches), limit - recorder.events, where):
                    touched.add(batch)
                    recorder.add(batch)
                    if progress:
                        progress(recorder.events)
            unmarked.end(launch.kernel, len(launches), touched.has_accessed, touched.has_stored)
            launches.append(trace_launch(launch))
        wrong = kernel.check(parameters, before, memory.host.arrays)
        # Of blocks that are not recorded nobody knows what they touch.
        warnings = unmarked.warnings() if sample_blocks is None else []
        if wrong:
            reasons = "".join(f"; {warning}" for warning in warnings)
            raise RecordingError(f"kernel {kernel.name}: wrong answer: {wrong}{reasons}")
        doubts = {"warnings": warnings} if warnings else {}
        origin = {**provenance(), "recorder": "gpu", "source": build.digest, **device.versions(), **doubts}
        trace = recorder.finish(
            kernel.name, dict(parameters), launches, memory.host.table(), build.sites, origin, sample_blocks
        )
    return Trace(trace.info, Path(output)) if output else trace
