"""Accuracy: measured values compared with the simulation and the models, and the errors of these."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.model.series import SIMULATED

LEAST_TO_RANK = 3  # points of a rank correlation


@dataclass(frozen=True)
class Measured:
    """A measured value, or what stands in its place (`Accuracy.reference`), and what each series gives.

    case: what was measured, in words that tell the points of a table apart. at: what the points of a picture's curve
    differ in, in the table's `along`. group: the curve it belongs to. measured: in the table's unit. said: in the same
    unit, by series: "simulated" and models' names.
    """

    case: str
    measured: float
    said: Mapping[str, float]
    at: float | None = None
    group: str = ""


@dataclass(frozen=True)
class Errors:
    """How far a series is off, over the points that it has values for. mean, median: of |said / measured - 1|.
    largest: the error that is farthest from 0, with its sign, at the point `worst`. bias: mean of said / measured - 1.
    spearman: rank correlation of said and measured values, None for fewer than three points or equal ones.
    """

    series: str
    points: int
    mean: float
    median: float
    largest: float
    worst: str
    bias: float
    spearman: float | None


@dataclass(frozen=True)
class Accuracy:
    """A table of measured values.

    name: of the table, unique, as in file names. title: what it is about. quantity, unit: of the values, "bandwidth" in
    "GB/s". along: what `at` of the points is, with its unit. calibrated: what was calibrated on what. origin: where the
    measured values come from. machine: the profile that was simulated, or several with commas. promised: the mean error
    of a series that is not to be exceeded, as a fraction, by series. notes: further remarks, a paragraph each.
    reference: what the values that count as measured are called, where they were not: "fitted line", say. It holds of
        all points, so what was measured and what was not stand in tables of their own.
    """

    name: str
    title: str
    quantity: str
    unit: str
    points: tuple[Measured, ...]
    calibrated: str
    origin: str
    machine: str
    along: str = ""
    promised: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    reference: str = "measured"

    @property
    def series(self) -> tuple[str, ...]:
        """The series in the order in which the points name them, the simulated one first."""
        names = dict.fromkeys(name for point in self.points for name in point.said)
        return tuple(sorted(names, key=lambda name: name != SIMULATED))

    def values(self, series: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Measured values and those of the series (float64), at the points that it has values for.

        series: its name.
        """
        pairs = [(point.measured, point.said[series]) for point in self.points if series in point.said]
        measured, values = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
        return measured, values

    def errors(self, series: str, group: str | None = None) -> Errors:
        """How far a series is off, over all points or those of a group.

        series: its name.
        group: of points; all of them if left out.
        """
        chosen = [point for point in self.points if series in point.said and (group is None or point.group == group)]
        off = np.array([point.said[series] / point.measured - 1 for point in chosen])
        farthest = int(np.abs(off).argmax())
        return Errors(
            series=series,
            points=len(chosen),
            mean=float(np.abs(off).mean()),
            median=float(np.median(np.abs(off))),
            largest=float(off[farthest]),
            worst=chosen[farthest].case,
            bias=float(off.mean()),
            spearman=_spearman([point.measured for point in chosen], [point.said[series] for point in chosen]),
        )

    @property
    def groups(self) -> tuple[str, ...]:
        """The points' groups, in the order of the points."""
        return tuple(dict.fromkeys(point.group for point in self.points))

    def to_dict(self) -> dict[str, Any]:
        """All of it, as one JSON document, errors included."""
        return {
            **{key: value for key, value in vars(self).items() if key not in ("points", "notes", "promised")},
            "promised": dict(self.promised),
            "notes": list(self.notes),
            "points": [vars(point) | {"said": dict(point.said)} for point in self.points],
            "errors": {name: vars(self.errors(name)) for name in self.series},
        }

    @classmethod
    def from_dict(cls, document: Mapping[str, Any]) -> "Accuracy":
        """The table of a document of `to_dict`. Errors follow from the points, so those it tells are not read.

        document: what `to_dict` gave.

        Raises KeyError, TypeError or ValueError for another document.
        """
        own = {entry.name: document[entry.name] for entry in fields(cls)}
        points = tuple(Measured(**point | {"said": dict(point["said"])}) for point in own.pop("points"))
        return cls(**own | {"points": points, "promised": dict(own["promised"]), "notes": tuple(own["notes"])})


def _spearman(one: list[float], other: list[float]) -> float | None:
    if len(one) < LEAST_TO_RANK or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None
    from scipy.stats import spearmanr  # slow to load

    return float(spearmanr(one, other).statistic)
