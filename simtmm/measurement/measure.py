"""Measure: time a kernel's plain build on a GPU, and keep the times as a small JSON file."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from simtmm.documents import read_json
from simtmm.errors import RecordingError, StudyError, shown, shown_error
from simtmm.files import written_whole
from simtmm.kernel import Kernel
from simtmm.provenance import provenance
from simtmm.recorder.gpu.timing import TimedLaunch, time_program
from simtmm.recorder.sources import opened_kernel
from simtmm.result import LaunchTime, Measurement, Quartiles

FORMS = ("written", "compiled", "ptx")
REPEAT = 50
WARM_UP = 3


def measure(
    kernel: str | Path | Kernel,
    parameters: Mapping[str, object] | None = None,
    *,
    repeat: int = REPEAT,
    warm_up: int = WARM_UP,
    cold: bool = True,
    machine: str | None = None,
    form: str | None = None,
) -> Measurement:
    """Run a kernel's plain build on the GPU repeatedly, check its answer, and return its times.

    kernel: a name (kernels/NAME), a folder, a file of launches (.toml), or a loaded Kernel.
    parameters: the kernel's parameters that differ from its defaults, by name.
    repeat: number of runs whose launches are timed one by one, and of runs that are timed as a whole.
    warm_up: number of runs before them.
    cold: whether to empty the caches before each run, since a simulation starts with empty ones.
    machine: the GPU's name in comparisons; its own if left out ("H200").
    form: "written" times CuPy's build of a folder's kernel.cu; "compiled" times compiled code; "ptx" times the PTX that
        is recorded on a GPU. If left out, "compiled" for CUDA files and "written" for a folder.

    Raises KernelError, CompilerError, and RecordingError for a wrong answer or a missing GPU.
    """
    for name, value, least in (("repeat", repeat, 1), ("warm_up", warm_up, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise RecordingError(f"{name} = {shown(value)}: must be a whole number of at least {least}")
    if form is not None and form not in FORMS:
        raise RecordingError(f"form = {shown(form)}: must be one of {', '.join(FORMS)}")
    loaded = kernel if isinstance(kernel, Kernel) else opened_kernel(kernel)
    if form == "written" and loaded.sources:
        what = ", ".join(source.name for source in loaded.sources)
        raise RecordingError(f"kernel {loaded.name}: {what}: is timed as compiled; form = 'written' needs a folder")
    resolved = loaded.resolve(parameters or {})
    compiled = form in ("compiled", "ptx") or bool(loaded.sources)
    timed = time_program(loaded, resolved, repeat, warm_up, cold, compiled)
    return Measurement(
        kernel=loaded.name,
        parameters=resolved,
        machine=machine or machine_name(str(timed.device["device"])),
        launches=tuple(_launch_time(launch) for launch in timed.launches),
        total=Quartiles.of(timed.total),
        elapsed=Quartiles.of(timed.elapsed),
        repeat=repeat,
        warm_up=warm_up,
        cold=cold,
        device=timed.device,
        source=timed.source,
        provenance=provenance(),
    )


def machine_name(device: str) -> str:
    """What a GPU goes by: its name without its maker's.

    device: the GPU's name as its driver has it.
    """
    return re.sub(r"^NVIDIA\s+(GeForce\s+)?", "", device)


def _launch_time(timed: TimedLaunch) -> LaunchTime:
    launch = timed.launch
    assert isinstance(launch.grid, tuple)
    assert isinstance(launch.block, tuple)
    return LaunchTime(
        kernel=launch.kernel,
        grid=(launch.grid[0], launch.grid[1], launch.grid[2]),
        block=(launch.block[0], launch.block[1], launch.block[2]),
        registers_per_thread=timed.registers_per_thread,
        spilled_bytes=timed.spilled_bytes,
        shared_memory_bytes=launch.shared_memory_bytes,
        blocks_per_core_group=timed.blocks_per_core_group,
        seconds=Quartiles.of(timed.seconds),
    )


def save_measurement(measurement: Measurement, path: str | Path) -> None:
    """Write it as JSON, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(json.dumps(measurement.to_dict(), indent=1) + "\n", encoding="utf-8")


def load_measurement(path: str | Path) -> Measurement:
    """One that `save_measurement` wrote. Raises StudyError."""
    document = read_json(path, StudyError)
    try:
        return Measurement.from_dict(document)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        raise StudyError(f"{path}: is not a measurement ({shown_error(error)})") from None
