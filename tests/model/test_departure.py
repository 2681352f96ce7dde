"""Measured times that depart from a model; dissertation, section 6.4."""

import numpy as np
import pytest

from simtmm.errors import ModelError
from simtmm.model.departure import departures


def test_times_beyond_the_factor_either_way_depart():
    result = departures([100, 200, 201, 50, 49], 100, 2)
    assert result.ratio.tolist() == [1, 2, 2.01, 0.5, 0.49]
    assert result.departs.tolist() == [False, False, True, False, True]


def test_each_measurement_has_its_prediction():
    result = departures(np.array([[1.0, 2.0]]), np.array([[1.0], [4.0]]), 1.5)
    assert result.departs.tolist() == [[False, True], [True, True]]


@pytest.mark.parametrize(
    ("measured", "predicted", "factor", "words"),
    [
        (0, 1, 2, "measured = 0: must be above 0"),
        (1, -1, 2, "predicted = -1: must be above 0"),
        (1, 1, 0.5, "factor = 0.5: must be at least 1"),
        (1, 1, float("nan"), "factor = nan: must be at least 1"),
        ([1, 2], [1, 2, 3], 2, r"measured has the shape \(2,\), predicted \(3,\)"),
    ],
)
def test_times_that_cannot_be_are_refused(measured, predicted, factor, words):
    with pytest.raises(ModelError, match=rf"^departures: {words}"):
        departures(measured, predicted, factor)
