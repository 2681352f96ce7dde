"""Curves of a study, a time over an axis with all else fixed, and two segments fitted to the logarithms of one.

What form a curve has, and whether it has a knee at all, is found by shapes.py.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.study.design.axes import Value
from simtmm.study.design.columns import Integers, numbered
from simtmm.study.results import Results
from simtmm.study.shapes import KNOTS, REFINEMENTS

Floats = npt.NDArray[np.float64]
BEND = 0.1  # difference of elasticities below which two segments are one
GAIN = 4.0  # how many times smaller the squared residuals must be than a single line's
LEAST = 5  # points: a fit of two segments has four unknowns
SAME = 1e-11  # largest relative difference of values that are equal when written with twelve digits


@dataclass(frozen=True)
class Curve:
    """The points that differ in one axis, and in those linked to it, in the order of its values.

    index: int64, which points of the study. fixed: the values of all other axes.
    """

    axis: str
    results: Results
    index: Integers
    fixed: Mapping[str, Value]

    def x(self) -> Floats:
        """The axis's value of each point; the axis must be numeric."""
        return self.results.axes[self.axis].numbers(self.index)

    def points(self, quantity: str) -> tuple[Floats, Floats]:
        """x and cycles, as far as both are above 0."""
        x, cycles = self.x(), self.results.cycles[quantity][self.index]
        good = (x > 0) & (cycles > 0) & np.isfinite(x) & np.isfinite(cycles)
        return x[good], cycles[good]


@dataclass(frozen=True)
class Curves:
    """All curves along an axis of the grid; they share no point.

    order: int64, the points of all curves, one curve behind another. starts: where each begins, and the last one's end.
    """

    axis: str
    others: tuple[str, ...]
    results: Results
    order: Integers
    starts: Integers

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, place: int) -> Curve:
        index = self.order[self.starts[place] : self.starts[place + 1]]
        fixed = {name: self.results.axes[name].at(index[0]) for name in self.others}
        return Curve(self.axis, self.results, index, fixed)

    @property
    def numbers(self) -> Integers:
        """int64: the curve of each point in `order`."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def some(self, most: int) -> list[Curve]:
        """All curves; evenly spaced ones where there are more than `most`."""
        step = max(1.0, len(self) / most)
        return [self[int(place * step)] for place in range(min(most, len(self)))]

    def slopes(self, quantity: str) -> Floats:
        """The elasticity of each curve that has one, in their order: `slope` of all at once."""
        curve, x = self.numbers, self.results.axes[self.axis].numbers(self.order)
        cycles = self.results.cycles[quantity][self.order]
        good = (x > 0) & (cycles > 0) & np.isfinite(x) & np.isfinite(cycles)
        curve, logs = curve[good], [np.log(x[good]), np.log(cycles[good])]
        curve, first, count = np.unique(curve, return_index=True, return_counts=True)
        of_point = np.repeat(np.arange(len(curve)), count)
        # From the first point of each curve, so that equal values are exactly 0
        u, v = (values - values[first][of_point] for values in logs)
        u, v = (values - (np.bincount(of_point, values, len(count)) / count)[of_point] for values in (u, v))
        squares = np.bincount(of_point, u * u, len(count))
        there = squares > count * SAME**2
        slopes: Floats = np.bincount(of_point, u * v, len(count))[there] / squares[there]
        return slopes


def curves(results: Results, axis: str) -> Curves:
    """The curves along an axis, of the points of which some time is known, with two points at least."""
    group = next((names for names in results.design.crossed if axis in names), (axis,))
    others = tuple(name for name in results.axes if name not in group)
    known = results.known
    number = numbered(results.axes, others, known)
    along = results.axes[axis]
    inside = along.numbers(known) if along.is_numeric else np.arange(len(known))
    order = np.lexsort((inside, number))
    number, order = number[order], known[order]
    sizes = np.bincount(number, minlength=1)
    keep = sizes > 1
    order = order[keep[number]] if len(number) else order
    return Curves(axis, others, results, order, np.concatenate([[0], np.cumsum(sizes[keep])]))


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
    """Where a curve bends most: two segments that meet, fitted to the logarithms by least squares.

    A smooth curve bends somewhere, too: a definition for curves that are known to have a knee.

    None where there are fewer than LEAST different x, where the elasticities differ by less than BEND, and where one
    line does nearly as well.

    x, time: float64[points].
    """
    u, v = np.log(x), np.log(time)
    distinct = np.unique(u)
    if len(distinct) < LEAST or np.ptp(v) == 0:
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
