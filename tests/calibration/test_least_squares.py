"""Least squares within bounds, of functions whose answer is known."""

import numpy as np
import pytest

from simtmm.calibration.least_squares import ALWAYS, KINK, Parameter, cost, least_squares, refitted

AT = np.linspace(0.1, 1, 10)


def line(wanted, noise=0.0):
    """Residuals of a line a + b x against a measured one."""
    stray = noise * np.where(np.arange(len(AT)) == 4, 1.0, 0.0)
    return lambda sets: [(a + b * AT) - (wanted[0] + wanted[1] * AT + stray) for a, b in sets]


def parameters(least=-10.0, most=10.0):
    return [Parameter(name, least, most, 0.1) for name in "ab"]


def test_a_line_is_found():
    found = least_squares(parameters(), [0, 0], line((2, 3)), 10)
    assert found.values == pytest.approx({"a": 2, "b": 3}, abs=1e-3)
    assert found.cost == pytest.approx(KINK, rel=1e-3)
    assert all(error < 1e-3 for error in found.errors.values())


def test_a_value_stays_within_its_bounds_and_the_others_make_the_best_of_it():
    found = least_squares(parameters(most=2.5), [0, 0], line((2, 3)), 10)
    assert found.values["b"] == 2.5
    assert 2 < found.values["a"] <= 2.5


def test_a_stray_point_weighs_little():
    # Plain least squares would be off by a tenth of the stray in the middle of ten points.
    found = least_squares(parameters(), [0, 0], line((2, 3), noise=1.0), 30)
    middle = found.values["a"] + found.values["b"] * AT[4]
    assert middle == pytest.approx(2 + 3 * AT[4], abs=0.03)


@pytest.mark.parametrize("times", [1, 2, ALWAYS])
def test_slopes_are_taken_as_often_as_is_allowed(times):
    """On a way so bent that three times would not be too often."""

    def residuals(sets):
        calls.append(len(sets))
        return [a * np.exp(b * AT) + c * AT**3 - (2 * np.exp(1.5 * AT) - 3 * AT**3) for a, b, c in sets]

    calls = []
    least_squares([Parameter(name, -10, 10, 0.05) for name in "abc"], [0.1, 0.1, 0.1], residuals, 40, times=times)
    taken = calls.count(3)  # sets of values, one for each; all other calls have one or two
    assert taken == times if times < ALWAYS else taken >= 3


def test_what_no_residual_tells_has_a_large_error_or_stays():
    found = least_squares(parameters(), [0, 1.5], lambda sets: [a - 2 + 0 * AT for a, _ in sets], 5)
    assert found.values["a"] == pytest.approx(2, abs=1e-3)
    assert found.values["b"] == pytest.approx(1.5)


def test_small_errors_count_by_their_square_and_large_ones_by_their_size():
    assert cost(np.array([0.0])) == KINK
    assert cost(np.array([1.0])) == pytest.approx(1, rel=1e-3)
    assert cost(np.array([KINK / 10])) - KINK == pytest.approx(KINK / 200, rel=0.01)


def test_as_many_residuals_as_values_tell_no_error():
    found = least_squares(parameters(), [0, 0], lambda sets: [np.array([a - 2, b - 3]) for a, b in sets], 10)
    assert found.values == pytest.approx({"a": 2, "b": 3}, abs=1e-3)
    assert set(found.errors.values()) == {np.inf}


def test_a_line_fitted_anew_to_some_of_its_points_is_what_these_alone_give():
    """Residuals are straight lines here, so nothing is lost by taking them for such."""
    wave = 0.01 * np.sin(7 * AT)

    def residuals(rows):
        return lambda sets: [(a + b * AT - wave)[rows] for a, b in sets]

    every, some = np.arange(len(AT)), np.array([0, 0, 2, 3, 7, 9])
    whole, part = (least_squares(parameters(), [0, 0], residuals(rows), 60) for rows in (every, some))
    values, of_these = refitted(parameters(), whole, some)
    assert values == pytest.approx(part.values, abs=5e-4)  # both go on until a step gains half a per cent
    assert of_these == pytest.approx(part.cost, rel=0.01)
