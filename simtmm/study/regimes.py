"""Regimes: where along a curve another thing binds, by a model to the digit, by simulation between two points; and what
holds the blocks of a group.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from simtmm.study.curves import Curve
from simtmm.study.design.axes import Value
from simtmm.study.evaluation.residence import LIMITS
from simtmm.study.results import Results


@dataclass(frozen=True)
class Change:
    """Where what binds changes along an axis. What binds a simulation is the cause of most of its time.

    between: the neighbours of which one is bound by `before` and the other by `after`; that much is exact. at: where
    the model's two terms are equal, on a straight line of logarithms between them, or the middle for a simulation.
    """

    axis: str
    quantity: str
    fixed: Mapping[str, Value]
    before: str
    after: str
    between: tuple[float, float]
    at: float


@dataclass(frozen=True)
class Held:
    """What holds the blocks that a group has at once, along an axis that is one of these limits.

    spans: from where to where along the axis which keys hold them (residence.py), in the order of its values.
    """

    axis: str
    fixed: Mapping[str, Value]
    spans: tuple[tuple[float, float, str], ...]


def held_along(curve: Curve) -> Held | None:
    """Of a curve along one of the limits; None where that limit alone holds, or it is not known."""
    if curve.axis not in LIMITS:
        return None
    column = curve.results.holders
    points = [int(point) for point in curve.index if column.places[point] >= 0]
    spans: list[tuple[float, float, str]] = []
    for x, point in zip(curve.results.axes[curve.axis].numbers(np.array(points, dtype=np.int64)), points, strict=True):
        by = str(column.at(point))
        if spans and spans[-1][2] == by:
            spans[-1] = (spans[-1][0], float(x), by)
        else:
            spans.append((float(x), float(x), by))
    if all(by == curve.axis for _, _, by in spans):
        return None
    return Held(curve.axis, curve.fixed, tuple(spans))


def changes_along(curve: Curve, quantity: str) -> list[Change]:
    """All changes of what binds along a curve, in the order of its values."""
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
