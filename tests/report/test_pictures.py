"""Pictures: what is drawn, read back from the figures; and the files."""

import importlib.util
import struct
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

from simtmm import load_machine, load_trace
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.errors import OutputError
from simtmm.model.launch.scheduling import zigzag
from simtmm.model.series import MEASURED, all_series
from simtmm.report.page import Table
from simtmm.report.pictures import axes as axes_module
from simtmm.report.pictures import charts, files, labels, looks, style, titles
from simtmm.report.pictures import comparison as comparison_pictures
from simtmm.report.pictures import study as study_pictures
from simtmm.result import WHERE_TIME_GOES
from tests.study.cases import MACHINE, WAITED, case, comparison

needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")

CASES = [
    case(64, 1000, {"tmm": (500, "memory"), "pram": (10, "compute")}, measured=4e-6),
    case(128, 3000, {"tmm": (1500, "memory"), "pram": (20, "compute")}),
    case(256, 90000, {"tmm": (9000, "memory"), "pram": (40, "compute")}),
]
MADE = comparison(*CASES, series=("simulated", "pram", "tmm", "measured"))


def lines(figure):
    """The points of each named line."""
    (axes,) = figure.axes[:1]
    named = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    return {name: (list(line.get_xdata()), list(line.get_ydata())) for name, line in named.items()}


@needs_matplotlib
def test_a_scatter_has_a_marker_a_model_over_the_reference_and_the_diagonal():
    figure = comparison_pictures.scatter(MADE)
    drawn = lines(figure)
    assert set(drawn) == {"PRAM", "TMM", "measured"}
    assert drawn["TMM"] == ([1e-6, 3e-6, 9e-5], [5e-7, 1.5e-6, 9e-6])
    assert drawn["measured"] == ([1e-6], [4e-6])
    (axes,) = figure.axes
    assert axes.get_xscale() == axes.get_yscale() == "log"
    assert any(np.array_equal(line.get_xdata(), line.get_ydata()) and len(line.get_xdata()) == 2 for line in axes.lines)
    assert np.allclose(axes.get_xlim(), (1e-6 / 1.5, 9e-5 * 1.5), rtol=1e-12)
    least = min(time for _, times in drawn.values() for time in times)
    assert np.allclose(axes.get_ylim(), (least / 1.5, 9e-5 * 1.5), rtol=1e-12)
    drawn_as = {(line.get_color(), line.get_marker()) for line in axes.lines if line.get_label() in drawn}
    assert len(drawn_as) == len(drawn)


def test_every_series_has_a_look_of_its_own():
    different = {tuple(looks.look(name).items()) for name in all_series()}
    assert len(different) == len(all_series())
    assert "linestyle" in looks.look(MEASURED)


def test_forms_of_a_model_share_a_colour_and_one_is_open():
    for one, other in (("tmm", "tmm-warps"), ("integrated", "integrated-sum"), ("rehman", "rehman-sum")):
        first, second = looks.look(one), looks.look(other)
        assert first["color"] == second["color"] == first["markerfacecolor"]
        assert second["markerfacecolor"] == "white"


@needs_matplotlib
def test_curves_go_along_the_parameter_that_varies():
    figure = comparison_pictures.curves_of(comparison(*reversed(CASES), series=MADE.series))
    drawn = lines(figure)
    assert drawn["simulated"] == ([64, 128, 256], [1e-6, 3e-6, 9e-5])
    assert drawn["measured"] == ([64], [4e-6])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "n"
    assert axes.get_yscale() == "log"


@needs_matplotlib
@pytest.mark.parametrize(
    ("made", "over", "message"),
    [
        (comparison(CASES[0]), None, "name the parameter for the horizontal axis; none of the cases vary"),
        (comparison(*CASES), "m", "m: does not vary; n"),
        (comparison(*CASES, CASES[0]), None, "several cases have the same n"),
    ],
)
def test_curves_that_can_not_be_drawn_are_refused(made, over, message):
    with pytest.raises(OutputError, match=message):
        comparison_pictures.curves_of(made, over)


