"""Closed forms of a group's TLB, whose misses put off what leaves the group (section 4)."""

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

MISS, LATENCY, STORED = 40, 100, 30
PAGE = 4  # chunks
CACHE = {"sets": 64, "ways": 4, "latency": 5}


def ticks(engine, *warps, entries=2, groups=1, issued=512, **memory):
    """Of warps of one block each, which issue at once."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": issued, "warp_width": 32, "max_threads_per_core": 256},
            "memory": {
                "latency": LATENCY, "store_latency": STORED, "chunk_words": 32,
                "tlb": {"entries": entries, "page": PAGE * 128, "miss": MISS}, **memory,
            },
        }
    )  # fmt: skip
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]}), engine).ticks


def loads(*chunks):
    return [["load", [chunk]] for chunk in chunks]


def test_the_first_access_of_a_page_waits_and_others_do_not(engine):
    assert ticks(engine, loads(0)) == 1 + MISS + LATENCY
    assert ticks(engine, loads(0, 1, 3)) == 3 * (1 + LATENCY) + MISS
    assert ticks(engine, loads(3, 4)) == 2 * (1 + LATENCY + MISS)


def test_an_access_waits_for_a_translation_that_is_on_its_way_until_it_is_there(engine):
    soon = ["async", [0]], ["compute", 9], ["load", [1]]
    assert ticks(engine, soon) == 1 + MISS + LATENCY
    on_time = ["async", [0]], ["compute", MISS - 1], ["load", [1]]
    assert ticks(engine, on_time) == 1 + MISS + LATENCY
    late = ["async", [0]], ["compute", MISS], ["load", [1]]
    assert ticks(engine, late) == 1 + MISS + 1 + LATENCY


def test_the_page_used_longest_ago_is_dropped(engine):
    """Of two entries: 0 and 4 are in, 0 is used again, so 8 drops 4."""
    assert ticks(engine, loads(0, 4, 1, 8, 2)) == 5 * (1 + LATENCY) + 3 * MISS
    assert ticks(engine, loads(0, 4, 1, 8, 5)) == 5 * (1 + LATENCY) + 4 * MISS


def test_misses_wait_for_nobody(engine):
    """Translations of several pages are fetched at once."""
    assert ticks(engine, [["load", [0, 4, 8, 12]]]) == 1 + MISS + LATENCY


def test_groups_have_their_own(engine):
    assert ticks(engine, loads(0, 4), loads(0, 4), groups=2) == 2 * (1 + LATENCY + MISS)


def test_a_launch_begins_without_any(engine):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {"latency": LATENCY, "chunk_words": 32, "tlb": {"entries": 9, "page": 128, "miss": MISS}},
        }
    )
    launch = {"blocks": [{"warps": [loads(0)]}]}
    assert simulate(machine, Workload.from_dict({"launches": [launch] * 3}), engine).ticks == 3 * (1 + MISS + LATENCY)


@pytest.mark.parametrize(("kind", "takes"), [("store", STORED), ("atomic", LATENCY)])
def test_stores_and_atomics_need_translations_too(engine, kind, takes):
    assert ticks(engine, [[kind, [0]], [kind, [1]]]) == 2 * (1 + takes) + MISS


def test_hits_of_the_l1_need_none_and_those_of_the_l2_do(engine):
    """Pages 1 and 2 drop page 0, of which chunk 0 is asked for once more."""
    chunks = 0, 4, 8, 0
    assert ticks(engine, loads(*chunks), l1=CACHE) == 3 * (1 + LATENCY + MISS) + 1 + 5
    assert ticks(engine, loads(*chunks), l2=CACHE) == 3 * (1 + LATENCY + MISS) + 1 + MISS + 5


def test_waiting_for_it_overlaps_with_ports_slices_and_partitions(engine):
    pair = [["load", [0, 1]]]
    for longer in (0, 25):
        assert ticks(engine, pair, port_interval=MISS + longer) == 1 + MISS + longer + LATENCY
        assert ticks(engine, pair, fetch_interval=MISS + longer) == 1 + MISS + longer + LATENCY
        assert ticks(engine, pair, service=MISS + longer) == 1 + MISS + longer + LATENCY
        assert ticks(engine, pair, l2={**CACHE, "service": MISS + longer}) == 1 + MISS + longer + LATENCY


@pytest.mark.parametrize("pages", [2, 8, 10, 16, 32])
def test_a_chase_in_random_order_takes_longer_beyond_the_reach(engine, pages):
    """Of n pages, entries / n are there: L + (1 - entries / n) miss a step, which is what pointer chases show."""
    entries, steps = 8, 4000
    chunks = np.random.default_rng(7).integers(0, pages * PAGE, steps).tolist()
    found = ticks(engine, loads(*chunks), entries=entries) / steps - 1 - LATENCY
    lacking = max(0, 1 - entries / pages)
    assert found == pytest.approx(lacking * MISS, abs=4 * MISS * 0.5 / steps**0.5 + pages * MISS / steps)  # 4 sigma
