"""Whole commands as functions give what the library gives for the same."""

from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm.analysis import run as runs
from simtmm.analysis.comparison import compare as comparing
from simtmm.analysis.prediction.predict import predict_paper, predict_program
from simtmm.calibration.calibrate import calibrate as fit
from simtmm.calibration.latency_levels import load_latency
from tests.recorder.conftest import needs_compiler

GOLDEN = Path(__file__).parents[1] / "golden"
TRACES = Path(__file__).parents[2] / "traces"
TRACE = str(TRACES / "list-ranking-wyllie.parquet")


def test_a_run_takes_the_name_of_a_machine():
    done = simtmm.run(TRACE, "gtx480")
    expected = runs.run(TRACE, simtmm.load_machine("gtx480"))
    assert (done.result, done.counts, done.predictions) == (expected.result, expected.counts, expected.predictions)
    assert done.machine.name == "GeForce GTX 480"


def test_a_run_takes_a_trace_and_no_parameters_with_it():
    trace = simtmm.load_trace(TRACE)
    assert simtmm.run(trace, "gtx480").result == simtmm.run(TRACE, "gtx480").result
    with pytest.raises(simtmm.SimtmmError, match=r"trace: parameters \(n\) can only be given to a kernel"):
        simtmm.run(trace, "gtx480", {"n": 8})


@needs_compiler
def test_a_run_takes_a_kernel_that_is_loaded():
    kernel = simtmm.load_kernel("vector-add")
    done = simtmm.run(kernel, "gtx480", {"n": 100})
    assert (done.program, done.parameters["n"]) == ("vector-add", 100)


def test_a_run_of_nothing_is_that_of_the_command():
    assert simtmm.run().result.cycles == simtmm.run(TRACE, "gtx280").result.cycles


TABLES = {
    "program": "list-ranking",
    "machines": ["gtx280"],
    "axes": {"n": [1000, 2000, 4000]},
    "compute": ["tmm"],
}


def test_a_sweep_takes_the_tables_of_a_study_file_or_its_path(tmp_path):
    (tmp_path / "study.toml").write_text(
        'program = "list-ranking"\nmachines = ["gtx280"]\ncompute = ["tmm"]\n[axes]\nn = [1000, 2000, 4000]\n'
    )
    of_tables = simtmm.sweep(TABLES).to_table().to_pydict()
    of_file = simtmm.sweep(str(tmp_path / "study.toml")).to_table().to_pydict()
    assert of_tables == of_file
    assert of_tables["n"] == [1000, 2000, 4000]
    assert of_tables["status"] == ["done"] * 3
    assert np.all(np.diff(of_tables["tmm.cycles"]) > 0)


def test_a_sweep_keeps_its_points_where_it_is_reported(tmp_path):
    study = {"program": TRACE, "axes": {"memory.latency": [200, 400]}, "compute": ["tmm"]}
    heard = []
    store = tmp_path / "points.sqlite"
    first = simtmm.sweep(study, store, workers=1, watch=lambda *reported: heard.append(reported))
    assert heard[-1] == ("points", 2, 2)
    heard.clear()
    again = simtmm.sweep(study, store, workers=1, watch=lambda *reported: heard.append(reported))
    assert [reported for reported in heard if reported[0] == "points"] == []
    assert again.to_table().equals(first.to_table())


@pytest.mark.parametrize("machines", ["gtx480", ["gtx480"], (simtmm.load_machine("gtx480"),)])
def test_a_comparison_takes_one_or_several_machines_by_name_or_as_they_are(machines):
    comparison = simtmm.compare(TRACE, machines, models="tmm")
    expected = comparing.compare([TRACE], {"gtx480": simtmm.load_machine("gtx480")}, models=["tmm"])
    (case,), (other,) = comparison.cases, expected.cases
    assert comparison.series == expected.series
    assert (case.result, case.predictions) == (other.result, other.predictions)


def test_a_comparison_reads_measured_times(tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("kernel,machine,seconds\nlist-ranking-wyllie,gtx480,0.001\n")
    comparison = simtmm.compare(TRACE, "gtx480", models=["tmm"], measured=times)
    assert comparison.reference == "measured"
    assert comparison.cases[0].measured_seconds == 0.001


def test_a_calibration_takes_the_files_of_measurements_and_the_name_of_a_base():
    latency = GOLDEN / "v100_latency.csv"
    calibration = simtmm.calibrate(latency, name="mine", base="v100", gpu="v100")
    expected = fit("mine", load_latency(latency, "v100"), base=simtmm.load_machine("v100"))
    assert calibration.machine.digest() == expected.machine.digest()
    assert calibration.machine.sources["memory.l2.latency"].source == "v100_latency.csv, v100"


def test_kernels_are_reported_by_name_with_a_line_each():
    reported = simtmm.kernels()
    assert list(reported) == sorted(reported)
    assert reported["stream"].startswith(simtmm.load_kernel("stream").about.strip().split("\n")[0].rstrip("."))
    assert all("\n" not in line and line for line in reported.values())


def test_machines_are_reported_by_name_with_a_line_each():
    reported = simtmm.machines()
    assert list(reported) == sorted(reported)
    assert reported["gtx480"] == simtmm.load_machine("gtx480").description
    assert all("\n" not in line and line for line in reported.values())


def test_predictions_of_a_trace_or_an_algorithm_are_those_of_the_command():
    machine = simtmm.load_machine("gtx480")
    counted = simtmm.predictions(TRACE, "gtx480", models="tmm", constants={"a1": 2, "a0": 1})
    expected = predict_program(TRACE, machine, models=["tmm"], constants={"a1": 2, "a0": 1})
    assert counted == expected
    assert simtmm.predictions(simtmm.load_trace(TRACE), machine).predictions["tmm"] == expected.predictions["tmm"]
    of_paper = simtmm.predictions("list-ranking", machine, {"n": 1e6}, threads=32, measured=1.0)
    assert of_paper.predictions == predict_paper("list-ranking", machine, {"n": 1e6}, 32).predictions
    assert of_paper.departed.seconds == 1.0


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ({"source": TRACE, "threads": 4}, "threads: is for an algorithm, not for a kernel or trace"),
        ({"source": "list-ranking", "models": ["tmm"]}, "models: is for a kernel or trace, not for an algorithm"),
        ({"source": "list-ranking", "parameters": {"n": "many"}}, "n = 'many': must be a number"),
        ({"source": TRACE, "unit": "s"}, "unit: needs constants"),
    ],
)
def test_a_choice_that_is_not_for_the_source_is_refused(call, line):
    with pytest.raises(simtmm.SimtmmError, match=line):
        simtmm.predictions(**call)


def test_findings_are_those_of_the_study_a_frame_of_each_kind():
    found = simtmm.findings(simtmm.sweep(TABLES))
    (elasticity,) = found.elasticities
    assert found.to_frame("elasticities").to_dict("records") == [vars(elasticity)]
    with pytest.raises(simtmm.SimtmmError, match="kind = 'knee': must be one of elasticities, "):
        found.to_frame("knee")
