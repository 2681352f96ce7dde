"""Forecast: how many points a study has and about how long it would take, before anything is computed for the store."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from simtmm.errors import SimtmmError
from simtmm.parallel.tasks import Serial, cores
from simtmm.study.layout import Layout
from simtmm.study.plan import Plan
from simtmm.study.point import Outcome
from simtmm.study.sheet import LARGE, points_left
from simtmm.study.sheet_points import PointsOf
from simtmm.study.store.store import Store
from simtmm.study.sweep import Pending, pending, tasks_of

WARM = 2.0  # seconds: a first point that took less is timed again, as it has compiled and imported what others find


@dataclass(frozen=True)
class Forecast:
    """What a sweep would do.

    points: of the study. excluded: those that constraints or the machine rule out. stored: those that are there.
    recordings: sets of kernel parameters among those to compute. seconds: about how long it would take, None where
    that can't be told; estimate: from what it was estimated.
    """

    points: int
    excluded: int
    stored: int
    to_compute: int
    recordings: int
    workers: int
    seconds: float | None
    estimate: str

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return dataclasses.asdict(self)


def forecast(made: Plan, store: str | Path, workers: int | None = None) -> Forecast:
    """Count points and estimate the time; where the store has no times yet, one point is computed and not kept."""
    with Store(store if Path(store).is_file() else ":memory:") as opened:
        waiting, mean, skipped = pending(made, opened), opened.mean_seconds(), opened.skipped()
    excluded = sum(bool(point.skipped) or point.key in skipped for point in made.points)
    open_points = sum(not point.skipped and point.key in waiting.points for point in made.points)
    number = max(min(cores() if workers is None else workers, len(waiting)), 1)
    traces = len({repr(sorted(point.parameters.items())) for point in waiting.points.values()})
    seconds: float | None
    if not waiting.points:
        seconds, estimate = 0.0, "nothing is left to do"
    elif mean is not None:
        seconds, estimate = mean * len(waiting) / number, "the points in the store"
    else:
        seconds, estimate = _pilot(made, waiting, traces, number)
    return Forecast(
        points=len(made.points),
        excluded=excluded,
        stored=len(made.points) - excluded - open_points,
        to_compute=len(waiting),
        recordings=traces if made.program.kind == "kernel" else 0,
        workers=number,
        seconds=seconds,
        estimate=estimate,
    )


def forecast_sheet(laid: Layout, store: str | Path) -> Forecast:
    """The same for a large study of closed forms; its first points are computed and not kept."""
    with Store(store if Path(store).is_file() else ":memory:") as opened:
        left = points_left(laid, opened)
    seconds, excluded, tried = 0.0, 0, min(LARGE, laid.size)
    if left:
        begun = perf_counter()
        first = PointsOf(laid).compute(0, tried)
        seconds = (perf_counter() - begun) * left / tried
        excluded = first["status"].to_pylist().count("skipped") * laid.size // tried
    return Forecast(
        points=laid.size,
        excluded=excluded,
        stored=laid.size - left,
        to_compute=left,
        recordings=0,
        workers=1,
        seconds=seconds,
        estimate=f"the first {tried:,} points" if left else "nothing is left to do",
    )


def _pilot(made: Plan, waiting: Pending, traces: int, workers: int) -> tuple[float | None, str]:
    """Seconds from the point in the middle, as if all points and all recordings took as long as its own."""
    key = list(waiting.points)[len(waiting) // 2]
    alone = Pending({key: waiting.points[key]}, {key: waiting.lacking[key]})
    overall, own, said = _timed(made, alone)
    preparing = overall - own
    if not said and overall < WARM:
        overall, own, said = _timed(made, alone)
    if said:
        return None, f"the point in the middle can't be computed: {said}"
    return (own * len(waiting) + preparing * traces) / workers, "the point in the middle"


def _timed(made: Plan, alone: Pending) -> tuple[float, float, str]:
    """Seconds that a point takes with its recording, and without; and why it can't be computed."""
    begun = perf_counter()
    outcome: Outcome | SimtmmError
    ((_, outcome),) = Serial().run(list(tasks_of(made, alone)))
    overall = perf_counter() - begun
    if isinstance(outcome, SimtmmError):
        return overall, 0.0, str(outcome)
    return overall, outcome.seconds, outcome.skipped
