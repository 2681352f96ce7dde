"""Tuning: the fastest configuration is found, what can't run is told, and nothing is simulated twice."""

import json
import math
import sqlite3
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.analysis.tuning import search
from simtmm.analysis.tuning import trial as trial_module
from simtmm.analysis.tuning.front import front
from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.halving import ceiling, precisions, promising
from simtmm.analysis.tuning.kept import KeptTrials
from simtmm.analysis.tuning.t1 import read_problem
from simtmm.analysis.tuning.t4 import results_of
from simtmm.analysis.tuning.trial import Subject, Trial
from simtmm.analysis.tuning.tune import tune
from simtmm.errors import KernelError, SimtmmError, StudyError
from simtmm.parallel import dask
from simtmm.parallel.tasks import Serial
from simtmm.report.studies.tune import describe_tuned
from tests.recorder.conftest import quick_builds as quick_builds

pytestmark = pytest.mark.usefixtures("quick_builds")
SIDES = [4, 16, 32]
SMALL = {"resources.threads_per_block": 512}  # which 32 * 32 threads exceed


@pytest.fixture(scope="module")
def machine():
    return load_machine("gtx480").replace(SMALL)


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("tuning") / "trials.sqlite"


@pytest.fixture(scope="module")
def tuned(quick_builds, machine, store):
    return tune("vector-add", machine, {"side": [*SIDES, 8]}, {"n": 5000}, ["side != 8"], store=store, workers=1)


def test_the_best_is_the_fastest_of_all_that_can_run(tuned, machine):
    times = {
        side: run("vector-add", machine, {"n": 5000, "side": side}, what_if=False).result.cycles for side in SIDES[:2]
    }
    assert {trial.configuration["side"]: trial.cycles for trial in tuned.ranked()} == times
    assert tuned.best.cycles == min(times.values())
    assert tuned.excluded == 1


def test_how_flat_the_optimum_is_is_told_in_per_cent(tuned):
    (told,) = [str(part) for part in describe_tuned(tuned, 5) if "longer than it does" in str(part)]
    assert "take at most 5 % longer than it does" in told
    assert told.startswith(f"{tuned.flat} of {len(tuned.done)} configurations, the best included")


def test_a_configuration_that_does_not_fit_is_a_row_with_its_reason(tuned):
    (row,) = (trial for trial in tuned.trials if trial.status != "done")
    assert (row.configuration, row.status) == ({"side": 32}, "does not fit")
    assert "a block of 1024 threads" in row.reason
    assert tuned.reasons() == {row.reason: 1}


def test_a_model_chooses_the_fastest_by_itself_and_the_simulation_says_what_that_costs(tuned):
    for choice in tuned.choices():
        least = min(trial.predictions[choice.model] for trial in tuned.ranked())
        assert choice.trial.predictions[choice.model] == least
        assert choice.slowdown == choice.trial.cycles / tuned.best.cycles >= 1


def test_what_is_kept_is_not_simulated_again_and_another_machine_is(tuned, machine, store, monkeypatch):
    def simulated(*_: object) -> Trial:
        raise SimtmmError("simulated again")

    monkeypatch.setattr(search, "tried", simulated)
    again = tune("vector-add", machine, {"side": SIDES}, {"n": 5000}, store=store, workers=1)
    assert again.best == tuned.best
    slower = machine.replace({"memory.latency": 999})
    with pytest.raises(StudyError, match=r"none of the 3 configurations can run: simulated again"):
        tune("vector-add", slower, {"side": SIDES}, {"n": 5000}, store=store, workers=1)


