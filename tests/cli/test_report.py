"""`simtmm sweep report`."""

import json
import re
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.__main__ import main
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace

TRACE = str(shipped_trace(DEFAULT_TRACE))
SWEEP = ("sweep", TRACE, "--vary", "memory.latency=100,400", "-m", "gtx280", "-m", "gtx480", "--workers", "1")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


def columns(path):
    (found,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', path.read_text(), re.DOTALL)
    return json.loads(found)


def test_a_store_makes_a_page(command, tmp_path):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    status, out, err = command("sweep", "report", "s.sqlite", "-o", "out.html", "--title", "My study")
    assert (status, err) == (0, "")
    data = columns(tmp_path / "out.html")
    assert out == f"out.html: 4 rows, {len(data['columns'])} columns\n"
    assert data["axes"] == ["machine", "memory.latency"]
    assert data["units"] == {"memory.latency": "cycles"}
    assert data["columns"]["memory.latency"] == [100, 400, 100, 400]
    assert all(value > 0 for value in data["columns"]["simulated.seconds"])
    assert "<h1>My study</h1>" in (tmp_path / "out.html").read_text()


def test_a_table_that_sweep_exports_makes_the_same_page(command, tmp_path):
    assert command(*SWEEP, "--store", "s.sqlite", "--export", "t.parquet")[0] == 0
    made = []
    for source in ("s.sqlite", "t.parquet"):
        assert command("sweep", "report", source, "-o", "out.html")[0] == 0
        made.append(columns(tmp_path / "out.html"))
    assert made[0]["columns"] == made[1]["columns"]
    assert made[0]["axes"] == made[1]["axes"]


def test_a_comparison_as_csv_makes_a_page_too(command, tmp_path):
    status, out, _ = command("sweep", "compare", TRACE, "-m", "gtx280", "-m", "gtx480", "--csv")
    assert status == 0
    (tmp_path / "c.csv").write_text(out)
    assert command("sweep", "report", "c.csv", "--axis", "machine", "--axis", "series")[0] == 0
    data = columns(tmp_path / "report.html")
    assert data["axes"] == ["machine", "series"]
    assert data["columns"]["series"][0] == "simulated"


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib")
def test_pictures_of_a_study(command, tmp_path):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    curves = ("--across", "memory.latency", "--by", "machine", "--value", "simulated.seconds")
    heat = ("--across", "memory.latency", "--up", "machine", "--value", "tmm.cycles")
    ratios = ("--across", "memory.latency", "--by", "machine", "--value", "simulated/tmm", "--log", "xy")
    for name, words in (("c.svg", curves), ("h.svg", heat), ("r.svg", ratios)):
        assert command("sweep", "report", "s.sqlite", "--picture", name, *words) == (0, f"{name}: 4 rows\n", "")
        assert "memory.latency" in (tmp_path / name).read_text()
    assert "simulated / TMM" in (tmp_path / "r.svg").read_text()
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("no.csv", "--across", "n"), "--across: needs --picture"),
        (("no.csv", "--log", "x"), "--log: needs --picture"),
        (("no.csv", "--picture", "x.gif"), "x.gif: a picture's name must end in"),
        (("no.sqlite",), "no.sqlite: no such store"),
        (("no.csv",), "no.csv: can't be read"),
        (("x.html",), "x.html: must be a study's store (.sqlite)"),
        (("no.csv", "-o", "no/where.html"), "no/where.html: can't be written (there is no folder no)"),
    ],
)
def test_wrong_words_are_refused_in_one_line(command, tmp_path, words, message):
    status, out, err = command("sweep", "report", *words)
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []


def test_what_was_written_is_told_as_one_document(command):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    status, out, err = command("sweep", "report", "s.sqlite", "--json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert (document["page"], document["picture"], document["rows"]) == ("report.html", None, 4)
    assert "simulated.seconds" in document["columns"]


def test_a_store_stays_readable_whichever_simtmm_computed_it(command, monkeypatch, tmp_path):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    status, out, err = command("sweep", "report", "s.sqlite")
    assert (status, err) == (0, "")
    assert "4 of them were computed earlier, by run 1: simtmm" in out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page.count("run 1: simtmm") >= 4
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0  # anew
    assert "earlier" not in command("sweep", "report", "s.sqlite")[1]


def test_a_store_of_other_points_is_refused(command):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    other = f"program = {str(TRACE)!r}\nmachines = ['gtx280']\naxes = {{memory.latency = [7]}}\n"
    Path("s.toml").write_text(other, encoding="utf-8")
    status, out, err = command("sweep", "report", "s.toml")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "none of its points belongs to this study" in err


def test_a_complete_store_needs_no_permission_to_write(command, monkeypatch):
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    before = Path("s.sqlite").read_bytes()
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    assert Path("s.sqlite").read_bytes() == before
    monkeypatch.setattr("simtmm.study.sweep.is_writable", lambda path: False)
    assert command(*SWEEP, "--store", "s.sqlite")[0] == 0
    status, _, err = command(*SWEEP, "--compute", "tmm", "--compute", "pram", "--store", "s.sqlite")
    assert (status, err) == (2, "simtmm: error: s.sqlite: can't be written, but lacks 4 points\n")
