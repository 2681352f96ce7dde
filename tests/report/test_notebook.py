"""What Jupyter shows of values, their one-line forms, and pictures and frames of them."""

import re
import sys
from xml.etree import ElementTree

import numpy as np
import pytest
from rich.table import Table
from rich.text import Text

import simtmm
from simtmm.errors import OutputError, StudyError
from simtmm.report.notebook.html import _html


@pytest.fixture(scope="module")
def values():
    """One of each kind, from the shipped trace."""
    machine = simtmm.load_machine("gtx480")
    trace = simtmm.load_trace("list-ranking-wyllie")
    workload = simtmm.lower(trace, machine)
    counts = simtmm.count(trace, machine)
    study = {"program": "list-ranking", "axes": {"n": [1e4, 1e5], "memory.latency": [200, 400, 800]}}
    return {
        "Machine": machine,
        "Trace": trace,
        "Workload": workload,
        "Counts": counts,
        "Result": simtmm.simulate(machine, workload),
        "Prediction": simtmm.predict("tmm", machine, counts),
        "Run": simtmm.run(trace, machine, what_if=False),
        "Predictions": simtmm.predictions(trace, machine, models=["tmm", "pram"]),
        "Results": simtmm.sweep({**study, "machines": ["gtx480"]}, workers=1),
        "Findings": simtmm.findings(simtmm.sweep({**study, "machines": ["gtx480"]}, workers=1)),
        "Comparison": simtmm.compare("list-ranking-wyllie", ["gtx280", "gtx480"], {"n": [64]}, ["tmm", "pram"]),
    }


NAMES = ["Machine", "Trace", "Workload", "Counts", "Result", "Prediction", "Run", "Results", "Comparison"]
NAMES += ["Predictions", "Findings"]
DRAWN = ["Result", "Prediction", "Predictions", "Run", "Results", "Comparison"]


@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_told_in_a_line(values, name):
    told = repr(values[name])
    assert re.fullmatch(rf"{name}\(.+\)", told)
    assert len(told) < 160
    assert str(values[name]) == told


@pytest.mark.parametrize("name", NAMES)
def test_a_value_is_shown_as_html_that_is_whole(values, name):
    root = ElementTree.fromstring(values[name]._repr_html_())
    widths = [len(row) for table in root.iter("table") for row in table.iter("tr")]
    assert widths
    assert 0 not in widths


def test_a_result_shows_the_numbers_that_it_has(values):
    shown = "".join(ElementTree.fromstring(values["Result"]._repr_html_()).itertext())
    assert f"{values['Result'].issued:,}" in shown


def test_names_from_data_do_nothing_to_a_page():
    machine = simtmm.load_machine("ideal").replace({"name": "<script>alert(1)</script>\x1b[2J"})
    shown = machine._repr_html_()
    assert "<script" not in shown
    assert "\x1b" not in shown
    assert "&lt;script&gt;" in shown


def test_a_long_study_shows_its_first_points_and_says_so():
    study = simtmm.sweep({"program": "list-ranking", "machines": ["gtx480"], "axes": {"n": "1000:100000:log:40"}})
    shown = study._repr_html_()
    assert shown.count("<tr>") == 1 + 12
    assert "The first 12 of 40 points" in shown


@pytest.mark.parametrize("name", DRAWN)
def test_a_frame_has_the_times(values, name):
    frame = values[name].to_frame()
    rows = {"Result": 1, "Prediction": 1, "Predictions": 4, "Run": 4, "Results": 6, "Comparison": 6}
    assert len(frame) == rows[name]
    (column,) = [column for column in frame.columns if column in ("cycles", "tmm.cycles")]
    assert (frame[column] > 0).all()


@pytest.mark.parametrize("name", DRAWN)
def test_a_picture_is_shown_and_saved(values, name, tmp_path):
    options = {"by": "n", "across": "memory.latency", "values": "tmm"} if name == "Results" else {}
    picture = values[name].plot(**options)
    data, size = picture._repr_png_()
    assert data.startswith(b"\x89PNG")
    assert int.from_bytes(data[16:20]) == pytest.approx(2 * size["width"], abs=2)  # rounded twice
    picture.save(tmp_path / "picture.svg")
    assert "<svg" in (tmp_path / "picture.svg").read_text(encoding="utf-8")


def test_a_study_in_which_nothing_varies_says_so():
    study = simtmm.sweep({"program": "list-ranking", "machines": ["gtx480"], "axes": {"n": [1e4]}})
    with pytest.raises(OutputError, match="no numeric axis varies"):
        study.plot()


