"""Curves that lie on one another are drawn apart, and what was shrunk stands in the picture."""

import pytest

from simtmm.validation.figures.figure import Figure, curve

pytest.importorskip("matplotlib")
from simtmm.report.pictures.paper_figure import covered, picture

ONE = curve("one", "simulated", {1: 2.0, 2: 4.0})
SAME = curve("same", "simulated", {1: 2.01, 2: 4.0, 3: 5.0})
OTHER = curve("other", "simulated", {1: 2.0, 2: 4.1})


def test_a_curve_is_covered_by_later_ones_at_all_its_points():
    assert [covered((ONE, OTHER, SAME), place) for place in range(3)] == [1, 0, 0]


def test_a_covered_curve_is_wider_than_what_covers_it():
    drawn = picture(Figure("f", "A figure", "000", "nothing", "all", "n", "s", (ONE, SAME), shrunk="n to 3; 10 there"))
    (axes,) = drawn.axes
    wide, narrow = axes.get_lines()
    assert wide.get_linewidth() > narrow.get_linewidth() + 2
    assert wide.get_markersize() > narrow.get_markersize() + 2
    assert "n to 3; 10 there" in axes.get_xlabel()
