"""`simtmm sweep`, `advise` and `threads`: what they print, write, refuse, and with what status they end."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pyarrow.parquet
import pytest

from simtmm.analysis.tuning import search
from simtmm.errors import RecordingError
from simtmm.study.evaluation import recorded_traces, steps
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import needs_compiler
from tests.study.programs import write

STUDY = """
program = "traced.parquet"
machines = ["small.toml"]
compute = ["simulated", "tmm"]
constraints = ["memory.latency <= 400"]

[axes]
memory.latency = "50:800:times:2"
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = write(tmp_path_factory.mktemp("sweep"))
    (folder / "study.toml").write_text(STUDY, encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def command(called):
    """The command line in this process: exit status, standard output and standard error."""
    return called


@pytest.fixture
def refused(command, here):
    """The one line with which a command is refused; nothing else may come of it."""

    def call(*words):
        status, out, err = command(*words)
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert list(here.iterdir()) == []
        return err.removeprefix("simtmm: error: ").strip()

    return call


def axes(document):
    return [point["axes"] for point in document["points"]]


def test_a_study_file_is_run_and_kept_beside_what_it_says(command, data, here):
    status, out, err = command("sweep", data / "study.toml", "-j", "1")
    assert (status, err) == (0, "")
    assert "5 points: 4 done, 1 skipped; stored in study.sqlite" in out
    for told in ("does not meet memory.latency <= 400", "Elasticity of time", "Fastest", "memory.latency=50"):
        assert told in out
    database = sqlite3.connect(here / "study.sqlite")
    latencies = database.execute('SELECT "memory.latency" FROM points ORDER BY number').fetchall()
    database.close()
    assert latencies == [(50,), (100,), (200,), (400,), (800,)]


def test_flags_say_the_same_as_a_study_file(command, data, here):
    _, out, _ = command("sweep", data / "study.toml", "-j", "1", "--json")
    words = ["--vary", "memory.latency=50:800:times:2", "--compute", "simulated", "--compute", "tmm"]
    words += ["--where", "memory.latency <= 400", "-m", data / "small.toml", "-j", "1", "--json", "--store", "f.sqlite"]
    _, flags, _ = command("sweep", data / "traced.parquet", *words)
    assert json.loads(flags)["points"] == json.loads(out)["points"]
    assert json.loads(flags)["answers"] == json.loads(out)["answers"]


def test_the_document_is_all_that_is_printed_and_can_be_written_to_a_file(command, data, here):
    status, out, err = command("sweep", data / "study.toml", "-j", "1", "--json", "-o", "d.json")
    assert (status, err) == (0, "")
    document = json.loads(out)
    assert document == json.loads((here / "d.json").read_text(encoding="utf-8"))
    assert [point["status"] for point in document["points"]] == ["done"] * 4 + ["skipped"]
    assert document["points"][0]["results"]["simulated"]["cycles"] > 0
    assert document["store"] == "study.sqlite"
    answers = {"elasticities", "spreads", "changes", "forms", "knees", "fastest", "ties", "held", "carried"}
    answers |= {"winners", "curves"}
    assert answers == set(document["answers"])


def test_linked_and_drawn_axes_can_be_given_by_flags(command, data):
    base = ["sweep", data / "traced.parquet", "-m", data / "small.toml", "-j", "1", "--json"]
    _, out, _ = command(
        *base, "--link", "memory.latency=50,100;cores.groups=1,2", "--set", "scheduling.scheduler=oldest"
    )
    assert axes(json.loads(out)) == [
        {"memory.latency": 50, "cores.groups": 1},
        {"memory.latency": 100, "cores.groups": 2},
    ]
    _, out, _ = command(*base, "--draw", "memory.latency=50:100", "--samples", "3", "--seed", "4", "--compute", "tmm")
    drawn = [point["memory.latency"] for point in axes(json.loads(out))]
    assert len(drawn) == 3
    assert all(50 <= latency <= 100 for latency in drawn)


def test_several_machines_are_an_axis(command, data):
    words = ["--compute", "tmm", "--json", "-j", "1", "-m", data / "small.toml", "-m", "ideal"]
    _, out, _ = command("sweep", data / "traced.parquet", *words)
    assert [point["machine"] for point in json.loads(out)["points"]] == ["small", "ideal"]


def test_points_are_exported(command, data, here):
    status, _, _ = command("sweep", data / "study.toml", "-j", "1", "--export", "p.parquet", "--export", "p.csv")
    assert status == 0
    table = pyarrow.parquet.read_table(here / "p.parquet").to_pydict()
    assert table["memory.latency"] == [50, 100, 200, 400, 800]
    lines = (here / "p.csv").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 6
    assert '"simulated.cycles"' in lines[0]


def test_a_dry_run_counts_estimates_and_writes_nothing(command, data, here):
    status, out, err = command("sweep", data / "study.toml", "--dry-run", "-j", "2")
    assert (status, err) == (0, "")
    assert "5 points: 1 excluded, 0 in study.sqlite, 4 to compute" in out
    assert "with 2 workers, from 4 of its points" in out
    assert list(here.iterdir()) == []
    _, out, _ = command("sweep", data / "study.toml", "--dry-run", "--json")
    document = json.loads(out)
    assert document["to_compute"] == 4
    low, high = document["interval"]
    assert 0 < low < document["seconds"] < high


def test_a_second_run_computes_nothing(command, data, monkeypatch):
    _, first, _ = command("sweep", data / "study.toml", "-j", "1", "--json")

    def never(*_):
        raise AssertionError

    monkeypatch.setattr(steps, "simulate", never)
    _, second, _ = command("sweep", data / "study.toml", "-j", "1", "--json")
    assert json.loads(first)["points"] == json.loads(second)["points"]


def test_a_sweep_in_which_points_failed_ends_with_status_1(command, data, monkeypatch, here):
    def failing(*_, **__):
        raise RecordingError("kernel stream: wrong answer: a[0] is 1, should be 2")

    monkeypatch.setenv("SIMTMM_CACHE", str(here / "cache"))
    monkeypatch.setattr(recorded_traces, "record", failing)
    words = ["sweep", "stream", "-p", "n=64", "-m", "ideal", "--vary", "threads=32,64", "-j", "1"]
    status, out, err = command(*words)
    assert (status, err) == (1, "")
    assert "2 points: 2 failed" in out
    assert "wrong answer: a[0] is 1" in out


def test_an_interrupted_sweep_says_where_it_is_kept(command, data, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(steps, "simulate", interrupted)
    status, out, err = command("sweep", data / "study.toml", "-j", "1")
    assert (status, out) == (130, "")
    assert err.splitlines()[0] == "simtmm: results so far are in study.sqlite; the same command continues from there"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--vary", "memory.latency"], "--vary memory.latency: must be of the form KEY=RANGE"),
        (["--vary", "memory.latency=9:1"], "axis memory.latency = 9:1: LOW must be at most HIGH"),
        (["--vary", "memory.latency=1", "--vary", "memory.latency=2"], "--vary memory.latency: is given twice"),
        (["--vary", "memory.latenc=1"], "did you mean 'memory.latency'"),
        (["--compute", "tmmm"], "did you mean 'tmm'"),
        (["--where", "import os"], "is not an expression"),
        (["--kind", "program"], "kind = 'program'"),
        (["--engine", "slow"], "engine 'slow': unknown"),
        (["--cluster", "somewhere"], "cluster 'somewhere': must be"),
        (["-j", "0"], "workers = 0: must be at least 1"),
        (["--draw", "memory.latency=1:2", "--method", "sobol"], "sample.method = 'sobol'"),
        (["--export", "x.xlsx"], "x.xlsx: must end in .parquet or .csv"),
        (["--export", "none/x.csv"], "none/x.csv: can't be written"),
        (["--store", "none/x.sqlite"], "none/x.sqlite: can't be written"),
        (["--measured", "none.csv"], "none.csv: can't be read"),
    ],
)
def test_what_is_wrong_is_one_line(refused, data, words, said):
    assert said in refused("sweep", data / "traced.parquet", "-m", data / "small.toml", *words)


