"""Bounded least squares of a simulation: Gauss-Newton with differences wide enough for a staircase.

A simulated bandwidth is no smooth function of a machine's values: blocks come in waves, and a wave more or less is
some per cent. So slopes are taken over steps that the caller chooses, and what moves less than a step is not followed.
Taking all of them costs as much as many steps, so each step corrects them by what it showed, and they are taken anew
where that leads no further. An error weighs by its square while it is small and by its size beyond, so that a stray
point weighs little.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Numbers = npt.NDArray[np.float64]
Residuals = Callable[[Sequence[Numbers]], Sequence[Numbers]]

KINK = 0.02  # residuals below this count by their square, those above by their size
SHARES = (1.0, 0.5, 0.2)  # of a step that are tried
LEAST_GAIN = 0.005  # of the cost: a step that gains less is the last
FARTHEST = 6.0  # steps that a parameter moves at once, at most: slopes hold no further
ALWAYS = 1 << 30
REFITS = 8  # steps of a fit to straight lines: weights follow the residuals


@dataclass(frozen=True)
class Parameter:
    """A value that is fitted. least, most: its bounds. step: over which its slope is taken."""

    name: str
    least: float
    most: float
    step: float


@dataclass(frozen=True)
class Fitted:
    """What came of it. values, errors: by name, with standard errors, infinite where there are no more residuals than
    values. cost: the mean over the residuals, see `cost`. residuals: at these values. slopes: of each residual over a
    step of each parameter, at the last place where they were taken.
    """

    values: dict[str, float]
    errors: dict[str, float]
    cost: float
    residuals: Numbers = field(default_factory=lambda: np.zeros(0), compare=False, repr=False)
    slopes: Numbers = field(default_factory=lambda: np.zeros((0, 0)), compare=False, repr=False)


def least_squares(
    parameters: Sequence[Parameter],
    begin: Sequence[float],
    residuals: Residuals,
    steps: int,
    slopes: Numbers | None = None,
    times: int = ALWAYS,
) -> Fitted:
    """The values that make the residuals small.

    begin: values to begin with. residuals: gives the residuals at each of several sets of values, all at once, so that
    they may be computed side by side. steps: at most so many. slopes: as of a fit nearby; None where none are known.
    times: how often slopes may be taken. They are where a step gains too little with those that earlier steps showed.
    """
    names = [each.name for each in parameters]
    least, most, step = (np.array([getattr(each, name) for each in parameters]) for name in ("least", "most", "step"))
    at = np.clip(np.array(begin, dtype=np.float64), least, most)
    (off,) = residuals([at])
    fresh = False
    for _ in range(steps):
        if slopes is None:
            slopes, fresh, times = _slopes(residuals, at, off, step, most), True, times - 1
        room = [np.clip((bound - at) / step, -FARTHEST, FARTHEST) for bound in (least, most)]
        move = _move(slopes, off, *room)
        tried = [np.clip(at + share * step * move, least, most) for share in SHARES]
        found = residuals(tried[:1])
        seen = _seen(slopes, (tried[0] - at) / step, found[0] - off)
        if cost(found[0]) >= cost(off):
            found = [*found, *residuals(tried[1:])]
        best = min(range(len(found)), key=lambda index: cost(found[index]))
        gain = cost(off) - cost(found[best])
        if gain > 0:
            at, off = tried[best], found[best]
        if gain >= LEAST_GAIN * cost(off):
            slopes, fresh = seen, False
        elif fresh or times <= 0:
            break
        else:
            slopes = None
    if slopes is None:
        slopes = _slopes(residuals, at, off, step, most)
    free = len(off) - len(at)
    spread = np.full(len(at), np.inf)
    told = np.abs(slopes).max(axis=0) > 0  # what moves no residual is not known at all
    if free > 0:
        spread = step * np.sqrt(np.sum(off**2) / free * np.abs(np.diag(np.linalg.pinv(slopes.T @ slopes))))
    spread = np.where(told, spread, np.inf)
    values, errors = (dict(zip(names, numbers.tolist(), strict=True)) for numbers in (at, spread))
    return Fitted(values, errors, cost(off), off, slopes)


def _slopes(residuals: Residuals, at: Numbers, off: Numbers, step: Numbers, most: Numbers) -> Numbers:
    """Of each residual over a step of each parameter; towards the other side where a bound is near."""
    width = np.where(at + step <= most, 1.0, -1.0)
    beside = residuals([at + width * step * (np.arange(len(at)) == index) for index in range(len(at))])
    return np.stack([(there - off) * width[index] for index, there in enumerate(beside)], axis=1)


def _seen(slopes: Numbers, move: Numbers, change: Numbers) -> Numbers:
    """The slopes nearest to these by which that move makes that change (Broyden)."""
    length = float(move @ move)
    return slopes if length == 0 else slopes + np.outer(change - slopes @ move, move) / length


def refitted(
    parameters: Sequence[Parameter], fitted: Fitted, rows: npt.NDArray[np.int64]
) -> tuple[dict[str, float], float]:
    """The values that a fit to some of its residuals would have found, and their cost, were residuals straight lines.

    rows: numbers of the residuals that count; those that are there twice count twice.
    """
    least, most, step = (np.array([getattr(each, name) for each in parameters]) for name in ("least", "most", "step"))
    at = np.array([fitted.values[each.name] for each in parameters])
    slopes, move = fitted.slopes[rows], np.zeros(len(at))
    for _ in range(REFITS):
        off = fitted.residuals[rows] + slopes @ move
        move += _move(slopes, off, (least - at) / step - move, (most - at) / step - move)
    found = np.clip(at + step * move, least, most)
    values = {each.name: float(value) for each, value in zip(parameters, found, strict=True)}
    return values, cost(fitted.residuals[rows] + slopes @ move)


def cost(off: Numbers) -> float:
    """The mean size of residuals, with those below KINK counted by their square; KINK at least."""
    return float(np.mean(np.sqrt(off**2 + KINK**2)))


def _move(slopes: Numbers, off: Numbers, least: Numbers, most: Numbers) -> Numbers:
    """The step of least squares, weighted for `cost`, within bounds: what would leave them stays at its bound."""
    weights = 1 / np.sqrt(off**2 + KINK**2)
    move = np.zeros(len(least))
    free = np.ones(len(least), dtype=bool)
    while free.any():
        left = off + slopes[:, ~free] @ move[~free]
        some = slopes[:, free]
        normal = some.T @ (some * weights[:, None])
        move[free] = np.linalg.lstsq(normal, -some.T @ (left * weights), rcond=1e-6)[0]
        beyond = free & ((move < least) | (move > most))
        if not beyond.any():
            break
        move = np.clip(move, least, most)
        free &= ~beyond
    return move
