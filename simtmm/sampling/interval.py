"""The interval of a mean of few values that may follow a trend or depend on one another."""

import math

import numpy as np
import numpy.typing as npt

CONFIDENCE = 0.95
SYSTEMATIC = 0.01  # of the time that is extrapolated: what no repetition shows; from the pairs of docs/scaling.md
MANY = 8  # values that tell whether neighbours depend on one another


def half_width(values: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> float:
    """Half of the interval in which the sum of weighted values lies, CONFIDENCE of the time.

    values: one from each part of what is to be summed, in order. weights: how much each stands for.

    The spread is that of all values or of neighbours, whichever is more: a trend shows in the former. Neighbours that
    depend on one another (a correlation r above 0) count as fewer values, n (1 - r) / (1 + r); of fewer than MANY
    values it can't be told.
    """
    count = len(values)
    if count < 2:
        return math.inf
    total = float(weights.sum())
    spread = max(float(values.std(ddof=1)), math.sqrt(float((np.diff(values) ** 2).mean()) / 2))
    if spread == 0 or total == 0:
        return 0.0
    apart = values - values.mean()
    correlation = float((apart[1:] * apart[:-1]).sum() / (apart**2).sum()) if float((apart**2).sum()) else 0.0
    correlation = max(0.0, correlation) if count >= MANY else 0.0
    independent = max(2.0, count * (1 - correlation) / (1 + correlation))
    uneven = math.sqrt(float((weights**2).sum()) * count) / total  # 1 where all stand for as much
    return total * quantile(independent - 1) * spread * uneven / math.sqrt(independent)


def quantile(freedom: float) -> float:
    """How many standard errors of a mean half of its interval is, by Student's t. freedom: degrees of it."""
    from scipy.special import ndtri, stdtrit  # slow to load, though not as slow as scipy.stats

    part = (1 + CONFIDENCE) / 2
    return float(ndtri(part) if math.isinf(freedom) else stdtrit(freedom, part))
