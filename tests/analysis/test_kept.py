"""Comparisons and advice that were interrupted, or of which a part fails: what is done is kept, and done once."""

import pytest

from simtmm import load_machine
from simtmm.analysis.comparison.compare import compare
from simtmm.analysis.tuning import search
from simtmm.analysis.tuning.advice import advise
from simtmm.analysis.tuning.tune import tune
from simtmm.analysis.unfinished import Unfinished
from simtmm.errors import StudyError
from simtmm.study.evaluation import cases, recorded_traces, steps
from simtmm.study.store import kept
from simtmm.study.store.kept import kept_store
from simtmm.study.store.store import Store
from tests.recorder.build import DEVICE, host
from tests.recorder.conftest import kernel_folder as kernel_folder  # fixtures
from tests.recorder.conftest import needs_compiler
from tests.recorder.conftest import probe_flags as probe_flags
from tests.study.programs import write

pytestmark = needs_compiler

CODE = DEVICE + "__global__ void f(int *a) { OP(1); ST(a, threadIdx.x, blockIdx.x); }\n"
WRONG_AT_2 = {
    "arrays": '{"a": np.zeros(32, np.int32)}',
    "grid": "p.n",
    "block": "32",
    "check": 'if p.n == 2:\n    raise WrongAnswer("two is no number of blocks")',
}
MACHINES = ("gtx280", "gtx480")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def kernel(kernel_folder):
    return str(kernel_folder(CODE, host(**WRONG_AT_2)))


@pytest.fixture
def calls(monkeypatch):
    """What is recorded (its parameters) and simulated (the machine), as it comes."""
    calls = {"recorded": [], "simulated": []}
    usual_record, usual = recorded_traces.record, cases.simulate

    def record(kernel, parameters, **more):
        calls["recorded"].append(parameters["n"])
        return usual_record(kernel, parameters, **more)

    def simulate(machine, *given, **more):
        calls["simulated"].append(machine.name)
        return usual(machine, *given, **more)

    monkeypatch.setattr(recorded_traces, "record", record)
    for module in (cases, steps):
        monkeypatch.setattr(module, "simulate", simulate)
    return calls


def interrupt(monkeypatch, after):
    """Ctrl-C at a simulation of a case, or of a configuration."""
    done = []
    for module, name in ((cases, "simulate"), (search, "tried")):
        usual = getattr(module, name)

        def simulate(*given, usual=usual, **more):
            done.append(1)
            if len(done) > after:
                raise KeyboardInterrupt
            return usual(*given, **more)

        monkeypatch.setattr(module, name, simulate)


def test_a_case_that_fails_is_reported_and_the_others_go_on(kernel):
    comparison = compare([kernel], MACHINES, {"n": [1, 2, 3]}, ["tmm"], engine="reference")
    assert [(one.parameters["n"], one.machine_name) for one in comparison.cases] == [
        (1, "gtx280"), (1, "gtx480"), (3, "gtx280"), (3, "gtx480"),
    ]  # fmt: skip
    assert [(one.status, one.given, one.machine_name) for one in comparison.absent] == [
        ("failed", {"n": 2}, machine) for machine in MACHINES
    ]
    assert all("two is no number of blocks" in one.reason and "\n" not in one.reason for one in comparison.absent)
    assert [row["status"] for row in comparison.rows()] == ["done"] * 8 + ["failed"] * 2


def test_a_case_that_memory_does_not_hold_is_reported_and_the_others_go_on(kernel, monkeypatch):
    usual = cases.lower_and_count

    def lowered(trace, machine, progress):
        if machine.name == "GeForce GTX 280":
            raise MemoryError
        return usual(trace, machine, progress)

    monkeypatch.setattr(cases, "lower_and_count", lowered)
    comparison = compare([kernel], MACHINES, {"n": [1]}, ["tmm"], engine="reference")
    assert [one.machine_name for one in comparison.cases] == ["gtx480"]
    assert comparison.failed == {"probe, n=1, gtx280": "out of memory"}


def test_where_all_fail_it_is_reported_why(kernel):
    with pytest.raises(
        StudyError, match=r"nothing to compare \(kernel probe: wrong answer: two is no number of blocks"
    ):
        compare([kernel], ["gtx280"], {"n": [2]}, ["tmm"])


def test_a_kernel_is_recorded_once_for_all_machines_and_never_again(kernel, calls):
    machines = {"gtx280": load_machine("gtx280"), "late": load_machine("gtx280").replace({"memory.latency": 900})}
    simulated = ["GeForce GTX 280", "GeForce GTX 280 (memory.latency = 900)"] * 2
    first = compare([kernel], machines, {"n": [1, 3]}, ["tmm"], engine="reference", store=None)
    assert calls == {"recorded": [1, 3], "simulated": simulated}
    again = compare([kernel], machines, {"n": [1, 3]}, ["tmm", "pram"], engine="reference", store=None)
    assert calls == {"recorded": [1, 3], "simulated": simulated}
    assert again.cases[0].result == first.cases[0].result
    assert again.cases[0].counts == first.cases[0].counts
    assert again.cases[0].predictions["tmm"] == first.cases[0].predictions["tmm"]
    assert again.cases[0].cycles("pram") is not None
    compare([kernel], MACHINES, {"n": [1, 3]}, ["tmm"], engine="reference", store=None)
    assert calls == {"recorded": [1, 3], "simulated": [*simulated, *["GeForce GTX 480"] * 2]}


