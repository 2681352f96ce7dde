"""`simtmm predict`."""

import json
import re
import sys

import pytest

from simtmm.__main__ import main
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.cli.predict import ONLY
from simtmm.model import MODELS
from tests.recorder.conftest import needs_compiler

TRACE = str(shipped_trace(DEFAULT_TRACE))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["simtmm", "predict", *words])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def document(command):
    def call(*words):
        status, out, errors = command(*words, "--json")
        assert (status, errors) == (0, "")
        return json.loads(out)

    return call


@pytest.fixture
def refused(command, tmp_path):
    """The one line with which the command is refused; nothing else comes of it."""

    def call(*words):
        before = sorted(tmp_path.iterdir())
        status, out, errors = command(*words)
        assert (status, out, errors.count("\n")) == (2, "", 1)
        assert sorted(tmp_path.iterdir()) == before
        return errors.removeprefix("simtmm: error: ").rstrip("\n")

    return call


def test_an_algorithm_is_predicted_from_its_symbols(command):
    status, out, errors = command("list-ranking", "-p", "n=1e6", "-m", "gtx480")
    assert (status, errors) == (0, "")
    assert out.splitlines()[0] == "list-ranking (n=1,000,000) on GeForce GTX 480"
    for title in ("Time", "Terms", "Symbols", "What binds along n", "What binds along L", "What binds along T"):
        assert f"\n{title}\n" in out
    assert [line for line in out.splitlines() if line != line.rstrip()] == []


def test_a_trace_is_predicted_by_all_models(document):
    found = document(TRACE)
    assert list(found["predictions"]) == list(MODELS)
    assert (found["algorithm"], list(found["closed_form"])) == ("list-ranking", ["pram", "tmm"])


@needs_compiler
def test_a_kernel_is_recorded_first(document):
    found = document("vector-add", "-p", "n=64", "--model", "pram")
    assert (found["program"], found["parameters"]["n"], list(found["predictions"])) == ("vector-add", 64, ["pram"])


def test_the_machine_can_be_changed(document):
    words = ("list-ranking", "-p", "n=1e6", "-m", "gtx480")
    before, after = document(*words), document(*words, "--set", "memory.latency=1024")
    assert after["predictions"]["tmm"]["cycles"] == 2 * before["predictions"]["tmm"]["cycles"]


def test_threads_and_variant_of_an_algorithm(document):
    found = document("fft", "-p", "N=1024", "--threads", "2", "--variant", "mended", "-m", "gtx480")
    assert found["parameters"] == {"N": 1024, "variant": "mended"}
    assert found["predictions"]["tmm"]["symbols"]["T"] == 2


def test_constants_add_the_calibrated_model(document):
    found = document(TRACE, "--constant", "a1=2", "--constant", "a0=5", "--model", "pram")
    assert list(found["predictions"]) == ["pram", "calibrated"]
    assert found["predictions"]["calibrated"]["terms"]["constant"] == 5
    in_seconds = document(TRACE, "--constant", "a1=2", "--constant", "a0=5", "--unit", "s", "--model", "calibrated")
    assert in_seconds["predictions"]["calibrated"]["seconds"] > 5


def test_formulas_in_latex(command, document):
    status, out, _ = command("reduce", "-p", "n=1e6", "--latex")
    assert status == 0
    assert out.splitlines()[0] == r"pram: T_P = \max\left(\frac{n}{P}, \lg{\left(n \right)}\right)"
    assert list(document("reduce", "-p", "n=1e6", "--latex")["latex"]) == ["pram", "tmm", "tmm, refined"]
    assert list(document(TRACE, "--latex")["latex"]) == list(MODELS)


def test_two_algorithms(command, document):
    words = ("apsp-johnson-array", "--versus", "apsp-dynamic-programming", "-m", "gtx480", "-p", "n=1000")
    status, out, _ = command(*words)
    assert status == 0
    assert re.search(r"^along m   apsp-johnson-array wins from m = 2 to 934292; apsp-dyn", out, re.MULTILINE)
    assert list(document(*words, "--over", "m", "--threads", "8")["crossovers"]) == ["m"]


def test_a_measured_time(document, refused):
    found = document(TRACE, "--model", "pram", "--measured", "1e-3", "--factor", "1e9")
    assert (found["measured"]["seconds"], found["measured"]["departing"]) == (1e-3, [])
    assert document(TRACE, "--model", "pram", "--measured", "1")["measured"]["factor"] == 2
    assert refused(TRACE, "--measured", "inf") == "--measured inf: must be a number of seconds above 0"
    assert refused(TRACE, "--factor", "3") == "--factor: is of a measured time, so --measured must be given too"


def test_a_parameter_that_is_there_twice(refused):
    assert refused("reduce", "-p", "n=8", "-p", "n=16") == "--param n: is there twice"


def test_forced_active_blocks(document):
    assert document(TRACE, "--active-blocks", "2")["predictions"]["integrated"]["symbols"]["B_a"] == 2


def test_variants_of_two_algorithms(document):
    words = ("fft", "--versus", "fft", "-p", "N=1024", "--variant", "mended", "--versus-variant", "printed")
    found = document(*words)
    assert (found["first"], found["second"]) == ("fft, mended", "fft, printed")