def test_flags_are_refused_beside_a_study_file(refused, data):
    assert refused("sweep", data / "study.toml", "--vary", "n=3", "-m", "ideal") == (
        f"{data / 'study.toml'}: --machine, --vary: can't be combined with a study file, which defines everything"
    )


def test_a_program_that_is_unknown_is_refused(refused):
    assert "did you mean 'stream'" in refused("sweep", "strea")


def test_another_file_as_store_is_left_alone(command, data, here):
    path = here / "notes.txt"
    path.write_text("mine, and longer than the header of a database is long: " * 20, encoding="utf-8")
    before = path.read_bytes()
    status, out, err = command("sweep", data / "study.toml", "--store", path)
    assert (status, out) == (2, "")
    assert "is not a study's store" in err
    assert path.read_bytes() == before


# advise


def test_advise_tells_the_simulations_choice_and_the_models(command):
    words = [
        "apsp-minplus",
        "-m",
        "gtx480",
        "-p",
        "n=8",
        "--vary",
        "threads=32,64",
        "--vary",
        "sub_block=4,8",
        "-j",
        "1",
    ]
    status, out, _ = command("tune", "advise", *words)
    assert status == 0
    for told in ("Best configuration", "simulated", "integrated, MAX", "TMM", "of the best", "sub_block"):
        assert told in out
    _, out, _ = command("tune", "advise", *words, "--model", "roofline", "--json")
    document = json.loads(out)
    assert [choice["by"] for choice in document["choices"]] == ["simulated", "roofline"]
    assert len(document["configurations"]) == 4


