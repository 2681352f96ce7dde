"""Closed forms of stores that wait at their port for what their warps loaded (section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

RETURN, LATENCY, STORED = 7, 100, 30
CACHE = {"sets": 4, "ways": 1, "latency": 5}


def ticks(engine, *warps, **memory):
    """Of warps of one block each, which issue at once."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 512, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {
                "latency": LATENCY, "store_latency": STORED, "chunk_words": 32, "return_interval": RETURN, **memory
            },
        }
    )  # fmt: skip
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]}), engine).ticks


@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_a_store_waits_for_each_chunk_that_its_warp_loaded(engine, chunks):
    warp = ["load", list(range(chunks))], ["store", [9, 10]]
    assert ticks(engine, warp) == 1 + LATENCY + 1 + chunks * RETURN + STORED


@pytest.mark.parametrize("chunks", [1, 2, 5])
def test_it_waits_once_for_all_of_them(engine, chunks):
    warp = ["load", list(range(chunks))], ["store", [9, 10]], ["store", [11]]
    found = ticks(engine, warp, return_interval=0, return_delay=11)
    assert found == 1 + LATENCY + 1 + 11 + STORED + 1 + STORED
    assert ticks(engine, warp, return_delay=11) == found + chunks * RETURN


def test_the_store_behind_it_does_not(engine):
    warp = ["load", [0]], ["store", [9]], ["store", [10]]
    assert ticks(engine, warp) == 1 + LATENCY + 1 + RETURN + STORED + 1 + STORED


@pytest.mark.parametrize("apart", [{}, {"store_interval": 0}])
@pytest.mark.parametrize("warps", [1, 2, 6])
def test_the_stores_of_a_group_wait_one_behind_another(engine, warps, apart):
    each = [(["load", [2 * warp, 2 * warp + 1]], ["store", [50 + warp]]) for warp in range(warps)]
    assert ticks(engine, *each, **apart) == 1 + LATENCY + 1 + 2 * RETURN * warps + STORED


def test_stores_alone_and_atomics_wait_for_nothing(engine):
    assert ticks(engine, (["store", [0]],), (["store", [1]],)) == 1 + STORED
    assert ticks(engine, (["load", [0]], ["atomic", [1]])) == 2 * (1 + LATENCY)
    assert ticks(engine, (["atomic", [0]], ["store", [1]])) == 1 + LATENCY + 1 + STORED


@pytest.mark.parametrize("cache", ["l1", "l2"])
def test_what_a_cache_has_does_not_count(engine, cache):
    warp = ["load", [0]], ["load", [0, 1]], ["load", [0, 1]], ["store", [9]]
    found = ticks(engine, warp, **{cache: CACHE})
    assert found == 2 * (1 + LATENCY) + 1 + CACHE["latency"] + 1 + STORED


def test_loads_in_flight_together_count_together_and_those_that_are_over_do_not(engine):
    together = ["async", [0]], ["async", [1]], ["join"], ["store", [9]]
    assert ticks(engine, together) == 2 + LATENCY + 1 + 2 * RETURN + STORED
    in_turn = ["load", [0, 1, 2]], ["load", [3]], ["store", [9]]
    assert ticks(engine, in_turn) == 2 * (1 + LATENCY) + 1 + RETURN + STORED


def test_a_warp_in_the_slot_of_another_one_has_loaded_nothing(engine):
    limits = {"limits.blocks_per_group": 1}
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {"latency": LATENCY, "store_latency": STORED, "chunk_words": 32, "return_interval": RETURN},
        }
    ).replace(limits)
    blocks = [{"warps": [[["load", [0]]]]}, {"warps": [[["store", [1]]]]}]
    assert simulate(machine, Workload.from_dict({"blocks": blocks}), engine).ticks == 1 + LATENCY + 1 + STORED


def pipeline(turns, ahead):
    """A warp that begins so many loads ahead, and one more in each turn, before it waits for the oldest."""
    begun = [["async", [number]] for number in range(ahead)]
    turn = [[["async", [number]], ["join", ahead]] for number in range(ahead, ahead + turns)]
    return [*begun, *(operation for each in turn for operation in each), ["join"], ["store", [9999]]]


@pytest.mark.parametrize("turns", [2, 3, 9, 200])  # with one, nothing is loaded behind the first wait
@pytest.mark.parametrize("ahead", [1, 3])
def test_a_store_waits_for_loads_since_the_last_wait_however_long_a_loop_kept_loads_in_flight(engine, turns, ahead):
    warp = pipeline(turns, ahead)
    store = 1 + RETURN + STORED
    assert ticks(engine, warp) - ticks(engine, warp[:-1]) == store


def test_only_a_join_that_takes_something_anew_is_a_wait(engine):
    def loads(*between):
        return ["async", [0]], ["async", [1]], *between, ["async", [2]], ["join"], ["store", [9]]

    together = 3 + LATENCY + 1 + 3 * RETURN + STORED
    assert ticks(engine, loads()) == ticks(engine, loads(["join", 2])) == together
    waited = 2 + LATENCY + 1 + LATENCY + 1 + RETURN + STORED
    assert ticks(engine, loads(["join"])) == ticks(engine, loads(["barrier"])) == waited
    first_alone = 1 + LATENCY + 1 + LATENCY + 1 + RETURN + STORED
    assert ticks(engine, loads(["join", 1])) == ticks(engine, loads(["join", 1], ["join", 1])) == first_alone


def test_a_load_that_is_waited_for_is_a_wait(engine):
    warp = ["async", [0]], ["load", [1]], ["async", [2]], ["join"], ["store", [9]]
    slow = {"l1": {"sets": 1, "ways": 1, "latency": LATENCY}}
    assert ticks(engine, warp, **slow) == 2 + LATENCY + 1 + LATENCY + 1 + RETURN + STORED


def test_a_sync_is_no_wait(engine):
    warp = ["async", [0]], ["sync"], ["async", [1]], ["join"], ["store", [9]]
    assert ticks(engine, warp) == 2 + LATENCY + 1 + 2 * RETURN + STORED