def test_a_sweep_over_blocks(command, document):
    status, out, _ = command(TRACE, "--sweep", "blocks=1:3", "-m", "gtx480")
    assert status == 0
    assert "Throughput over requested blocks" in out
    found = document(TRACE, "--sweep", "blocks=2:3", "-m", "gtx480")
    assert (found["blocks"], found["kernel"], found["machine"]) == ([2, 3], "jump", "GeForce GTX 480")


def test_output_writes_the_document(command, tmp_path):
    status, out, _ = command("reduce", "-p", "n=64", "-o", "p.json")
    assert (status, out.splitlines()[0]) == (0, "reduce (n=64) on GeForce GTX 280")
    assert json.loads((tmp_path / "p.json").read_text())["program"] == "reduce"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["ftf"], "'ftf': neither an algorithm, nor a kernel (see `simtmm kernels`), nor a trace (.parquet)"),
        (["fft"], "fft: N (points) must be given"),
        (["fft", "-p", "N"], "--param N: must be of the form NAME=VALUE"),
        (["fft", "-p", "N=many"], "--param N=many: must be a number"),
        (["fft", "-p", "N=1e400"], "fft: N = inf: must be at most 1e+60 (points)"),
        (["fft", "-p", "n=4"], "fft: n: unknown; known: N"),
        (["fft", "-p", "N=8", "--variant", "mend"], "fft: variant 'mend': unknown; did you mean 'mended'?"),
        (["fft", "-p", "N=8", "--threads", "129"], "fft: T = 129: must be at most 128 (limit: threads per core)"),
        (["fft", "-p", "N=8", "-m", "gtx48"], "machine 'gtx48': unknown; did you mean 'gtx480'"),
        (["fft", "-p", "N=8", "-o", "missing/p.json"], "missing/p.json: can't be written "),
        (["merge-sort", "-p", "n=100"], "merge-sort: n = 100: must be above Z = 4096"),
        (["fft", "--versus", "ftf"], "algorithm 'ftf': unknown; did you mean 'fft'?"),
        (["fft", "--versus", "merge", "--over", "W"], "fft and merge: W: neither depends on it"),
        (["none.parquet"], "none.parquet: can't be read "),
        ([TRACE, "-p", "n=4"], f"{TRACE}: parameters (n) can only be given to a kernel"),
        ([TRACE, "--model", "tm"], "model 'tm': unknown; did you mean 'tmm'"),
        ([TRACE, "--constant", "a1=1"], "calibrated: a0: must be given; it is fitted to measured times"),
        ([TRACE, "--unit", "s"], "--unit: is of the constants, so --constant must be given too"),
        ([TRACE, "--sweep", "blocks=4"], "--sweep blocks=4: must be blocks=LOW:HIGH, whole numbers from 1 on"),
        ([TRACE, "--sweep", "blocks=4:3"], "--sweep blocks=4:3: must be blocks=LOW:HIGH, whole numbers from 1 on"),
        ([TRACE, "--sweep", "blocks=0:3"], "--sweep blocks=0:3: must be blocks=LOW:HIGH, whole numbers from 1 on"),
        ([TRACE, "--sweep", "blocks=1:999999999"], "blocks from 1 to 999999999: must be at most 100000 counts"),
        (["list-ranking", "--kernel"], "kernel 'list-ranking': unknown; did you mean 'list-ranking-wyllie' or "),
    ],
    ids=lambda value: " ".join(value).replace(TRACE, "TRACE") if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_words_are_refused_in_one_line(refused, words, line):
    assert refused(*words).startswith(line)


OPTIONS = {
    "--kernel": [], "--model": ["pram"], "--constant": ["a1=1"], "--unit": ["s"], "--threads": ["1"],
    "--variant": ["mended"], "--versus-variant": ["printed"], "--over": ["L"], "--latex": [],
    "--picture": ["sweep.svg"], "--measured": ["0.5"], "--factor": ["3"], "--active-blocks": ["1"],
    "--as": ["written"],
}  # fmt: skip
MODES = {
    "an algorithm": ["fft", "-p", "N=8"],
    "a kernel or trace": [TRACE],
    "--versus": ["fft", "--versus", "reduce"],
    "--sweep": [TRACE, "--sweep", "blocks=1:3"],
}


@pytest.mark.parametrize(
    ("option", "mode"),
    [(option, mode) for option in OPTIONS for mode in MODES if (option, mode) != ("--kernel", "an algorithm")],
)
def test_an_option_that_would_have_no_effect_is_refused(command, option, mode):
    """And one that has an effect is not: whatever is said then is of something else. (--kernel says what is meant.)"""
    _, _, errors = command(*MODES[mode], option, *OPTIONS[option])
    line = f"simtmm: error: {option}: is for {' or '.join(ONLY[option])}, not for {mode}\n"
    assert (errors == line) == (mode not in ONLY[option])


def test_two_modes_at_once_are_refused(refused):
    line = refused("fft", "--versus", "merge", "--sweep", "blocks=1:3")
    assert line == "--versus and --sweep: can't both be given"


def test_every_option_of_one_mode_only_is_tried_here():
    assert set(ONLY) == set(OPTIONS)