def test_what_failed_is_tried_again_and_what_a_machine_cannot_hold_is_not(kernel, calls):
    machines = {"small": load_machine("gtx280").replace({"cores.max_threads_per_core": 1}), "gtx280": "gtx280"}
    machines["gtx280"] = load_machine("gtx280")
    for _ in range(2):
        comparison = compare([kernel], machines, {"n": [1, 2]}, ["tmm"], engine="reference", store=None)
        assert [one.status for one in comparison.absent] == ["skipped", "failed", "failed"]
    assert calls == {"recorded": [1, 2, 2], "simulated": ["GeForce GTX 280"]}


def test_an_interrupted_comparison_tells_what_is_done_and_goes_on(kernel, calls, monkeypatch, tmp_path):
    store = tmp_path / "kept.sqlite"
    with monkeypatch.context() as patched:
        interrupt(patched, after=3)
        with pytest.raises(Unfinished) as caught:
            compare([kernel], MACHINES, {"n": [1, 3]}, ["tmm"], engine="reference", store=store)
    assert (caught.value.done, caught.value.total) == (3, 4)
    assert [one.machine_name for one in caught.value.results.cases] == ["gtx280", "gtx480", "gtx280"]
    assert [(one.given, one.status) for one in caught.value.results.absent] == [({"n": 3}, "open")]
    comparison = compare([kernel], MACHINES, {"n": [1, 3]}, ["tmm"], engine="reference", store=store)
    assert (len(comparison.cases), comparison.absent) == (4, ())
    assert calls["recorded"] == [1, 3]
    assert calls["simulated"] == ["GeForce GTX 280", "GeForce GTX 480"] * 2


def test_interrupted_before_anything_is_done_it_is_ctrl_c_alone(kernel, monkeypatch):
    interrupt(monkeypatch, after=0)
    for call in (
        lambda: compare([kernel], MACHINES, {"n": [1]}, ["tmm"], engine="reference"),
        lambda: advise(kernel, "gtx280", vary={"n": [1, 3]}, workers=1),
    ):
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
        assert not isinstance(caught.value, Unfinished)


def test_interrupted_advice_tells_the_best_until_then_and_goes_on(kernel, monkeypatch):
    given = {"vary": {"n": [1, 3, 4]}, "store": None, "workers": 1}
    with monkeypatch.context() as patched:
        interrupt(patched, after=2)
        with pytest.raises(Unfinished) as caught:
            advise(kernel, "gtx280", **given)
    part = caught.value
    assert (part.done, part.total) == (2, 3)
    best = part.results.choices[0]
    assert best.by == "simulated"
    assert best.cycles == min(trial.cycles for trial in part.results.ranked())
    assert part.results.tuned.open == 1
    with monkeypatch.context() as patched:
        interrupt(patched, after=1)  # one is left to be simulated
        assert len(advise(kernel, "gtx280", **given).ranked()) == 3
    with monkeypatch.context() as patched:
        interrupt(patched, after=0)  # and tuning has the same
        assert len(tune(kernel, "gtx280", {"n": [1, 4]}, workers=1).done) == 2


def test_an_edited_kernel_is_recorded_anew(kernel_folder, calls):
    for number in (1, 2):
        folder = kernel_folder(CODE.replace("OP(1)", f"OP({number})"), host(**WRONG_AT_2))
        comparison = compare([str(folder)], ["gtx280"], {"n": [1]}, ["tmm"], engine="reference", store=None)
        assert comparison.cases[0].counts.work == 32 * (number + 1)
    assert calls["recorded"] == [1, 1]


def test_what_is_doubted_of_a_recording_is_reported_each_time(kernel_folder, caplog):
    folder = str(kernel_folder(CODE.replace("ST(a, threadIdx.x, blockIdx.x);", ""), host(**WRONG_AT_2)))
    for _ in range(2):
        caplog.clear()
        compare([folder], MACHINES, {"n": [1]}, ["pram"], engine="reference", store=None)
        (record,) = caplog.records
        assert "recorded no access" in record.getMessage()


def test_cases_in_processes_are_the_same(tmp_path):
    write(tmp_path)
    machines = {name: load_machine(name) for name in MACHINES}
    trace = str(tmp_path / "traced.parquet")
    alone, several = (compare([trace], machines, models=["tmm"], engine="reference", workers=w) for w in (1, 2))
    assert [one.result for one in alone.cases] == [one.result for one in several.cases]
    assert [one.counts for one in alone.cases] == [one.counts for one in several.cases]


# The stores in the user's cache folder


def test_the_stores_used_least_recently_go_where_they_take_too_much_room(monkeypatch):
    paths = [kept_store("program", str(number)) for number in range(3)]
    for path in paths:
        with Store(path) as store:
            store.begin(None, (), {})
    monkeypatch.setattr(kept, "MOST_KEPT", 2 * paths[0].stat().st_size)
    kept_store("program", "0")
    assert [path.exists() for path in paths] == [True, False, True]


def test_a_store_that_cannot_be_mended_is_built_anew(caplog):
    path = kept_store("program", "0")
    path.write_bytes(b"what is no database")
    assert kept_store("program", "0") == path
    assert not path.exists()
    (record,) = caplog.records
    assert "is recreated" in record.getMessage()
