"""`simtmm sweep compare`."""

import csv
import io
import json
import re
import sys
from importlib.util import find_spec

import pytest

from simtmm.__main__ import main
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.errors import EngineError
from simtmm.study.evaluation import cases
from tests.recorder.conftest import needs_compiler

TRACE = str(shipped_trace(DEFAULT_TRACE))
needs_matplotlib = pytest.mark.skipif(find_spec("matplotlib") is None, reason="needs matplotlib")


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


def test_it_sets_times_side_by_side(command):
    status, out, err = command("sweep", "compare", TRACE, "-m", "gtx280", "-m", "gtx480")
    assert (status, err) == (0, "")
    assert out.startswith("2 cases on 2 machines, against simulated times\n")
    for word in ("PRAM", "TMM, warps wait", "Rehman, MAX", "roofline", "MWP-CWP", "Spearman", "What binds"):
        assert word in out


def test_measured_times_from_a_file(command, tmp_path):
    (tmp_path / "t.csv").write_text("kernel,machine,n,seconds\nlist-ranking-wyllie,gtx280,4096,6e-5\n")
    status, out, _ = command("sweep", "compare", TRACE, "--measured", "t.csv", "--json")
    document = json.loads(out)
    assert status == 0
    assert document["reference"] == "measured"
    assert document["cases"][0]["times"]["measured"]["seconds"] == 6e-5


def test_a_changed_machine_says_so_and_keeps_the_times_that_were_measured_on_it(command, tmp_path):
    (tmp_path / "t.csv").write_text("kernel,machine,n,seconds\nlist-ranking-wyllie,gtx280,4096,6e-5\n")
    words = ("compare", TRACE, "--measured", "t.csv", "-m", "GTX280", "--set", "memory.latency=x0.5")
    status, out, _ = command(*words)
    assert status == 0
    assert out.startswith("1 case on GTX280 (memory.latency x0.5), against measured times")
    status, out, _ = command(*words, "--json")
    assert json.loads(out)["cases"][0]["times"]["measured"]["seconds"] == 6e-5


def test_a_case_that_fails_is_a_row_and_the_exit_status_tells(command, monkeypatch):
    usual = cases.simulate

    def failing(machine, *given, **more):
        if machine.name == "GeForce GTX 480":
            raise EngineError("could take 2^61 ticks and more")
        return usual(machine, *given, **more)

    monkeypatch.setattr(cases, "simulate", failing)
    words = ("compare", TRACE, "-m", "gtx280", "-m", "gtx480", "--model", "tmm")
    status, out, err = command(*words)
    assert (status, err) == (1, "")
    assert re.search("^list-ranking-wyllie +gtx480 +failed *$", out, flags=re.MULTILINE)
    assert "Failed: list-ranking-wyllie, gtx480: could take 2^61 ticks and more\n" in out
    status, out, _ = command(*words, "--json")
    assert status == 1
    (told,) = json.loads(out)["absent"]
    assert (told["machine"], told["status"], told["reason"]) == ("gtx480", "failed", "could take 2^61 ticks and more")
    status, out, _ = command(*words, "--csv")
    assert status == 1
    assert list(csv.DictReader(io.StringIO(out)))[-1]["reason"] == "could take 2^61 ticks and more"


@pytest.mark.parametrize("option", [(), ("--json", "-o", "made.json")])
def test_an_interrupted_comparison_prints_what_is_there_and_goes_on(command, monkeypatch, tmp_path, option):
    usual, simulated = cases.simulate, []

    def interrupted(machine, *given, **more):
        if machine.name == "GeForce GTX 480" and simulated == ["GeForce GTX 280"]:
            simulated.append("Ctrl-C")
            raise KeyboardInterrupt
        simulated.append(machine.name)
        return usual(machine, *given, **more)

    monkeypatch.setattr(cases, "simulate", interrupted)
    words = ("compare", TRACE, "-m", "gtx280", "-m", "gtx480", "--model", "tmm")
    status, out, err = command(*words, *option)
    assert status == 130
    assert err.splitlines() == [
        "simtmm: 1 of 2 cases are done; the same command continues from there",
        "simtmm: interrupted",
    ]
    assert not (tmp_path / "made.json").exists()
    if option:
        assert out == ""
    else:
        assert re.search("^list-ranking-wyllie +gtx280 +[0-9.]+ us", out, flags=re.MULTILINE)
        assert "Open: list-ranking-wyllie, gtx480: has not run yet" in out
    status, out, _ = command(*words, *option)
    assert status == 0
    assert simulated == ["GeForce GTX 280", "Ctrl-C", "GeForce GTX 480"]


@needs_compiler
def test_values_of_a_parameter_and_changes_of_machines(command):
    words = ("compare", "vector-add", "-p", "n=64,128", "-p", "n=256", "-m", "gtx280", "--set", "memory.latency=300")
    status, out, _ = command(*words, "--model", "tmm", "--csv")
    rows = [row for row in csv.DictReader(io.StringIO(out)) if row["series"] == "simulated"]
    assert status == 0
    assert [row["n"] for row in rows] == ["64", "128", "256"]
    assert all(float(row["cycles"]) > 300 for row in rows)


def test_latex_and_a_document_beside_it(command, tmp_path):
    status, out, _ = command("sweep", "compare", TRACE, "--latex", "-o", "out.json")
    assert status == 0
    assert out.count(r"\begin{tabular}") == 2
    assert json.loads((tmp_path / "out.json").read_text())["cases"]


@needs_matplotlib
@pytest.mark.parametrize("kind", ["scatter", "stacks", "roofline", "ratios"])
def test_a_picture(command, tmp_path, kind):
    status, out, _ = command("sweep", "compare", TRACE, "--picture", "out.svg", "--kind", kind)
    assert status == 0
    assert out
    assert "<svg" in (tmp_path / "out.svg").read_text()


@needs_matplotlib
def test_predict_draws_its_sweep(command, tmp_path):
    status, _, err = command("sweep", "zigzag", TRACE, "--blocks", "1:500", "--picture", "out.pdf")
    assert (status, err) == (0, "")
    assert (tmp_path / "out.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("compare", TRACE, "--csv", "--json"), "--latex, --csv, --json: one of them at a time"),
        (("compare", TRACE, "--picture", "x.gif"), "x.gif: a picture's name must end in .png, .svg, .pdf"),
        (("compare", TRACE, "--picture", "x.png", "--kind", "pie"), "picture 'pie': must be one of"),
        (("compare", TRACE, "--picture", "x.png", "--log", "z"), "log 'z': must be one of x, y, xy, none"),
        (("compare", TRACE, "--log", "x"), "--log: needs --picture"),
        (("compare", TRACE, "-m", "gtx28"), "machine 'gtx28': unknown; did you mean"),
        (("compare", TRACE, "--measured", "no.csv"), "no.csv: can't be read"),
        (("compare", TRACE, "--unit", "ms", "--constant", "a1=1", "--constant", "a0=1"), "unit = 'ms'"),
        (("compare",), "nothing to compare"),
    ],
)
def test_wrong_words_are_refused_in_one_line(command, tmp_path, words, message):
    if "x.png" in words and find_spec("matplotlib") is None:
        pytest.skip("needs matplotlib")
    status, out, err = command(*words)
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert message in err
    assert list(tmp_path.iterdir()) == []
