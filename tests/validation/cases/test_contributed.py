"""Rows that users send: written by a run, read again as points, and refused where they can't be understood.

All rows here are written by hand: no GPU measured them.
"""

import pytest

from simtmm.errors import StudyError
from simtmm.measurement.contributed import (
    COLUMNS,
    HEAD,
    Contributed,
    append_contributed,
    label_of,
    load_contributed,
)
from simtmm.model.series import SIMULATED
from simtmm.validation.cases.contributed import tables

ROW = Contributed(
    machine="a100-80", machine_digest="0123abcd", gpu="NVIDIA A100", kernel="f<int, 2>", grid="16x1x1", block="256x1x1",
    launch=0, quantity="seconds", measured=2e-6, simulated=1.5e-6, tool="Nsight Compute", simtmm="0.1.0",
)  # fmt: skip


def other(**changes):
    return Contributed(**{**vars(ROW), **changes})


def test_rows_are_read_as_they_were_written(tmp_path):
    path = tmp_path / "mine.csv"
    rows = [ROW, other(quantity="occupancy", measured=0.75, simulated=0.5), other(launch=1)]
    assert append_contributed(path, rows) == 3
    assert load_contributed(path) == tuple(rows)
    assert path.read_text().startswith(f"{HEAD}\n{','.join(COLUMNS)}\n")


def test_a_row_that_is_there_is_not_added_again(tmp_path):
    path = tmp_path / "mine.csv"
    append_contributed(path, [ROW])
    assert append_contributed(path, [ROW, other(launch=1)]) == 1
    assert len(load_contributed(path)) == 2


def test_a_file_of_another_form_is_not_written_over(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("precious,data\n1,2\n")
    with pytest.raises(StudyError, match=r"mine.csv:1: columns 'precious,data': must be machine,machine_digest,gpu"):
        append_contributed(path, [ROW])
    assert path.read_text() == "precious,data\n1,2\n"


@pytest.mark.parametrize(
    ("column", "text", "message"),
    [
        ("machine", "", "must be a machine's name"),
        ("machine", "../a", "must be a machine's name"),
        ("machine", "a.toml", "must be a machine's name"),
        ("machine", "a|b", "must be a machine's name"),
        ("kernel", "", "must be a name of 1 to 300 characters"),
        ("kernel", "a\tb", "must be a name"),
        ("machine_digest", "xyz", "must be 8 to 64 hexadecimal digits"),
        ("grid", "16", "must be three sizes, as 256x1x1"),
        ("grid", "0x1x1", "must be three sizes"),
        ("launch", "-1", "must be a whole number from 0 on"),
        ("quantity", "joules", "must be one of seconds, instructions"),
        ("measured", "nan", "must be a number from 0 on, with a decimal point"),
        ("measured", "1,5", "must be a number from 0 on, with a decimal point"),
        ("measured", "0", "must be above 0 and at most"),
        ("simulated", "1e300", "must be above 0 and at most 1e+18"),
        ("tool", "a stopwatch", "must be Nsight Compute or Nsight Systems"),
        ("simtmm", "$(rm)", "must be a version, as 0.1.0"),
    ],
)
def test_a_value_that_is_not_understood_is_named_by_line_and_column(column, text, message, tmp_path):
    path = tmp_path / "f.csv"
    append_contributed(path, [ROW])
    cells = {**{name: str(getattr(ROW, name)) for name in COLUMNS}, column: text}
    row = ",".join('"' + cells[name] + '"' for name in COLUMNS)
    path.write_text(f"{path.read_text()}{row}\n")
    with pytest.raises(StudyError) as caught:
        load_contributed(path)
    assert f"f.csv:4: {column} = " in str(caught.value)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"{','.join(COLUMNS)}\n", "f.csv: has no rows"),
        ("", "f.csv:1: columns '': must be machine"),
        (f"{HEAD}\n{','.join(COLUMNS)}\na,b\n", "f.csv:3: has 2 cells: must have 12"),
    ],
)
def test_a_file_of_another_form_is_refused(text, message, tmp_path):
    path = tmp_path / "f.csv"
    path.write_text(text)
    with pytest.raises(StudyError, match=message):
        load_contributed(path)


def test_a_duplicate_is_refused(tmp_path):
    path = tmp_path / "f.csv"
    append_contributed(path, [ROW])
    path.write_text(path.read_text() + path.read_text().splitlines()[-1] + "\n")
    with pytest.raises(StudyError, match=r"f.csv:4: is a duplicate of line 3"):
        load_contributed(path)


def test_files_become_points_of_their_own_that_fit_nothing(tmp_path):
    append_contributed(tmp_path / "a.csv", [ROW, other(quantity="occupancy", measured=0.75, simulated=0.5)])
    append_contributed(tmp_path / "b.csv", [other(launch=1), other(quantity="bank_conflicts", measured=0, simulated=4)])
    times, occupancy = tables([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert (times.name, times.unit, times.calibrated) == ("contributed-seconds", "us", "nothing")
    assert [(point.measured, point.said[SIMULATED]) for point in times.points] == [(2, 1.5), (2, 1.5)]
    assert times.errors(SIMULATED).mean == 0.25
    assert "simtmm 0.1.0" in times.points[0].case
    assert "a.csv" in times.points[0].case
    assert (occupancy.unit, occupancy.points[0].measured) == ("%", 75)


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("H100 SXM (memory.l2.start = cold, clock_hz x0.5)", "H100 SXM (memory.l2.start = cold, clock_hz x0.5)"),
        ("Karte für 3/4 | <b>", "Karte für 3-4 - -b-"),
        ("./mine.toml", ".-mine-"),
        ("x" * 500, "x" * 300),
    ],
)
def test_any_machine_can_be_named_in_a_row(name, label, tmp_path):
    assert label_of(name) == label
    append_contributed(tmp_path / "f.csv", [other(machine=label)])
    assert [row.machine for row in load_contributed(tmp_path / "f.csv")] == [label]


def test_machines_of_a_table_are_told_apart_though_changes_have_commas(tmp_path):
    machines = ["A100 80 GB (memory.l2.start = cold, clock_hz = 1e+09)", "V100"]
    append_contributed(tmp_path / "f.csv", [other(machine=each) for each in machines])
    (times,) = tables([tmp_path / "f.csv"])
    assert times.machine.split(", ") == ["A100 80 GB (memory.l2.start = cold; clock_hz = 1e+09)", "V100"]


def test_shares_of_next_to_nothing_have_no_error(tmp_path):
    shares = [other(quantity="l2_hit_rate_of_loads", measured=each, simulated=0) for each in (0.0006, 0.02)]
    append_contributed(tmp_path / "f.csv", shares)
    (table,) = tables([tmp_path / "f.csv"])
    assert [point.measured for point in table.points] == [2]
    assert "Shares below 1% are left out." in table.notes[0]


def test_a_row_in_two_files_is_refused(tmp_path):
    append_contributed(tmp_path / "a.csv", [ROW])
    append_contributed(tmp_path / "b.csv", [ROW])
    with pytest.raises(StudyError, match=r"b.csv: f<int, 2>, seconds: is in a.csv too: must be sent once"):
        tables([tmp_path / "a.csv", tmp_path / "b.csv"])
