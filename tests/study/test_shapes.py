"""Shapes of curves: a knee is told where there is one, and nowhere else."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.study.shapes import STEP, shape_of

LEVELS = st.floats(2, 6).map(lambda power: 10**power)  # cycles: 100 at least, so that whole ones are near enough
RANGES = st.tuples(st.floats(1, 100), st.floats(0.3, 4), st.integers(5, 30)).map(
    lambda drawn: np.geomspace(drawn[0], drawn[0] * 10 ** drawn[1], drawn[2])
)


@pytest.mark.parametrize("ends", [(10, 3200), (10, 1600), (100, 3200)])
def test_an_exactly_linear_curve_is_linear_over_whichever_range(ends):
    x = np.geomspace(*ends, 11)
    found = shape_of(x, 55_728 + 884 * x)
    assert (found.kind, found.knee, found.formula()) == ("linear", None, "55,728 + 884 x")


@given(RANGES, LEVELS, LEVELS, st.sampled_from([1, -1]))
def test_no_smooth_curve_has_a_knee(x, level, factor, power):
    # Whole cycles, as simulated ones are: to half a cycle of at least 100
    time = np.round(level + factor * x**power)
    assert shape_of(x, time).knee is None


@given(LEVELS, st.floats(0.2, 0.8), st.integers(9, 30))
def test_of_two_terms_the_larger_has_its_knee_where_they_are_equal(level, place, points):
    x = np.geomspace(10, 10_000, points)
    equal = 10 * 1000**place
    found = shape_of(x, level * np.maximum(1, x / equal))
    assert found.kind == "knee"
    assert found.knee.between[0] <= equal <= found.knee.between[1]
    # The gap between two points, or two of them where the knee is a point
    below, above = (np.searchsorted(x, end) for end in found.knee.between)
    assert 1 <= above - below <= 2
    assert found.knee.before == pytest.approx(0, abs=STEP / 2)
    assert found.knee.after == pytest.approx(1, abs=STEP / 2)


@pytest.mark.parametrize(
    ("noise", "kinds"),
    [
        (0.01, ["knee", "knee", "knee", "knee", "knee"]),
        (0.014, ["none", "knee", "knee", "knee", "knee"]),
        (0.018, ["none", "none", "knee", "knee", "knee"]),
        (0.022, ["none", "none", "none", "knee", "knee"]),
        (0.03, ["none", "none", "none", "none", "none"]),
    ],
)
def test_the_fewer_points_the_clearer_a_knee_must_be(noise, kinds):
    """Four constants fit few points by chance: the same bend is told with as much noise where x is dense alone."""
    assert [shape_of(*bent(points, noise)).kind for points in (5, 6, 7, 9, 13)] == kinds


def bent(points, noise):
    """A curve whose elasticity falls from 0.4 to 0.2, and noise of a size, up and down in turn."""
    x = np.geomspace(1, 100, points)
    return x, 1000 * x**0.4 * np.minimum(1, (x / 10) ** -0.2) * (1 + noise * (-1.0) ** np.arange(points))


def test_a_knee_between_smooth_sides_is_found_in_their_coordinate():
    x = np.geomspace(1, 100, 13)
    found = shape_of(x, np.maximum(3_000, 500 + 90_000 / x))
    assert found.knee.at == pytest.approx(36, rel=1e-3)  # 500 + 90,000 / 36 = 3,000
    assert found.knee.before == pytest.approx(-2_500 / 3_000, abs=1e-2)  # the part of 90,000 / x there


@pytest.mark.parametrize(
    ("time", "kind", "formula"),
    [
        (lambda x: 0 * x + 1_234, "flat", "1,234"),
        (lambda x: 1_000 + 50_000 / x, "1/x", "1,000 + 50,000 / x"),
        (lambda x: 12 * x**0.5, "power", "12 x^0.50"),
        (lambda x: 100 + x + 3_000 / x, "x and 1/x", "100 + 1 x + 3,000 / x"),
        (lambda x: np.where(x > 20, 2_000.0, 1_000.0), "none", ""),
    ],
)
def test_forms_have_their_names(time, kind, formula):
    x = np.geomspace(1, 200, 9)
    found = shape_of(x, time(x))
    assert (found.kind, found.formula()) == (kind, formula)


def test_two_points_have_no_form():
    assert shape_of(np.array([1.0, 2.0]), np.array([5.0, 7.0])) is None
