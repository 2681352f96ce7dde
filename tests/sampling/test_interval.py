"""The interval of a mean of few values, by hand: how many values that depend on their neighbours count as."""

import math

import numpy as np
import pytest
from scipy.stats import t

from simtmm.sampling.interval import half_width


@pytest.mark.parametrize(
    ("values", "independent", "spread"),
    [
        # r, the products of neighbours over all squares, is 9/16: 16 (1 - r) / (1 + r) = 16 * 7 / 25
        ([1] * 4 + [-1] * 4 + [1] * 4 + [-1] * 4, 4.48, math.sqrt(16 / 15)),
        ([1] * 2 + [-1] * 2 + [1] * 2 + [-1] * 2, 8 * (7 / 9), math.sqrt(8 / 7)),  # r = 1/8, of eight values
        ([1] * 2 + [-1] * 2 + [1] * 2 + [0], 7, None),  # of seven it can't be told
        ([1] * 8 + [-1] * 8, 2, math.sqrt(16 / 15)),  # 16 * 3 / 29: never less than two
        ([1, -1] * 8, 16, math.sqrt(2)),  # r below 0 counts as 0; neighbours differ by 2, 4 / 2 squared
    ],
)
def test_neighbours_that_depend_on_one_another_count_as_fewer_values(values, independent, spread):
    values = np.array(values, float)
    spread = float(values.std(ddof=1)) if spread is None else spread
    expected = len(values) * t.ppf(0.975, independent - 1) * spread / math.sqrt(independent)
    assert half_width(values + 100, np.ones(len(values))) == pytest.approx(expected, rel=1e-12)


def test_values_that_stand_for_more_weigh_more():
    """The spread of a sum of weighted values is the root of the sum of the weights' squares, times that of one."""
    values, weights = np.array([1.0, -1.0] * 2), np.array([1.0, 2.0, 3.0, 4.0])
    expected = t.ppf(0.975, 3) * math.sqrt(2) * math.sqrt(30)  # neighbours differ by 2
    assert half_width(values, weights) == pytest.approx(expected, rel=1e-12)
