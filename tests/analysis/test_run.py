"""One run: what the library calls give one by one, gathered."""

import json

import numpy as np
import pytest

from simtmm import Workload, count, load_trace, lower, predict, simulate
from simtmm.analysis.run import DEFAULT_MODELS, DEFAULT_TRACE, run, shipped_trace
from simtmm.analysis.verdict import beside_the_model, verdict
from simtmm.analysis.what_if import try_out
from simtmm.errors import EngineError, KernelError, TraceError, WorkloadError
from simtmm.machine import Machine, load_machine, machine_files
from simtmm.model.latency_hiding import hiding
from simtmm.model.launch.occupancy import occupancy
from simtmm.provenance import VERSION
from simtmm.report.run import which_launches
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.schema import EVENT, Batch, Kind, TraceLaunch

SMALL = Machine.from_dict(
    {
        "name": "small",
        "clock_hz": 1e9,
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
        "memory": {"latency": 100, "chunk_words": 8},
        "limits": {"blocks_per_group": 2},
        "resources": {"shared_memory": 1024},
    }
)
LAUNCHES = [
    TraceLaunch("first", (4, 1, 1), (16, 1, 1), 0, 512),
    TraceLaunch("second", (3, 1, 1), (8, 1, 1), 0, 1024),
]


def traced(launches):
    """A trace in which each thread does two operations, loads its own word, and does one operation."""
    recorder = TraceRecorder()
    for number, launch in enumerate(launches):
        for block in range(launch.blocks):
            threads = launch.threads_per_block
            events = np.zeros((threads, 3), dtype=EVENT)
            events["thread"] = np.arange(threads)[:, None]
            events["site"] = [0, 1, 2]
            events["kind"] = [Kind.WORK, Kind.LOAD, Kind.WORK]
            events["bytes"] = [0, 4, 0]
            events["value"][:, 0] = 2
            events["value"][:, 1] = 512 + 4 * (block * threads + np.arange(threads))
            events["value"][:, 2] = 1
            ends = np.array([events.size], dtype=np.int64)
            batch = Batch(events.ravel(), np.array([number], np.int32), np.array([block], np.int32), ends)
            recorder.add(batch, launches)
    return recorder.finish("traced", {"n": 4}, list(launches), [], [], {"recorder": "test"})


@pytest.fixture(scope="module")
def trace():
    return traced(LAUNCHES)


@pytest.fixture(scope="module")
def done(trace):
    return run(trace, SMALL)


def test_the_result_is_the_engines(trace, done):
    assert done.result == simulate(SMALL, trace, stalls=True)


def test_the_counts_are_the_traces(trace, done):
    assert done.counts == count(trace, SMALL)
    assert (done.counts.work, done.counts.span) == (4 * (64 + 24), 8)
    assert done.counts.memory_operations == 8 + 3  # a warp of 8 threads loads a chunk of 8 words


def test_the_predictions_are_the_models(trace, done):
    counts = count(trace, SMALL)
    assert done.predictions == {model: predict(model, SMALL, counts) for model in DEFAULT_MODELS}


def test_the_hiding_takes_the_largest_shared_memory_of_a_thread(trace, done):
    assert done.hiding == hiding(SMALL, count(trace, SMALL), 128)  # 1024 / 8 and not 512 / 16
    assert done.hiding.limits["shared memory"] == 1  # 1024 / (8 * 128)


def test_the_occupancies_are_the_launches(done):
    assert done.occupancies == ((occupancy(SMALL, LAUNCHES[0]), 1), (occupancy(SMALL, LAUNCHES[1]), 1))
    assert [entry.active_blocks for entry, _ in done.occupancies] == [2, 1]


def test_launches_of_one_occupancy_are_counted_together():
    done = run(traced([LAUNCHES[0], LAUNCHES[1], LAUNCHES[0]]), SMALL)
    assert [(entry.active_blocks, launches) for entry, launches in done.occupancies] == [(2, 2), (1, 1)]


def test_the_kernels_of_an_occupancy_are_named_once_each_and_only_a_few_are_shown():
    same = [TraceLaunch(name, (4, 1, 1), (16, 1, 1), 0, 0) for name in ("a", "b", "a", "c", "d", "e")]
    other = TraceLaunch("other", (4, 1, 1), (8, 1, 1), 0, 0)
    done = run(traced([*same, other]), SMALL)
    words = [which_launches(done, entry, launches) for entry, launches in done.occupancies]
    assert words == ["a, b, c and 2 more (6 launches)", "other (1 launch)"]


def test_launches_with_as_many_blocks_but_other_warps_have_occupancies_of_their_own():
    wide, narrow = (TraceLaunch("k", (4, 1, 1), (threads, 1, 1), 0, 0) for threads in (32, 8))
    done = run(traced([wide, narrow]), SMALL)
    assert done.occupancies == ((occupancy(SMALL, wide), 1), (occupancy(SMALL, narrow), 1))


def test_the_verdict_is_of_these(trace, done):
    tmm, warps = done.predictions["tmm"], done.predictions["tmm-warps"]
    workload = lower(trace, SMALL, places=True)
    assert done.verdict == verdict(SMALL, done.result, workload, try_out(SMALL, workload, done.result))
    assert done.beside_the_model == beside_the_model(SMALL, done.result, tmm, warps, done.counts, done.verdict)


def test_the_program_is_the_traces(trace, done):
    assert (done.program, done.parameters, done.machine) == ("traced", {"n": 4}, SMALL)


