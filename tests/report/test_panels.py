"""How many panels a row of a picture has, and which values along an axis are named."""

from types import SimpleNamespace

import pytest

from simtmm.report.pictures import accuracy, charts, winner_map
from simtmm.report.pictures.looks import FAMILY_MARKERS, look


@pytest.mark.parametrize(
    ("panels", "across"),
    [(1, 1), (2, 2), (3, 3), (4, 2), (5, 3), (6, 3), (7, 4), (8, 4), (9, 3), (10, 4), (12, 4), (13, 4), (17, 4)],
)
def test_rows_of_panels_are_few_and_full(panels, across):
    assert accuracy._across(panels) == across


@pytest.mark.parametrize(("values", "every"), [(40, 1), (41, 2), (81, 3)])
def test_of_many_values_along_an_axis_of_a_heat_map_at_most_forty_are_named(values, every):
    along = list(range(values))
    wide = charts.heat_map(along, [1], [along], "x", "y", "z").axes[0]
    assert wide.get_xticks().tolist() == along[::every]
    high = charts.heat_map([1], along, [[value] for value in along], "x", "y", "z").axes[0]
    assert high.get_yticks().tolist() == along[::every]


@pytest.mark.parametrize(
    ("values", "every", "maps", "rows"), [(20, 1, 1, 1), (21, 2, 3, 1), (41, 3, 4, 2), (9, 1, 7, 3)]
)
def test_winner_maps_are_three_in_a_row_and_name_twenty_values_of_an_axis(values, every, maps, rows):
    along = [str(value) for value in range(values)]
    many = [winner_map.WinnerMap("tmm", {(along[0], "a"): ("p",)})] * maps
    figure = winner_map.winner_maps(many, ["p", "q"], along, ["a"], "x", "y")
    assert len(figure.axes) == maps
    assert figure.axes[0].get_xticks().tolist() == list(range(0, values, every))
    assert {axes.get_subplotspec().get_gridspec().nrows for axes in figure.axes} == {rows}
    width, height = figure.get_size_inches()
    assert width == pytest.approx(min(maps, 3) * (0.9 + 0.3 * min(values, 20)))
    assert height == pytest.approx(rows * (0.7 + 0.3 * 5) + 0.9)


def test_forms_of_a_model_share_a_marker_two_by_two_one_of_them_open(monkeypatch):
    made = []
    for form in range(5):
        monkeypatch.setattr("simtmm.report.pictures.looks._family", lambda series, form=form: (1, form))
        made.append(look("any"))
    assert [each["marker"] for each in made] == [FAMILY_MARKERS[at] for at in (1, 1, 2, 2, 3)]
    assert len({str(each.get("markerfacecolor")) for each in made[:2]}) == 2
    assert SimpleNamespace(**made[0]).color == SimpleNamespace(**made[4]).color
