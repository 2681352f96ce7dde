"""Samples in predictions, comparisons and sweeps: times and counts with their intervals, kept apart from whole ones."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

import simtmm
from simtmm import load_machine
from simtmm.analysis.comparison.compare import compare
from simtmm.analysis.prediction.predict import predict_program
from simtmm.analysis.run import run
from simtmm.errors import EngineError, StudyError
from simtmm.report.compare import describe_comparison
from simtmm.report.studies.sweep import describe_study
from simtmm.sampling.simulation import _counted_half
from simtmm.sampling.stretches import stretches_of
from simtmm.study.design.by_sample import BySample
from simtmm.study.evaluation import sampled_cases
from simtmm.study.findings import findings
from tests.cli.conftest import called as called
from tests.recorder.conftest import quick_builds as quick_builds

pytestmark = pytest.mark.usefixtures("quick_builds")
FEWER = {"cores.groups": 2, "memory.partitions": 2}
MACHINE = load_machine("gtx480").replace(FEWER)
STREAM, SMALL = 1 << 18, 1 << 10
STUDY = {
    "program": "stream", "machines": ["gtx480"], "set": FEWER, "axes": {"n": [STREAM, SMALL]},
    "compute": ["simulated", "tmm"],
}  # fmt: skip


def shown(parts):
    console = Console(file=io.StringIO(), width=200, highlight=False)
    for part in parts:
        console.print(part)
    return console.file.getvalue()


@pytest.fixture(scope="module")
def sampled(quick_builds):
    return run("stream", MACHINE, {"n": STREAM}, sample="auto", what_if=False, models=["tmm"])


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return tmp_path_factory.mktemp("sampled") / "study.sqlite"


@pytest.fixture(scope="module")
def swept(quick_builds, store):
    return simtmm.sweep({**STUDY, "sample_error": 0.03}, store, workers=1)


def test_a_sampled_run_says_what_it_was_made_of_as_any_other_does(sampled):
    whole = run("stream", MACHINE, {"n": SMALL}, what_if=False, models=["tmm"])
    assert sampled.provenance.keys() == whole.provenance.keys()
    assert sampled.provenance["machine"] == whole.provenance["machine"] == MACHINE.digest()
    assert sampled.provenance["workload"] == sampled.sampled.sample.workload.digest()


def test_predictions_take_the_counts_of_a_sample_with_their_interval(sampled):
    predicted = predict_program("stream", MACHINE, {"n": STREAM}, ["tmm"], sample="auto")
    assert predicted.predictions["tmm"] == predict_program("stream", MACHINE, {"n": STREAM}, ["tmm"]).predictions["tmm"]
    left_out = 1 - predicted.sampled.simulated_blocks / predicted.sampled.blocks
    assert predicted.sampled.counts_error == pytest.approx(0.01 * left_out)  # equal blocks: what no repetition shows
    assert predicted.to_dict()["sampled"]["counts_error"] == predicted.sampled.counts_error


def test_a_comparison_has_the_times_of_samples_and_small_cases_whole(sampled):
    made = compare(["stream"], {"small": MACHINE}, {"n": [STREAM, SMALL]}, ["tmm"], engine=BySample(0.03))
    large, small = made.cases
    assert large.result.ticks == sampled.result.ticks
    assert large.half_interval("simulated") == sampled.sampled.error > 0
    assert large.predictions["tmm"] == sampled.predictions["tmm"]
    assert small.half_interval("simulated") == 0
    assert small.sampled["words"].startswith("all blocks were simulated")
    text = shown(describe_comparison(made))
    assert f"± {100 * sampled.sampled.error:.2g} %" in text
    assert sampled.sampled.words in text


def test_a_comparison_samples_by_built_in_rules_and_refuses_those_of_files(tmp_path):
    (tmp_path / "rules.py").write_text("def last(ready, group):\n    return ready[-1]\n")
    by = BySample(0.03)
    both = compare(["stream"], {"small": MACHINE}, {"n": [STREAM]}, ["tmm"], engine=by, rules=["oldest"])
    assert [case.machine_name for case in both.cases] == ["small", "small, oldest"]
    assert all(case.half_interval("simulated") > 0 for case in both.cases)
    with pytest.raises(StudyError, match="rule last: can't be sampled: leave out the sample or the rule"):
        compare(["stream"], {"small": MACHINE}, {"n": [SMALL]}, ["tmm"], engine=by, rules=[tmp_path / "rules.py"])


def test_predictions_of_an_opened_kernel_are_those_of_its_name():
    by_name, opened = (
        predict_program(source, MACHINE, {"n": STREAM}, ["tmm"], sample="auto")
        for source in ("stream", simtmm.load_kernel("stream"))
    )
    assert by_name.sampled.counts_error == opened.sampled.counts_error > 0
    assert by_name.predictions == opened.predictions


def test_a_sweep_has_the_times_of_samples(sampled, swept):
    large, small = swept.rows
    assert large.cycles("simulated") == sampled.result.cycles
    assert large.cycles("tmm") == sampled.predictions["tmm"].cycles
    assert large.results["simulated"]["sampled"]["error"] == sampled.sampled.error
    assert small.results["simulated"]["sampled"]["error"] == 0
    text = shown(describe_study(swept, findings(swept), "study.sqlite"))
    assert f"known to within ± {100 * sampled.sampled.error:.2g} %" in text


def test_a_sampled_point_is_kept_and_a_whole_one_is_another(swept, store, monkeypatch):
    monkeypatch.setattr(sampled_cases, "sampled_kernel", None)
    again = simtmm.sweep({**STUDY, "sample_error": 0.03}, store, workers=1)
    assert [row.cycles("simulated") for row in again.rows] == [row.cycles("simulated") for row in swept.rows]
    tables = {**STUDY, "axes": {"n": [SMALL]}}
    (whole,) = simtmm.sweep(tables, store, workers=1).rows
    assert "sampled" not in whole.results["simulated"]
    assert whole.cycles("simulated") == swept.rows[1].cycles("simulated")


def test_how_long_a_sampled_study_takes_is_estimated(called, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    words = ("sweep", "stream", "--vary", f"n={SMALL},2048", "--sample", "auto", "-j", "1", "--dry-run", "--json")
    assert json.loads(called(*words)[1])["to_compute"] == 2


@pytest.mark.parametrize("shape", [lambda at: np.ones(len(at)), lambda at: 1 + at / 1000, lambda at: 1 + (at % 7)])
def test_counts_of_unequal_blocks_lie_in_their_interval(shape):
    blocks = 4000
    plan = stretches_of(blocks, 10, 8, 10, np.random.default_rng(0))
    events = shape(plan.chosen)
    whole, estimated = shape(np.arange(blocks)).sum(), events.mean() * blocks
    assert abs(estimated - whole) <= _counted_half(plan, events) * estimated + 1e-9 * whole


def test_what_can_not_be_sampled_is_refused():
    with pytest.raises(EngineError, match=r"error = 0\.001: must be above 0\.01"):
        BySample(0.001)
    with pytest.raises(StudyError, match="sample_error: algorithm list-ranking: can't be sampled"):
        simtmm.sweep({"program": "list-ranking", "axes": {"n": [1000]}, "sample_error": 0.03})
    with pytest.raises(StudyError, match="sample_error: engine 'reference': can't be sampled"):
        simtmm.sweep({**STUDY, "engine": "reference", "sample_error": 0.03})


@pytest.mark.parametrize("verb", ["predict", "compare", "sweep"])
def test_an_error_without_a_sample_is_one_line(called, verb):
    status, _, err = called(verb, "stream", "--error", "3%")
    assert (status, err) == (2, "simtmm: error: --error 3%: needs --sample auto\n")