def test_numbers_of_a_fresh_sample_are_written_as_any(machine, monkeypatch):
    """NumPy's, which samples give, would make the number of configurations that are as good one of NumPy's, too."""
    plain = run("vector-add", machine, {"n": 500, "side": 4}, what_if=False)
    result = replace(plain.result, ticks=np.float64(plain.result.ticks))
    assert isinstance(result.seconds, np.float64)
    monkeypatch.setattr(trial_module, "run", lambda *_, **__: replace(plain, result=result))
    again = tune("vector-add", machine, {"side": [4, 8]}, {"n": 500}, store=":memory:", workers=1)
    assert json.loads(json.dumps(again.to_dict()))["within_5_percent"] == 2


def test_a_file_of_something_else_is_no_store(machine, tmp_path):
    other = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(other)) as file:
        file.execute("CREATE TABLE points (x)")
    (tmp_path / "words.sqlite").write_text("no database")
    for path, said in (
        (other, "is not a store of tuning results"),
        (tmp_path / "words.sqlite", "can't be used as a store"),
    ):
        with pytest.raises(StudyError, match=said):
            tune("vector-add", machine, {"side": SIDES}, store=path, workers=1)


@pytest.mark.parametrize("row", ["", "[", "[1]", '{"cycles": "3"}', '{"cycles": 1, "predictions": [1]}', '{"x": 1}'])
def test_a_trial_that_is_damaged_is_named(machine, tmp_path, row):
    path = tmp_path / "t.sqlite"
    subject = Subject("vector-add", {}, machine, None, ())
    with KeptTrials(path, subject, "content") as kept:
        kept.keep(Trial({"side": 4}, cycles=1.0))
        assert kept.find({"side": 4}).cycles == 1.0
    with closing(sqlite3.connect(path)) as file:
        file.execute("UPDATE trials SET trial = ?", [row])
        file.commit()
    with KeptTrials(path, subject, "content") as kept, pytest.raises(StudyError, match="has a damaged trial"):
        kept.find({"side": 4})


def test_results_for_kernel_tuner_have_what_their_schema_requires(tuned):
    document = json.loads(json.dumps(results_of(tuned)))
    assert document["schema_version"] == "1.0.0"
    by_side = {result["configuration"]["side"]: result for result in document["results"]}
    assert {side: result["invalidity"] for side, result in by_side.items()} == {
        4: "correct", 16: "correct", 32: "constraints",
    }  # fmt: skip
    best = by_side[tuned.best.configuration["side"]]
    assert best["times"]["runtimes"] == [pytest.approx(1e3 * tuned.best.seconds)]
    assert all({"configuration", "times", "invalidity", "correctness"} <= result.keys() for result in by_side.values())


@pytest.mark.parametrize(
    ("over", "where", "said"),
    [
        ({}, [], "nothing to tune"),
        ({"sid": [1]}, [], "parameter 'sid': unknown; did you mean 'side'?"),
        ({"side": [99]}, [], "parameter side = 99: must be a whole number from 1 to 32"),
        ({"side": [4]}, ["side > 8"], "--where: excludes all 1 configurations"),
        ({"side": [4]}, ["sied > 8"], "constraint 'sied > 8': sied: has no value"),
        ({"n": [4]}, [], "--over n: is fixed by --param n=5000"),
        ({"memory.latncy": [4]}, [], "--over memory.latncy: neither a parameter nor a machine's key; did you mean"),
        ({"memory.latency": ["x2"]}, [], "--over memory.latency=x2: must be a plain number"),
    ],
)
def test_a_mistake_is_told_before_anything_is_compiled(over, where, said, machine):
    with pytest.raises((StudyError, KernelError)) as caught:
        tune("vector-add", machine, over, {"n": 5000}, where, store=":memory:", workers=1)
    assert said in str(caught.value)


# successive halving


def _trial(cycles, error=0.0):
    return Trial({"side": 8}, cycles=float(cycles), seconds=float(cycles), error=error, precision=error)


def _goals(*minimise, where=()):
    subject = Subject("vector-add", {}, load_machine("gtx480"), None, ())
    return Goals(subject, minimise, where)


def test_each_precision_is_twice_that_before_and_the_last_is_the_one_asked_for():
    assert precisions(0.03) == [0.12, 0.06, 0.03]


