"""Sweeps: the same whatever runs them and however often they are killed; nothing finished is computed twice."""

import contextlib
import io
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time

import psutil
import pyarrow.csv
import pyarrow.parquet
import pytest

from simtmm import count, load_machine, load_trace, lower, predict, record, simulate
from simtmm.__main__ import main
from simtmm.engine.causes import shares
from simtmm.errors import CompilerError, OutputError, RecordingError, StudyError
from simtmm.parallel.tasks import Task
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.evaluation import recorded_traces, steps, tasks
from simtmm.study.evaluation.simulations import Simulations
from simtmm.study.findings import findings
from simtmm.study.store.store import Store
from simtmm.study.sweep import forecast, read
from simtmm.study.sweep import sweep as run
from simtmm.trace.lower import lower_or_stream_with
from tests.parallel.clusters import cluster
from tests.study.programs import designed, write

LATENCIES = [50, 100, 200, 400]
PATIENCE = 600  # seconds for a process to go on or to end, on a busy machine too


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("sweep"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "s.sqlite"


def content(study):
    """All that does not tell of the command."""
    return {key: value for key, value in study.to_dict().items() if key != "provenance"}


def test_each_point_is_what_the_library_calls_give(folder):
    axes = {"memory.latency": LATENCIES}
    study = run(designed(folder, axes=axes, compute=["simulated", "tmm", "roofline"]), workers=1)
    trace, machine = load_trace(folder / "traced.parquet"), load_machine(folder / "small.toml")
    assert study.number("done") == len(LATENCIES)
    for row, latency in zip(study.rows, LATENCIES, strict=True):
        own = machine.replace({"memory.latency": latency})
        result = simulate(own, lower(trace, own), stalls=True)
        assert row.results["simulated"] == {**result.to_dict(), "causes": shares(own, result), "held_by": "the grid"}
        for model in ("tmm", "roofline"):
            assert row.results[model] == predict(model, own, count(trace, own)).to_dict()


def test_processes_give_what_one_process_gives(folder):
    made = designed(folder, axes={"memory.latency": LATENCIES, "cores.groups": [1, 2, 3]})
    assert content(run(made, workers=2)) == content(run(made, workers=1))


def test_a_trace_is_recorded_once_and_lowered_once_for_each_width_and_chunk(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))
    calls = {"record": 0, "lower_or_stream_with": 0, "count": 0}

    def counting(name, function):
        def call(*arguments, **options):
            calls[name] += 1
            return function(*arguments, **options)

        monkeypatch.setattr(recorded_traces if name == "record" else steps, name, call)

    for name, function in (("record", record), ("lower_or_stream_with", lower_or_stream_with), ("count", count)):
        counting(name, function)
    axes = {
        "side": [4, 8],
        "cores.warp_width": [16, 32],
        "memory.chunk_words": [16, 32],
        "memory.latency": LATENCIES,
        "scheduling.scheduler": ["fifo", "oldest"],
    }
    tables = {"program": "vector-add", "machines": ["ideal"], "axes": axes, "compute": ["simulated", "tmm"]}
    made = design_of(study_of(tables))
    assert run(made, workers=1).number("done") == 2 * 2 * 2 * 4 * 2
    assert calls == {"record": 2, "lower_or_stream_with": 2 * 4, "count": 2 * 4}
    run(made, tmp_path / "again.sqlite", workers=1)
    assert calls["record"] == 2  # the traces are kept by their content


def test_points_that_are_in_the_store_are_not_run_again(folder, path, monkeypatch):
    run(designed(folder, axes={"memory.latency": LATENCIES[:2]}), path, workers=1)
    seen = []

    def noted(function, *rest, **options):
        seen.append(function)
        return Task(function, *rest, **options)

    monkeypatch.setattr(tasks, "Task", noted)
    study = run(designed(folder, axes={"memory.latency": LATENCIES}), path, workers=1)
    assert seen.count(steps.compute) == 2
    assert study.number("done") == 4
    seen.clear()
    run(designed(folder, axes={"memory.latency": LATENCIES[::-1]}), path, workers=1)
    assert seen == []


def test_another_model_is_computed_without_simulating_again(folder, path):
    run(designed(folder, axes={"memory.latency": LATENCIES}, compute=["simulated"]), path, workers=1)
    run(designed(folder, axes={"memory.latency": LATENCIES}, compute=["simulated", "pram"]), path, workers=1)
    database = sqlite3.connect(path)
    runs = database.execute("SELECT DISTINCT quantity, run FROM results ORDER BY 1").fetchall()
    database.close()
    assert runs == [("pram", 2), ("simulated", 1)]