def test_provenance_names_everything_that_decides_the_result(trace, done):
    message = done.provenance
    assert message["simtmm"] == VERSION
    assert message["machine"] == SMALL.digest()
    assert message["trace"] == trace.info.digest
    assert message["workload"] == lower(trace, SMALL).digest()
    assert message["engine"] == "fast"
    assert message["recording"] == {"recorder": "test"}
    assert {"python", "numpy", "command"} <= set(message)


def test_a_run_is_one_json_document(done):
    document = done.to_dict()
    assert json.loads(json.dumps(document, allow_nan=False)) == document
    assert document["simulated"]["cycles"] == done.result.cycles
    assert document["machine"]["processors"] == 16
    assert document["machine"]["memory"]["latency"] == 100
    assert document["hiding"]["limit"] == 1
    assert [entry["launches"] for entry in document["occupancy"]] == [1, 1]
    assert set(document["predictions"]) == set(DEFAULT_MODELS)


def test_progress_is_reported_stage_by_stage(trace):
    seen = []
    run(trace, SMALL, watch=lambda *reported: seen.append(reported))
    stages = list(dict.fromkeys(stage for stage, _, _ in seen))
    assert stages == ["lowering", "counting", "simulating", "testing what would help", "testing changes to the source"]
    for stage in ("lowering", "counting", "simulating"):
        _, finished, total = [reported for reported in seen if reported[0] == stage][-1]
        assert finished == total > 0


def test_the_same_run_gives_the_same(trace, done):
    assert run(trace, SMALL).to_dict() == done.to_dict()


# Workloads


def test_a_workload_is_simulated_alone(tmp_path):
    tables = {"blocks": [{"warps": [[["compute", 4], ["load", [0, 1]]]]}]}
    path = tmp_path / "w.json"
    path.write_text(json.dumps(tables), encoding="utf-8")
    done = run(path, SMALL)
    workload = Workload.from_dict(tables)
    assert done.result == simulate(SMALL, workload, stalls=True)
    assert done.program == str(path)
    assert (done.counts, done.occupancies, done.predictions, done.hiding) == (None, (), {}, None)
    assert done.verdict == verdict(SMALL, done.result, workload, try_out(SMALL, workload, done.result))
    assert done.beside_the_model == ""
    assert done.provenance["workload"] == workload.digest()
    assert json.loads(json.dumps(done.to_dict(), allow_nan=False)) == done.to_dict()


# What is run


def test_nothing_named_runs_the_shipped_trace():
    done = run(None, SMALL.replace({"cores.groups": 64}))
    assert done.program == "list-ranking-wyllie"
    assert done.provenance["trace"] == load_trace(shipped_trace(DEFAULT_TRACE)).info.digest


def test_a_trace_is_read_from_its_file(trace, tmp_path, done):
    trace.save(tmp_path / "t.parquet")
    assert run(tmp_path / "t.parquet", SMALL).to_dict() == done.to_dict()


@pytest.mark.parametrize("source", [None, "t.parquet", "w.json"])
def test_parameters_can_only_be_given_to_a_kernel(source):
    with pytest.raises(KernelError) as caught:
        run(source, SMALL, {"n": "4", "seed": "1"})
    name = source or "list-ranking-wyllie.parquet"
    assert str(caught.value) == f"{name}: parameters (n, seed) can only be given to a kernel"


def test_an_unknown_kernel_is_refused_with_the_nearest():
    with pytest.raises(KernelError, match=r"^kernel 'list-ranking': unknown; did you mean 'list-ranking-wyllie', "):
        run("list-ranking", SMALL)


def test_an_unknown_engine_is_refused(trace):
    with pytest.raises(EngineError, match="engine 'refrence': unknown; did you mean 'reference'"):
        run(trace, SMALL, engine="refrence")


def test_a_launch_that_does_not_fit_the_machine_is_named(trace):
    with pytest.raises(WorkloadError, match=r"^traced: launch 1 of second: .*resources.shared_memory"):
        run(trace, SMALL.replace({"resources.shared_memory": 1023}))


def test_a_shipped_trace_that_is_not_there_is_refused():
    with pytest.raises(TraceError, match=r"^none\.parquet: is missing from this installation"):
        shipped_trace("none.parquet")


def test_a_trace_in_a_given_folder_comes_first_and_one_in_the_working_directory_never(tmp_path, monkeypatch):
    (tmp_path / "traces").mkdir()
    own = tmp_path / "traces" / DEFAULT_TRACE
    own.touch()
    monkeypatch.chdir(tmp_path)
    assert shipped_trace(DEFAULT_TRACE) != own
    monkeypatch.setenv("SIMTMM_PATH", str(tmp_path))
    assert shipped_trace(DEFAULT_TRACE) == own


@pytest.mark.parametrize("name", machine_files())
def test_a_trace_runs_on_every_shipped_machine(name, trace):
    done = run(trace, load_machine(name))
    assert done.result.cycles > 0
    overhead = done.machine.ticks(done.machine.scheduling.launch_overhead) * len(done.result.launch_ticks)
    assert sum(done.result.time.values()) == done.machine.cores.groups * (done.result.ticks - overhead)


@pytest.mark.parametrize("compiled", [False, True])
def test_where_any_engine_will_do_the_one_that_ran_is_named(trace, monkeypatch, compiled):
    for name in ("is_compiled", "is_wanted_again"):
        monkeypatch.setattr(f"simtmm.engine.fast.launches.launch.{name}", lambda *given: compiled)
    result = run(trace, SMALL, engine="auto")
    assert result.result.engine == result.provenance["engine"] == ("fast" if compiled else "reference")
    assert result.result.ticks == run(trace, SMALL).result.ticks