def test_what_is_surely_slower_goes_and_what_may_be_as_fast_stays():
    best, near, far = _trial(100, 0.1), _trial(121, 0.1), _trial(123, 0.1)  # up to 110; from 108.9; from 110.7
    assert promising([far, near, best], 3, _goals()) == [best, near]


def test_of_many_that_may_be_the_fastest_the_best_third_stays():
    trials = [_trial(100 + number, 0.2) for number in range(12)]
    assert promising(trials[::-1], 2, _goals()) == trials[:4]
    assert promising(trials, 6, _goals()) == trials[:6]


# Bounds


def test_a_bound_is_too_long_beyond_the_best_ones_interval_and_those_that_are_to_be_listed():
    trials = [_trial(100, 0.1), _trial(150), _trial(90, 0.3), _trial(400)]  # up to 110, 150, 117 and 400
    assert ceiling(trials, 1, _goals()) == pytest.approx(1.05 * 110)
    assert ceiling(trials, 3, _goals()) == pytest.approx(150)
    assert ceiling(trials, 5, _goals()) == math.inf  # there are not so many yet
    assert ceiling(trials, 1, _goals("cycles * side")) == math.inf  # bounds are of times
    assert ceiling(trials, 1, _goals(where=["cycles >= 120"])) == pytest.approx(1.05 * 150)  # others may not meet it


@pytest.fixture
def bounded(machine, monkeypatch):
    """A search of 32 sides that takes 1,000 cycles each and is bounded by 100 of them; and what it simulated."""
    simulated = []

    def tried(subject, configuration, precision):
        simulated.append(configuration["side"])
        cycles = 1000.0 * configuration["side"]
        return Trial(configuration, cycles=cycles, seconds=cycles / machine.clock_hz, precision=precision)

    def screened(subject, configuration, is_bounded=False):
        return 100.0 * configuration["side"] ** 2 if is_bounded else 0.0

    monkeypatch.setattr(search, "tried", tried)
    monkeypatch.setattr(search, "screened", screened)
    monkeypatch.setattr(search, "attempted", tried)
    monkeypatch.setattr(search, "FINALISTS", 4)
    monkeypatch.setattr(search, "AT_FIRST", 5)

    def go(**given):
        simulated.clear()
        over = {"side": list(range(32, 0, -1))}
        return tune("vector-add", machine, over, {"n": 500}, **{"store": ":memory:", "workers": 1, **given}), list(
            simulated
        )

    return go


def test_what_surely_takes_longer_is_not_simulated_and_the_shortest_by_its_bound_is_simulated_first(bounded):
    tuned, simulated = bounded()
    assert simulated == [1, 2, 3, 4, 5, 6]  # five at first; then those that take at least 4,000, which the fourth takes
    assert tuned.best.configuration == {"side": 1}
    assert {trial.configuration["side"] for trial in tuned.bounded} == set(range(7, 33))
    assert [trial.least for trial in tuned.bounded] == [100.0 * side**2 for side in range(32, 6, -1)]
    assert all(trial.least == 100.0 * trial.configuration["side"] ** 2 for trial in tuned.done)
    document = tuned.to_dict()
    assert document["bounded"] == 26
    assert sum(each["status"] == "bounded" for each in document["configurations"]) == 26
    assert not tuned.reasons()
    (line,) = [str(part) for part in describe_tuned(tuned, 10) if "not simulated" in str(part)]
    assert line.startswith(
        "26 configurations not simulated: by their instructions and the machine's rules each takes at least 3.5 us"
    )


def test_least_times_are_kept_as_trials_are(bounded, tmp_path, monkeypatch):
    first, simulated = bounded(store=tmp_path / "s.sqlite")
    assert len(simulated) == 6
    monkeypatch.setattr(search, "screened", None)
    again, simulated = bounded(store=tmp_path / "s.sqlite")
    assert not simulated
    assert again.trials == first.trials


