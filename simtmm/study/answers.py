"""Answers: what mattered in a study: elasticities, where what binds changes, knees beside the models' thresholds."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import exp, log, sqrt
from statistics import median
from typing import Any

import numpy as np

from simtmm.study.axes import Value
from simtmm.study.curves import Curve, bend, curves, is_numeric, slope
from simtmm.study.gathered import Row, Study
from simtmm.study.plan import MEASURED, SIMULATED


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
    straight line of logarithms between them, or the middle for a simulation. What binds a simulation is where most of
    its time goes.
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
class Answers:
    """What mattered. fastest: the axes of the fastest point by each quantity."""

    elasticities: tuple[Elasticity, ...]
    spreads: tuple[Spread, ...]
    changes: tuple[Change, ...]
    knees: tuple[Knee, ...]
    fastest: Mapping[str, Mapping[str, Value]]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return asdict(self)


def answers(study: Study) -> Answers:
    """What mattered in a study, from the points that are done."""
    quantities = [name for name in study.plan.compute if any(row.cycles(name) is not None for row in study.rows)]
    elasticities: list[Elasticity] = []
    spreads: list[Spread] = []
    changes: list[Change] = []
    knees: list[Knee] = []
    for group in study.plan.grid:
        axis = next((name for name in group if is_numeric(study, name)), group[0])
        along = list(curves(study, axis))
        if not is_numeric(study, axis):
            spreads += [spread for quantity in quantities if (spread := _spread(along, axis, quantity))]
            continue
        elasticities += [made for quantity in quantities if (made := _elasticity(along, axis, quantity))]
        for curve in along:
            own = [change for quantity in quantities for change in _changes(curve, quantity)]
            changes += own
            knees += _knees(curve, quantities, own)
    elasticities += [made for quantity in quantities for made in _regression(study, quantity)]
    fastest = {
        quantity: dict(min(rows, key=lambda pair: pair[0])[1].point.axes)
        for quantity in quantities
        if (rows := [(cycles, row) for row in study.rows if (cycles := row.cycles(quantity)) is not None])
    }
    return Answers(tuple(elasticities), tuple(spreads), tuple(changes), tuple(knees), fastest)


def bound_of(row: Row, quantity: str) -> str | None:
    """What binds a point: a model's largest term, or where most of a simulation's time goes."""
    document = row.results.get(quantity)
    if document is None or quantity == MEASURED:
        return None
    if quantity != SIMULATED:
        return str(document["bound"])
    time = document["time"]
    return max(time, key=time.__getitem__) if time and any(time.values()) else None


def _elasticity(along: Sequence[Curve], axis: str, quantity: str) -> Elasticity | None:
    slopes = [made for curve in along if (made := slope(*curve.points(quantity))) is not None]
    if not slopes:
        return None
    return Elasticity(axis, quantity, median(slopes), min(slopes), max(slopes), len(slopes))


def _spread(along: Sequence[Curve], axis: str, quantity: str) -> Spread | None:
    ratios, best = [], []
    for curve in along:
        times = [
            (cycles, value)
            for row, value in zip(curve.rows, curve.values(), strict=True)
            if (cycles := row.cycles(quantity))
        ]
        if len(times) > 1:
            fastest = min(times, key=lambda pair: pair[0])
            ratios.append(max(cycles for cycles, _ in times) / fastest[0])
            best.append(fastest[1])
    if not ratios:
        return None
    return Spread(axis, quantity, median(ratios), max(best, key=best.count), len(ratios))


def _regression(study: Study, quantity: str) -> list[Elasticity]:
    """Elasticities to all sampled axes at once, by least squares of logarithms; the grid's places have each its level.

    low and high are two standard errors away.
    """
    names = [name for name in study.plan.sampled if is_numeric(study, name)]
    grid = [name for group in study.plan.grid for name in group]
    rows: dict[tuple[Value, ...], list[list[float]]] = {}
    for row in study.rows:
        cycles, x = row.cycles(quantity), [row.point.axes[name] for name in names]
        numbers = [float(value) for value in (cycles, *x) if isinstance(value, (int, float)) and value > 0]
        if len(numbers) == len(names) + 1:
            rows.setdefault(tuple(row.point.axes[name] for name in grid), []).append([log(value) for value in numbers])
    levels = [np.array(of_place) - np.mean(of_place, axis=0) for of_place in rows.values()]
    freedom = sum(len(level) for level in levels) - len(levels) - len(names)
    if not names or freedom < 1:
        return []
    both = np.concatenate(levels)
    logs, time = both[:, 1:], both[:, 0]
    found, _, rank, _ = np.linalg.lstsq(logs, time, rcond=None)
    if rank < len(names):
        return []
    variance = float(((time - logs @ found) ** 2).sum()) / freedom
    errors = np.sqrt(variance * np.diag(np.linalg.inv(logs.T @ logs)))
    return [
        Elasticity(name, quantity, float(value), float(value - 2 * error), float(value + 2 * error), 0)
        for name, value, error in zip(names, found, errors, strict=True)
    ]


def _changes(curve: Curve, quantity: str) -> list[Change]:
    found = [
        (float(value), bound, row)
        for row, value in zip(curve.rows, curve.values(), strict=True)
        if isinstance(value, (int, float)) and (bound := bound_of(row, quantity)) is not None
    ]
    return [
        Change(
            curve.axis, quantity, curve.fixed, one, other, (x, y), _crossing(quantity, x, y, one, other, first, second)
        )
        for (x, one, first), (y, other, second) in pairwise(found)
        if one != other
    ]


def _crossing(quantity: str, x: float, y: float, one: str, other: str, first: Row, second: Row) -> float:
    if x <= 0 or y <= 0:
        return (x + y) / 2
    if quantity != SIMULATED:
        terms = [row.results[quantity]["terms"] for row in (first, second)]
        parts = [(term.get(one, 0.0), term.get(other, 0.0)) for term in terms]
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
