"""Pictures: what is drawn, read back from the figures; and the files."""

import importlib.util
import struct
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from simtmm import load_machine, load_trace
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.errors import OutputError
from simtmm.model.launch.scheduling import zigzag
from simtmm.model.series import MEASURED, all_series
from simtmm.report.page import Table
from simtmm.report.pictures import charts, files, looks, style
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
        (comparison(CASES[0]), None, "name the parameter to go along; none of the cases vary"),
        (comparison(*CASES), "m", "m: must vary, as does n"),
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
def test_a_study_as_a_heat_map():
    figure = study_pictures.picture_of(STUDY, "n", "L", ["simulated.seconds"], where={"machine": "a"})
    axes, bar = figure.axes
    assert axes.images[0].get_array().tolist() == [[10, 20, 40], [20, 40, 80]]
    assert [label.get_text() for label in axes.get_xticklabels()] == ["1", "2", "4"]
    assert bar.get_ylabel() == "simulated.seconds (s)"


@needs_matplotlib
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "several rows have the same n: machine, L varies too"),
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
    with pytest.raises(OutputError, match="picture 'pie': must be one of scatter, curves, stacks, roofline"):
        comparison_pictures.compared("pie")


def test_without_matplotlib_one_line_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    for call in (lambda: files.check(tmp_path / "x.png"), lambda: comparison_pictures.scatter(MADE)):
        with pytest.raises(OutputError, match=r"matplotlib, which is not installed: pip install 'simtmm\[plot\]'"):
            call()


def test_matplotlib_is_loaded_only_when_a_picture_is_made():
    modules = "accuracy, axes, charts, comparison, files, looks, study, style"
    loaded = "[name for name in sys.modules if name.startswith('matplotlib')]"
    code = f"import sys; from simtmm.report.pictures import {modules}; assert not {loaded}"
    subprocess.run([sys.executable, "-c", code], check=True)