def test_results_for_kernel_tuner_have_what_was_not_simulated_as_cut_off(bounded):
    tuned, _ = bounded()
    found = {result["configuration"]["side"]: result for result in results_of(tuned)["results"]}
    assert (found[6]["invalidity"], found[7]["invalidity"]) == ("correct", "timeout")
    assert (found[7]["times"]["runtimes"], found[7]["measurements"]) == ([], [])


@pytest.mark.parametrize("given", [{"minimise": "cycles * side"}, {"minimise": ["cycles", "side"]}])
def test_bounds_of_the_time_say_nothing_of_other_objectives(bounded, given):
    tuned, simulated = bounded(**given)
    assert sorted(simulated) == list(range(1, 33))
    assert not tuned.bounded


def test_what_may_not_meet_a_condition_leaves_out_nothing(bounded):
    tuned, simulated = bounded(where="cycles >= 20000")
    assert sorted(simulated) == list(range(1, 33))
    assert tuned.best.configuration == {"side": 20}


WEIGHTED = """
__global__ void sum(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < rounds; k++) s = s * 1.5f + k;
    if (i < n) y[i] = x[i] + s;
}
"""
ROUNDS = """
source = "sum.cu"
[parameters]
rounds = 1
[[launch]]
grid = 200
block = 128
arguments = { x = "ones:float32:25600", y = "zeros:float32:25600", n = 25600 }
"""


def test_of_a_kernel_of_ones_own_the_longest_are_left_out_and_none_takes_less_than_its_bound(tmp_path, monkeypatch):
    (tmp_path / "sum.cu").write_text(WEIGHTED)
    (tmp_path / "sum.toml").write_text(ROUNDS)
    monkeypatch.setattr(search, "FINALISTS", 1)
    monkeypatch.setattr(search, "AT_FIRST", 2)
    over = {"rounds": [3000, 10, 1, 2000]}
    tuned = tune(str(tmp_path / "sum.toml"), "rtx-a4000", over, store=":memory:", workers=1)
    assert [trial.configuration["rounds"] for trial in tuned.bounded] == [3000, 2000]
    everything = tune(str(tmp_path / "sum.toml"), "rtx-a4000", over, minimise="1 * cycles", store=":memory:", workers=1)
    times = {trial.configuration["rounds"]: trial.cycles for trial in everything.done}
    assert len(times) == 4
    assert min(times.values()) == tuned.best.cycles
    for trial in tuned.trials:
        assert 0.1 * times[trial.configuration["rounds"]] < trial.least <= times[trial.configuration["rounds"]]


# Objectives and conditions


def test_an_objective_lies_between_what_it_is_at_the_ends_of_the_times_interval():
    (goal,) = _goals("cycles * side - memory.latency").of(_trial(100, 0.1))
    latency = load_machine("gtx480").memory.latency
    assert (goal.value, goal.low, goal.high) == pytest.approx((800 - latency, 720 - latency, 880 - latency))
    assert goal.error == pytest.approx(80 / abs(goal.value))


def test_what_surely_misses_a_condition_goes_and_what_may_meet_it_proves_nothing_of_the_others():
    goals = _goals("cycles", where=["cycles >= 100"])
    never, perhaps, surely = _trial(50, 0.1), _trial(95, 0.1), _trial(120)
    assert promising([never, surely, perhaps], 1, goals) == [perhaps]
    assert promising([never, surely, perhaps], 2, goals) == [perhaps, surely]


def test_of_two_objectives_all_stay_that_may_be_on_the_front():
    goals = _goals("cycles", "1000 - cycles")
    trials = [_trial(cycles) for cycles in (300, 100, 200)]
    assert promising(trials, 1, goals) == [trials[1], trials[2], trials[0]]


