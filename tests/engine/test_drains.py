"""Waits until groups of stores have left their core group (docs/machine.md, section 3)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.errors import WorkloadError
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

STORE, GROUP, DRAIN, ONE = ["store", [0, 1, 2, 3]], ["store_group"], ["drain"], ["compute", 1]
OUT = 10  # cycles of a chunk on its way out
LATENCY = 7
TAKES = len(STORE[1]) * OUT


def found(engine, *warps, **keys):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {
                "groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 8, "issue_ports": 4,
            },
            "memory": {
                "latency": 20, "chunk_words": 32, "stores": "posted", "pipe": {"drain_interval": OUT},
                "drain_latency": LATENCY, **keys,
            },
        }
    )  # fmt: skip
    blocks = [{"warps": [list(warp)]} for warp in warps]
    return simulate(machine, Workload.from_dict({"blocks": blocks}), engine, stalls=True)


def test_a_warp_waits_until_the_way_out_is_free_behind_its_group_and_a_while_longer(engine):
    result = found(engine, [STORE, GROUP, DRAIN, ["compute", 100]])
    assert result.ticks == 1 + TAKES + LATENCY + 100
    ticks = result.stalls.ticks.sum(axis=0)
    assert (ticks[Reason.PORT_QUEUE], ticks[Reason.INSTRUCTION_LATENCY]) == (TAKES, LATENCY)


def test_the_latest_groups_may_be_left_out(engine):
    two = [STORE, GROUP, STORE, GROUP]
    assert found(engine, [*two, ["drain", 1], ["compute", 100]]).ticks == 1 + TAKES + LATENCY + 100
    assert found(engine, [*two, ["drain", 2], ["compute", 100]]).ticks == 2 + 100
    assert found(engine, [*two, DRAIN, ["compute", 100]]).ticks == 1 + 2 * TAKES + LATENCY + 100


def test_what_is_in_no_group_is_not_waited_for_nor_what_never_was(engine):
    assert found(engine, [STORE, DRAIN, ["compute", 100]]).ticks == 1 + 100
    assert found(engine, [DRAIN, ONE]).ticks == 1
    assert found(engine, [STORE, GROUP, STORE, DRAIN, ["compute", 100]]).ticks == 1 + TAKES + LATENCY + 100


def test_an_empty_group_has_left_with_the_stores_before_it(engine):
    assert found(engine, [STORE, GROUP, GROUP, ["drain", 1], ["compute", 100]]).ticks == 1 + TAKES + LATENCY + 100
    assert found(engine, [GROUP, DRAIN, ["compute", 5]]).ticks == LATENCY + 5


def test_others_stores_are_on_the_way_before_it(engine):
    busy = [STORE, ["compute", 1]]
    assert found(engine, busy, [STORE, GROUP, DRAIN, ["compute", 100]]).ticks == 1 + 2 * TAKES + LATENCY + 100


def test_without_a_way_out_of_their_own_stores_have_left_with_their_port(engine):
    without = found(engine, [STORE, GROUP, DRAIN, ["compute", 100]], pipe={})
    assert without.ticks == 1 + LATENCY + 100


@pytest.mark.parametrize("groups", [8, 9, 30])
def test_of_many_groups_all_but_seven_may_be_waited_for(engine, groups):
    warp = [STORE, GROUP] * groups
    assert found(engine, [*warp, ["drain", 7], ["compute", 1000]]).ticks == (
        max(groups, 1 + (groups - 7) * TAKES + LATENCY) + 1000
    )


@pytest.mark.parametrize("operation", [["drain", 8], ["drain", -1], ["store_group", 1]])
def test_what_no_workload_may_say_is_refused(engine, operation):
    with pytest.raises(WorkloadError, match=operation[0]):
        found(engine, [operation])
