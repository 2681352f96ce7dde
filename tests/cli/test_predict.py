"""`simtmm paper predict`, `run --models-only`, `sweep crossover` and `sweep zigzag`."""

import json
import re
import sys

import pytest

from simtmm.__main__ import main
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.model import MODELS
from simtmm.model.algorithms import ALGORITHMS
from simtmm.renamed import tell
from tests.recorder.conftest import needs_compiler

TRACE = str(shipped_trace(DEFAULT_TRACE))


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    monkeypatch.chdir(tmp_path)

    def call(*words):
        study, own = words[0] in ("crossover", "zigzag"), words[0] in ("predict", "sweep", "paper", "run")
        command = [] if own else ["sweep"] if study else ["run"]
        if words[0] in ALGORITHMS:
            command = ["paper", "predict"]
        models = ["--models-only"] if command == ["run"] else []
        monkeypatch.setattr(sys, "argv", ["simtmm", *command, *words, *models])
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
    words = ("crossover", "apsp-johnson-array", "apsp-dynamic-programming", "-m", "gtx480", "-p", "n=1000")
    status, out, _ = command(*words)
    assert status == 0
    assert re.search(r"^along m   apsp-johnson-array wins from m = 2 to 934,292; apsp-dyn", out, re.MULTILINE)
    assert list(document(*words, "--over", "m", "--threads", "8")["crossovers"]) == ["m"]


def test_a_measured_time(document, refused):
    found = document(TRACE, "--model", "pram", "--measured", "1e-3", "--factor", "1e9")
    assert (found["measured"]["seconds"], found["measured"]["departing"]) == (1e-3, [])
    assert document(TRACE, "--model", "pram", "--measured", "1")["measured"]["factor"] == 2
    assert refused(TRACE, "--measured", "inf") == "--measured inf: must be a number of seconds above 0"
    assert refused(TRACE, "--factor", "3") == "--factor: needs --measured, the time that it is for"


def test_a_parameter_that_is_given_twice(refused):
    assert refused("reduce", "-p", "n=8", "-p", "n=16") == "--param n: is given twice"


def test_forced_active_blocks(document):
    assert document(TRACE, "--active-blocks", "2")["predictions"]["integrated"]["symbols"]["B_a"] == 2


def test_variants_of_two_algorithms(document):
    words = ("crossover", "fft", "fft", "-p", "N=1024", "--variant-a", "mended", "--variant-b", "printed")
    found = document(*words)
    assert (found["first"], found["second"]) == ("fft, mended", "fft, printed")


def test_a_range_of_blocks(command, document):
    status, out, _ = command("sweep", "zigzag", TRACE, "--blocks", "1:3", "-m", "gtx480")
    assert status == 0
    assert "Throughput over requested blocks" in out
    found = document("zigzag", TRACE, "--blocks", "2:3", "-m", "gtx480")
    assert (found["blocks"], found["kernel"], found["machine"]) == ([2, 3], "jump", "GeForce GTX 480")


OLD = {
    "predict fft --versus fft -p N=1024 --variant mended --versus-variant=printed --over L": (
        "crossover fft fft -p N=1024 --variant-a mended --variant-b printed --over L",
        "predict --versus: predict A --versus B is now called sweep crossover A B",
    ),
    f"predict {TRACE} --sweep blocks=2:3 -m gtx480": (
        f"zigzag {TRACE} --blocks 2:3 -m gtx480",
        "predict --sweep: predict SOURCE --sweep blocks=LOW:HIGH is now called sweep zigzag SOURCE --blocks LOW:HIGH",
    ),
}


@pytest.mark.parametrize("old", OLD, ids=["--versus", "--sweep"])
def test_old_flags_of_predict_mean_a_command_and_a_notice_names_it(command, caplog, old):
    tell.cache_clear()
    new, notice = OLD[old]
    documents = [json.loads(command(*words.split(), "--json")[1]) for words in (old, new)]
    before, after = ({key: value for key, value in found.items() if key != "provenance"} for found in documents)
    assert before == after
    assert [record.getMessage() for record in caplog.records] == [f"notice: {notice}"]