@pytest.mark.parametrize(
    ("points", "places"),
    [
        ([(1, 5), (2, 3), (3, 4), (4, 1)], [0, 1, 3]),
        ([(1, 1), (1, 2), (2, 1)], [0]),
        ([(2, 2), (1, 3), (2, 2)], [1, 0, 2]),  # equal ones are there together
        ([], []),
    ],
)
def test_a_front_is_what_nothing_is_better_than_in_both(points, places):
    assert front(points) == places


@pytest.mark.parametrize("minimise", ["1" * 400, "cycles * 1e308 * 1e308"])
def test_an_objective_of_which_there_is_no_number_is_refused(minimise):
    with pytest.raises(StudyError, match=r"minimise '.*': gives .*: must be a number") as caught:
        _goals(minimise).of(_trial(100))
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("minimise", "said"),
    [
        (["secnds"], "secnds: must be a part of a result (cycles, seconds, ...), a parameter or a machine's key; did"),
        (["a", "b", "c"], "3 expressions: must be at most 2"),
        (["cycles", "cycles"], "appears more than once"),
        (["cycles("], "is not an expression"),
    ],
)
def test_an_objective_that_is_not_understood_is_refused(minimise, said):
    with pytest.raises(StudyError) as caught:
        _goals(*minimise)
    assert said in str(caught.value)


@pytest.fixture(scope="module")
def cheaper(quick_builds, store):
    """The least latency reduction with which it is fast enough."""
    over = {"memory.latency": [200, 400, 800], "side": [4, 16]}
    base = {"n": 5000}
    times = {
        (latency, side): run(
            "vector-add", load_machine("gtx480").replace({"memory.latency": latency}), {**base, "side": side},
            what_if=False,
        ).result.cycles
        for latency in over["memory.latency"]
        for side in over["side"]
    }  # fmt: skip
    limit = sorted(times.values())[2]
    found = tune(
        "vector-add", "gtx480", over, base, f"cycles <= {limit}", minimise="1 / memory.latency", store=store, workers=1
    )
    return times, limit, found


def test_a_machines_key_is_an_axis_and_the_cheapest_that_is_fast_enough_is_found(cheaper):
    times, limit, found = cheaper
    assert {tuple(trial.configuration.values()): trial.cycles for trial in found.trials} == times
    fast_enough = {point for point, cycles in times.items() if cycles <= limit}
    assert {tuple(trial.configuration.values()) for trial in found.done} == fast_enough
    assert found.best.configuration["memory.latency"] == max(latency for latency, _ in fast_enough)
    assert found.unmet == len(times) - len(fast_enough)


def test_a_front_has_what_no_other_beats_in_both(cheaper, store):
    times, _, _ = cheaper
    over = {"memory.latency": [200, 400, 800], "side": [4, 16]}
    tuned = tune(
        "vector-add", "gtx480", over, {"n": 5000}, minimise=["cycles", "-memory.latency"], store=store, workers=1
    )
    beaten = {
        one
        for one, cycles in times.items()
        for other, others in times.items()
        if (others <= cycles and other[0] >= one[0]) and (others < cycles or other[0] > one[0])
    }
    assert {tuple(trial.configuration.values()) for trial in tuned.front} == times.keys() - beaten


def test_where_nothing_meets_the_conditions_it_is_told(machine, store):
    with pytest.raises(StudyError, match=r"--where 'cycles <= 1': none of the 2 configurations meets it; the fast"):
        tune("vector-add", machine, {"side": SIDES[:2]}, {"n": 5000}, "cycles <= 1", store=store, workers=1)


def test_a_cluster_takes_the_place_of_processes(tuned, machine, store, monkeypatch):
    class Cluster(Serial):
        def __init__(self, where):
            super().__init__()
            assert where == "tcp://10.0.0.1:8786"

    monkeypatch.setattr(dask, "Cluster", Cluster)
    again = tune("vector-add", machine, {"side": SIDES}, {"n": 5000}, store=store, workers="tcp://10.0.0.1:8786")
    assert again.best == tuned.best


