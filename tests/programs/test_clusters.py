"""Programs whose blocks of a cluster do different things are timed: no engine waits for what never comes."""

from pathlib import Path

from simtmm import load_machine
from simtmm.engine import simulate
from simtmm.programs.program import cuda_program
from simtmm.trace.lower import lower

HERE = Path(__file__).parent


def test_blocks_that_do_different_things_are_timed_by_both_engines(monkeypatch):
    monkeypatch.chdir(HERE)
    machine = load_machine("h100-sxm")
    outcome = cuda_program(["cluster_exchange.cu"]).run(machine)
    assert outcome.status == 0
    workload = lower(outcome.trace, machine)
    assert simulate(machine, workload, "fast").ticks == simulate(machine, workload, "reference").ticks
    (left_out,) = [line for line in outcome.trace.info.warnings if "leaves out" in line]
    assert "for blocks of a cluster that do something else (in exchange)" in left_out
