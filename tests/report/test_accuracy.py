"""Accuracy as text, page, CSV and picture, of tables that are made up."""

import csv
import importlib.util
import io

import pytest
from rich.console import Console

from simtmm.report.accuracy.tables import _sentence, accuracy_csv, describe_accuracy, page, percent
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.snapshot import Kept, keep

needs_matplotlib = pytest.mark.skipif(importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib")

# read: 10 % too much at each point; write: right, 20 % too little, and no TMM
POINTS = (
    Measured("read at 10 %", 100.0, {"simulated": 110.0, "tmm": 200.0}, 10.0, "read"),
    Measured("read at 20 %", 200.0, {"simulated": 220.0, "tmm": 400.0}, 20.0, "read"),
    Measured("read at 100 %", 400.0, {"simulated": 440.0, "tmm": 800.0}, 100.0, "read"),
    Measured("write at 10 %", 50.0, {"simulated": 50.0}, 10.0, "write"),
    Measured("write at 20 %", 100.0, {"simulated": 80.0}, 20.0, "write"),
)
STREAM = Accuracy(
    name="stream-x",
    title="Stream on an X",
    quantity="bandwidth",
    unit="GB/s",
    points=POINTS,
    calibrated="latency, on the pointer chase",
    origin="a | b.csv",
    machine="gtx480",
    along="occupancy (%)",
    promised={"simulated": 0.15},
    notes=("The clock is not known.",),
)


def with_points(*points, **others):
    return Accuracy(**{**vars(STREAM), "points": points, **others})


def text(*tables):
    console = Console(width=200, highlight=False)
    with console.capture() as captured:
        for part in describe_accuracy(tables):
            console.print(part, soft_wrap=True)
    return captured.get()


def cells(line):
    """What stands in a line of a table on a terminal."""
    return [cell.strip() for cell in line.split("   ") if cell.strip()]


def rows(lines, start):
    return [cells(line) for line in lines.splitlines() if line.startswith(start)]


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0.0, "0 %"), (0.004561, "0.46 %"), (0.02345, "2.3 %"), (0.5, "50.0 %"), (0.9996, "100 %"),
        (12.345, "1,234 %"), (-0.25, "-25.0 %"), (None, "-"),
    ],
)  # fmt: skip
def test_a_percentage_has_as_many_digits_as_tell_something(value, shown):
    assert percent(value) == shown


def test_a_signed_percentage_tells_too_much_from_too_little():
    assert (percent(0.1, sign=True), percent(-0.1, sign=True)) == ("+10.0 %", "-10.0 %")
    assert percent(0.0, sign=True) == "0 %"


def test_the_errors_of_each_series_are_reported():
    reported = text(STREAM)
    assert rows(reported, "simulated") == [
        ["simulated", "5", "10.0 %", "10.0 %", "-20.0 %", "write at 20 %", "+2.0 %", "0.975", "15.0 %"]
    ]
    assert rows(reported, "TMM") == [["TMM", "3", "100 %", "100 %", "+100 %", "read at 10 %", "+100 %", "1.000", "-"]]


def test_the_errors_of_each_group_are_reported_and_a_series_that_says_nothing_of_it_has_none():
    reported = text(STREAM)
    assert rows(reported, "read") == [["read", "3", "10.0 %", "10.0 %", "+10.0 %", "1.000", "100 %"]]
    assert rows(reported, "write") == [["write", "2", "10.0 %", "10.0 %", "-20.0 %", "-", "-"]]


def test_a_group_of_which_the_first_series_says_nothing_has_a_row_of_as_many_cells():
    closed = Measured("read at 50 %", 200.0, {"tmm": 300.0}, 50.0, "other")
    assert rows(text(with_points(*POINTS, closed)), "other") == [["other", "1", "-", "-", "-", "-", "50.0 %"]]


def test_a_table_of_one_group_is_not_told_twice():
    assert rows(text(with_points(*POINTS[:3])), "read") == []


def test_a_broken_promise_is_reported():
    broken = with_points(*POINTS, promised={"simulated": 0.05})
    assert "stream-x: simulated: mean error 10.00%, promised at most 5.00%" in text(broken)
    assert "promised at most" not in text(STREAM)


def kept(*tables):
    return keep({"stream": tables})


def markdown_rows(written, start):
    return [line.strip("| ").split(" | ") for line in written.splitlines() if line.startswith(f"| {start}")]


def test_the_page_says_what_a_reader_asks_of_a_table():
    written = page(kept(STREAM), "docs")
    for line in (
        "## Stream on an X",
        "- Machine: `gtx480`.",
        "- Measured: a | b.csv.",
        "- Calibrated: latency, on the pointer chase.",
        "- Values: bandwidth in GB/s, along occupancy (%); [each point](accuracy/stream-x.csv), "
        "[with provenance](accuracy/stream-x.json).",
        "- Made by: `simtmm paper reproduce stream -o docs`, simtmm 0.1.0.",
        "![Stream on an X: measured, simulated and modelled](accuracy/stream-x.png)",
        "The clock is not known.",
    ):
        assert line in written.splitlines()


def test_a_note_that_tables_of_one_reproduction_share_is_reported_once():
    other = with_points(*POINTS, name="stream-y", title="Stream on a Y", notes=(*STREAM.notes, "Y is new."))
    written = page(kept(STREAM, other), "docs").splitlines()
    assert written.count("The clock is not known.") == written.count("Y is new.") == 1


def test_the_page_leads_with_a_row_a_table_that_links_to_it():
    (row,) = markdown_rows(page(kept(STREAM), "docs"), "[")
    link = "[Stream on an X](#stream-on-an-x)"
    assert row == [link, "gtx480", "measured", "5", "10.0 %", "15.0 %", "-20.0 %", "0.975", "100 %, TMM"]