class Evil:
    """What a worker may give instead."""

    def __repr__(self):
        return "evil\x1b[2J" * 1000


@pytest.mark.parametrize(
    "given",
    [
        *(None, "a text", {"cycles": 1}, Evil(), math.nan, -1.0, Trial({}, status=Evil()), Trial({}, reason=Evil())),
        *(Trial({}, cycles=math.nan), Trial({}, cycles="few"), Trial({}, seconds=-1.0), Trial({}, registers=Evil())),
        *(Trial({}, predictions=Evil()), Trial({}, counted={"issued": Evil()}), Trial({}, counted={1: 1.0})),
    ],
)
def test_what_is_no_trial_is_one_that_failed_and_others_go_on(given, quick_builds, machine, tmp_path, monkeypatch):
    """As a worker of a cluster might give it, once."""
    at_first, left = Serial.run, [given]

    def run(self, tasks):
        for task, outcome in at_first(self, tasks):
            yield task, left.pop() if left else outcome

    monkeypatch.setattr(Serial, "run", run)
    own = tmp_path / "trials.sqlite"
    found = tune("vector-add", machine, {"side": SIDES[:2]}, {"n": 5000}, store=own, workers=1).trials
    (failed,) = [trial for trial in found if trial.status == "failed"]
    assert failed.reason.startswith("its computation returned no result: ")
    assert failed.reason.isprintable()
    assert failed.configuration in [{"side": side} for side in SIDES[:2]]


# Samplers


def test_a_sampler_chooses_the_same_again_and_what_is_kept_is_not_simulated_again(machine, tmp_path, monkeypatch):
    pytest.importorskip("optuna", reason="Optuna is not installed")
    over = {"side": "1:16", "memory.latency": "100:1000"}
    given = {"where": "side % 2 == 0", "sampler": {"name": "tpe", "trials": 10, "seed": 7}, "workers": 1}
    first = tune("vector-add", machine, over, {"n": 500}, store=tmp_path / "s.sqlite", **given)
    assert (len(first.trials), first.sampled) == (10, 16 * 901)
    assert all(trial.configuration["side"] % 2 == 0 for trial in first.trials)
    monkeypatch.setattr(search, "attempted", None)
    monkeypatch.setattr(search, "tried", None)
    assert tune("vector-add", machine, over, {"n": 500}, store=tmp_path / "s.sqlite", **given).trials == first.trials


@pytest.mark.parametrize(
    ("sampler", "said"),
    [
        ("tpee", "sampler = 'tpee': must be one of tpe, nsga2, random; did you mean 'tpe'?"),
        ({"name": "tpe", "trials": 0}, "sampler: trials = 0: must be a whole number from 1"),
        ({"name": "tpe", "sede": 0}, "sampler: sede: unknown"),
    ],
)
def test_a_sampler_that_is_not_known_is_refused(machine, sampler, said):
    with pytest.raises(StudyError) as caught:
        tune("vector-add", machine, {"side": SIDES}, sampler=sampler, store=":memory:", workers=1)
    assert said in str(caught.value)


