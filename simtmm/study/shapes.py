"""Shapes of curves: which simple form a time over an axis has, and where it has a knee.

A hinge is fitted in three coordinates, since a knee between two regimes is straight on both sides in one of them: of
logarithms, of x, or of 1/x. It is a knee only where no smooth form does nearly as well: of a + b x, the logarithm bends
over any range, and where a fit of two segments breaks it says more of the range than of the curve.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Kind = Literal["flat", "linear", "1/x", "power", "x and 1/x", "knee", "none"]

LEAST_TO_NAME = 3  # different x: a form of two constants goes through any two points
LEAST_TO_BEND = 5  # likewise for a hinge, which has four
NAMED = 0.02  # root mean square of the relative error with which a form is named
SMOOTH = 0.01  # below it a smooth form leaves nothing to explain
BENT = 0.05  # above it two segments do not describe a curve either
GAIN = 4.0  # how many times less two segments must leave, for each degree of freedom, than the best smooth form;
SCARCE = 4.0  # and 1 + SCARCE / freedom times more: with few points left over, a fit can be good by chance
STEP = 0.1  # least difference of elasticities on the two sides of a knee
NEAR_BEST = 4.0  # times the residual variance: knots within it are as likely, about two standard errors
KNOTS = 33  # candidates along a curve, at equal ratios
REFINEMENTS = 4  # times that as many are tried again, about the best: to 1 / 16 of the distance each time


@dataclass(frozen=True)
class Knee:
    """Where two segments meet. at: x. between: the points of the curve among which it lies. before, after: the
    elasticity on either side of it.
    """

    at: float
    between: tuple[float, float]
    before: float
    after: float


@dataclass(frozen=True)
class Shape:
    """What a curve looks like.

    kind: "flat", "linear" (a + b x), "1/x" (a + b / x), "power" (a x^b), "x and 1/x" (a + b x + c / x), "knee", or
    "none" of these. constants: a, b, c. error: root mean square of the relative error: 0.01 is one per cent. knee: of
    that kind alone.
    """

    kind: Kind
    constants: tuple[float, ...]
    error: float
    knee: Knee | None = None

    def formula(self, digits: int = 4) -> str:
        """The form with its constants, as "55,728 + 884 x"; empty for a knee and for none."""
        words = [_number(value, digits) for value in self.constants]
        match self.kind:
            case "flat":
                return words[0]
            case "linear":
                return _sum(words[0], f"{words[1]} x")
            case "1/x":
                return _sum(words[0], f"{words[1]} / x")
            case "power":
                return f"{words[0]} x^{self.constants[1]:.2f}"
            case "x and 1/x":
                return _sum(words[0], f"{words[1]} x", f"{words[2]} / x")
            case _:
                return ""


@dataclass(frozen=True)
class _Smooth:
    kind: Kind
    constants: tuple[float, ...]
    squares: float


@dataclass(frozen=True)
class _Bend:
    knee: Knee
    squares: float


def shape_of(x: Floats, time: Floats) -> Shape | None:
    """The shape of a curve; None for fewer than three different x. x, time: above 0, in the order of x."""
    distinct, count = np.unique(x), len(x)
    if len(distinct) < LEAST_TO_NAME:
        return None
    if np.ptp(time) <= 0:
        return Shape("flat", (float(time[0]),), 0.0)
    forms = _smooth_forms(x, time, len(distinct))
    smooth = min(forms, key=lambda form: form.squares / (count - len(form.constants)))
    error = float(np.sqrt(smooth.squares / count))
    if error > SMOOTH and len(distinct) >= LEAST_TO_BEND:
        bend = min(_bends(x, time, distinct), key=lambda found: found.squares)
        freedom = max(count - 4, 1)
        gain = GAIN * (1 + SCARCE / freedom)
        clear = smooth.squares / (count - len(smooth.constants)) > gain * bend.squares / freedom
        bent = float(np.sqrt(bend.squares / count))
        if clear and bent <= BENT and abs(bend.knee.after - bend.knee.before) >= STEP:
            return Shape("knee", (), bent, bend.knee)
    # The simplest of those that are near enough, not the one with most constants
    near = [form for form in forms if np.sqrt(form.squares / count) <= NAMED]
    if not near:
        return Shape("none", (), error)
    fewest = min(len(form.constants) for form in near)
    named = min((form for form in near if len(form.constants) == fewest), key=lambda form: form.squares)
    return Shape(named.kind, named.constants, float(np.sqrt(named.squares / count)))


def _smooth_forms(x: Floats, time: Floats, distinct: int) -> list[_Smooth]:
    """All smooth forms that so many different x determine, and one more."""
    one = np.ones_like(x)
    tables: dict[Kind, list[Floats]] = {"flat": [one], "linear": [one, x], "1/x": [one, 1 / x]}
    if distinct >= LEAST_TO_BEND:
        tables["x and 1/x"] = [one, x, 1 / x]
    found = []
    for kind, columns in tables.items():
        constants, squares = _least_squares([column / time for column in columns], np.ones_like(time))
        found.append(_Smooth(kind, constants, squares))
    (level, exponent), squares = _least_squares([one, np.log(x)], np.log(time))
    return [*found, _Smooth("power", (float(np.exp(level)), exponent), squares)]


def _least_squares(columns: list[Floats], target: Floats) -> tuple[tuple[float, ...], float]:
    """The constants of the columns, and the sum of the squares that they leave."""
    table = np.stack(columns, axis=1)
    sizes = np.linalg.norm(table, axis=0)
    constants = np.linalg.lstsq(table / sizes, target, rcond=None)[0] / sizes
    left = target - table @ constants
    return tuple(map(float, constants)), float(left @ left)


def _bends(x: Floats, time: Floats, distinct: Floats) -> list[_Bend]:
    """Two segments that meet, in each of the coordinates."""
    logs = _hinge(np.log(x), np.log(time), np.ones_like(time), distinct, np.log)
    found = [_Bend(Knee(logs.at, logs.between, logs.left, logs.right), logs.squares)]
    for power in (1.0, -1.0):
        hinge = _hinge(x**power, np.ones_like(time), 1 / time, distinct, partial(_raised, power))
        if hinge.level <= 0:  # no time: the fit is far from the curve there
            continue
        factor = power * hinge.at**power / hinge.level  # from a slope to an elasticity
        # What lies above the knot lies to its left where the coordinate falls
        sides = (hinge.left, hinge.right) if factor > 0 else (hinge.right, hinge.left)
        found.append(_Bend(Knee(hinge.at, hinge.between, sides[0] * factor, sides[1] * factor), hinge.squares))
    return found


@dataclass(frozen=True)
class _Hinge:
    """at: x of the knot. left, right: slopes below and above it, in the coordinate. level: of the knot itself."""

    at: float
    between: tuple[float, float]
    left: float
    right: float
    level: float
    squares: float


def _hinge(s: Floats, target: Floats, weight: Floats, distinct: Floats, along: Callable[[Floats], Floats]) -> _Hinge:
    """weight * (a + b s + d max(0, s - knot)) fitted to the target, with the best knot. along: s of x."""
    # On either side of the knot there are two values of x, or the segment there is not determined
    low, high = np.log(distinct[1]), np.log(distinct[-2])
    line, _ = np.linalg.qr(np.stack([weight, weight * s], axis=1))
    left = target - line @ (line.T @ target)

    def tried(logs: Floats) -> tuple[Floats, Floats]:
        """What each knot leaves, and its d."""
        hinges = weight * np.maximum(0.0, s - along(np.exp(logs))[:, None])
        hinges -= (hinges @ line) @ line.T
        sizes = (hinges**2).sum(axis=1)
        steepness = np.divide(hinges @ left, sizes, out=np.zeros_like(sizes), where=sizes > 0)
        return ((left - steepness[:, None] * hinges) ** 2).sum(axis=1), steepness

    knots = np.linspace(low, high, KNOTS)
    every, squares, steepness, best = knots, *tried(knots), 0
    of_all = squares
    for refined in range(REFINEMENTS):
        if refined:
            knot, step = knots[best], knots[1] - knots[0]
            knots = np.linspace(max(knot - step, low), min(knot + step, high), KNOTS)
            squares, steepness = tried(knots)
            every, of_all = np.append(every, knots), np.append(of_all, squares)
        best = int(np.argmin(squares))
    at, bent = float(np.exp(knots[best])), float(steepness[best])
    knot = float(along(np.exp(knots[best : best + 1]))[0])
    (level, slope), _ = _least_squares([weight, weight * s], target - bent * weight * np.maximum(0.0, s - knot))
    likely = every[of_all <= squares[best] * (1 + NEAR_BEST / max(len(s) - 4, 1))]
    step = float(knots[1] - knots[0])  # no knot is known better
    between = _gap(distinct, float(np.exp(likely.min() - step)), float(np.exp(likely.max() + step)))
    return _Hinge(at, between, slope, slope + bent, level + slope * knot, float(squares[best]))


def _raised(power: float, x: Floats) -> Floats:
    return x**power


def _gap(distinct: Floats, low: float, high: float) -> tuple[float, float]:
    """The points that enclose both; a knot at a point may lie on either side of it."""
    below, above = distinct[distinct < low], distinct[distinct > high]
    return float(below[-1] if len(below) else distinct[0]), float(above[0] if len(above) else distinct[-1])


def _number(value: float, digits: int) -> str:
    if value and not 1e-3 <= abs(value) < 1e9:
        return f"{value:.{digits}g}"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(value))))) if value else 0
    text = f"{value:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _sum(*terms: str) -> str:
    return " + ".join(terms).replace("+ -", "- ")