@needs_matplotlib
def test_an_axis_is_logarithmic_where_its_values_span_much():
    (axes,) = charts.curves([1, 2, 3], {"a": [1, 2, 3]}, "x", "y").axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("linear", "linear")
    (axes,) = charts.curves([1, 10, 100], {"a": [0, 10, 1000], "b": [None, float("nan"), 3]}, "x", "y").axes
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")


@pytest.mark.parametrize(
    ("values", "log"),
    [
        ([100, 200, 400, 800], True),
        ([1, 2, 5, 10, 20, 50], True),
        ([1, 10, 100], True),
        (range(1, 500), False),
        ([1, 2, 3, 4, 5, 8], False),
        ([0, 1, 10, 100], False),
        ([10, 400], True),
        ([100, 400], False),
    ],
)
def test_values_that_were_swept_in_ratios_are_known(values, log):
    assert axes_module.in_ratios(values) == log


@needs_matplotlib
@pytest.mark.parametrize("log", ["x", "y", "xy", "none"])
def test_which_axes_are_logarithmic_can_be_said(log):
    scales = tuple("log" if which in log else "linear" for which in "xy") if log != "none" else ("linear", "linear")
    curves = charts.curves([1, 2, 3], {"a": [1, 2, 3]}, "x", "y", log=log)
    kind = "roofline" if "y" in log else "scatter"
    for figure in (curves, comparison_pictures.compared(kind, log)(MADE)):
        (axes,) = figure.axes
        assert (axes.get_xscale(), axes.get_yscale()) == scales


@needs_matplotlib
@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda: charts.curves([0, 1], {"a": [1, 2]}, "x", "y", log="xy"), "log xy: x has values of 0 or less"),
        (lambda: charts.curves([1, 2], {"a": [0, 2]}, "x", "y", log="y"), "log y: y has values of 0 or less"),
        (lambda: comparison_pictures.compared("scatter", "z"), "log 'z': must be one of x, y, xy, none"),
        (
            lambda: comparison_pictures.compared("stacks", "x"),
            "log x: is for scatter, curves, roofline, not for stacks",
        ),
        (
            lambda: study_pictures.picture_of(STUDY, "n", "L", ["tmm"], where={"machine": "a"}, log="x"),
            "log x: is for c",
        ),
    ],
)
def test_logarithmic_axes_that_can_not_be_are_refused(draw, message):
    with pytest.raises(OutputError, match=message):
        draw()


@needs_matplotlib
def test_large_numbers_on_axes_are_scientific():
    figure = charts.curves([1, 2, 3], {"a": [1e6, 2e6, 3.5e6]}, "x", "y")
    figure.draw_without_rendering()
    (axes,) = figure.axes
    shown = [tick.get_text() for tick in axes.get_yticklabels()]
    assert r"$\mathdefault{2\times10^{6}}$" in shown
    assert axes.yaxis.get_offset_text().get_text() == ""
    small = charts.curves([1, 2, 3], {"a": [1000, 2000, 3500]}, "x", "y")
    small.draw_without_rendering()
    assert "2000" in [tick.get_text() for tick in small.axes[0].get_yticklabels()]


def test_large_numbers_at_places_have_as_many_digits_as_tell_them_apart():
    assert axes_module.ticks([1, 1e5]) == ["1", r"$\mathdefault{1\times10^{5}}$"]
    assert axes_module.ticks([1000, 10000]) == ["1000", "10000"]
    assert axes_module.ticks([1000001, 1000002]) == [
        r"$\mathdefault{1.000001\times10^{6}}$",
        r"$\mathdefault{1.000002\times10^{6}}$",
    ]
    assert axes_module.ticks(["a", 1e6])[0] == "a"


@needs_matplotlib
def test_a_heat_map_has_the_values_at_their_places():
    values = [[1.0, 2.0, 3.0], [4.0, float("nan"), 6.0]]
    figure = charts.heat_map([8, 16, 32], [100, 200], values, "X", "L", "time (s)", "title")
    axes, bar = figure.axes
    assert np.array_equal(axes.images[0].get_array().filled(np.nan), values, equal_nan=True)
    assert [label.get_text() for label in axes.get_xticklabels()] == ["8", "16", "32"]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["100", "200"]
    assert {text.get_text(): text.get_position() for text in axes.texts}["6"] == (2, 1)
    assert len(axes.texts) == 5
    assert bar.get_ylabel() == "time (s)"


