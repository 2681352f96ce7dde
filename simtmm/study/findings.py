"""Findings: what mattered in a study: elasticities, where what binds changes, knees beside the models' thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import exp, log, sqrt
from typing import Any

import numpy as np

from simtmm.model.series import MEASURED, SIMULATED
from simtmm.study.curves import Curve, Curves, bend, curves
from simtmm.study.design.axes import Value
from simtmm.study.design.columns import numbered
from simtmm.study.results import Results

MOST_CURVES = 2_000  # of an axis, that are looked at for knees and changes: nobody reads more


@dataclass(frozen=True)
class Elasticity:
    """By how many per cent time grows where an axis grows by one per cent: the median over curves, and its range.

    curves: their number; 0 where the axis is sampled, and the elasticity is that of a regression over all points.
    """

    axis: str
    quantity: str
    value: float
    low: float
    high: float
    curves: int


@dataclass(frozen=True)
class Spread:
    """For an axis of words: slowest over fastest, the median over curves, and the value that is fastest most often."""

    axis: str
    quantity: str
    ratio: float
    best: Value
    curves: int


@dataclass(frozen=True)
class Change:
    """Where what binds changes along an axis. between: the neighbours; at: where the model's two terms are equal, on a
    straight line of logarithms between them, or the middle for a simulation. What binds a simulation is the
    cause of most of its time.
    """

    axis: str
    quantity: str
    fixed: Mapping[str, Value]
    before: str
    after: str
    between: tuple[float, float]
    at: float


@dataclass(frozen=True)
class Knee:
    """The knee of a curve (curves.Bend), and beside it where each model's binding term changes on the same curve."""

    axis: str
    quantity: str
    fixed: Mapping[str, Value]
    at: float
    before: float
    after: float
    error: float
    thresholds: Mapping[str, Sequence[float]]


@dataclass(frozen=True)
class Findings:
    """What mattered. fastest: the axes of the fastest point by each quantity.

    curves: where an axis has more than MOST_CURVES curves, changes and knees are those of so many, evenly spaced; then
    the number of all, by axis.
    """

    elasticities: tuple[Elasticity, ...]
    spreads: tuple[Spread, ...]
    changes: tuple[Change, ...]
    knees: tuple[Knee, ...]
    fastest: Mapping[str, Mapping[str, Value]]
    curves: Mapping[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)


def findings(results: Results) -> Findings:
    """What mattered in a study, from the points that are done."""
    design = results.design
    quantities = [name for name in design.compute if np.isfinite(results.cycles[name]).any()]
    elasticities: list[Elasticity] = []
    spreads: list[Spread] = []
    changes: list[Change] = []
    knees: list[Knee] = []
    limited: dict[str, int] = {}
    for group in design.crossed:
        axis = next((name for name in group if results.axes[name].is_numeric), group[0])
        along = curves(results, axis)
        if not results.axes[axis].is_numeric:
            spreads += [spread for quantity in quantities if (spread := _spread(along, quantity))]
            continue
        elasticities += [made for quantity in quantities if (made := _elasticity(along, quantity))]
        if len(along) > MOST_CURVES:
            limited[axis] = len(along)
        for curve in along.some(MOST_CURVES):
            own = [change for quantity in quantities for change in _changes(curve, quantity)]
            changes += own
            knees += _knees(curve, quantities, own)
    elasticities += [made for quantity in quantities for made in _regression(results, quantity)]
    fastest = {
        quantity: {name: column.at(best) for name, column in results.axes.items()}
        for quantity in quantities
        for best in (int(np.nanargmin(results.cycles[quantity])),)
    }
    return Findings(tuple(elasticities), tuple(spreads), tuple(changes), tuple(knees), fastest, limited)


def _elasticity(along: Curves, quantity: str) -> Elasticity | None:
    slopes = along.slopes(quantity)
    if not len(slopes):
        return None
    value, low, high = float(np.median(slopes)), float(slopes.min()), float(slopes.max())
    return Elasticity(along.axis, quantity, value, low, high, len(slopes))


