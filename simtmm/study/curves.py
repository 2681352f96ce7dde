"""Curves of a study, a time over an axis with all else fixed, and the knee of one: a fit of two segments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.study.axes import Value
from simtmm.study.gathered import Row, Study

Floats = npt.NDArray[np.float64]
BEND = 0.1  # difference of elasticities below which two segments are one
GAIN = 4.0  # how many times smaller the squared residuals must be than a single line's
LEAST = 5  # points: a fit of two segments has four unknowns
KNOTS = 33  # candidates along a curve, at equal ratios
REFINEMENTS = 4  # times that as many are tried again, about the best: to 1 / 16 of the distance each time


@dataclass(frozen=True)
class Curve:
    """The points that differ in one axis, and in those linked to it, in the order of its values.

    fixed: the values of all other axes.
    """

    axis: str
    fixed: Mapping[str, Value]
    rows: tuple[Row, ...]

    def values(self) -> list[Value]:
        """The axis's value of each row."""
        return [row.point.axes[self.axis] for row in self.rows]

    def points(self, quantity: str) -> tuple[Floats, Floats]:
        """x and cycles, as far as both are above 0."""
        pairs = [
            (float(x), cycles)
            for row, x in zip(self.rows, self.values(), strict=True)
            if isinstance(x, (int, float)) and (cycles := row.cycles(quantity)) is not None
        ]
        array = np.array(pairs, dtype=np.float64).reshape(-1, 2)
        array = array[(array > 0).all(axis=1) & np.isfinite(array).all(axis=1)]
        return array[:, 0], array[:, 1]


def curves(study: Study, axis: str) -> Iterator[Curve]:
    """The curves along an axis of the grid; those of one axis share no point."""
    group = next((names for names in study.plan.grid if axis in names), (axis,))
    others = [name for name in study.plan.axes if name not in group]
    found: dict[tuple[object, ...], list[Row]] = {}
    for row in study.rows:
        if row.results:
            place = tuple((type(row.point.axes[name]) is bool, row.point.axes[name]) for name in others)
            found.setdefault(place, []).append(row)
    numeric = is_numeric(study, axis)
    for rows in found.values():
        if numeric:
            rows.sort(key=lambda row: float(row.point.axes[axis] or 0))
        if len(rows) > 1:
            yield Curve(axis, {name: rows[0].point.axes[name] for name in others}, tuple(rows))


def is_numeric(study: Study, axis: str) -> bool:
    """Whether all values of an axis are numbers."""
    values = (row.point.axes[axis] for row in study.rows)
    return all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values)


def slope(x: Floats, time: Floats) -> float | None:
    """The elasticity of time: by how many per cent it grows where x grows by one, by least squares of logarithms."""
    if len(x) < 2 or np.ptp(x) == 0:
        return None
    u, v = np.log(x), np.log(time)
    u, v = u - u.mean(), v - v.mean()
    return float(u @ v / (u @ u))


@dataclass(frozen=True)
class Bend:
    """Where a curve bends. at: x. before, after: the elasticity on either side. error: of the fit, root mean square
    of the logarithm: 0.01 is one per cent.
    """

    at: float
    before: float
    after: float
    error: float


def bend(x: Floats, time: Floats) -> Bend | None:
    """The knee of a curve: two segments that meet, fitted to the logarithms by least squares.

    None where there are fewer than LEAST different x, where the elasticities differ by less than BEND, and where one
    line does nearly as well.
    """
    u, v = np.log(x), np.log(time)
    distinct = np.unique(u)
    if len(distinct) < LEAST:
        return None
    # On either side of the knot there are two values of x, or the segment there is not determined
    low, high = float(distinct[1]), float(distinct[-2])
    # What a line leaves of the times and of each hinge max(0, u - knot): the fit of both is then one of a proportion
    line = np.stack([np.ones_like(u), u - u.mean()], axis=1)
    line /= np.linalg.norm(line, axis=0)
    left = v - line @ (line.T @ v)
    single = float(left @ left)
    knots, squares, steepness = np.linspace(low, high, KNOTS), np.empty(0), np.empty(0)
    best = 0
    for _ in range(REFINEMENTS):
        hinges = np.maximum(0.0, u - knots[:, None])
        hinges -= (hinges @ line) @ line.T
        steepness = hinges @ left / (hinges**2).sum(axis=1)
        squares = ((left - steepness[:, None] * hinges) ** 2).sum(axis=1)
        best = int(np.argmin(squares))
        knot, step = float(knots[best]), float(knots[1] - knots[0])
        knots = np.linspace(max(knot - step, low), min(knot + step, high), KNOTS)
    bent, error = float(steepness[best]), float(squares[best])
    if abs(bent) < BEND or single < GAIN * error:
        return None
    before = slope(x, np.exp(v - bent * np.maximum(0.0, u - knot)))
    assert before is not None
    return Bend(float(np.exp(knot)), before, before + bent, float(np.sqrt(error / len(u))))
