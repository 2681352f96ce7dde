"""Closed forms of a group's fetch port, which chunks from global memory pass one by one (section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

FETCH, LATENCY = 7, 100
HIT = 5
L1 = {"sets": 64, "ways": 1, "latency": HIT}
L2 = {"sets": 64, "ways": 1, "latency": 40}


def ticks(engine, *warps, groups=1, **memory):
    """Of warps of one block each, which issue at once."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 512, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {"latency": LATENCY, "chunk_words": 32, "fetch_interval": FETCH, **memory},
        }
    )
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [list(warp)]} for warp in warps]}), engine).ticks


@pytest.mark.parametrize("cache", [{}, {"l1": L1}])
@pytest.mark.parametrize("chunks", [1, 2, 9])
def test_chunks_from_global_memory_pass_one_by_one(engine, chunks, cache):
    assert ticks(engine, (["load", list(range(chunks))],), **cache) == 1 + (chunks - 1) * FETCH + LATENCY


def test_an_empty_port_takes_a_chunk_at_once_and_an_early_one_waits(engine):
    """The second one leaves the warp 6 ticks after the first, and then 7 after it."""
    early = ["async", [0]], ["compute", FETCH - 2], ["load", [1]]
    assert ticks(engine, early) == 1 + FETCH + LATENCY
    on_time = ["async", [0]], ["compute", FETCH - 1], ["load", [1]]
    assert ticks(engine, on_time) == 1 + FETCH + LATENCY
    late = ["async", [0]], ["compute", FETCH], ["load", [1]]
    assert ticks(engine, late) == 1 + FETCH + 1 + LATENCY


def test_warps_of_a_group_share_it_whatever_memory_ports_there_are(engine):
    loads = [(["load", [warp]],) for warp in range(6)]
    assert ticks(engine, *loads, ports=4) == 1 + 5 * FETCH + LATENCY
    assert ticks(engine, *loads, ports=4, groups=2) == 1 + 2 * FETCH + LATENCY


def test_hits_of_the_l1_pass_by_it_even_of_a_line_in_flight(engine):
    again = ["load", [0, 1, 2, 3]], ["load", [0, 1, 2, 3]]
    assert ticks(engine, again, l1=L1) == 1 + 3 * FETCH + LATENCY + 1 + HIT
    in_flight = ["load", [0, 0, 0, 1]], ["load", [1]]
    assert ticks(engine, in_flight, l1=L1) == 1 + FETCH + LATENCY + 1 + HIT


def test_the_l2s_hits_pass_by_it(engine):
    warp = ["load", [0, 1]], ["load", [0, 1]]
    assert ticks(engine, warp, l2=L2) == 1 + FETCH + LATENCY + 1 + 40
    in_part = ["load", [0, 1]], ["load", [0, 2, 1, 3]]
    assert ticks(engine, in_part, l2=L2) == 1 + FETCH + LATENCY + 1 + FETCH + LATENCY


def test_it_comes_behind_the_slice_of_the_l2(engine):
    """The tick at which it is reserved is the access's all the same: 9 ticks at the slice hide the 7."""
    assert ticks(engine, (["load", [0, 1]],), l2={**L2, "service": 9}) == 1 + 9 + LATENCY
    assert ticks(engine, (["load", [0, 1]],), l2={**L2, "service": 4}) == 1 + FETCH + LATENCY


def test_an_atomic_that_the_l2_reads_passes_by(engine):
    here = {**L2, "atomics": "here"}
    assert ticks(engine, (["async", [0]], ["atomic", [1]]), l2=here) == 2 + LATENCY


@pytest.mark.parametrize("kind", ["store", "atomic"])
def test_stores_and_atomics_do_not(engine, kind):
    assert ticks(engine, (["async", [0, 1]], [kind, [2, 3]])) == max(1 + FETCH, 2) + LATENCY


@pytest.mark.parametrize(("name", "interval", "binds"), [("port_interval", 9, 9), ("port_interval", 4, FETCH)])
def test_of_two_ports_the_slower_one_binds(engine, name, interval, binds):
    assert ticks(engine, (["load", [0, 1, 2, 3]],), **{name: interval}) == 1 + 3 * binds + LATENCY


def test_waiting_for_it_overlaps_with_waiting_for_slices_and_partitions(engine):
    """Two chunks of one slice: the second one waits for the longer of slice and fetch port."""
    pair = (["load", [0, 4]],)
    assert ticks(engine, pair, partitions=4, l2={**L2, "service": 30}) == 1 + 30 + LATENCY
    assert ticks(engine, pair, partitions=4, service=3) == 1 + FETCH + LATENCY