def test_a_result_without_a_breakdown_has_no_picture(values):
    result = simtmm.simulate(values["Machine"], values["Workload"], breakdown=False)
    with pytest.raises(OutputError, match="breakdown=True"):
        result.plot()


@pytest.mark.parametrize(("module", "call"), [("pandas", "to_frame"), ("xarray", "to_xarray"), ("matplotlib", "plot")])
def test_an_absent_package_is_named_with_what_installs_it(values, module, call, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    if module == "matplotlib":
        monkeypatch.setattr("simtmm.report.pictures.style.find_spec", lambda name: None)
    extra = "xarray" if module == "xarray" else "plot"
    options = {"across": "memory.latency", "by": "n", "values": "tmm"} if call == "plot" else {}
    with pytest.raises(OutputError, match=rf"needs? {module}, which is not installed: pip install '\.\[{extra}\]'"):
        getattr(values["Results"], call)(**options)


def test_a_study_as_arrays_has_its_points_where_its_axes_say(values):
    study = values["Results"]
    arrays = study.to_xarray()
    assert dict(arrays.sizes) == {"n": 2, "memory_latency": 3}
    assert arrays["memory_latency"].attrs == {"long_name": "memory.latency", "units": "cycles"}
    for row in study.rows:
        at = {"n": row.point.axes["n"], "memory_latency": row.point.axes["memory.latency"]}
        assert float(arrays.tmm_cycles.sel(at)) == row.cycles("tmm")
        assert str(arrays.tmm_bound.sel(at).item()) == row.results["tmm"]["bound"]


def test_linked_machines_and_drawn_axes_have_a_dimension_each():
    study = simtmm.sweep({
        "program": "list-ranking",
        "machines": ["gtx280", "gtx480"],
        "linked": [{"memory.latency": [200, 400], "n": [1e4, 1e5]}],
        "sample": {"points": 3, "axes": {"cores.groups": "2:9"}},
        "constraints": ["memory.latency != 400 or cores.groups > 5"],
    })  # fmt: skip
    arrays = study.to_xarray()
    assert dict(arrays.sizes) == {"machine": 2, "memory_latency_and_n": 2, "sample": 3}
    assert arrays["n"].dims == ("memory_latency_and_n",)
    assert arrays["cores_groups"].dims == ("sample",)
    for row in study.rows:
        axes = row.point.axes
        at = arrays.sel(machine=axes["machine"])
        at = at.isel(memory_latency_and_n=[200, 400].index(axes["memory.latency"]))
        at = at.isel(sample=arrays["cores_groups"].values.tolist().index(axes["cores.groups"]))
        cycles = row.cycles("tmm")
        assert np.array_equal(float(at.tmm_cycles), np.nan if cycles is None else cycles, equal_nan=True)
    assert "skipped" in arrays.status


def test_names_that_would_become_one_are_refused(values, monkeypatch):
    monkeypatch.setattr("simtmm.study.arrays.re.sub", lambda pattern, new, text: "x")
    with pytest.raises(StudyError, match=r"n and memory\.latency: would both be x"):
        values["Results"].to_xarray()


def test_a_table_has_its_title_headers_sides_and_cells():
    table = Table(title="Times <1>")
    table.add_column("n", justify="right")
    table.add_column("kernel")
    table.add_row("4", "a & b")
    assert _html(table) == (
        "<table><caption style='text-align:left;font-weight:bold'>Times &lt;1&gt;</caption>"
        "<thead><tr><th style='text-align:right'>n</th><th style='text-align:left'>kernel</th></tr></thead>"
        "<tbody><tr><td style='text-align:right'>4</td><td style='text-align:left'>a &amp; b</td></tr></tbody></table>"
    )
    plain = Table(show_header=False)
    plain.add_column("n")
    plain.add_row("4")
    assert _html(plain) == "<table><tbody><tr><td style='text-align:left'>4</td></tr></tbody></table>"


@pytest.mark.parametrize(
    ("part", "expected"),
    [
        (Text("said", style="bold"), "<p style='margin:0.3em 0'><strong>said</strong></p>"),
        (Text("said"), "<p style='margin:0.3em 0'><span>said</span></p>"),
        ("a < b", "<p style='margin:0.3em 0'><span>a &lt; b</span></p>"),
        ("", ""),
    ],
)
def test_a_line_is_a_paragraph_and_nothing_is_none(part, expected):
    assert _html(part) == expected