@needs_matplotlib
def test_a_heat_map_of_seconds_tells_them_in_the_unit_of_the_largest():
    made = charts.heat_map([1, 2], [3, 4], [[2e-6, 1e-6], [4e-5, float("nan")]], "a", "b", "time (s)", unit="s")
    axes, bar = made.axes
    assert [text.get_text() for text in axes.texts] == ["2", "1", "40"]
    assert bar.get_ylabel() == "time (\N{MICRO SIGN}s)"
    exact = charts.heat_map([1], [3], [[2e-6]], "a", "b", "ratio")
    assert [text.get_text() for text in exact.axes[0].texts] == ["2e-06"]


@needs_matplotlib
def test_a_heat_map_of_another_shape_is_refused():
    with pytest.raises(OutputError, match=r"shape \(1, 2\): must be \(2, 1\)"):
        charts.heat_map([1], [1, 2], [[1.0, 2.0]], "x", "y", "z")


@needs_matplotlib
def test_a_roofline_has_the_roof_and_the_cases_below_it():
    figure = comparison_pictures.roofline(MADE)
    (axes,) = figure.axes
    drawn = lines(figure)
    intensity, roof = map(np.array, drawn[MACHINE.name])
    # 16 operations a cycle at 1 GHz; 8 GB/s of bandwidth, in floating point
    assert np.allclose(roof, np.minimum(16e9, 8e9 * intensity), rtol=1e-12)
    (points,) = [line for line in axes.lines if line.get_marker() == "o" and len(line.get_xdata()) == 3]
    assert points.get_xdata() == pytest.approx([1000 / 4000] * 3)
    assert points.get_ydata() == pytest.approx([1000 / 1e-6, 1000 / 3e-6, 1000 / 9e-5])
    assert axes.get_ylabel() == "operations a second, simulated"


@needs_matplotlib
@pytest.mark.parametrize("kind", ["scatter", "roofline"])
def test_points_have_names_of_what_tells_them_apart(kind):
    (axes,) = comparison_pictures.compared(kind)(MADE).axes
    assert {text.get_text() for text in axes.texts} == {"n=64", "n=128", "n=256"}
    assert axes.figure.get_suptitle() == f"kernel, n = 64 to 256 on {MACHINE.name}"


@needs_matplotlib
def test_names_lie_on_no_name_no_point_and_within_the_axes_and_those_without_room_are_counted():
    cases = [case(1000 + number, 1000 + number % 5, {"tmm": (900 + 7 * number, "memory")}) for number in range(40)]
    made = comparison(*cases, series=("simulated", "tmm"))
    figure = comparison_pictures.scatter(made)
    (axes,) = figure.axes
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in axes.texts]
    assert 0 < len(boxes) < 40
    assert not any(one.overlaps(other) for place, one in enumerate(boxes) for other in boxes[:place])
    (points,) = [line for line in axes.lines if line.get_label() == "TMM"]
    places = axes.transData.transform(points.get_xydata())
    assert not any(box.contains(*place) for box in boxes for place in places)
    inside = axes.get_window_extent()
    assert all(inside.contains(*corner) for box in boxes for corner in (box.min, box.max))
    assert axes.get_xlabel() == f"simulated time\n{40 - len(boxes)} of 40 points have no room for a name"


@needs_matplotlib
def test_a_name_stands_at_another_side_where_one_is_taken():
    figure, axes = style.new_axes(3, 3)
    axes.set(xlim=(0, 1), ylim=(0, 1))
    assert labels.name_points(figure, axes, [("first", [(0.5, 0.5)]), ("last", [(0.5, 0.5)])]) == 0
    assert [text.get_ha() for text in axes.texts] == ["left", "right"]
    assert labels.name_points(figure, axes, [("much too long " * 9, [(0.5, 0.5)])]) == 1


