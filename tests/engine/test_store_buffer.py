"""Closed forms of stores that a partition takes in before it writes them (section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

SERVICE, LATENCY, STORED, TURN = 10, 100, 30, 7


def ticks(engine, *warps, **memory):
    """Of warps of one block each, which issue at once, on one partition."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 512, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {
                "latency": LATENCY, "store_latency": STORED, "chunk_words": 32, "service": SERVICE,
                "atomic_service": SERVICE, **memory,
            },
        }
    )  # fmt: skip
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]}), engine).ticks


@pytest.mark.parametrize("buffer", [0, 1, 2.5, 4, 9])
@pytest.mark.parametrize("chunks", [1, 3, 7])
def test_a_store_waits_for_what_the_buffer_has_no_room_for(engine, chunks, buffer):
    begin = (chunks - 1) * SERVICE  # of the last one
    stored = ticks(engine, (["store", list(range(chunks))],), store_buffer=buffer)
    assert stored == 1 + max(0, begin - buffer * SERVICE) + STORED


def test_a_load_waits_for_the_stores_that_were_taken_in(engine):
    found = ticks(engine, (["store", [0, 1, 2]], ["load", [9]]), store_buffer=9)
    assert found == 1 + STORED + 1 + LATENCY  # all three are written by then
    found = ticks(engine, (["store", [0, 1, 2, 3, 4]], ["load", [9]]), store_buffer=9)
    assert found == 1 + 5 * SERVICE + LATENCY


def test_loads_and_atomics_wait_as_ever(engine):
    for word in ("load", "atomic"):
        assert ticks(engine, ([word, [0, 1, 2]],), store_buffer=9) == 1 + 2 * SERVICE + LATENCY


def test_turning_round_hides_in_the_buffer_too(engine):
    assert ticks(engine, (["store", [0]],), turnaround=TURN) == 1 + TURN + STORED
    assert ticks(engine, (["store", [0]],), turnaround=TURN, store_buffer=1) == 1 + STORED
    found = ticks(engine, (["store", [0, 1]],), turnaround=TURN, store_buffer=1)
    assert found == 1 + TURN + STORED


def test_a_store_that_ends_in_the_l2_needs_no_buffer(engine):
    l2 = {"sets": 64, "ways": 1, "latency": 40, "writes": "back"}
    warp = (["store", [0, 1, 2]],)
    assert ticks(engine, warp, l2=l2, store_buffer=2) == ticks(engine, warp, l2=l2) == 1 + STORED
