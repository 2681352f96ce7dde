"""How sure a fit is over points, kernels and numbers of partitions, of fits whose spread is known."""

import numpy as np
import pytest

from simtmm.calibration.least_squares import Fitted, Parameter, cost
from simtmm.calibration.streams.uncertainty import uncertainty

POINTS = 12
MEAN = (Parameter("a", -10, 10, 1.0),)


def mean_of(measured, at):
    """The fit of one number to some: residuals are what lies between, each as sure as the others."""
    off = at - np.asarray(measured, dtype=float)
    return MEAN, Fitted({"a": at}, {"a": 0.1}, cost(off), off, np.ones((len(off), 1)))


def test_a_fit_that_meets_every_point_is_sure():
    found = uncertainty({8: mean_of(np.full(POINTS, 2.0), 2.0)}, 8, 1, POINTS)
    assert found.errors["a"] == pytest.approx(0, abs=1e-12)
    assert found.shares == {8: 1.0}


def test_points_that_lie_apart_make_it_as_unsure_as_drawing_them_anew():
    """The mean of n points drawn from points half at -s and half at s is off by s / sqrt(n); small residuals are
    squares."""
    apart = 0.002
    found = uncertainty({8: mean_of(apart * (-1.0) ** np.arange(POINTS), 0.0)}, 8, 1, POINTS)
    assert found.errors["a"] == pytest.approx(apart / np.sqrt(POINTS), rel=0.15)  # 200 draws: a twentieth, thrice


def test_kernels_that_contradict_each_other_count_though_each_is_met_by_all_its_points():
    """Of three kernels the first, which is always there, is met, and the others lie on either side."""
    measured = np.repeat([0.0, -0.002, 0.002], POINTS)
    found = uncertainty({8: mean_of(measured, 0.0)}, 8, 3, POINTS)
    # Both draws of two are the same one in half of the draws: off by 2/3 of 0.002, else by nothing.
    assert found.errors["a"] == pytest.approx(0.002 * 2 / 3 * np.sqrt(1 / 2), rel=0.15)


def test_numbers_of_partitions_that_do_as_well_are_drawn_and_their_difference_counts():
    """One fits the points with even numbers, the other those with odd ones."""
    first = np.where(np.arange(POINTS) % 2, 0.5, 0.0)
    slopes = np.zeros((POINTS, 1))  # nothing can be mended
    fits = {
        8: (MEAN, Fitted({"a": 1.0}, {"a": 0.1}, cost(first), first, slopes)),
        16: (MEAN, Fitted({"a": 3.0}, {"a": 0.1}, cost(0.5 - first), 0.5 - first, slopes)),
    }
    found = uncertainty(fits, 8, 1, POINTS)
    assert 0.3 < found.shares[16] < 0.7  # a half, but for the draws with as many even as odd ones
    assert found.errors["a"] == pytest.approx(2 * np.sqrt(found.shares[16]), rel=1e-6)


def test_draws_are_the_same_each_time():
    fits = {8: mean_of(np.linspace(-1, 1, POINTS), 0.0)}
    assert uncertainty(fits, 8, 1, POINTS) == uncertainty(fits, 8, 1, POINTS)
