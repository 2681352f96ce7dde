"""No run is faster than what goes through a unit of its machine lets it be."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given

from simtmm import Machine, Workload, own_faults, simulate
from simtmm.analysis import run as runs
from simtmm.analysis.floors import _served, below, floors
from simtmm.testing import machines, workloads
from tests.examples import SHARING, examples, several

LEAST = {
    "name": "floors",
    "cores": {"groups": 2, "cores_per_group": 4, "warp_width": 4, "max_threads_per_core": 8},
    "memory": {"latency": 10, "chunk_words": 4},
}
PIPE = {"memory.pipe.interval": 1, "banks.service": 2}


@given(drawn=several(machines()), workload=workloads())
@examples(80 // SHARING)
def test_no_drawn_run_is_below_a_floor(drawn, workload):
    for number, machine in enumerate(drawn):
        engine = ("fast", "reference")[number % 2]
        assert below(machine, workload, simulate(machine, workload, engine, stalls=True)) == ()


def ended(launches, **changes):
    machine = Machine.from_dict(LEAST).replace(changes)
    workload = Workload.from_dict({"blocks": [{"warps": launches}] * 2})
    result = simulate(machine, workload, stalls=True)
    return floors(machine, workload, result), result.ticks


@pytest.mark.parametrize(
    ("warps", "changes", "unit", "least"),
    [
        ([[["compute", 100]]] * 2, {}, "issue ports", 200),
        ([[["compute", 100, "fp64"]]] * 2, {"pipes.fp64.interval": 3}, "fp64 pipes", 2 * 100 * 3 - 3),
        ([[["compute", 9, "integer"]]] * 4, {"pipes.integer.interval": 8, "pipes.integer.count": 2}, "integer pipes",
         136),
        ([[["shared", 32], ["settle"]]] * 3, {"memory.pipe.interval": 1, "banks.service": 2}, "banks", 3 * 32 * 2),
        ([[["load", [0], 8], ["load", [0], 8]]], {"memory.pipe.interval": 5}, "banks", 2 * 8 * 5),
        ([[["load", [number]]] for number in range(8)], {"memory.service": 7}, "memory partitions", 15 * 7),
        # Of three core groups two have a block: whole ticks, not less than a third of all
        ([[["compute", 101]]], {"cores.groups": 3}, "issue ports", 68),
        ([[["shared", 32], ["settle"]]], {"cores.groups": 3, **PIPE}, "banks", 43),
        ([[["shared", 32], ["settle"]]], {"cores.groups": 3, **PIPE, "memory.pipe.shared": "apart"},
         "banks of shared memory", 43),
        ([[["load", [0], 8], ["load", [0], 2]]], {"cores.groups": 3, **PIPE, "memory.pipe.shared": "apart"},
         "banks of the L1", 7),
    ],
)  # fmt: skip
def test_what_goes_through_a_unit_takes_its_time(warps, changes, unit, least):
    found, ticks = ended(warps, **changes)
    assert found[unit] == least <= ticks


def test_a_run_below_a_floor_is_a_fault_of_simtmm_and_says_so(monkeypatch):
    """An engine that forgets what a pipe takes."""
    machine = Machine.from_dict(LEAST).replace({"pipes.fp64.interval": 50})
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 30, "fp64"]]]}]})

    def forgets(on, *arguments, **more):
        return dataclasses.replace(simulate(on.replace({"pipes.fp64.interval": 0}), *arguments, **more))

    monkeypatch.setattr(runs, "simulate", forgets)
    monkeypatch.setattr(own_faults, "_noted", {})
    found = runs.run(workload, machine, what_if=False)
    (fault,) = found.faults
    assert fault.startswith("simulated are 30 ticks, and what goes through its fp64 pipes takes 700 at the least")
    assert fault in found.warnings
    assert list(own_faults._noted) == [fault]
    assert np.isclose(found.result.ticks, 30)


@pytest.mark.parametrize(
    ("chunks", "each", "units", "launches", "ticks"),
    [
        (0, 5, 4, 1, 0), (1, 5, 4, 0, 2), (4, 5, 4, 0, 5), (5, 5, 4, 0, 7), (4, 6, 4, 0, 6), (5, 6, 4, 0, 8),
        (5, 6, 4, 1, 2), (100, 3, 7, 2, 37), (3, 5, 4, 1, 0), (8, 5, 1, 3, 25),
    ],
)  # fmt: skip
def test_what_units_serve_takes_as_long_as_the_busiest_at_the_least(chunks, each, units, launches, ticks):
    """Whole ticks, the last chunk of a launch not waited for."""
    assert _served(chunks, each, units, launches) == ticks
