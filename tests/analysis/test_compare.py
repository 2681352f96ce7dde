"""Comparisons: what the numbers are, by hand; what runs, on the shipped trace."""

import math
from dataclasses import replace

import pytest

from simtmm import load_machine, load_trace, predict, simulate
from simtmm.analysis.comparison.compare import compare
from simtmm.analysis.comparison.fitted_lines import Constants, fit_cases
from simtmm.analysis.run import DEFAULT_TRACE, shipped_trace
from simtmm.errors import KernelError, MachineError, ModelError, StudyError
from simtmm.measurement.timings import Timing
from simtmm.model import MODELS, MODELS_OF_ALGORITHMS
from simtmm.model.applications.integrated_apsp import APSP, APSP_SUM
from simtmm.trace.counts import count
from simtmm.trace.lower import lower
from tests.recorder.conftest import needs_compiler
from tests.study.cases import MACHINE, case, comparison, without_clock

TRACE = str(shipped_trace(DEFAULT_TRACE))


def of(made, series):
    (found,) = [agreement for agreement in made.agreements() if agreement.series == series]
    return found


def test_ratios_are_of_the_reference():
    made = comparison(case(1, 100, {"tmm": (50, "memory")}, measured=4e-7))
    (only,) = made.cases
    assert made.ratio(only, "tmm") == 0.5
    assert made.ratio(only, "measured") == pytest.approx(4)  # 4e-7 s at 1 GHz are 400 cycles, in floating point
    against = comparison(only, reference="measured")
    assert against.ratio(only, "tmm") == pytest.approx(1 / 8)


def test_agreement_by_hand():
    """Ratios 1/2, 2, 4, and 1/8, which is the farthest from 1."""
    times = ((100, 50), (200, 400), (300, 1200), (400, 50))
    made = of(comparison(*(case(n, s, {"tmm": (t, "memory")}) for n, (s, t) in enumerate(times))), "tmm")
    assert made.cases == 4
    assert made.geometric_mean == pytest.approx((0.5 * 2 * 4 / 8) ** 0.25)
    assert made.median == pytest.approx(1.25)
    assert made.largest == 0.125
    assert made.mean_error == pytest.approx((0.5 + 1 + 3 + 0.875) / 4)


def test_rank_correlations_by_hand():
    """The ranks 1 2 3 4 and 1 2 4 3: one pair of six is the wrong way round."""
    times = ((1, 10), (2, 20), (3, 40), (4, 30))
    made = of(comparison(*(case(n, s, {"tmm": (t, "memory")}) for n, (s, t) in enumerate(times))), "tmm")
    assert made.spearman == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert made.kendall == pytest.approx((5 - 1) / 6)


@pytest.mark.parametrize("times", [((1, 1), (2, 2)), ((1, 5), (2, 5), (3, 5))])
def test_there_is_no_rank_correlation_of_two_cases_or_of_equal_times(times):
    made = of(comparison(*(case(n, s, {"tmm": (t, "memory")}) for n, (s, t) in enumerate(times))), "tmm")
    assert made.spearman is made.kendall is None


def test_what_binds_the_simulation_is_its_greatest_cause():
    caused = replace(case(1, 100), causes={"memory latency": 0.3, "atomics": 0.6, "no blocks": 0.1})
    assert caused.bound("simulated") == "atomics"
    # What was kept before causes were told has states of core groups
    for state in ("issuing", "memory", "barrier", "empty", "start"):
        time = {name: 60 if name == state else 10 for name in ("issuing", "memory", "barrier", "start", "empty")}
        assert case(1, 100, time=time).bound("simulated") == state


@pytest.mark.parametrize(
    ("cause", "term", "agree"),
    [
        ("memory latency", "memory", (1, 1)),
        ("memory bandwidth", "memory", (1, 1)),
        ("atomics", "compute", (0, 1)),
        ("instruction issue", "compute", (1, 1)),
        ("barriers", "synchronisation", (1, 1)),
        ("dependent instructions", "compute", (0, 0)),
        ("no blocks", "memory", (0, 0)),
    ],
)
def test_causes_are_regimes_in_the_models_words(cause, term, agree):
    one = replace(case(1, 100, {"tmm": (50, term)}), causes={cause: 0.9, "launches": 0.1})
    assert of(comparison(one), "tmm").regimes == agree


def test_regimes_are_counted_where_both_tell_one():
    empty = {"issuing": 1, "memory": 1, "barrier": 0, "start": 0, "empty": 98}
    cases = [
        case(1, 100, {"tmm": (50, "memory")}),
        case(2, 100, {"tmm": (50, "compute")}),
        case(3, 100, {"tmm": (50, "memory")}, time=empty),  # the models have no word for it
    ]
    assert of(comparison(*cases), "tmm").regimes == (1, 2)


def test_a_case_without_the_reference_or_the_series_has_no_ratio_and_does_not_count():
    cases = [case(1, 100, {"tmm": (50, "memory")}, measured=1e-7), case(2, 100, {"tmm": (50, "memory")}), case(3, 100)]
    assert of(comparison(*cases, reference="measured"), "tmm").cases == 1
    assert of(comparison(*cases), "tmm").cases == 2


