"""A machine from measurements."""

from collections.abc import Sequence
from pathlib import Path

from simtmm.api.opening import opened_machine
from simtmm.calibration.chase_check import CHASE
from simtmm.calibration.from_files import calibrate_files
from simtmm.calibration.hierarchy.measured import KINDS
from simtmm.calibration.micro import calibrate_micro
from simtmm.calibration.values import Calibration
from simtmm.errors import StudyError, shown
from simtmm.machine import Machine
from simtmm.watch import Watch


def calibrate(  # noqa: PLR0913 - each is a kind of measurement, or says how to read it
    latency: str | Path | None = None,
    stream: str | Path | None = None,
    *,
    name: str = "calibrated",
    base: Machine | str | Path | None = None,
    gpu: str | None = None,
    latency_from: str = CHASE,
    micro: str | Path | Sequence[str | Path] | None = None,
    strides: str | Path | None = None,
    caches: str | Path | None = None,
    l2: str | Path | None = None,
    small: str | Path | None = None,
    watch: Watch | None = None,
) -> Calibration:
    """Fit a machine to measurements of a GPU; `simtmm machines calibrate` as a function.

    Give `latency`, and optionally `stream`; or measurements of the hierarchy (`strides`, `caches`, `l2`, `small`),
    which refine `base`; or both; or `micro`, which refines `base`.

    Source: docs/calibration.md describes the measurements, the files, and how each value is derived.

    latency: a pointer chase (CSV): buffer_kib [KiB], median_cycles [cycles], and optionally clock_mhz [MHz] and gpu.
    stream: bandwidth over occupancy (CSV): block_size [threads], blocks_per_sm, occupancy_pct [%], and NAME_GBs [GB/s]
        for each streaming kernel.
    name: the new machine's name.
    base: the machine that supplies the values that were not measured: a Machine, its name, or a path to its file
        (.toml).
    gpu: the GPU whose rows to use, if a file has several; its names in several files with commas between them.
    latency_from: the source of the latency of global memory: "chase", or "read" at low occupancy, minus the starts of
        blocks and warps that `base` has.
    micro: micro-benchmarks (CSV), one file or several: sass and cycles [cycles] of single instructions, or kernel,
        parameters and seconds [s] of an empty kernel.
    strides: loads that the L1 has (CSV): type, kernel, parameter, pitch, cycles_per_warp_load [cycles].
    caches: bandwidth of buffers that each group reads again and again (CSV): kB_per_block [kB], GB_per_s [GB/s].
    l2: bandwidth of buffers that the L2 holds (CSV): kB_in_all [kB], GB_per_s [GB/s].
    small: small kernels one after another (CSV): run, elements, block [threads], GB_per_s [GB/s].
    watch: called with (stage, done, total if known) as the work proceeds.

    `.machine` is the machine, `.values` says which measurement each value came from, and `.save(path)` writes a file.

    Raises StudyError for an invalid file and for inconsistent measurements; MachineError.
    """
    if micro is not None:
        others = (latency, stream, strides, caches, l2, small)
        if base is None or any(other is not None for other in others):
            raise StudyError(f"micro = {shown(micro)}: needs base, and no other measurements")
        paths = [micro] if isinstance(micro, (str, Path)) else list(micro)
        return calibrate_micro(name, paths, opened_machine(base), gpu)
    files = dict(zip(KINDS, (strides, caches, l2, small), strict=True))
    hierarchy = {kind: path for kind, path in files.items() if path is not None}
    if latency is None and not hierarchy:
        raise StudyError("latency: is missing: must be a path to a file of measurements (.csv), unless micro is given")
    for argument, value in (("latency", latency), ("stream", stream), *hierarchy.items()):
        if not isinstance(value, (str, Path)) and value is not None:
            raise StudyError(f"{argument} = {shown(value)}: must be a path to a file of measurements (.csv)")
    opened = None if base is None else opened_machine(base)
    return calibrate_files(name, latency, stream, hierarchy, opened, gpu, latency_from=latency_from, watch=watch)
