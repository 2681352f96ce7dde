"""A workbench for scheduling rules: Hypothesis strategies, and the laws that every rule must keep.

    from hypothesis import given
    from simtmm import simulate
    from simtmm.testing import broken, machines, workloads

    @given(machines(), workloads())
    def test_my_rule(machine, workload):
        result = simulate(machine, workload, scheduler=my_rule, timeline=True)
        assert not broken(machine, workload, result)

The strategies need Hypothesis (`pip install hypothesis`); the invariants don't. docs/schedulers.md shows more.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simtmm.testing.invariants import INVARIANTS as INVARIANTS
    from simtmm.testing.invariants import broken as broken
    from simtmm.testing.strategies import launches as launches
    from simtmm.testing.strategies import machines as machines
    from simtmm.testing.strategies import operations as operations
    from simtmm.testing.strategies import workloads as workloads

_HOMES = {
    "INVARIANTS": "simtmm.testing.invariants",
    "broken": "simtmm.testing.invariants",
    "launches": "simtmm.testing.strategies",
    "machines": "simtmm.testing.strategies",
    "operations": "simtmm.testing.strategies",
    "workloads": "simtmm.testing.strategies",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'simtmm.testing' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
