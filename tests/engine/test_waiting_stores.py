"""Stores that join one that waits for its slice of the L2, section 4, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.stalls import Reason

pytestmark = pytest.mark.parametrize("engine", ENGINES)

SERVICE, LATENCY = 20, 30  # of a slice for a store, and of a store from there


def run(engine, *warps, groups=1, **l2):
    """Warps alone in their blocks; each operation issues in a cycle, and chunks have four sectors of 32 bytes."""
    cache = {"sets": 4, "ways": 4, "latency": 40, "writes": "back", "store_request_service": SERVICE, **l2}
    tables = {
        "name": "m",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 1},
        "memory": {
            "latency": 100, "chunk_words": 32, "sectors": 4, "stores": "at-end", "store_latency": LATENCY, "l2": cache,
        },
    }  # fmt: skip
    blocks = [{"warps": [list(warp)]} for warp in warps]
    return simulate(Machine.from_dict(tables), Workload.from_dict({"blocks": blocks}), engine, stalls=True)


def store(*sectors, chunk=0):
    """Of some bytes of each sector of a chunk."""
    return ["store", [chunk], 1, [list(sectors)]]


BEFORE = store(16, chunk=7)  # takes the slice from 1 to 21, so that stores of others behind it wait


def test_a_store_of_the_same_sectors_takes_no_time_of_its_own(engine):
    apart = run(engine, [BEFORE, store(16), store(16)])
    joined = run(engine, [BEFORE, store(16), store(16)], waiting_stores=8)
    assert (apart.ticks, apart.l2_sectors) == (1 + 2 * SERVICE + LATENCY, 3)
    assert (joined.ticks, joined.l2_sectors) == (1 + SERVICE + LATENCY, 2)


@pytest.mark.parametrize("sectors", [(0, 16), (16, 16), (32, 0, 0, 1)])
def test_a_store_of_others_is_taken_up_by_itself(engine, sectors):
    result = run(engine, [BEFORE, store(16), store(*sectors)], waiting_stores=8)
    assert result.ticks == 1 + 2 * SERVICE + LATENCY


def test_a_store_of_fewer_sectors_joins_and_the_latest_alone(engine):
    fewer = [BEFORE, store(16, 16), store(0, 8), store(16)]
    assert run(engine, fewer, waiting_stores=8).ticks == 1 + SERVICE + LATENCY
    later = [BEFORE, store(16), store(0, 8), store(16)]
    assert run(engine, later, waiting_stores=8).ticks == 1 + 3 * SERVICE + LATENCY


@pytest.mark.parametrize(("pause", "joins"), [(SERVICE - 3, True), (SERVICE - 2, False)])
def test_it_joins_until_the_tick_at_which_the_other_is_taken_up(engine, pause, joins):
    """The store waits until 21; the one behind the pause leaves its port at 2 + pause + 1."""
    result = run(engine, [BEFORE, store(16), ["pause", pause], store(16)], waiting_stores=8)
    assert result.l2_sectors == (2 if joins else 3)
    assert result.ticks == 1 + (1 if joins else 2) * SERVICE + LATENCY


def test_a_line_that_takes_over_the_place_of_another_ends_that(engine):
    operations = [BEFORE, store(16), store(16, chunk=1), store(16)]
    assert run(engine, operations, waiting_stores=1).l2_sectors == 4
    assert run(engine, operations, waiting_stores=64).l2_sectors == 3


def test_each_group_knows_its_own(engine):
    assert run(engine, [BEFORE, store(16)], [["compute", 2], store(16)], groups=2, waiting_stores=8).l2_sectors == 3


def test_what_it_waits_for_is_booked_to_the_slice(engine):
    result = run(engine, [BEFORE, store(16), store(16)], waiting_stores=8)
    booked = result.stalls.ticks.sum(axis=0)
    assert booked[Reason.L2_QUEUE] + booked[Reason.L2_LATENCY] == result.ticks - 3  # behind three instructions
    assert booked[Reason.L2_QUEUE] == result.ticks - 3 - LATENCY


def test_bytes_of_those_that_join_are_in_the_line(engine):
    """Two halves of a sector are all of it, which a load then finds."""
    result = run(engine, [BEFORE, store(16), store(16), ["pause", 100], ["load", [0], 1, [[4]]]], waiting_stores=8)
    assert (result.l2_hits, result.memory_sectors) == (1, 0)
