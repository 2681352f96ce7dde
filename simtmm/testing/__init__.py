"""A workbench for scheduling rules: laws that authors promise, the laws that every run keeps, Hypothesis strategies.

    from simtmm.testing import bounded_wait, check_rule, no_starvation

    def test_my_rule():
        check_rule(my_rule, [no_starvation, bounded_wait(16)])

`check_rule` draws machines and workloads for each promise and shows the smallest counter-example (docs/rules.md). What
every run on every machine keeps, whatever the rule, are invariants:

    from hypothesis import given
    from simtmm import simulate
    from simtmm.testing import broken, machines, workloads

    @given(machines(), workloads())
    def test_my_rule(machine, workload):
        result = simulate(machine, workload, scheduler=my_rule, timeline=True)
        assert not broken(machine, workload, result)

What draws needs Hypothesis (`pip install hypothesis`); the invariants and the laws don't. docs/schedulers.md shows
more.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simtmm.testing.bench import Bench as Bench
    from simtmm.testing.checking import BrokenPromiseError as BrokenPromiseError
    from simtmm.testing.checking import check_rule as check_rule
    from simtmm.testing.invariants import INVARIANTS as INVARIANTS
    from simtmm.testing.invariants import broken as broken
    from simtmm.testing.laws import Law as Law
    from simtmm.testing.laws import admits_at_most as admits_at_most
    from simtmm.testing.laws import bounded_wait as bounded_wait
    from simtmm.testing.laws import deterministic as deterministic
    from simtmm.testing.laws import fair_within as fair_within
    from simtmm.testing.laws import first_come as first_come
    from simtmm.testing.laws import greedy_oldest as greedy_oldest
    from simtmm.testing.laws import group_local as group_local
    from simtmm.testing.laws import helps_barriers as helps_barriers
    from simtmm.testing.laws import holds_back_loads_only as holds_back_loads_only
    from simtmm.testing.laws import law_named as law_named
    from simtmm.testing.laws import least_progress_first as least_progress_first
    from simtmm.testing.laws import loads_of_few as loads_of_few
    from simtmm.testing.laws import no_foresight as no_foresight
    from simtmm.testing.laws import no_starvation as no_starvation
    from simtmm.testing.laws import oldest_first as oldest_first
    from simtmm.testing.laws import one_turn_each as one_turn_each
    from simtmm.testing.laws import round_robin as round_robin
    from simtmm.testing.laws import stays_in_set as stays_in_set
    from simtmm.testing.laws import work_conserving as work_conserving
    from simtmm.testing.placement_checking import check_placement as check_placement
    from simtmm.testing.policy_checking import check_policy as check_policy
    from simtmm.testing.strategies import launches as launches
    from simtmm.testing.strategies import machines as machines
    from simtmm.testing.strategies import operations as operations
    from simtmm.testing.strategies import workloads as workloads

_OF_MODULES = {
    "bench": ("Bench",),
    "checking": ("BrokenPromiseError", "check_rule"),
    "invariants": ("INVARIANTS", "broken"),
    "laws": (
        "Law", "admits_at_most", "bounded_wait", "deterministic", "fair_within", "first_come", "greedy_oldest",
        "group_local", "helps_barriers", "holds_back_loads_only", "law_named", "least_progress_first", "loads_of_few",
        "no_foresight", "no_starvation", "oldest_first", "one_turn_each", "round_robin", "stays_in_set",
        "work_conserving",
    ),
    "placement_checking": ("check_placement",),
    "policy_checking": ("check_policy",),
    "strategies": ("launches", "machines", "operations", "workloads"),
}  # fmt: skip
_HOMES = {name: f"simtmm.testing.{module}" for module, names in _OF_MODULES.items() for name in names}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simtmm.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
