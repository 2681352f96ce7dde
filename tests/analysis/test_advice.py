"""Advice on launch configurations: by simulation, and beside it the models' choice."""

import pytest

from simtmm import load_machine, lower, record, simulate
from simtmm.analysis.tuning.advice import advise, cycles_of
from simtmm.analysis.tuning.launch_shapes import launch_shapes
from simtmm.analysis.tuning.tune import DEFAULT_MODELS
from simtmm.errors import KernelError, StudyError
from simtmm.kernel import load_kernel
from tests.recorder.conftest import quick_builds as quick_builds

pytestmark = pytest.mark.usefixtures("quick_builds")
TRIED = {"threads": [32, 64, 256], "sub_block": [4, 8, 96]}


@pytest.fixture(scope="module")
def advice(quick_builds):
    return advise("apsp-minplus", "gtx480", {"n": 16}, vary=TRIED, workers=1)


def test_the_best_by_simulation_is_the_fastest_of_all_that_can_run(advice):
    machine = load_machine("gtx480")
    times = {}
    for threads in TRIED["threads"]:
        for sub_block in (4, 8):  # 96 asks for more shared memory than there is
            trace = record("apsp-minplus", {"n": 16, "threads": threads, "sub_block": sub_block})
            times[threads, sub_block] = simulate(machine, lower(trace, machine)).cycles
    best = advice.choices[0]
    assert best.by == "simulated"
    assert best.cycles == best.simulated == min(times.values())
    assert best.slowdown == 1
    fastest = min((cycles, threads) for (threads, _), cycles in times.items())
    assert (best.configuration["threads"], best.cycles) == (fastest[1], fastest[0])
    assert best.ties == list(times.values()).count(best.cycles)


def test_each_model_chooses_its_own_fastest_and_the_simulation_says_what_that_costs(advice):
    assert [choice.by for choice in advice.choices] == ["simulated", *DEFAULT_MODELS]
    trials = advice.ranked()
    for choice in advice.choices[1:]:
        assert choice.cycles == min(cycles_of(trial, choice.by) for trial in trials)
        (trial,) = (each for each in trials if each.configuration == choice.configuration)
        assert choice.simulated == trial.cycles
        assert choice.slowdown == choice.simulated / advice.choices[0].simulated >= 1


def test_configurations_that_do_not_fit_are_reported(advice):
    skipped = [trial for trial in advice.tuned.trials if trial.status == "does not fit"]
    assert {trial.configuration["sub_block"] for trial in skipped} == {96}
    assert len(skipped) == 3
    assert len(advice.ranked()) == 6


def test_the_document_has_the_choices_and_all_configurations(advice):
    document = advice.to_dict()
    assert (document["program"], document["machine"]) == ("apsp-minplus", "GeForce GTX 480")
    defaults = {name: each.default for name, each in load_kernel("apsp-minplus").parameters.items()}
    fixed = {name: value for name, value in defaults.items() if name not in TRIED}
    assert document["parameters"] == {**fixed, "n": 16}
    assert document["choices"][0]["configuration"] == dict(advice.choices[0].configuration)
    statuses = [each["status"] for each in document["configurations"]]
    assert statuses == ["done", "done", "skipped"] * 3
    assert list(document["configurations"][0]["cycles"]) == ["simulated", *DEFAULT_MODELS]


def test_what_is_tried_fits_the_machine_and_the_kernel():
    parameters = load_kernel("apsp-minplus").parameters
    named = {name: parameters[name] for name in ("threads", "sub_block")}
    assert launch_shapes(named, load_machine("gtx280")) == {
        "threads": [32, 64, 128, 256, 512],  # a block of a GTX 280 has at most 512
        "sub_block": [4, 8, 16, 24, 32, 48, 64, 96],
    }
    blocks = {"blocks": load_kernel("facs").parameters["blocks"]}
    assert launch_shapes(blocks, load_machine("gtx280")) == {"blocks": [30, 60, 120, 240, 480]}


def test_what_is_fixed_is_not_tried():
    result = advise(
        "apsp-minplus", "gtx480", {"n": 8, "threads": 32, "sub_block": 8}, vary={"degree": [1, 2]}, workers=1
    )
    assert result.axes == ("degree",)
    with pytest.raises(StudyError, match="name what to vary"):
        advise("apsp-minplus", "gtx480", {"threads": 32, "sub_block": 8})


def test_where_nothing_can_run_it_is_reported():
    with pytest.raises(KernelError, match="parameter threads = 0"):
        advise("apsp-minplus", "gtx480", vary={"threads": [0]})
    with pytest.raises(StudyError, match=r"none of the 1 configurations can run: .*does not fit"):
        advise("apsp-minplus", "gtx480", {"n": 8}, vary={"sub_block": [96]}, workers=1)