@needs_compiler
def test_interrupted_advice_prints_the_best_until_then_and_goes_on(command, monkeypatch, here):
    monkeypatch.setenv("SIMTMM_CACHE", str(here / "cache"))
    usual, simulated = search.tried, []

    def interrupted(*given):
        simulated.append(1)
        if len(simulated) == 2:
            raise KeyboardInterrupt
        return usual(*given)

    monkeypatch.setattr(search, "tried", interrupted)
    words = ["advise", "copy", "-m", "gtx480", "-p", "n=64", "--vary", "threads=32,64", "-j", "1"]
    status, out, err = command(*words)
    assert status == 130
    assert "Best configuration" in out
    assert "1 configuration not run yet" in out
    assert err.splitlines() == [
        "simtmm: 1 of 2 configurations are done; the same command continues from there",
        "simtmm: interrupted",
    ]
    status, out, _ = command(*words)
    assert status == 0
    assert len(simulated) == 3
    assert "not run yet" not in out


def test_advise_keeps_what_it_simulated_where_it_is_told_to(command, here):
    words = ["apsp-minplus", "-m", "gtx480", "-p", "n=8", "--vary", "threads=32,64", "-j", "1", "--store", "a.sqlite"]
    assert command("tune", "advise", *words)[0] == 0
    assert (here / "a.sqlite").exists()


def test_advise_is_for_kernels(refused):
    assert "unknown" in refused("advise", "list-ranking")
    assert "name what to vary" in refused("advise", "apsp-minplus", "-p", "threads=32", "-p", "sub_block=8")


# threads


def test_threads_tells_both_findings(command, data):
    status, out, err = command("sweep", "threads", data / "traced.parquet", "-m", data / "small.toml")
    assert (status, err) == (0, "")
    for told in ("by simulation", "by the TMM", "in use", "the program has", "memory answers in a cycle"):
        assert told in out
    _, out, _ = command(
        "sweep", "threads", data / "traced.parquet", "-m", data / "small.toml", "--json", "--tolerance", "0.5"
    )
    document = json.loads(out)
    assert document["tolerance"] == 0.5
    assert document["tmm"]["needed"] > 0


def test_threads_refuses_what_is_wrong(refused, data):
    assert "tolerance = 0.0" in refused("threads", data / "traced.parquet", "--tolerance", "0")
    assert "unknown" in refused("threads", "strea")