def test_a_table_of_models_alone_has_a_row_as_well():
    alone = with_points(Measured("a", 10.0, {"pram": 5.0}), promised={})
    (row,) = markdown_rows(page(kept(alone), "docs"), "[")
    assert row[4:] == ["-", "-", "-", "-", "50.0 %, PRAM"]


def test_the_page_lists_points_where_they_are_few():
    assert markdown_rows(page(kept(STREAM), "docs"), "write at 20 %") == [["write at 20 %", "100", "80", "-"]]
    many = tuple(Measured(f"case {place}", 1.0, {"simulated": 1.0}) for place in range(40))
    assert "| case 1 " not in page(kept(with_points(*many)), "docs")


def test_a_bar_in_a_cell_does_not_end_it():
    named = with_points(Measured("a|b", 10.0, {"simulated": 5.0}))
    assert r"| a\|b |" in page(kept(named), "docs")


def test_the_page_is_the_same_for_the_same_tables():
    assert page(kept(STREAM), "docs") == page(kept(STREAM), "docs")


def test_csv_has_a_row_a_point():
    written = list(csv.DictReader(io.StringIO(accuracy_csv(STREAM))))
    assert written[0] == {
        "case": "read at 10 %", "group": "read", "at": "10", "unit": "GB/s", "measured": "100", "simulated": "110",
        "tmm": "200",
    }  # fmt: skip
    assert [row["tmm"] for row in written] == ["200", "400", "800", "", ""]


def drawn(axes):
    named = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    return {name: list(zip(*line.get_data(), strict=True)) for name, line in named.items()}


@needs_matplotlib
def test_a_picture_has_a_panel_a_group_and_all_series_over_the_measured():
    from simtmm.report.pictures.accuracy import picture

    result = picture(STREAM)
    read, write, scatter = result.axes
    assert (read.get_title(loc="left"), write.get_title(loc="left")) == ("read", "write")
    assert drawn(read) == {
        "measured": [(10, 100), (20, 200), (100, 400)],
        "simulated": [(10, 110), (20, 220), (100, 440)],
    }
    assert drawn(write) == {"measured": [(10, 50), (20, 100)], "simulated": [(10, 50), (20, 80)]}
    assert drawn(scatter) == {
        "simulated": [(100, 110), (200, 220), (400, 440), (50, 50), (100, 80)],
        "TMM": [(100, 200), (200, 400), (400, 800)],
    }
    assert [list(zip(*line.get_data(), strict=True)) for line in scatter.lines][-1] == [(50, 50), (400, 400)]
    assert (read.get_xlabel(), result.subfigs[0].get_supylabel()) == ("occupancy (%)", "bandwidth (GB/s)")
    assert (scatter.get_xlabel(), scatter.get_ylabel()) == ("measured (GB/s)", "simulated and modelled (GB/s)")


@needs_matplotlib
def test_a_picture_of_points_without_a_place_is_the_scatter_alone():
    from simtmm.report.pictures.accuracy import picture

    (axes,) = picture(with_points(Measured("a", 2.0, {"simulated": 3.0}))).axes
    assert drawn(axes) == {"simulated": [(2, 3)]}


@needs_matplotlib
def test_what_was_not_measured_is_not_called_so():
    from simtmm.report.pictures.accuracy import picture

    alike = with_points(*POINTS, reference="closed form", origin="Eq 1")
    assert "closed form: Eq 1" in text(alike)
    assert "- Closed form: Eq 1." in page(kept(alike), "docs")
    assert "measured" not in page(kept(alike), "docs").partition("## Stream")[2]
    (row,) = markdown_rows(page(kept(alike), "docs"), "[")
    assert row[2] == "closed form"
    assert accuracy_csv(alike).splitlines()[0] == "case,group,at,unit,closed form,simulated,tmm"
    panel, _, scatter = picture(alike).axes
    assert set(drawn(panel)) == {"closed form", "simulated"}
    assert scatter.get_xlabel() == "closed form (GB/s)"


@needs_matplotlib
def test_a_series_that_no_other_picture_knows_is_drawn_too():
    from simtmm.report.pictures.accuracy import picture

    (axes,) = picture(with_points(Measured("a", 2.0, {"simulated": 3.0, "as printed": 4.0}))).axes
    assert drawn(axes)["as printed"] == [(2, 4)]


@needs_matplotlib
@pytest.mark.parametrize("groups", range(1, 10))
def test_panels_are_as_many_as_groups_in_rows_of_four_at_most(groups):
    from simtmm.report.pictures.accuracy import picture

    points = [Measured(f"{group} {at}", 1.0 + at, {}, at, str(group)) for group in range(groups) for at in (1.0, 2.0)]
    points[0].said["simulated"] = 2.0
    shown = [axes for axes in picture(with_points(*points)).axes if axes.get_visible()]
    assert len(shown) == groups + 1
    assert shown[0].get_subplotspec().get_gridspec().ncols <= 4


@needs_matplotlib
def test_pictures_are_small_and_carry_their_description():
    from simtmm.report.pictures.accuracy import picture
    from simtmm.report.pictures.files import png

    result = png(picture(STREAM), "data 1234", 110)
    assert result.startswith(b"\x89PNG")
    assert b"data 1234" in result
    assert len(result) < 150_000


def test_a_kept_table_is_what_was_kept():
    (table,) = kept(STREAM)
    assert isinstance(table, Kept)
    assert Accuracy.from_dict(table.accuracy.to_dict()) == STREAM


@pytest.mark.parametrize("ending", [".", "!", "?"])
def test_a_fact_ends_as_a_sentence_does_once(ending):
    assert _sentence(f"Measured on a V100{ending}") == f"Measured on a V100{ending}"
    assert _sentence("Measured on a V100") == "Measured on a V100."
