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
KNOTS = 65  # candidates along a curve, at equal ratios; then finer ones about the best


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
    knots = np.linspace(distinct[1], distinct[-2], KNOTS)
    fits = [_two_segments(u, v, knot) for knot in knots]
    best = int(np.argmin([squares for squares, _ in fits]))
    step = knots[1] - knots[0]
    for _ in range(4):  # to a thousandth of the first step
        fine = np.linspace(max(knots[best] - step, distinct[1]), min(knots[best] + step, distinct[-2]), 17)
        fits, knots, best = [_two_segments(u, v, knot) for knot in fine], fine, 0
        best = int(np.argmin([squares for squares, _ in fits]))
        step = fine[1] - fine[0]
    squares, coefficients = fits[best]
    line, *_ = np.linalg.lstsq(np.stack([np.ones_like(u), u], axis=1), v, rcond=None)
    single = float(((v - line[0] - line[1] * u) ** 2).sum())
    before, after = float(coefficients[1]), float(coefficients[1] + coefficients[2])
    if abs(after - before) < BEND or single < GAIN * squares:
        return None
    return Bend(float(np.exp(knots[best])), before, after, float(np.sqrt(squares / len(u))))


def _two_segments(u: Floats, v: Floats, knot: float) -> tuple[float, Floats]:
    """The squared residuals and the coefficients of v = a + b u + c max(0, u - knot)."""
    columns = np.stack([np.ones_like(u), u, np.maximum(0.0, u - knot)], axis=1)
    coefficients, *_ = np.linalg.lstsq(columns, v, rcond=None)
    return float(((v - columns @ coefficients) ** 2).sum()), coefficients