@pytest.mark.parametrize("words", [("--samples", "5"), ("--method", "random"), ("--seed", "1")])
def test_words_of_a_sample_without_one_are_refused(refused, data, words):
    assert "need --draw" in refused("sweep", data / "traced.parquet", "--vary", "memory.latency=1,2", *words)


def test_a_kernel_of_ones_own_is_found_by_name(command, tmp_path_factory):
    folder = tmp_path_factory.mktemp("mine") / "own-kernel"
    shutil.copytree(Path(__file__).parents[2] / "kernels" / "vector-add", folder)
    status, out, err = command(
        "sweep", "own-kernel", "--kernel-path", folder.parent, "-p", "n=64", "--vary", "memory.latency=1,2", "-j", "1"
    )
    assert (status, err) == (0, "")
    assert "own-kernel over memory.latency" in out


def test_a_large_study_of_an_algorithm_goes_through_the_command(command, here):
    words = ["sweep", "list-ranking", "--vary", "n=1e3:1e9:log:200", "--vary", "memory.latency=100:1000:linear:100"]
    status, out, err = command(*words, "--dry-run")
    assert (status, err) == (0, "")
    assert "20,000 points: 0 excluded, 0 in list-ranking.sqlite, 20,000 to compute" in out
    assert list(here.iterdir()) == []
    status, out, err = command(*words, "--export", "t.parquet")
    assert (status, err) == (0, "")
    assert "20,000 points: 20,000 done; stored in list-ranking.sqlite" in out
    assert pyarrow.parquet.read_table(here / "t.parquet").num_rows == 20_000
    _, out, _ = command(*words, "--json")
    document = json.loads(out)
    assert len(document["columns"]["tmm.cycles"]) == 20_000
    assert document["answers"]["fastest"]["tmm"] == {"n": 1000, "memory.latency": 100}
    _, out, _ = command(*words, "--dry-run")
    assert "nothing left to compute" in out


def test_what_is_set_stands_beside_what_is_swept(command):
    words = ("sweep", "merge-sort", "--kind", "algorithm", "-m", "v100", "--vary", "n=1e6,2e6", "-j", "1")
    status, out, _ = command(*words, "--set", "memory.latency=x0.5", "--set", "cores.groups=40")
    assert status == 0
    assert out.startswith("merge-sort over n (memory.latency x0.5, cores.groups = 40)\n")


@pytest.mark.parametrize("value", ["x0.5,x2", "96KiB"])
def test_an_axis_takes_plain_numbers(refused, value):
    words = ("sweep", "merge-sort", "--kind", "algorithm", "-m", "v100", "--vary", f"memory.latency={value}")
    assert "must be a plain number; multiples and sizes are for set" in refused(*words)


@needs_compiler
def test_a_comment_computes_nothing_anew_and_another_operator_all(command, here, nothing_kept):
    """Three states of one kernel, in one store; the report reads it in each of them."""
    (here / "own").mkdir()
    (here / "own" / "host.py").write_text(host())
    device = DEVICE + 'extern "C" __global__ void f(int *a) { ST(a, 0, 3 + 4); }\n'
    commented = device.replace("ST(", "\n  /* seven */ ST(").replace("4);", "4);  // as a sum\n")
    states = ((device, 2, 1), (commented, 2, 1), (device.replace("+ 4", "- 4"), 4, 2))
    for text, points, runs in states:
        (here / "own" / "kernel.cu").write_text(text)
        assert command("sweep", "own", "--vary", "memory.latency=100,200", "--workers", "1")[0] == 0
        with closing(sqlite3.connect("own.sqlite")) as store:
            assert store.execute("SELECT count(DISTINCT point) FROM results").fetchone() == (points,)
            assert store.execute("SELECT count(*) FROM runs").fetchone() == (runs,)
        status, out, errors = command("sweep", "report", "own.sqlite")
        assert (status, out, errors) == (0, "report.html: 2 rows, 45 columns\n", "")
