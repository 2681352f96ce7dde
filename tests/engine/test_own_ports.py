"""Closed forms of ports that are granted to the warps of their own slots alone (section 5)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

SCHEDULERS = ["fifo", "oldest", "greedy-oldest", "round-robin"]


def ticks(engine, warps, ports=4, own="own", **scheduling):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32 * ports, "warp_width": 32, "max_threads_per_core": 64},
            "scheduling": {"ports": own, **scheduling},
            "memory": {"latency": 100, "chunk_words": 32},
        }
    )
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": warps}]}), engine).ticks


@pytest.mark.parametrize("switch", ["on-stall", "every-instruction"])
@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize(("warps", "turns"), [(1, 1), (4, 1), (5, 2), (8, 2), (9, 3)])
def test_warps_of_a_port_take_turns(engine, switch, scheduler, warps, turns):
    each = [[["compute", 30]] for _ in range(warps)]
    assert ticks(engine, each, switch=switch, scheduler=scheduler) == 30 * turns


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_a_port_of_others_stays_free(engine, scheduler):
    # Slots 0 and 4 have work, of one port.
    warps = [[["compute", 30]], [], [], [], [["compute", 30]]]
    assert ticks(engine, warps, scheduler=scheduler) == 60
    assert ticks(engine, warps, scheduler=scheduler, own="any") == 30


def test_each_port_goes_round_its_own_slots(engine):
    # Port 0 has the slots 0, 2 and 4. Its round begins behind the slot granted last, whatever the other port grants.
    warps = [[["compute", 1], ["load", [0]]], [["compute", 50]], [["compute", 3]], [], [["compute", 3], ["load", [1]]]]
    first = ticks(engine, warps, 2, scheduler="round-robin")
    assert first == 2 + 3 + 4 + 100


def test_one_port_is_everybody_s(engine):
    warps = [[["compute", 30], ["load", [0]]], [["compute", 7]]]
    assert ticks(engine, warps, 1) == ticks(engine, warps, 1, own="any")
