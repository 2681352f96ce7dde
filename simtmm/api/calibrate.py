"""A machine from measurements."""

from collections.abc import Sequence
from pathlib import Path

from simtmm.api.opening import opened_machine
from simtmm.calibration import calibrate as fitting
from simtmm.calibration.chase_check import CHASE
from simtmm.calibration.latency_levels import load_latency
from simtmm.calibration.micro import calibrate_micro
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.calibration.values import Calibration
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.watch import Watch


def calibrate(
    latency: str | Path | None = None,
    stream: str | Path | None = None,
    *,
    name: str = "calibrated",
    base: Machine | str | Path | None = None,
    gpu: str | None = None,
    latency_from: str = CHASE,
    micro: str | Path | Sequence[str | Path] | None = None,
    watch: Watch | None = None,
) -> Calibration:
    """Fit a machine to measurements of a GPU; `simtmm machines calibrate` as a function.

    Give either `latency`, and optionally `stream`; or `micro`, which refines `base`.

    Source: docs/calibration.md describes the measurements, the files, and how each value is derived.

    latency: a pointer chase (CSV): buffer_kib [KiB], median_cycles [cycles], and optionally clock_mhz [MHz] and gpu.
    stream: bandwidth over occupancy (CSV): block_size [threads], blocks_per_sm, occupancy_pct [%], and NAME_GBs [GB/s]
        for each streaming kernel.
    name: the new machine's name.
    base: the machine that supplies the values that were not measured: a Machine, its name, or a path to its file
        (.toml).
    gpu: the GPU whose rows to use, if a file has several.
    latency_from: the source of the latency of global memory: "chase", or "read" at low occupancy, minus the starts of
        blocks and warps that `base` has.
    micro: micro-benchmarks (CSV), one file or several: sass and cycles [cycles] of single instructions, or kernel,
        parameters and seconds [s] of an empty kernel.
    watch: called with (stage, done, total if known) as the work proceeds.

    `.machine` is the machine, `.values` says which measurement each value came from, and `.save(path)` writes a file.

    Raises StudyError for an invalid file and for inconsistent measurements; MachineError.
    """
    if micro is not None:
        if latency is not None or stream is not None or base is None:
            raise StudyError(f"micro = {shown(micro)}: needs base, and neither latency nor stream")
        paths = [micro] if isinstance(micro, (str, Path)) else list(micro)
        return calibrate_micro(name, paths, opened_machine(base), gpu)
    if latency is None:
        raise StudyError("latency: is missing: must be a path to a file of measurements (.csv), unless micro is given")
    for argument, value in (("latency", latency), ("stream", stream)):
        if not isinstance(value, (str, Path)) and value is not None:
            raise StudyError(f"{argument} = {shown(value)}: must be a path to a file of measurements (.csv)")
    of_gpu = f", {gpu}" if gpu else ""
    called = {"latency": f"{Path(latency).name}{of_gpu}"}
    if stream is not None:
        called["stream"] = f"{Path(stream).name}{of_gpu}"
    points = load_stream(stream, gpu) if stream is not None else ()
    opened = None if base is None else opened_machine(base)
    return fitting.calibrate(name, load_latency(latency, gpu), points, opened, called, watch, latency_from)