def test_points_of_one_content_are_computed_once(folder):
    made = designed(folder, linked=[{"memory.latency": [100, 100, 200], "cores.groups": [2, 2, 2]}])
    with Store(":memory:") as store:
        assert Simulations(made).left(store).to_compute == 2
    study = run(made, workers=1)
    assert [row.cycles("simulated") for row in study.rows][:2] == [study.rows[0].cycles("simulated")] * 2
    assert study.number("done") == 3


def test_a_block_that_does_not_fit_is_kept_as_skipped_with_the_reason(folder, path):
    made = designed(folder, axes={"resources.shared_memory": [64, 128, 4096]})
    for _ in range(2):  # the second time from the store
        study = run(made, path, workers=1)
        assert [row.status for row in study.rows] == ["skipped", "done", "done"]
        assert "needs 128 bytes of shared memory does not fit" in study.rows[0].reason


def test_a_point_that_fails_is_kept_with_its_error_and_tried_again(folder, path, monkeypatch):
    def wrong(*_, **__):
        raise RecordingError("kernel vector-add: wrong answer: sum[3] is 1, should be 2")

    made = design_of(study_of({"program": "vector-add", "machines": ["ideal"], "axes": {"memory.latency": [100, 200]}}))
    monkeypatch.setenv("SIMTMM_CACHE", str(path.parent / "cache"))
    with monkeypatch.context() as patch:
        patch.setattr(recorded_traces, "record", wrong)
        study = run(made, path, workers=1)
    assert [row.status for row in study.rows] == ["failed", "failed"]
    assert "wrong answer: sum[3]" in study.rows[0].reason
    assert [row.status for row in run(made, path, workers=1).rows] == ["done", "done"]


def test_without_a_compiler_a_study_of_a_kernel_ends_at_once_unless_its_traces_are_there(monkeypatch, path, tmp_path):
    made = design_of(study_of({"program": "vector-add", "machines": ["ideal"]}))
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "full"))
    run(made)
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert run(made).number("done") == 1
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "empty"))
    with pytest.raises(CompilerError, match="no such command"):
        run(made, path)


def test_traces_used_least_recently_make_room_for_others(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    monkeypatch.setattr(recorded_traces, "MOST_KEPT", 250)
    folder = tmp_path / "traces"
    folder.mkdir()
    for age, name in enumerate(["new", "middle", "needed", "old"]):
        (folder / f"{name}-key-content.parquet").write_bytes(bytes(100))
        os.utime(folder / f"{name}-key-content.parquet", (1e9 - age, 1e9 - age))
    (folder / ".simtmm-x.part").touch()
    os.utime(folder / ".simtmm-x.part", (1e9, 1e9))
    recorded_traces.prune_traces([("needed", "key", ".parquet")])
    assert sorted(path.name for path in folder.iterdir()) == ["needed-key-content.parquet", "new-key-content.parquet"]


@pytest.mark.parametrize("harm", ["another kernel's", "cut"])
def test_a_kept_trace_that_is_not_what_was_kept_is_recorded_anew(monkeypatch, tmp_path, harm):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path))
    first, other = (design_of(study_of({"program": name, "machines": ["ideal"]})) for name in ("vector-add", "copy"))
    right, _ = run(first, workers=1).rows, run(other, workers=1)
    traces = {path.name.rsplit("-", 2)[0]: path for path in (tmp_path / "traces").glob("*.parquet")}
    assert sorted(traces) == ["copy", "vector-add"]
    content = traces["copy"].read_bytes() if harm != "cut" else traces["vector-add"].read_bytes()[:-10]
    traces["vector-add"].write_bytes(content)
    assert [row.results for row in run(first, workers=1).rows] == [row.results for row in right]


def test_an_algorithm_is_swept_over_its_symbols_and_the_machine():
    made = design_of(
        study_of(
            {
                "program": "list-ranking",
                "machines": ["gtx280", "gtx480"],
                "axes": {"n": "1024:1048576:log:3", "T": [4, 24], "memory.latency": [100, 1000]},
            }
        )
    )
    study = run(made)
    assert study.number("done") == 24
    (row,) = (row for row in study.rows if row.point.axes == {
        "machine": "gtx480", "n": 32768, "T": 24, "memory.latency": 1000,
    })  # fmt: skip
    assert row.results["tmm"]["symbols"]["T"] == 24
    assert row.results["tmm"]["symbols"]["L"] == 1000


def test_a_point_outside_an_algorithms_domain_is_skipped():
    made = design_of(study_of({"program": "list-ranking", "axes": {"n": [64], "T": [4, 1e6]}}))
    study = run(made)
    assert [row.status for row in study.rows] == ["done", "skipped"]
    assert "must be at most" in study.rows[1].reason


