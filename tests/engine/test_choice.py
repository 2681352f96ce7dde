"""Which engine runs: a small program need not wait for a compiler."""

import pytest

from simtmm import Machine, Workload, load_machine, simulate
from simtmm.engine import choice
from simtmm.engine.choice import quickest
from simtmm.engine.fast.launches import launch
from simtmm.native import loop

SMALL = Machine.from_dict({
    "name": "small",
    "cores": {"groups": 1, "cores_per_group": 1, "warp_width": 1, "max_threads_per_core": 4},
    "memory": {"latency": 10, "chunk_words": 1},
})  # fmt: skip
EVERY = SMALL.replace({"scheduling.switch": "every-instruction"})


def workload(instructions):
    return Workload.from_dict({"blocks": [{"warps": [[["compute", instructions], ["load", [1]]]]}]}, "drawn")


@pytest.fixture
def nothing_compiled(monkeypatch, tmp_path):
    monkeypatch.setattr(launch.RUN, "_variants", {})
    monkeypatch.setattr(loop, "kept_folder", lambda module: tmp_path)
    return tmp_path


def test_a_small_workload_runs_in_simpy_until_the_fast_engine_is_compiled(nothing_compiled):
    assert quickest(SMALL, workload(3)) == "reference"
    result = simulate(SMALL, workload(3), "fast")
    assert quickest(SMALL, workload(3)) == "fast"
    assert result.ticks == simulate(SMALL, workload(3), "reference").ticks


def test_who_comes_again_has_it_compiled(nothing_compiled, monkeypatch):
    assert quickest(SMALL, workload(3)) == "reference"
    monkeypatch.setattr(launch.RUN, "_variants", {})  # as in another process
    assert quickest(SMALL, workload(3)) == "fast"
    assert quickest(EVERY, workload(3)) == "reference"  # another kind of machine


def test_what_is_compiled_is_known_to_other_processes(nothing_compiled, monkeypatch):
    simulate(SMALL, workload(3), "fast")
    monkeypatch.setattr(launch.RUN, "_variants", {})
    assert quickest(SMALL, workload(3)) == "fast"
    assert quickest(EVERY, workload(3)) == "reference"  # another kind of machine
    for kept in nothing_compiled.iterdir():
        kept.unlink()
    assert quickest(SMALL, workload(3)) == "reference"


def test_without_a_folder_only_what_ran_here_is_compiled(monkeypatch, nothing_compiled):
    monkeypatch.setattr(loop, "kept_folder", lambda module: None)
    assert quickest(SMALL, workload(3)) == "reference"
    simulate(SMALL, workload(3), "fast")
    assert quickest(SMALL, workload(3)) == "fast"


@pytest.mark.parametrize(("machine", "large"), [(SMALL, False), (EVERY, True)], ids=["on-stall", "every-instruction"])
def test_instructions_count_where_each_is_granted_by_itself(nothing_compiled, machine, large):
    assert (quickest(machine, workload(choice.SMALL)) == "fast") is large


def test_a_large_workload_is_worth_compiling_for(nothing_compiled, monkeypatch):
    monkeypatch.setattr(choice, "SMALL", 1)
    assert quickest(load_machine("gtx480"), workload(1)) == "fast"


def test_a_users_rule_is_a_kind_of_its_own(nothing_compiled):
    """The engine is compiled apart for rules, and a small run need not wait for it either."""
    simulate(SMALL, workload(3), "fast")
    assert quickest(SMALL, workload(3), own_rule=True) == "reference"
    assert quickest(SMALL, workload(3), own_rule=True) == "fast"  # who comes again
    simulate(EVERY, workload(3), "fast", scheduler=lambda ready, group: ready[0])
    assert quickest(EVERY, workload(3), own_rule=True) == "fast"
    assert quickest(EVERY, workload(3)) == "reference"