def test_a_time_of_no_cycles_has_no_ratio():
    assert comparison(case(1, 0, {"tmm": (50, "memory")})).agreements() == []


def test_times_are_in_cycles_where_a_machine_has_no_clock():
    clocked, other = case(1, 1000, {"tmm": (1, "memory")}), without_clock(case(2, 1000))
    assert comparison(clocked).unit == "s"
    assert comparison(clocked).time(clocked, "simulated") == pytest.approx(1e-6)
    assert comparison(clocked, other).unit == "cycles"
    assert comparison(clocked, other).time(clocked, "simulated") == 1000


def test_rows_are_flat_a_row_a_case_and_series():
    rows = comparison(case(8, 100, {"tmm": (50, "memory")}, measured=4e-7)).rows()
    assert [row["series"] for row in rows] == ["simulated", "tmm", "measured"]
    assert rows[1] == {
        "kernel": "kernel", "machine": "hand", "n": 8, "seed": 0, "series": "tmm", "cycles": 50,
        "seconds": pytest.approx(5e-8), "of_simulated": 0.5, "error_percent": -50.0, "bound": "memory",
        "status": "done", "reason": "",
    }  # fmt: skip


def test_a_trace_on_two_machines_is_what_engine_and_models_say():
    made = compare([TRACE], ["gtx280", "gtx480"])
    assert [made_of.machine_name for made_of in made.cases] == ["gtx280", "gtx480"]
    trace = load_trace(TRACE)
    for one in made.cases:
        machine = load_machine(one.machine_name)
        workload = lower(trace, machine)
        assert one.cycles("simulated") == simulate(machine, workload).cycles
        counts = count(trace, machine)
        for model in MODELS:
            assert one.cycles(model) == predict(model, machine, counts).cycles
    assert made.series == ("simulated", *MODELS)
    assert made.reference == "simulated"
    assert not made.failed


def test_only_the_models_asked_for_are_told():
    assert compare([TRACE], ["gtx280"], models=["tmm", "pram"]).series == ("simulated", "tmm", "pram")


def test_measured_times_are_the_reference_where_there_are_some():
    times = [Timing("list-ranking-wyllie", "GTX280", seconds, {"n": "4096"}) for seconds in (1e-4, 3e-4, 2e-4)]
    made = compare([TRACE], ["gtx280", "gtx480"], measured=times)
    assert made.reference == "measured"
    first, second = made.cases
    assert first.measured_seconds == 2e-4  # the median
    assert second.measured_seconds is None
    assert made.ratio(first, "simulated") == pytest.approx(first.result.seconds / 2e-4)
    assert of(made, "simulated").cases == 1


def test_measured_times_of_no_case_are_told():
    times = [Timing("list-ranking-wyllie", "gtx280", 1e-4, {"n": 4096}), Timing("stream", "gtx280", 1.0)]
    assert compare([TRACE], ["gtx280"], measured=times).unmatched == (times[1],)


def test_the_calibrated_model_is_fitted_to_the_reference():
    """A line through four sizes of one program on one machine, by the same reckoning in closed form."""
    x, y = (100.0, 200.0, 300.0, 500.0), (1000, 1900, 3100, 5000)
    cases = [case(n, t, program="p") for n, t in enumerate(y)]
    cases = [replace(one, counts=replace(one.counts, work=w)) for one, w in zip(cases, x, strict=True)]
    made, fits = fit_cases("calibrated", cases, "simulated", Constants(), told_why=True)
    mean_x, mean_y = sum(x) / 4, sum(y) / 4
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True)) / sum((a - mean_x) ** 2 for a in x)
    factor = fits["p on hand"]["a1"] / slope  # f_sched, the same for all
    told = [one.cycles("calibrated") for one in made]
    assert told == pytest.approx([mean_y + slope * (a - mean_x) for a in x])
    assert factor == pytest.approx(1 / 2)  # a block on two groups: f_sched = 2
    assert fits["p on hand"]["cases"] == 4


def test_with_fewer_than_three_sizes_nothing_is_fitted():
    two = [case(1, 100), case(2, 200)]
    made, fits = fit_cases("calibrated", two, "simulated", Constants(), told_why=True)
    assert fits == {}
    assert all("needs 3 different f_app f_sched" in one.errors["calibrated"] for one in made)


def test_given_constants_are_taken():
    made = compare([TRACE], ["gtx280"], constants=Constants({"a1": 2.0, "a0": 7.0}))
    (only,) = made.cases
    f_sched = only.predictions["calibrated"].symbols["f_sched"]
    assert only.cycles("calibrated") == pytest.approx(2 * only.counts.work * f_sched + 7)
    assert made.fits["list-ranking-wyllie on gtx280"] == {"a1": 2.0, "a0": 7.0, "cases": 0}