def test_without_optuna_it_is_told_what_to_install(machine, monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(StudyError, match=r"--sampler needs optuna, which is not installed: pip install '\.\[optuna\]'"):
        tune("vector-add", machine, {"side": SIDES}, sampler="tpe", store=":memory:", workers=1)


def test_a_space_too_large_for_all_asks_for_a_sampler(machine):
    over = {"side": SIDES, "memory.latency": "1:40000"}
    with pytest.raises(StudyError, match=r"120,000 configurations: must be at most 100,000, or .* --sampler tpe"):
        tune("vector-add", machine, over, store=":memory:", workers=1)


# Kernel Tuner's problems

PROBLEM = {
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[32, 64, 96]"},
            {"Name": "tile", "Type": "int", "Values": "list(range(1, 3))"},
        ],
        "Conditions": [{"Parameters": ["block_size_x", "tile"], "Expression": "block_size_x * tile < 128"}],
    },
    "KernelSpecification": {
        "Language": "CUDA",
        "KernelName": "scale",
        "KernelFile": "scale.cu",
        "ProblemSize": [1000],
        "GlobalSize": {"X": "ProblemSize[0] // block_size_x"},
        "LocalSize": {"X": "block_size_x"},
        "GridDivX": ["block_size_x", "tile"],
        "Arguments": [
            {"Type": "float", "MemoryType": "Vector", "Size": "ProblemSize[0]", "FillType": "Random"},
            {"Type": "int32", "MemoryType": "Scalar", "FillValue": 1000},
        ],
    },
}
SCALE = """
__global__ void scale(float* x, int n)
{
    for (int k = 0; k < tile; k++) {
        int i = (blockIdx.x * tile + k) * block_size_x + threadIdx.x;
        if (i < n) x[i] *= 2;
    }
}
"""


@pytest.fixture
def problem(tmp_path):
    (tmp_path / "scale.cu").write_text(SCALE)

    def written(**changes):
        document = {**PROBLEM, "KernelSpecification": {**PROBLEM["KernelSpecification"], **changes}}
        (tmp_path / "problem.json").write_text(json.dumps(document))
        return str(tmp_path / "problem.json")

    return written


def test_a_problem_is_its_kernel_with_values_and_conditions(problem):
    read = read_problem(problem())
    assert read.over == {"block_size_x": [32, 64, 96], "tile": [1, 2]}
    assert read.where == ("block_size_x * tile < 128",)
    parameters = read.kernel.resolve({"block_size_x": 96, "tile": 2})
    assert read.kernel.defines(parameters) == {"block_size_x": "96", "tile": "2"}
    arrays = read.kernel.inputs(parameters)
    (launch,) = read.kernel.launches(parameters, arrays)
    assert (launch.grid, launch.block) == ((6, 1, 1), (96, 1, 1))  # ceil(1000 / 192)
    assert [(array.dtype.name, array.shape) for array in arrays.values()] == [("float32", (1000,))]


def test_a_problem_s_options_are_those_of_its_compiler(problem):
    assert "-DHALF=2" in read_problem(problem(CompilerOptions=["-DHALF=2"])).kernel.options
    with pytest.raises(KernelError, match=r"CompilerOptions = \['-O3', 1\]: must be texts"):
        read_problem(problem(CompilerOptions=["-O3", 1]))


def test_a_global_size_is_in_blocks_or_in_threads(problem):
    for kind, blocks in (("CUDA", 31), ("OpenCL", 1)):
        kernel = read_problem(problem(GridDivX=None, GlobalSizeType=kind)).kernel
        parameters = kernel.resolve({})
        (launch,) = kernel.launches(parameters, kernel.inputs(parameters))
        assert launch.grid == (blocks, 1, 1)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"Language": "OpenCL"}, "KernelSpecification.Language = 'OpenCL': must be CUDA"),
        ({"KernelFile": "none.cu"}, "KernelFile = 'none.cu': no such file next to it"),
        ({"LocalSize": {"X": "blok_size_x"}}, "LocalSize.X = 'blok_size_x': blok_size_x: is not a parameter"),
        ({"LocalSize": {"X": "__import__('os')"}}, "are allowed"),
        ({"Arguments": [{"Type": "float4", "MemoryType": "Scalar"}]}, "Arguments[0].Type = 'float4': must be one of"),
        ({"Arguments": [{"Type": "float", "MemoryType": "Symbol"}]}, "Arguments[0]: MemoryType = 'Symbol'"),
    ],
)
def test_what_is_not_understood_of_a_problem_is_refused_with_its_key(problem, changes, said):
    with pytest.raises(KernelError) as caught:
        read_problem(problem(**changes))
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tile % % 2", "problem.json: ConfigurationSpace.Conditions[1].Expression 'tile % % 2': is not an expression"),
        ("tiel > 1", "Conditions[1].Expression = 'tiel > 1': tiel: is not a parameter; did you mean 'tile'?"),
        ("cycles < 5", "Conditions[1].Expression = 'cycles < 5': cycles: is not a parameter"),
    ],
)
def test_a_condition_of_a_problem_that_is_not_understood_is_refused_with_its_key(problem, text, said):
    path = problem()
    document = json.loads(Path(path).read_text())
    document["ConfigurationSpace"]["Conditions"].append({"Expression": text})
    Path(path).write_text(json.dumps(document))
    with pytest.raises(KernelError) as caught:
        read_problem(path)
    assert said in str(caught.value)