def test_output_writes_the_document(command, tmp_path):
    status, out, _ = command("reduce", "-p", "n=64", "-o", "p.json")
    assert (status, out.splitlines()[0]) == (0, "reduce (n=64) on GeForce GTX 280")
    assert json.loads((tmp_path / "p.json").read_text())["program"] == "reduce"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["ftf"], "kernel 'ftf': unknown; did you mean 'fft'"),
        (["paper", "predict", "ftf"], "'ftf': not an algorithm, a kernel (see `simtmm kernels`) or a trace "),
        (["paper", "predict", "stream"], "stream: is a program, not an algorithm: simtmm run stream --models"),
        (["fft"], "fft: N (points) must be given"),
        (["crossover", "fft"], "Missing argument 'B'. (see simtmm --help)"),
        (["predict", "fft", "--versus", "merge", "--sweep", "blocks=1:3"], "No such option: --versus"),
        (["fft", "-p", "N"], "--param N: must be of the form NAME=VALUE"),
        (["fft", "-p", "N=many"], "--param N=many: must be a number"),
        (["fft", "-p", "N=1e400"], "fft: N = inf: must be at most 1e+60 (points)"),
        (["fft", "-p", "n=4"], "fft: n: unknown; known: N"),
        (["fft", "-p", "N=8", "--variant", "mend"], "fft: variant 'mend': unknown; did you mean 'mended'?"),
        (["fft", "-p", "N=8", "--threads", "129"], "fft: T = 129: must be at most 128 (limit: threads per core)"),
        (["fft", "-p", "N=8", "-m", "gtx48"], "machine 'gtx48': unknown; did you mean 'gtx480'"),
        (["fft", "-p", "N=8", "-o", "missing/p.json"], "missing/p.json: can't be written "),
        (["merge-sort", "-p", "n=100"], "merge-sort: n = 100: must be above Z = 4096"),
        (["crossover", "fft", "ftf"], "algorithm 'ftf': unknown; did you mean 'fft'?"),
        (["crossover", "fft", "merge", "--over", "W"], "fft and merge: W: neither depends on it"),
        (["none.parquet"], "none.parquet: can't be read "),
        ([TRACE, "-p", "n=4"], f"{TRACE}: parameters (n) can only be given to a kernel"),
        ([TRACE, "--model", "tm"], "model 'tm': unknown; did you mean 'tmm'"),
        ([TRACE, "--constant", "a1=1"], "calibrated: a0: must be given (fit it to measured times"),
        ([TRACE, "--unit", "s"], "--unit: needs --constant, whose unit it is"),
        (["zigzag", TRACE, "--blocks", "4"], "--blocks 4: must be LOW:HIGH, whole numbers from 1 to 999,999,999"),
        (["zigzag", TRACE, "--blocks", "4:3"], "--blocks 4:3: must be LOW:HIGH, whole numbers from 1 to 999,999,999"),
        (["zigzag", TRACE, "--blocks", "1:1000000000"], "--blocks 1:1000000000: must be LOW:HIGH, whole numbers"),
        (["zigzag", TRACE, "--blocks", "0:3"], "--blocks 0:3: must be LOW:HIGH, whole numbers from 1 to 999,999,999"),
        (["zigzag", TRACE, "--blocks", "1:999999999"], "blocks from 1 to 999999999: must be at most 100000 counts"),
        (["predict", "list-ranking", "--kernel"], "kernel 'list-ranking': unknown; did you mean 'list-ranking-wyllie'"),
    ],
    ids=lambda value: " ".join(value).replace(TRACE, "TRACE") if isinstance(value, list) else "",
)  # fmt: skip
def test_wrong_words_are_refused_in_one_line(refused, words, line):
    assert refused(*words).startswith(line)


OF_ALGORITHMS = {"--threads": ["1"], "--variant": ["mended"]}
OF_COUNTS = {
    "--as": ["written"], "--model": ["pram"], "--constant": ["a1=1"], "--unit": ["s"], "--active-blocks": ["1"],
}  # fmt: skip


@pytest.mark.parametrize("option", OF_ALGORITHMS)
def test_an_option_of_algorithms_is_refused_for_a_trace(refused, option):
    assert refused(TRACE, option, *OF_ALGORITHMS[option]).startswith(f"No such option: {option}")


@pytest.mark.parametrize("option", OF_COUNTS)
def test_an_option_of_counts_is_refused_for_an_algorithm(refused, option):
    assert refused("fft", "-p", "N=8", option, *OF_COUNTS[option]).startswith(f"No such option: {option}")


@pytest.mark.parametrize("option", [*OF_COUNTS, "--measured", "--factor", "--latex"])
def test_an_option_of_models_is_refused_in_a_simulation(refused, option):
    words = {**OF_COUNTS, "--measured": ["1"], "--factor": ["2"], "--latex": []}[option]
    if option != "--as":
        assert refused("run", TRACE, option, *words) == f"{option}: needs --models-only"


@pytest.mark.parametrize("words", [["--lines"], ["--timeline", "t.json"], ["--html", "p.html"], ["--engine", "fast"]])
def test_an_option_of_simulations_is_refused_of_models(refused, words):
    assert refused(TRACE, *words) == f"{words[0]}: needs a simulation, which --models-only leaves out"


@pytest.mark.parametrize(
    ("old", "new", "notice"),
    [
        ("predict fft -p N=8", "paper predict fft -p N=8", "predict is now called paper predict, of an algorithm"),
        (
            "predict -m gtx480 fft -p N=8",
            "paper predict fft -p N=8 -m gtx480",
            "predict is now called paper predict, of an ",
        ),
        (f"predict {TRACE}", f"run {TRACE} --models-only", "predict is now called run --models-only, of a program"),
        ("crossover fft fft -p N=8", "sweep crossover fft fft -p N=8", "crossover is now called sweep crossover"),
        (f"explain {TRACE} --no-what-if", f"run --lines {TRACE} --no-what-if", "explain is now called run --lines"),
        (f"threads {TRACE}", f"sweep threads {TRACE}", "threads is now called sweep threads"),
        ("equation", "paper equation", "equation is now called paper equation"),
        ("rules round-robin", "kernels rules round-robin", "rules is now called kernels rules"),
    ],
)
def test_an_old_verb_does_what_it_did_and_a_notice_names_the_new_one(called, caplog, old, new, notice):
    tell.cache_clear()
    outputs = [
        re.sub(r'"argv": [^]]*\]|"command": [^\n]*', "", called(*words.split(), "--json")[1]) for words in (old, new)
    ]
    assert outputs[0] == outputs[1]
    assert outputs[0]
    (record,) = caplog.records
    assert record.getMessage().startswith(f"notice: simtmm: {notice}")