def test_measured_times_stand_beside_the_machine_that_was_measured(folder, tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("kernel,machine,seconds,n\ntraced,small,0.5,\ntraced,other,9,\n", encoding="utf-8")
    made = designed(folder, measured=[str(times)], axes={"memory.latency": [50, 100]})
    study = run(made, workers=1)
    assert [row.results.get("measured", {}).get("seconds") for row in study.rows] == [None, 0.5]  # small has L = 100
    assert study.rows[1].results["measured"]["cycles"] == 0.5e9
    assert [row.status for row in study.rows] == ["done", "done"]


def test_the_watch_is_told_of_every_point(folder):
    told = []
    run(designed(folder, axes={"memory.latency": LATENCIES}), workers=1, watch=lambda *told_: told.append(told_))
    of_all = [each for each in told if each[0] in ("planning", "points")]
    assert of_all == [("planning", 0, 4), *(("points", done, 4) for done in range(5))]
    assert {"lowering", "simulating"} <= {stage for stage, _, _ in told}  # in this process


@pytest.mark.parametrize("workers", [0, -1])
def test_a_number_of_workers_that_is_none_is_refused(folder, workers):
    with pytest.raises(StudyError, match="must be at least 1"):
        run(designed(folder), workers=workers)


# Exports


def test_the_table_has_the_axes_and_the_numbers(folder, tmp_path):
    study = run(designed(folder, axes={"memory.latency": LATENCIES}, constraints=["memory.latency < 400"]), workers=1)
    for name in ("t.parquet", "t.csv"):
        study.save(tmp_path / name)
    parquet = pyarrow.parquet.read_table(tmp_path / "t.parquet")
    table = parquet.to_pydict()
    assert table["memory.latency"] == LATENCIES
    assert table["status"] == ["done", "done", "done", "skipped"]
    assert table["simulated.cycles"] == [row.cycles("simulated") for row in study.rows]
    assert table["tmm.terms.memory"][0] == study.rows[0].results["tmm"]["terms"]["memory"]
    assert table["tmm.bound"][3] is None
    assert json.loads(parquet.schema.metadata[b"simtmm"])["study"]["program"] == "traced.parquet"
    assert pyarrow.csv.read_csv(tmp_path / "t.csv").column("simulated.cycles").to_pylist() == table["simulated.cycles"]


def test_the_frame_is_the_table(folder):
    study = run(designed(folder, axes={"memory.latency": LATENCIES}), workers=1)
    frame = study.to_frame()
    assert list(frame.columns) == study.to_table().column_names
    assert frame["tmm.cycles"].tolist() == [row.cycles("tmm") for row in study.rows]


def test_values_of_several_kinds_in_one_axis_can_be_exported(folder):
    study = run(designed(folder, axes={"memory.outstanding": ["none", 2]}), workers=1)
    assert study.to_table().column("memory.outstanding").to_pylist() == [None, 2]


def test_another_suffix_is_refused(folder, tmp_path):
    with pytest.raises(OutputError, match=r"must end in \.parquet or \.csv"):
        run(designed(folder), workers=1).save(tmp_path / "t.xlsx")


# Forecasts


def test_a_forecast_counts_and_keeps_nothing(folder, path):
    made = designed(folder, axes={"memory.latency": LATENCIES}, constraints=["memory.latency > 50"])
    told = forecast(made, path, workers=2)
    assert (told.points, told.excluded, told.stored, told.to_compute) == (4, 1, 0, 3)
    assert told.seconds > 0
    assert not path.exists()
    run(designed(folder, axes={"memory.latency": LATENCIES[:2]}), path, workers=1)
    told = forecast(made, path)
    assert (told.stored, told.to_compute, told.estimate) == (1, 2, "2 of its points")
    run(made, path, workers=1)
    assert forecast(made, path).to_dict() | {"workers": 0} == {
        "points": 4, "excluded": 1, "stored": 3, "to_compute": 0, "recordings": 0, "workers": 0, "seconds": 0.0,
        "estimate": "nothing left to compute", "interval": None,
    }  # fmt: skip


# Killed


def command(folder, store, *words):
    """A sweep of 48 points that take some hundredths of a second each."""
    return [
        sys.executable, "-m", "simtmm", "sweep", str(folder / "traced.parquet"), "-m", str(folder / "small.toml"),
        "--vary", "memory.latency=20:500:linear:24", "--vary", "scheduling.scheduler=fifo,oldest",
        "--engine", "reference", "--store", str(store), *words,
    ]  # fmt: skip


def results(store):
    """Every result with the run that it is of."""
    if not store.exists():
        return {}
    with contextlib.closing(sqlite3.connect(store)) as database:
        try:
            rows = database.execute("SELECT point, quantity, document, run FROM results").fetchall()
        except sqlite3.OperationalError:  # killed before there was a table
            rows = []
    return {(point_key, quantity): (document, number) for point_key, quantity, document, number in rows}


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    return write(tmp_path_factory.mktemp("large"), blocks=12, rounds=10)


def swept(folder, store):
    """The sweep to its end, in this process, which is quicker: every result, and the points that it tells."""
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as out:
        patch.setattr(sys, "argv", command(folder, store, "-j", "1", "--json")[2:])
        with pytest.raises(SystemExit) as caught:
            main()
    assert caught.value.code == 0
    return results(store), json.loads(out.getvalue())["points"]


@pytest.fixture(scope="module")
def undisturbed(large, tmp_path_factory):
    store = tmp_path_factory.mktemp("undisturbed") / "s.sqlite"
    return swept(large, store)


def told(error):
    """The lines on standard error, but for what is told where a machine is too busy to be quick."""
    return [line for line in error.splitlines() if not line.endswith("(cached)") and "simtmm: points: " not in line]


def workers_of(process):
    return [child for child in psutil.Process(process.pid).children(recursive=True) if child.is_running()]


@pytest.mark.parametrize(("workers", "seed", "times"), [("1", 1, 1), ("2", 2, 2)])
def test_a_sweep_that_is_killed_again_and_again_loses_nothing_and_repeats_nothing(
    large, undisturbed, path, workers, seed, times
):
    draw = random.Random(seed)
    expected, points = undisturbed
    scratch = path.parent / "scratch"
    scratch.mkdir()
    own = {**os.environ, "TMPDIR": str(scratch)}
    kept, kills = {}, 0
    while kills < times and len(kept) < len(expected):
        process = subprocess.Popen(command(large, path, "-j", workers), stdout=subprocess.DEVNULL, env=own)
        more = len(kept) + draw.randint(1, 30)  # kill it when it has so many more, or some moment on
        deadline = time.monotonic() + 10
        while process.poll() is None and len(results(path)) < more and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(draw.uniform(0, 0.05))
        orphans = workers_of(process) if process.poll() is None else []
        process.send_signal(signal.SIGKILL)
        process.wait()
        kills += 1
        _, alive = psutil.wait_procs(orphans, timeout=PATIENCE)
        assert not alive  # the workers end with their parent, and what watches over them takes its files away
        deadline = time.monotonic() + PATIENCE
        while list(scratch.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert not list(scratch.iterdir())
        now = results(path)
        assert kept.items() <= now.items()  # nothing is lost, and nothing was done again
        kept = now
    finished, told_at_the_end = swept(large, path)
    assert kept.items() <= finished.items()
    assert {key: document for key, (document, _) in finished.items()} == {
        key: document for key, (document, _) in expected.items()
    }
    assert told_at_the_end == points


@pytest.mark.parametrize("where", [("-j", "2"), ("--cluster", "local:2")], ids=["here", "cluster"])
def test_an_interrupted_sweep_leaves_a_store_to_go_on_from(large, undisturbed, path, where):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command(large, path, *where), start_new_session=True, **pipes)
    deadline = time.monotonic() + PATIENCE
    while len(results(path)) < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGINT)  # as a terminal does: the workers get it, too
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert out == ""
    assert told(err) == [
        f"simtmm: results so far are in {path}; the same command continues from there",
        "simtmm: interrupted",
    ]
    kept = results(path)
    finished, points = swept(large, path)
    assert kept.items() <= finished.items()
    assert points == undisturbed[1]