@needs_compiler
def test_models_of_shortest_paths_are_eq_6_7_and_6_10_with_the_launches_blocks_and_threads():
    names = ["integrated-apsp", "integrated-apsp-sum", "integrated-apsp-fitted"]
    machine = load_machine("gtx480")
    made = compare(
        ["apsp-minplus", TRACE],
        {"gtx480": machine},
        {"n": [32], "sub_block": [8], "threads": [64]},
        names,
        constants=Constants({"a1": 0.957, "a0": 53.9}, "s"),
    )
    paths, other = made.cases
    blocks, active, threads = 16, 8, 8 * 64 / 32  # (n / S_D)^2; of a group at most; per core, of which it has 32
    symbols = {"n": 32, "L": 512, "C": 32, "T": threads, "B_r": blocks, "B_a": active, "P": 480, "Q": 32}
    for name, formula in (("integrated-apsp", APSP), ("integrated-apsp-sum", APSP_SUM)):
        assert paths.cycles(name) == pytest.approx(float(formula.evaluate(**symbols).total))
    assert paths.seconds("integrated-apsp-fitted") == pytest.approx(0.957 * 4 / threads + 53.9)
    assert made.fits["apsp-minplus on gtx480, sqrt(B_r) / T"]["cases"] == 0
    assert set(other.errors) == set(names)
    assert all("is a model of apsp-dynamic-programming" in why for why in other.errors.values())


def test_models_of_an_algorithm_are_left_out_of_other_programs_unless_they_are_asked_for():
    made = compare([TRACE], ["gtx280"])
    assert not set(made.series) & set(MODELS_OF_ALGORITHMS)
    assert not set(made.cases[0].errors) & set(MODELS_OF_ALGORITHMS)


def test_what_a_machine_cannot_hold_is_told_and_the_rest_goes_on():
    small = load_machine("gtx280").replace({"cores.max_threads_per_core": 8})
    made = compare([TRACE], {"small": small, "gtx280": load_machine("gtx280")})
    assert [one.machine_name for one in made.cases] == ["gtx280"]
    ((where, reason),) = made.failed.items()
    assert where == "list-ranking-wyllie, small"
    assert "does not fit" in reason


def test_it_is_one_json_document():
    import json

    document = json.loads(json.dumps(compare([TRACE], ["gtx280"], models=["tmm"]).to_dict(), allow_nan=False))
    (only,) = document["cases"]
    assert only["times"]["tmm"]["ratio"] == pytest.approx(
        only["times"]["tmm"]["cycles"] / only["times"]["simulated"]["cycles"]
    )
    assert document["agreement"][0]["series"] == "tmm"


@needs_compiler
def test_every_combination_of_parameters_runs_on_every_machine():
    made = compare(["vector-add", "copy"], ["gtx280", "ideal"], {"n": [64, "128"], "threads": [32]}, ["tmm"])
    told = [(one.program, one.parameters["n"], one.machine_name) for one in made.cases]
    assert told == [
        (kernel, n, machine) for kernel in ("vector-add", "copy") for n in (64, 128) for machine in ("gtx280", "ideal")
    ]
    assert [made.cases[place].label for place in (0, 4)] == ["vector-add (n=64)", "copy (n=64, threads=32)"]


@needs_compiler
def test_without_kernels_what_was_measured_is_run():
    times = [Timing("vector-add", name, 1e-5, {"n": "64"}) for name in ("GTX280", "geforce gtx 480")]
    made = compare([], measured=times, models=["tmm"])
    told = [(one.machine.name, one.measured_seconds) for one in made.cases]
    assert told == [("GeForce GTX 280", 1e-5), ("GeForce GTX 480", 1e-5)]
    assert made.unmatched == ()


@pytest.mark.parametrize(
    ("error", "message", "call"),
    [
        (ModelError, "model 'tm': unknown; did you mean 'tmm'", {"models": ["tm"]}),
        (StudyError, "reference 'x': must be one of simulated, pram, ", {"reference": "x"}),
        (StudyError, "reference 'measured': needs a file of measured times", {"reference": "measured"}),
        (StudyError, "calibrated: a1, b: must be a1 and a0", {"constants": Constants({"a1": 1, "b": 2})}),
        (KernelError, "parameter 'n': none of these kernels has it", {"parameters": {"n": [1]}}),
    ],
)
def test_wrong_input_is_refused(error, message, call):
    with pytest.raises(error, match=message.replace("(", r"\(")):
        compare([TRACE], ["gtx280"], **call)


def test_nothing_to_compare_is_refused():
    with pytest.raises(StudyError, match="nothing to compare"):
        compare([])
    with pytest.raises(MachineError, match="at least one machine"):
        compare([TRACE])
    with pytest.raises(MachineError, match="machine 'GTX 9': unknown"):
        compare([], measured=[Timing("stream", "GTX 9", 1.0)])
    with pytest.raises(StudyError, match="no measured time matches a case"):
        compare([TRACE], ["gtx280"], measured=[Timing("stream", "gtx280", 1.0)])


def test_the_machine_by_hand_is_what_the_tests_say_of_it():
    assert MACHINE.clock_hz == 1e9
    assert math.isclose(MACHINE.processors, 16)
