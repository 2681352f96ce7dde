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


def test_a_long_name_of_the_vertical_axis_lies_in_the_picture_whole():
    words = "times as long with 2 threads a core as with 4 of them; claimed: at least 1.8"
    drawn = picture(Figure("f", "A figure", "000", "nothing", "all", "n", words, (ONE,)))
    drawn.canvas.draw()
    label = drawn.axes[0].yaxis.label
    assert " ".join(label.get_text().split()) == words.replace("; ", " ")
    box = label.get_window_extent()
    assert 0 <= box.y0 < box.y1 <= drawn.bbox.height