def test_a_store_can_be_read_while_points_are_open(folder, path):
    run(designed(folder, axes={"memory.latency": LATENCIES[:2]}), path, workers=1)
    with Store(path, make=False) as store:
        study = read(designed(folder, axes={"memory.latency": LATENCIES}), store)
    assert [row.status for row in study.rows] == ["done", "done", "open", "open"]
    assert findings(study).fastest["simulated"] == {"memory.latency": 50}


# On a cluster


def test_a_cluster_gives_the_same_though_a_worker_is_killed(large, undisturbed, path, tmp_path):
    with cluster(tmp_path, 2) as dask:
        words = command(large, path, "--cluster", dask.address, "--json")
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + PATIENCE
        while len(results(path)) < 12 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert 0 < len(results(path)) < len(undisturbed[0])
        dask.workers[0].kill()
        out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, told(err)) == (0, [])
    assert json.loads(out)["points"] == undisturbed[1]
    assert {document for document, _ in results(path).values()} == {document for document, _ in undisturbed[0].values()}


def test_a_cluster_of_workers_here_gives_the_same(large, undisturbed, path):
    done = subprocess.run(
        command(large, path, "--cluster", "local:2", "--json"), capture_output=True, text=True, check=False
    )
    assert (done.returncode, told(done.stderr)) == (0, [])
    assert json.loads(done.stdout)["points"] == undisturbed[1]


@pytest.mark.parametrize("where", ["local:0", "local:many", "local:" + "9" * 5000, "somewhere"])
def test_a_cluster_that_is_none_is_refused(folder, where):
    with pytest.raises(StudyError, match=f"cluster '{where[:20]}.*: must be"):
        run(designed(folder), cluster=where)
