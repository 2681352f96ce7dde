"""`simtmm run --nsight FILE --keep-row FILE`, with a real export of an H100."""

import json

import pytest

from simtmm.measurement.contributed import load_contributed
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


def test_rows_need_a_profile(called, here):
    status, _, error = called("run", "saxpy.toml", "-m", "h100-sxm", "--keep-row", "rows.csv")
    assert (status, error) == (2, "simtmm: error: --keep-row: needs --nsight FILE, which has what was measured\n")


def test_a_report_in_the_place_of_csv_is_one_line(called, here):
    (here / "mine.ncu-rep").write_bytes(b"NVR\0")
    status, _, error = called("run", "saxpy.toml", "-m", "h100-sxm", "--nsight", "mine.ncu-rep")
    assert status == 2
    assert error == ("simtmm: error: mine.ncu-rep: is a report, not CSV: export it with ncu -i FILE --csv --page raw\n")
