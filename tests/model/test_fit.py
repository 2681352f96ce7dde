"""Least squares: a1 and a0 over x, G over working sets; checked against closed forms and known constants."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import ModelError
from simtmm.model.cache import cache_factor
from simtmm.model.fit import fit_cache, fit_line
from tests.model.ma_chapters import published


def test_a_line_by_hand():
    fit = fit_line([0, 1, 2, 3], [1, 3, 2, 5])  # means 1.5 and 2.75; Sxy = 5.5, Sxx = 5
    close = {"rel": 1e-14}  # a handful of roundings
    assert fit.a1 == pytest.approx(1.1, **close)
    assert fit.a0 == pytest.approx(1.1, **close)
    assert fit.residuals == pytest.approx([-0.1, 0.8, -1.3, 0.6], rel=1e-13)
    assert fit.r_squared == pytest.approx(1 - 2.7 / 8.75, **close)
    assert fit.at([0, 10]) == pytest.approx([1.1, 12.1], **close)


@given(st.floats(-1e3, 1e3), st.floats(-1e3, 1e3), st.lists(st.integers(-1000, 1000), min_size=2, unique=True))
def test_times_on_a_line_give_the_line(a1, a0, x):
    fit = fit_line(x, a1 * np.array(x) + a0)
    size = 1e-9 * max(1, abs(a1), abs(a0))  # roundings of values up to 1e6, of which 1e-16 is lost at each step
    assert fit.a1 == pytest.approx(a1, abs=size)
    assert fit.a0 == pytest.approx(a0, abs=size)
    assert np.abs(fit.residuals).max() <= 1000 * size


points = st.lists(
    st.tuples(st.integers(-100, 100), st.integers(0, 10**6)), min_size=3, unique_by=lambda point: point[0]
)


@given(points)
def test_residuals_are_orthogonal_to_the_line(drawn):
    x, times = np.array(drawn, dtype=float).T
    fit = fit_line(x, times)
    scale = 1e-12 * (1 + np.abs(times).max()) * len(x)  # sums of so many products, rounded
    assert abs(fit.residuals.sum()) <= scale
    assert abs(fit.residuals @ x) <= 100 * scale
    assert fit.r_squared is None or -1e-12 <= fit.r_squared <= 1 + 1e-12


def test_an_offset_of_x_costs_no_digits():
    x = 1e9 + np.arange(10.0)
    assert fit_line(x, 3 * (x - 1e9)).a1 == pytest.approx(3, rel=1e-14)  # roundings of small numbers only


def test_the_intercept_may_be_given():
    fit = fit_line([1, 2], [12, 24], a0=2)  # slope (1 * 10 + 2 * 22) / (1 + 4)
    assert fit.a1 == pytest.approx(10.8, rel=1e-15)  # rounded once or twice
    assert fit.a0 == 2
    assert fit.residuals == pytest.approx([-0.8, 0.4], rel=1e-14)  # differences of numbers twenty times larger


def test_times_that_do_not_vary_have_no_r_squared():
    fit = fit_line([1, 2, 3], [5, 5, 5])
    assert (fit.a1, fit.a0, fit.r_squared) == (0, 5, None)
    assert fit.to_dict() == {"a1": 0, "a0": 5, "r_squared": None, "residuals": [0, 0, 0]}


@published("ma.fit6.10")
def test_the_printed_constants_come_back_from_their_line(item):
    x = np.linspace(4, 100, 20)
    fit = fit_line(x, item["a1"] * x + item["a0"])
    assert (fit.a1, fit.a0) == pytest.approx((item["a1"], item["a0"]), rel=1e-12)  # roundings of twenty points
    assert fit.r_squared == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("x", "times", "words"),
    [
        ([1], [1], "x: 1 values: must be at least 2"),
        ([1, 2, 3], [1, 2], "time: 2 values: must be as many as x, 3"),
        ([1, 2], [1, float("inf")], "time = inf: must be finite"),
        ([1, float("nan")], [1, 2], "x = nan: must be finite"),
        (["a", "b"], [1, 2], "x = .*: must be numbers"),
        ([3, 3], [1, 2], "x = 3 for all: must have at least two different values"),
    ],
)
def test_points_without_a_line_are_refused(x, times, words):
    with pytest.raises(ModelError, match=rf"^fit: {words}"):
        fit_line(x, times)


def test_a_proportion_needs_an_x_other_than_0():
    with pytest.raises(ModelError, match=r"^fit: x = 0 for all"):
        fit_line([0, 0], [1, 2], a0=0)


# The slowdown of a cache that misses


@given(st.floats(0.1, 100), st.floats(1e-6, 1e6))
def test_times_made_with_a_slowdown_give_it_back(slowdown, hit_time):
    sets = np.array([4, 8, 16, 24, 32, 64, 128, 512]) * 1024
    fit = fit_cache(sets, hit_time * cache_factor(sets, 16384, slowdown), 16384)
    assert pytest.approx(slowdown, rel=1e-10) == fit.G  # the least miss rate but 0 is a third
    assert fit.hit_time == pytest.approx(hit_time, rel=1e-10)


def test_time_apart_from_accesses_is_taken_off():
    sets = np.array([8, 32, 64])
    assert pytest.approx(5, rel=1e-13) == fit_cache(sets, 2 * cache_factor(sets, 16, 5) + 7, 16, a0=7).G  # roundings


def test_the_fit_is_the_best_of_its_neighbours():
    drawn = np.random.default_rng(3)
    sets = np.linspace(1, 20, 30) * 16
    times = 3 * cache_factor(sets, 16, 4) * drawn.normal(1, 0.05, 30)
    fit = fit_cache(sets, times, 16)

    def squares(hit_time, slowdown):
        return ((times - hit_time * cache_factor(sets, 16, slowdown)) ** 2).sum()

    least = squares(fit.hit_time, fit.G)
    assert least == pytest.approx((fit.line.residuals**2).sum(), rel=1e-10)  # roundings of thirty squares
    for step in (0.999, 1.001):
        assert squares(fit.hit_time * step, fit.G) > least
        assert squares(fit.hit_time, fit.G * step) > least


@pytest.mark.parametrize(
    ("m", "times", "words"),
    [
        ([1, 2, 16], [1, 1, 1], "m: must be working sets with different miss rates in C_s = 16 bytes"),
        ([0, 2], [1, 1], "m = 0: must be above 0"),
        ([8, 32], [0, 1], "time: the line over the miss rate"),
        ([8, 32], [2, 1], r"time: the line over the miss rate, 2 \+ -2 r_M, must be above 0"),
    ],
)
def test_times_without_a_slowdown_are_refused(m, times, words):
    with pytest.raises(ModelError, match=rf"^fit of G: {words}"):
        fit_cache(m, times, 16)