def _spread(along: Curves, quantity: str) -> Spread | None:
    cycles, curve = along.results.cycles[quantity][along.order], along.numbers
    there = cycles > 0
    curve, cycles, points = curve[there], cycles[there], along.order[there]
    curve, count = np.unique(curve, return_inverse=True, return_counts=True)[1:]
    several = count[curve] > 1
    curve, cycles, points = np.unique(curve[several], return_inverse=True)[1], cycles[several], points[several]
    if not len(curve):
        return None
    by_time = np.lexsort((cycles, curve))  # stable: of equals the first
    starts = np.flatnonzero(np.diff(curve, prepend=-1))
    ends = np.append(starts[1:], len(curve)) - 1
    best, worst = by_time[starts], by_time[ends]
    ratio = float(np.median(cycles[worst] / cycles[best]))
    axis = along.results.axes[along.axis]
    places = axis.places[points[best]]
    most = np.bincount(places)
    first = next(place for place in places if most[place] == most.max())
    return Spread(along.axis, quantity, ratio, axis.values[first], len(starts))


def _regression(results: Results, quantity: str) -> list[Elasticity]:
    """Elasticities to all sampled axes at once, by least squares of logarithms; the grid's places have each its level.

    low and high are two standard errors away.
    """
    names = [name for name in results.design.sampled if results.axes[name].is_numeric]
    points = np.flatnonzero(results.cycles[quantity] > 0)
    numbers = np.stack([results.cycles[quantity][points], *(results.axes[name].numbers(points) for name in names)])
    good = (numbers > 0).all(axis=0)
    points, logs = points[good], np.log(numbers[:, good])
    level = numbered(results.axes, [name for group in results.design.crossed for name in group], points)
    levels = np.bincount(level, minlength=1)
    freedom = len(points) - len(levels) - len(names)
    if not names or freedom < 1:
        return []
    logs = np.stack([row - (np.bincount(level, row) / levels)[level] for row in logs])
    x, time = logs[1:].T, logs[0]
    found, _, rank, _ = np.linalg.lstsq(x, time, rcond=None)
    if rank < len(names):
        return []
    variance = float(((time - x @ found) ** 2).sum()) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(x.T @ x)))
    return [
        Elasticity(name, quantity, float(value), float(value - 2 * error), float(value + 2 * error), 0)
        for name, value, error in zip(names, found, errors, strict=True)
    ]


def _changes(curve: Curve, quantity: str) -> list[Change]:
    bounds = curve.results.bounds.get(quantity)
    if bounds is None:
        return []
    points = curve.index[bounds.places[curve.index] >= 0]
    own = bounds.places[points]
    found = []
    for place in np.flatnonzero(own[1:] != own[:-1]):
        first, second = int(points[place]), int(points[place + 1])
        one, other = str(bounds.at(first)), str(bounds.at(second))
        x, y = curve.results.axes[curve.axis].numbers(np.array([first, second])).tolist()
        at = _crossing(curve.results, quantity, (x, y), (one, other), (first, second))
        found.append(Change(curve.axis, quantity, curve.fixed, one, other, (x, y), at))
    return found


def _crossing(
    results: Results, quantity: str, at: tuple[float, float], bounds: tuple[str, str], points: tuple[int, int]
) -> float:
    x, y = at
    if x <= 0 or y <= 0:
        return (x + y) / 2
    terms = results.terms.get(quantity, {})
    if all(bound in terms for bound in bounds):
        parts = [(float(terms[bounds[0]][point]), float(terms[bounds[1]][point])) for point in points]
        if all(part > 0 for pair in parts for part in pair):
            above, below = (log(mine / theirs) for mine, theirs in parts)
            if above > below:
                return exp(log(x) + above / (above - below) * log(y / x))
    return sqrt(x * y)


def _knees(curve: Curve, quantities: Sequence[str], changes: Sequence[Change]) -> list[Knee]:
    """Of what was simulated or measured; of the models where there is neither."""
    told = [quantity for quantity in quantities if quantity in (SIMULATED, MEASURED)] or quantities
    thresholds: dict[str, list[float]] = {}
    for change in changes:
        if change.quantity != SIMULATED:
            thresholds.setdefault(change.quantity, []).append(change.at)
    made = []
    for quantity in told:
        found = bend(*curve.points(quantity))
        if found:
            place = (curve.axis, quantity, curve.fixed, found.at, found.before, found.after, found.error)
            made.append(Knee(*place, thresholds))
    return made
