"""`simtmm run --nsight FILE --keep-row FILE`, with a real export of an H100."""

import csv
import json

import pytest

from simtmm.measurement.contributed import load_contributed
from simtmm.validation.cases.contributed import tables
from tests.cuda.compilers.conftest import needs_machine_code
from tests.measurement.nsight.test_launches import EXPORTS, LAUNCHES, SAXPY


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "saxpy.cu").write_text(SAXPY)
    (tmp_path / "saxpy.toml").write_text(LAUNCHES)
    return tmp_path


@needs_machine_code
def test_pages_together_are_compared_and_kept_as_rows(called, here):
    files = [word for page in ("raw", "details") for word in ("--nsight", str(EXPORTS / f"{page}.csv"))]
    words = ("run", "saxpy.toml", "-m", "h100-sxm", "--no-what-if", *files, "--keep-row", "rows.csv")
    status, out, _ = called(*words, "--json")
    assert status == 0
    (launch,) = json.loads(out)["nsight"]["launches"]
    assert (launch["kernel"], launch["gpu"]) == ("saxpy", "NVIDIA H100 80GB HBM3")
    assert launch["occupancy"]["measured"] == pytest.approx(0.7563, abs=1e-3)  # of the details page
    rows = load_contributed(here / "rows.csv")
    assert {row.quantity for row in rows} == {key for key, value in launch.items() if isinstance(value, dict)}
    assert {(row.machine, row.gpu, row.grid, row.block) for row in rows} == {
        ("H100 SXM", "NVIDIA H100 80GB HBM3", "16384x1x1", "256x1x1")
    }
    status, out, _ = called(*words)
    assert status == 0
    assert "New rows in rows.csv: 0." in out


def exported_with(column, value, path):
    """The raw page with another value for every launch."""
    with (EXPORTS / "raw.csv").open(newline="") as file:
        head, units, *rows = csv.reader(file)
    for row in rows:
        row[head.index(column)] = value
    with path.open("w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows([head, units, *rows])
    return str(path)


@needs_machine_code
def test_what_the_page_says_to_send_becomes_a_row(called, here):
    """docs/counters.md, as it stands there: with --start cold, which changes the machine's name."""
    words = ("run", "saxpy.toml", "-m", "h100-sxm", "--no-what-if", "--start", "cold")
    status, out, _ = called(*words, "--nsight", str(EXPORTS / "raw.csv"), "--keep-row", "rows.csv")
    assert status == 0
    assert "New rows in rows.csv: 7." in out
    by_name = {table.name: table for table in tables([here / "rows.csv"])}
    (time,) = by_name["contributed-seconds"].points
    assert time.measured == pytest.approx(16.352)
    assert by_name["contributed-seconds"].machine == "H100 SXM (memory.l2.start = cold)"


@needs_machine_code
def test_another_gpu_is_named_and_gives_no_row(called, here):
    path = exported_with("device__attribute_multiprocessor_count", "114", here / "pcie.csv")
    words = ("run", "saxpy.toml", "-m", "h100-sxm", "--no-what-if", "--nsight", path)
    other = "easured on another GPU than H100 SXM, NVIDIA H100 80GB HBM3: 114 multiprocessors, 132 simulated"
    status, out, _ = called(*words)
    assert (status, f"M{other}." in out) == (0, True)
    status, _, error = called(*words, "--keep-row", "rows.csv")
    assert status == 2
    assert f"simtmm: error: --keep-row: m{other}: give the machine that was measured with --machine\n" in error
    assert not (here / "rows.csv").exists()


@needs_machine_code
def test_times_of_a_gpu_held_at_its_base_clock_are_no_rows(called, here):
    path = exported_with("gpc__cycles_elapsed.avg.per_second", "1.1", here / "base.csv")
    words = ("run", "saxpy.toml", "-m", "h100-sxm", "--no-what-if", "--nsight", path, "--keep-row", "rows.csv")
    status, out, _ = called(*words)
    assert status == 0
    told = "Measured at 1.1 GHz, simulated at 1.98 GHz, so times are of two clocks: profile with --clock-control none"
    lower = "--set sustained_clock_hz=1.1e+09 --set clock_hz=sustained"
    assert f"{told}, or simulate at that clock with {lower}." in " ".join(out.split())
    assert "seconds" not in {row.quantity for row in load_contributed(here / "rows.csv")}
    status, out, _ = called(*words, *lower.split())
    assert (status, "two clocks" in out) == (0, False)
    assert "seconds" in {row.quantity for row in load_contributed(here / "rows.csv")}


def test_rows_are_not_added_to_a_file_of_another_form(called, here):
    """Which is said before anything is run."""
    (here / "mine.csv").write_text("a,b\n1,2\n")
    words = ("--nsight", str(EXPORTS / "raw.csv"), "--keep-row", "mine.csv")
    status, _, error = called("run", "absent.cu", *words)
    assert (status, "absent.cu" in error) == (2, True)
    status, _, error = called("run", "saxpy.toml", "-m", "h100-sxm", *words)
    assert (status, error.count("\n")) == (2, 1)
    assert error.startswith("simtmm: error: mine.csv:1: columns 'a,b': must be machine,machine_digest")
    assert (here / "mine.csv").read_text() == "a,b\n1,2\n"


def test_rows_need_a_profile(called, here):
    status, _, error = called("run", "saxpy.toml", "-m", "h100-sxm", "--keep-row", "rows.csv")
    assert (status, error) == (2, "simtmm: error: --keep-row: needs --nsight FILE, which has what was measured\n")


def test_a_report_in_the_place_of_csv_is_one_line(called, here):
    (here / "mine.ncu-rep").write_bytes(b"NVR\0")
    status, _, error = called("run", "saxpy.toml", "-m", "h100-sxm", "--nsight", "mine.ncu-rep")
    assert status == 2
    assert error == ("simtmm: error: mine.ncu-rep: is a report, not CSV: export it with ncu -i FILE --csv --page raw\n")
