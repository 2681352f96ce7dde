"""Closed forms of stores that a warp waits for at its end (sections 3 and 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

LATENCY, STORED = 100, 30


def run(engine, blocks, switch="on-stall", groups=1, blocks_per_group=1, **memory):
    """Blocks of some warps each, of which a group holds one at a time."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 512, "warp_width": 32, "max_threads_per_core": 4},
            "scheduling": {"switch": switch},
            "memory": {
                "latency": LATENCY, "store_latency": STORED, "chunk_words": 32, "stores": "at-end", **memory
            },
            "limits": {"blocks_per_group": blocks_per_group},
        }
    )  # fmt: skip
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": block} for block in blocks]}), engine)


def ticks(engine, *blocks, **changes):
    return run(engine, blocks, **changes).ticks


STORE = [["store", [0]]]


@pytest.mark.parametrize("blocks", [1, 2, 5])
def test_a_block_keeps_its_places_until_its_stores_are_done(engine, blocks):
    assert ticks(engine, *[[STORE]] * blocks) == blocks * (1 + STORED)
    assert ticks(engine, *[[STORE]] * blocks, stores="posted") == blocks + STORED


@pytest.mark.parametrize("switch", ["on-stall", "every-instruction"])
def test_a_warp_goes_on_behind_a_store(engine, switch):
    """Neither what it does next nor a barrier or a join waits for it; only its end does."""
    warp = [["store", [0]], ["compute", 5], ["join"], ["barrier"], ["compute", 5]]
    assert ticks(engine, [warp], [warp], switch=switch) == 2 * (1 + STORED)
    longer = [["store", [0]], ["compute", STORED + 5]]
    assert ticks(engine, [longer], [longer], switch=switch) == 2 * (1 + STORED + 5)


def test_it_waits_for_the_last_to_finish(engine):
    """Twenty chunks of the first store keep the port for longer than the second store's chunk."""
    warp = [["store", list(range(20))], ["store", [0]]]
    late = 1 + 19 * 7 + STORED
    assert ticks(engine, [warp], [STORE], port_interval=7) == late + 7 + 1 + STORED


def test_of_loads_and_stores_the_later_one_decides(engine):
    load_last = [["async", [0]], ["store", [1]]]
    assert ticks(engine, [load_last], [STORE]) == 1 + LATENCY + 1 + STORED
    store_last = [["load", [0]], ["store", [1]]]
    assert ticks(engine, [store_last], [STORE]) == 1 + LATENCY + 1 + STORED + 1 + STORED


def test_others_at_a_barrier_wait_for_a_warp_that_waits_for_its_stores(engine):
    """As for one that waits for its asyncs at its end."""
    assert ticks(engine, [STORE, [["barrier"], ["compute", 4]]]) == 1 + STORED + 4


def test_a_warp_in_the_slot_of_another_one_has_stored_nothing(engine):
    after = [["compute", 3]]
    assert ticks(engine, [STORE], [after]) == 1 + STORED + 3


def test_what_is_waited_for_counts_as_memory(engine):
    assert run(engine, [[STORE]]).time["memory"] == STORED
