"""Agreement: how the times of one series agree with those of another."""

from dataclasses import dataclass
from typing import Any

import numpy as np

LEAST_TO_RANK = 3  # cases of a rank correlation


@dataclass(frozen=True)
class Agreement:
    """How a series agrees with the reference.

    cases: that have both. ratios are of the series over the reference: geometric_mean, median, and largest, the one
    that is farthest from 1 in either direction. mean_error: mean of |ratio - 1|. spearman, kendall: rank correlations
    (tau-b), None for fewer than three cases and where all times are the same. regimes: of how many cases the series
    and the simulation say that the same binds, and of how many both say a regime; None for measured times.
    """

    series: str
    cases: int
    geometric_mean: float
    median: float
    largest: float
    mean_error: float
    spearman: float | None
    kendall: float | None
    regimes: tuple[int, int] | None

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return vars(self) | {"regimes": list(self.regimes) if self.regimes else None}


def ranks(one: Any, other: Any) -> tuple[float | None, float | None]:
    """Spearman's and Kendall's correlation of ranks; None where there are none."""
    if len(one) < LEAST_TO_RANK or np.ptp(one) == 0 or np.ptp(other) == 0:
        return None, None
    from scipy.stats import kendalltau, spearmanr  # slow to load

    return float(spearmanr(one, other).statistic), float(kendalltau(one, other).statistic)
