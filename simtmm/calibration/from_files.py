"""A calibration from files of measurements, whatever of them there is."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from simtmm.calibration.calibrate import calibrate
from simtmm.calibration.chase_check import CHASE
from simtmm.calibration.hierarchy.measured import Kind, load_set
from simtmm.calibration.hierarchy.refined import refined
from simtmm.calibration.hierarchy.together import fit_hierarchy
from simtmm.calibration.latency_levels import load_latency
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.calibration.values import Calibration
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.watch import Watch


def calibrate_files(  # noqa: PLR0913 - each is a kind of measurement, or says how to read it
    name: str,
    latency: str | Path | None,
    stream: str | Path | None,
    hierarchy: Mapping[Kind, str | Path],
    base: Machine | None,
    gpu: str | None = None,
    *,
    latency_from: str = CHASE,
    hold: Sequence[str] = (),
    watch: Watch | None = None,
) -> Calibration:
    """A machine from measurements of a GPU in files (docs/calibration.md).

    name: what the machine is called.
    latency: a pointer chase.
    stream: bandwidth over occupancy, beside a chase.
    hierarchy: other measurements by kind (`KINDS` of hierarchy/measured.py).
    base: what the measurements do not give; without a chase all of it.
    gpu: whose rows count, if a file has several.
    latency_from, hold: as in `calibrate`.
    watch: called as things go on.

    Raises StudyError for what does not go together, and for invalid files.
    """
    if latency is None and (stream is not None or not hierarchy):
        raise StudyError("calibrate: needs a pointer chase (latency), or measurements of the hierarchy")
    if hierarchy and base is None:
        raise StudyError(f"calibrate: {next(iter(hierarchy))}: needs a machine, which supplies all other values")
    points = load_stream(stream, gpu) if stream is not None else ()
    sets = [load_set(kind, path, gpu, base) for kind, path in hierarchy.items()] if base is not None else []
    if latency is not None:
        suffix = f", {gpu}" if gpu else ""
        called = {"latency": f"{Path(latency).name}{suffix}"}
        if stream is not None:
            called["stream"] = f"{Path(stream).name}{suffix}"
        curve = load_latency(latency, gpu)
        return calibrate(name, curve, points, base, called, watch, latency_from, hold, sets=sets)
    assert base is not None
    return refined(Calibration(base.model_copy(update={"name": name}), (), (), None), fit_hierarchy(base, sets, watch))
