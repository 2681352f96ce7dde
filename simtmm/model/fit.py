"""Constants of models from measured or simulated times, by least squares.

Source: Ma, dissertation (2014), Eq (5.24) and (6.10), Fig 5.13 and 6.2 (a1 and a0), section 5.1.2 (G).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError, shown
from simtmm.model.cache import C_S, WORKING_SET, miss_rate
from simtmm.model.equations.formula import Floats


@dataclass(frozen=True)
class Line:
    """time = a1 x + a0, fitted.

    residuals: measured less fitted times, in the unit of the times. r_squared: the part of the times' variance that
    the line explains; None where the times do not vary.
    """

    a1: float
    a0: float
    r_squared: float | None
    residuals: Floats

    def at(self, x: npt.ArrayLike) -> Floats:
        """The line's times.

        x: numbers, of any shape, which the times have, too.
        """
        return self.a1 * np.asarray(x, dtype=np.float64) + self.a0

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {"a1": self.a1, "a0": self.a0, "r_squared": self.r_squared, "residuals": self.residuals.tolist()}


def fit_line(x: npt.ArrayLike, time: npt.ArrayLike, a0: float | None = None) -> Line:
    """The line with the least squared residuals. a0: the intercept where it is not fitted, 0 for a proportion.

    x, time: shape (points,) each.

    Raises ModelError for fewer than two points, other numbers of x than of times, what is no finite number, and
    x that do not vary.
    """
    from scipy.linalg import lstsq  # slow to load, and only fits need it

    abscissae, times = _points("x", x), _points("time", time)
    if abscissae.shape != times.shape:
        raise ModelError(f"fit: time: {times.size} values: must be as many as x, {abscissae.size}")
    if a0 is None:
        if np.ptp(abscissae) == 0:
            raise ModelError(f"fit: x = {abscissae[0]:.12g} for all: must have at least two different values")
        # About the means, so that a large offset of x costs no digits
        middle, mean = abscissae.mean(), times.mean()
        slope = float(lstsq((abscissae - middle)[:, None], times - mean)[0][0])
        intercept = float(mean - slope * middle)
        residuals = (times - mean) - slope * (abscissae - middle)
    else:
        if not abscissae.any():
            raise ModelError("fit: x = 0 for all: must have at least one other value")
        intercept = float(a0)
        slope = float(lstsq(abscissae[:, None], times - intercept)[0][0])
        residuals = times - (slope * abscissae + intercept)
    variation = float(((times - times.mean()) ** 2).sum())
    r_squared = 1 - float((residuals**2).sum()) / variation if variation > 0 else None
    return Line(slope, intercept, r_squared, residuals)


@dataclass(frozen=True)
class CacheFit:
    """G of Eq (5.12), fitted. hit_time: the time where all accesses hit. line: time over miss rate."""

    G: float
    hit_time: float
    line: Line


def fit_cache(m: npt.ArrayLike, time: npt.ArrayLike, C_s: float, a0: float = 0.0) -> CacheFit:
    """G from times of the same accesses over working sets of m bytes, with a cache of C_s bytes.

    time = hit_time (r_H + r_M G) + a0 is a line over r_M, so no start value is needed. a0: time that does not depend
    on accesses; it can't be separated from hit_time and must be known. Raises ModelError as `fit_line` does, where
    every working set fits the cache, and where the line gives no time above 0 for accesses that hit, or no G above 0.

    m: bytes of each working set, shape (points,).
    time: of the accesses, in one unit, shape (points,).
    C_s: bytes of the cache.
    """
    sets = WORKING_SET.check("fit of G", _points("m", m))
    missed = miss_rate(sets, C_S.check("fit of G", C_s))
    if np.ptp(missed) == 0:
        raise ModelError(f"fit of G: m: must be working sets with different miss rates in C_s = {C_s:.12g} bytes")
    times = _points("time", time) - a0
    line = fit_line(missed, times)
    nothing = 1e-12 * float(np.abs(times).max())  # what rounding makes of 0
    if min(line.a0, line.a0 + line.a1) <= nothing:
        raise ModelError(
            f"fit of G: time: the line over the miss rate, {line.a0:.6g} + {line.a1:.6g} r_M, "
            "must be above 0 from r_M = 0 to 1"
        )
    return CacheFit(1 + line.a1 / line.a0, line.a0, line)


def _points(name: str, values: npt.ArrayLike) -> Floats:
    try:
        points = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        raise ModelError(f"fit: {name} = {shown(values)}: must be numbers") from None
    if points.size < 2:
        raise ModelError(f"fit: {name}: {points.size} values: must be at least 2")
    if not np.isfinite(points).all():
        raise ModelError(f"fit: {name} = {points[~np.isfinite(points)][0]}: must be finite")
    return points