@needs_matplotlib
def test_five_hundred_names_are_tried_though_there_be_room_for_more():
    figure, axes = style.new_axes(30, 20)
    axes.set(xlim=(-1, 26), ylim=(-1, 21))
    named = [("n", [(float(place % 25), float(place // 25))]) for place in range(501)]
    assert labels.name_points(figure, axes, named) == 1


def test_a_title_says_programs_sizes_and_machines_with_their_changes():
    changed = MACHINE.replace({"memory.latency": "x2"})
    assert titles.of_cases([case(64, 1, machine=changed)]) == "kernel, n = 64 on Hand-made (memory.latency x2)"
    both = [case(64, 1), case(128, 1, machine=changed, program="other")]
    assert titles.of_cases(both) == "kernel, other on Hand-made, Hand-made (memory.latency x2)"
    alike = [
        case(64, 1, machine=changed),
        case(64, 1, machine=changed.model_copy(update={"name": "Other (memory.latency x2)"})),
    ]
    assert titles.of_cases(alike) == "kernel, n = 64 on Hand-made, Other, all with memory.latency x2"
    many = [case(64, 1, program=name) for name in "abcd"]
    assert titles.of_cases(many) == "4 programs, n = 64 on Hand-made"
    assert titles.point_names(many) == ["a", "b", "c", "d"]


@needs_matplotlib
def test_what_is_simulated_looks_the_same_in_all_pictures():
    pictures = [
        comparison_pictures.scatter(comparison(*CASES, series=MADE.series, reference="tmm")),
        comparison_pictures.curves_of(MADE),
        study_pictures.picture_of(STUDY, where={"machine": "b", "L": "20"}),
        study_pictures.picture_of(STUDY, "n", values=["simulated", "tmm"], by="machine", where={"L": "10"}),
    ]
    for figure in pictures:
        for line in figure.axes[0].lines:
            simulated = line.get_label().startswith("simulated")
            assert simulated == (line.get_color() == style.BLACK and line.get_marker() != "*"), line.get_label()
            assert line.get_linestyle() in ("-", "None") or not simulated
            if line.get_label() == "simulated":
                assert line.get_marker() == "o"


PROGRAMS = Table.from_rows(
    "three",
    [
        {"program": program, "n": n, "k": k, "simulated.cycles": simulated, "tmm.cycles": modelled}
        for program, n, k, simulated, modelled in [
            ("a", 1, 1, 10.0, 9.0), ("b", 1, 1, 20.0, 8.0), ("c", 1, 1, 30.0, 7.0),
            ("a", 2, 1, 10.0, 9.0), ("b", 2, 1, 10.0, 8.0), ("c", 2, 1, 30.0, 9.0),
            ("a", 1, 2, None, 9.0), ("b", 1, 2, 20.0, 9.0), ("c", 1, 2, 10.0, 9.0),
            ("a", 2, 2, None, 1.0), ("b", 2, 2, None, 2.0), ("c", 2, 2, 10.0, 3.0),
        ]
    ],
    ["program", "n", "k"],
)  # fmt: skip


ALONE = Table.from_rows("one", [{"n": n, "k": 1, "tmm.cycles": 1.0} for n in (1, 2)], ["n", "k"])


@needs_matplotlib
def test_winner_maps_colour_who_is_fastest_hatch_who_is_equal_and_leave_blank_where_nobody_competes():
    figure = study_pictures.picture_of(PROGRAMS, "n", "k", ["winner"])
    (legend,) = figure.legends
    named = {
        (patch.get_facecolor(), patch.get_hatch()): text.get_text()
        for patch, text in zip(legend.get_patches(), legend.get_texts(), strict=True)
    }
    of_one = [
        patch for patch, text in zip(legend.get_patches(), legend.get_texts(), strict=True) if text.get_text() in "abc"
    ]
    assert [patch.get_edgecolor() for patch in of_one] == [(1.0, 1.0, 1.0, 1.0)] * 3  # white lines between cells
    drawn = {
        axes.get_title("left"): {
            (patch.get_x() + 0.5, patch.get_y() + 0.5): named[patch.get_facecolor(), patch.get_hatch()]
            for patch in axes.patches
        }
        for axes in figure.axes
    }
    assert drawn == {
        "simulated": {(0, 0): "a", (1, 0): "a = b", (0, 1): "c"},
        "TMM": {(0, 0): "c", (1, 0): "b", (0, 1): "a = b = c", (1, 1): "a"},
    }
    assert sorted(named.values()) == [
        "a", "a = b", "a = b = c", "b", "c", "no winner: fewer than two programs have a time",
    ]  # fmt: skip


@needs_matplotlib
@pytest.mark.parametrize(
    ("table", "given", "message"),
    [
        (ALONE, {}, "winner: needs several programs, but the study has no axis program"),
        (PROGRAMS, {"where": {"k": "1"}}, "has two axes, and only n varies besides program"),
        (PROGRAMS, {"log": "x"}, "leave out by and log"),
        (PROGRAMS, {"values": ["winner", "simulated/tmm"]}, "simulated/tmm: winner compares times"),
    ],
)
def test_a_winner_map_that_cannot_be_is_refused(table, given, message):
    with pytest.raises(OutputError, match=message):
        study_pictures.picture_of(table, **{"values": ["winner"], **given})


def test_what_is_no_series_is_never_black_and_has_styles_to_be_told_apart():
    styles = [looks.look_of(place) for place in range(looks.STYLES)]
    assert len({str(drawn) for drawn in styles}) == looks.STYLES
    assert style.BLACK not in {drawn["color"] for drawn in styles}
    mixed = looks.looks_of(["tmm", *map(str, range(looks.STYLES - 2))], "here")
    marked = {(one["color"], one["marker"], one["markerfacecolor"]) for one in mixed.values()}
    assert len(marked) == len(mixed)


@needs_matplotlib
def test_more_lines_than_can_be_told_apart_are_refused():
    lines_of = {str(number): [1, 2] for number in range(15)}
    with pytest.raises(OutputError, match="curves: 15 lines: 14 can be told apart: choose fewer"):
        charts.curves([1, 2], lines_of, "x", "y")
    rows = [{"n": n, "k": k, "simulated.cycles": 1.0, "tmm.cycles": 2.0} for n in (1, 2) for k in range(9)]
    table = Table.from_rows("t", rows, ["n", "k"])
    with pytest.raises(OutputError, match="t: 9 values of k: 8 can be told apart: choose some with --where or --value"):
        study_pictures.picture_of(table, "n", by="k")
    programs = [case(64, 1000, program=str(number)) for number in range(9)]
    with pytest.raises(OutputError, match="a roofline: 9 programs: 8 can be told apart"):
        comparison_pictures.roofline(comparison(*programs))


@needs_matplotlib
def test_ratios_have_a_colour_that_is_white_at_1_and_equally_far_for_inverses():
    axes, bar = comparison_pictures.ratios_of(comparison(*CASES, series=MADE.series)).axes
    image = axes.images[0]
    assert image.norm(1.0) == pytest.approx(0.5)
    assert image.norm(4.0) + image.norm(0.25) == pytest.approx(1)
    assert min(image.cmap(image.norm(1.0))[:3]) > 0.95
    assert image.get_array().filled(np.nan)[::-1] == pytest.approx(
        np.array([[0.01, 0.5, 4], [20 / 3000, 0.5, np.nan], [40 / 90000, 0.1, np.nan]]), nan_ok=True
    )
    assert [text.get_text() for text in axes.get_yticklabels()] == ["n=256", "n=128", "n=64"]
    assert bar.get_ylabel() == "time / simulated time"


STUDY = Table.from_rows(
    "study",
    [
        {"machine": machine, "n": n, "L": latency, "simulated.seconds": factor * n * latency, "tmm.seconds": 1.0 * n}
        for machine, factor in (("a", 1.0), ("b", 2.0))
        for n in (4, 1, 2)
        for latency in (10, 20)
    ],
    ["machine", "n", "L"],
)


@needs_matplotlib
def test_a_study_as_curves_in_the_order_of_the_axis():
    drawn = lines(study_pictures.picture_of(STUDY, where={"machine": "b", "L": "20"}))
    assert drawn == {"simulated": ([1, 2, 4], [40, 80, 160]), "TMM": ([1, 2, 4], [1, 2, 4])}


@needs_matplotlib
def test_a_study_as_curves_a_line_for_each_value_of_an_axis():
    drawn = lines(study_pictures.picture_of(STUDY, "n", values=["simulated.seconds"], by="machine", where={"L": "10"}))
    assert drawn == {"machine = a": ([1, 2, 4], [10, 20, 40]), "machine = b": ([1, 2, 4], [20, 40, 80])}


@needs_matplotlib
@pytest.mark.parametrize(
    ("values", "by", "label"),
    [
        (["simulated.seconds"], "machine", "simulated time"),
        (["tmm.seconds"], "machine", "TMM time"),
        (["simulated.seconds", "tmm.seconds"], "machine", "time"),
        (["simulated.seconds", "tmm.seconds"], None, "time"),
        (["simulated.seconds"], None, "time"),
        (["simulated/tmm"], "machine", "simulated / TMM"),
        (["simulated/tmm", "tmm/simulated"], None, "ratio"),
    ],
)
def test_an_axis_of_times_says_whose_they_are_where_lines_do_not(values, by, label):
    where = {"L": "10"} if by else {"L": "10", "machine": "a"}
    figure = study_pictures.picture_of(STUDY, "n", values=values, by=by, where=where)
    assert figure.axes[0].get_ylabel() == label


@needs_matplotlib
def test_a_study_as_a_heat_map():
    figure = study_pictures.picture_of(STUDY, "n", "L", ["simulated.seconds"], where={"machine": "a"})
    axes, bar = figure.axes
    assert axes.images[0].get_array().tolist() == [[10, 20, 40], [20, 40, 80]]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4"]
    assert bar.get_ylabel() == "simulated.seconds (s)"


@needs_matplotlib
def test_a_study_shows_a_quantity_or_a_ratio_by_name():
    where = {"machine": "b", "L": "20"}
    assert lines(study_pictures.picture_of(STUDY, values=["simulated"], where=where)) == {
        "simulated": ([1, 2, 4], [40, 80, 160])
    }
    figure = study_pictures.picture_of(STUDY, values=["simulated/tmm"], where=where)
    assert lines(figure)["simulated / TMM"] == ([1, 2, 4], [40, 40, 40])
    assert figure.axes[0].get_ylabel() == "simulated / TMM"
    heat = study_pictures.picture_of(STUDY, "n", "L", ["tmm/simulated"], where={"machine": "a"})
    assert np.allclose(heat.axes[0].images[0].get_array(), [[1 / 10] * 3, [1 / 20] * 3], rtol=1e-12)
    assert heat.axes[1].get_ylabel() == "TMM / simulated"


@needs_matplotlib
def test_a_studys_title_says_what_does_not_vary_and_its_axes_scales_are_known():
    import dataclasses

    table = dataclasses.replace(STUDY, fixed={"threads": 32}, scales={"n": "linear"})
    (axes,) = study_pictures.picture_of(table, where={"machine": "b", "L": "20"}).axes
    assert axes.figure.get_suptitle() == "study, threads = 32, L = 20 on b"
    assert axes.get_xscale() == "linear"  # though its values are powers of 2
    (axes,) = study_pictures.picture_of(STUDY, where={"machine": "b", "L": "20"}, title="My own").axes
    assert axes.figure.get_suptitle() == "My own"
    assert axes.get_xscale() == "log"


@needs_matplotlib
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"values": ["simulatd/tmm"]}, "simulatd/tmm: 'simulatd': no such column; did you mean 'simulated'"),
        ({"values": ["tmm/n"]}, "tmm/n: no row has both numbers above 0, in one unit"),
        (
            {"values": ["tmm/simulated", "tmm"], "where": {"machine": "a", "L": "10"}},
            "a ratio and a quantity that is not a ratio",
        ),
        ({}, "several rows have the same n: machine, L also varies"),
        ({"across": "m"}, "'m': no such column"),
        ({"values": ["tmm.second"]}, "'tmm.second': no such column; did you mean 'tmm.seconds'"),
        ({"where": {"L": "11"}}, "no row has L = 11; there are 10, 20"),
        ({"where": {"l": "11"}}, "'l': no such column"),
        ({"across": "machine", "where": {"n": "1", "L": "10"}}, "machine: must be numbers"),
        ({"across": "n", "up": "L", "where": {"machine": "a"}}, "a heat map shows one column"),
    ],
)
def test_a_picture_of_a_study_that_can_not_be_is_refused(options, message):
    with pytest.raises(OutputError, match=message):
        study_pictures.picture_of(STUDY, **options)


@needs_matplotlib
def test_a_zigzag_has_its_peaks():
    launch = load_trace(shipped_trace(DEFAULT_TRACE)).info.launches[0]
    swept = zigzag(load_machine("gtx280"), launch, range(1, 500))
    figure = charts.zigzag(swept, "jump")
    ((peaks, heights),) = lines(figure).values()
    assert peaks == [240, 480]
    assert heights == [1.0, 1.0]


@needs_matplotlib
def test_stacks_fill_each_bar():
    figure = comparison_pictures.stacks_of(MADE)
    (axes,) = figure.axes
    assert [container.get_label() for container in axes.containers] == list(WHERE_TIME_GOES)
    widths = np.array([[patch.get_width() for patch in container] for container in axes.containers])
    assert widths.sum(axis=0) == pytest.approx([100] * 3)
    assert widths[:, 0].tolist() == pytest.approx([WAITED[state] for state in WHERE_TIME_GOES])


@needs_matplotlib
@pytest.mark.parametrize("kind", comparison_pictures.COMPARED)
def test_text_does_not_leave_the_picture(kind):
    figure = comparison_pictures.compared(kind)(MADE)
    figure.draw_without_rendering()  # lays it out
    box = figure.get_tightbbox()  # inches, of all that is drawn
    width, height = figure.get_size_inches()
    assert min(box.x0, box.y0, width - box.x1, height - box.y1) >= -0.01  # a pixel of rounding


@needs_matplotlib
def test_files_have_their_formats_and_are_the_same_each_time(tmp_path):
    kinds = {"png": b"\x89PNG\r\n", "pdf": b"%PDF-", "svg": b"<?xml"}
    for kind, begin in kinds.items():
        first, second = tmp_path / f"1.{kind}", tmp_path / f"2.{kind}"
        for path in (first, second):
            files.write(path, comparison_pictures.scatter(MADE))
        assert first.read_bytes().startswith(begin)
        assert first.read_bytes() == second.read_bytes()
    width, height = struct.unpack(">II", (tmp_path / "1.png").read_bytes()[16:24])
    assert min(width, height) > 800  # for print
    svg = ElementTree.parse(tmp_path / "1.svg")
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {"simulated time", "TMM"} <= texts  # text stays text


@pytest.mark.parametrize("name", ["x.jpg", "x", "x.txt"])
def test_another_suffix_is_refused(tmp_path, name):
    with pytest.raises(OutputError, match=r"must end in \.png, \.svg, \.pdf"):
        files.check(tmp_path / name)


def test_an_unknown_kind_is_refused():
    with pytest.raises(OutputError, match="picture 'pie': must be one of scatter, curves, stacks, roofline, ratios"):
        comparison_pictures.compared("pie")


def test_without_matplotlib_one_line_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    for call in (lambda: files.check(tmp_path / "x.png"), lambda: comparison_pictures.scatter(MADE)):
        with pytest.raises(OutputError, match=r"matplotlib, which is not installed: pip install '\.\[plot\]'"):
            call()


def test_matplotlib_is_loaded_only_when_a_picture_is_made():
    modules = "accuracy, axes, charts, comparison, files, labels, looks, quantities, study, style, titles"
    loaded = "[name for name in sys.modules if name.startswith('matplotlib')]"
    code = f"import sys; from simtmm.report.pictures import {modules}; assert not {loaded}"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("last", [float("nan"), 4.0])
def test_cells_without_a_value_are_hatched_and_have_a_key(last):
    figure = charts.heat_map([1, 2], [1, 2], [[1.0, 2.0], [3.0, last]], "x", "y", "v")
    blank = bool(np.isnan(last))
    assert [text.get_text() for legend in figure.legends for text in legend.get_texts()] == [charts.NO_VALUE] * blank
    assert bool(figure.axes[0].patch.get_hatch()) == blank


@needs_matplotlib
@pytest.mark.parametrize(
    ("value", "is_shown"),
    [(2, True), (20, True), (2e-6, True), (0.05, True), (5e9, True), (3, False), (12, False), (7e-3, False)],
)
def test_a_tick_between_powers_of_ten_is_named_by_its_first_digit(value, is_shown):
    shown = axes_module._some(lambda value, place: f"{value:g} at {place}", "25")(value, 7)
    assert shown == (f"{value:g} at 7" if is_shown else "")
