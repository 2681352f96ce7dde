"""Claims over what a paper leaves open."""

import pytest

from simtmm.validation.band import band


def of(holds):
    return band({"m": (1, 2, 3), "k": (10, 20)}, lambda m, k: m * k, holds)


@pytest.mark.parametrize(
    ("holds", "verdict"),
    [
        (lambda value: value > 0, "holds"),
        (lambda value: value > 60, "fails"),
        (lambda value: value in (10, 20, 30), "depends on m and k"),  # 20 is 1 x 20 too
    ],
)
def test_a_verdict_is_of_all_points(holds, verdict):
    assert of(holds).verdict == verdict


def test_only_what_changes_the_verdict_decides():
    found = band({"m": (1, 2), "k": (3, 4), "warm": (0, 1)}, lambda m, k, warm: m + warm / 10, lambda value: value < 2)
    assert found.deciding == ("m",)
    assert found.verdict == "depends on m"
    assert found.words == "depends on m: holds at 4 of 8 points; 1 to 2.1"


def test_every_combination_is_a_point_once():
    found = of(lambda value: True)
    assert [point.values for point in found.points] == [(1, 10), (1, 20), (2, 10), (2, 20), (3, 10), (3, 20)]
    assert [point.outcome for point in found.points] == [10, 20, 20, 40, 30, 60]
