"""Pipelines of libcu++ are timed: no engine waits for an arrival that nothing records."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.engine import simulate
from simtmm.programs.program import cuda_program
from simtmm.recorder.selection import Selection
from simtmm.trace.lower import lower
from simtmm.workload import ACTION_SHIFT, ARRIVE_COPIED, MBARRIER

HERE = Path(__file__).parent


# Warps that copy, batches and blocks
@pytest.mark.parametrize(("kernel", "arrivals"), [("pipe", 1 * 7 * 3), ("unified", 2 * 5 * 2)])
def test_a_pipeline_waits_for_the_copies_of_its_threads(monkeypatch, kernel, arrivals):
    monkeypatch.chdir(HERE)
    machine = load_machine("h100-sxm")
    outcome = cuda_program(["pipelines.cu"], selection=Selection(kernel)).run(machine)
    assert (outcome.status, outcome.recorded) == (0, 1)
    workload = lower(outcome.trace, machine)
    actions = workload.amount[workload.kind == MBARRIER] >> ACTION_SHIFT
    assert (actions == ARRIVE_COPIED).sum() == arrivals
    assert simulate(machine, workload, "fast").ticks == simulate(machine, workload, "reference").ticks


def test_who_has_dropped_out_is_not_waited_for(monkeypatch):
    monkeypatch.chdir(HERE)
    machine = load_machine("h100-sxm")
    outcome = cuda_program(["pipelines.cu"], selection=Selection("drops")).run(machine)
    assert (outcome.status, outcome.recorded) == (0, 1)
    workload = lower(outcome.trace, machine)
    assert simulate(machine, workload, "fast").ticks == simulate(machine, workload, "reference").ticks
    (left_out,) = [line for line in outcome.trace.info.warnings if "leaves out" in line]
    assert "waits at mbarriers that threads drop out of (in drops)" in left_out