@pytest.mark.parametrize("text", ["[print('run')]", "list(print('run'))", "range(print('run'), 2)", "", "[[1]]", "{}"])
def test_values_of_a_problem_are_read_and_not_run(tmp_path, capsys, text):
    space = {"TuningParameters": [{"Name": "tile", "Type": "int", "Values": text}]}
    (tmp_path / "problem.json").write_text(json.dumps({**PROBLEM, "ConfigurationSpace": space}))
    with pytest.raises(KernelError, match=r"TuningParameters\[0\]\.Values = .*: must be a"):
        read_problem(tmp_path / "problem.json")
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("range(0, 200000)", "200000 values: must be at most 100000"),
        ("range(0, 1" + "0" * 5000 + ")", "must be a list of numbers or texts"),
        ("[0.5, 1" + "0" * 400 + "]", "must be a list of numbers or texts"),
        ("[1e999]", "must be a list of numbers or texts"),
    ],
)
def test_numbers_that_no_parameter_has_are_refused_and_none_is_left_out(problem, tmp_path, text, said):
    problem()
    space = {"TuningParameters": [{"Name": "tile", "Type": "int", "Values": text}]}
    (tmp_path / "problem.json").write_text(json.dumps({**PROBLEM, "ConfigurationSpace": space}))
    with pytest.raises(KernelError, match=rf"TuningParameters\[0\]\.Values = .*: {said}"):
        read_problem(tmp_path / "problem.json")


@pytest.mark.parametrize(
    ("argument", "said"),
    [
        ({"Type": [], "MemoryType": "Scalar"}, "Type = []: must be one of"),
        ({"Type": "int32", "MemoryType": "Scalar", "FillValue": 1.5}, "FillValue = 1.5: must be a whole number"),
        ({"Type": "float", "MemoryType": "Scalar", "FillValue": float("inf")}, "FillValue = inf: must be a number"),
    ],
)
def test_a_value_that_its_argument_can_not_have_is_refused(problem, argument, said):
    with pytest.raises(KernelError) as caught:
        read_problem(problem(Arguments=[argument]))
    assert f"Arguments[0].{said}" in str(caught.value)


def test_a_problem_that_was_changed_is_read_anew(problem, monkeypatch):
    """As in a notebook, where one process tunes again and again."""
    grids = []

    def screen(subject, configuration, is_bounded):
        parameters = subject.kernel.resolve(configuration)
        grids.extend(launch.grid[0] for launch in subject.kernel.launches(parameters, {}))
        return Trial(configuration, "failed", "not run")

    monkeypatch.setattr(search, "screened", screen)
    for size in (96, 192):
        with pytest.raises(StudyError, match="not run"):
            tune(problem(ProblemSize=[size]), "v100", {"block_size_x": [96], "tile": [1]}, store=":memory:", workers=1)
    assert grids == [1, 2]


def test_a_problem_is_tuned_as_its_kernel_is(problem):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    tuned = tune(problem(), "v100", store=":memory:", workers=1)
    assert [tuple(trial.configuration.values()) for trial in tuned.trials] == [(32, 1), (32, 2), (64, 1), (96, 1)]
    assert tuned.excluded == 2
    assert all(trial.status == "done" for trial in tuned.trials)
