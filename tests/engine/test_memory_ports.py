"""Closed forms of several memory ports of a group, and of a port that stores have for themselves (section 4)."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

INTERVAL, LATENCY = 10, 100


def ticks(engine, warps, groups=1, **memory):
    """Of warps of one block each, which issue at once: a group has as many issue ports as it needs."""
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": groups, "cores_per_group": 512, "warp_width": 32, "max_threads_per_core": 4},
            "memory": {"latency": LATENCY, "chunk_words": 32, "port_interval": INTERVAL, **memory},
        }
    )
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [warp]} for warp in warps]}), engine).ticks


@pytest.mark.parametrize("warps", [1, 2, 3, 4, 5, 9])
@pytest.mark.parametrize("ports", [1, 2, 4])
def test_warps_share_ports_evenly(engine, warps, ports):
    loads = [[["load", [3 * warp, 3 * warp + 1, 3 * warp + 2]]] for warp in range(warps)]
    each = 3 * INTERVAL
    assert ticks(engine, loads, ports=ports) == 1 + (-(-warps // ports)) * each - INTERVAL + LATENCY


def test_a_warp_alone_has_one_port_whatever_there_are(engine):
    warp = [[["async", [0, 1]], ["load", [2, 3]]]]
    assert ticks(engine, warp, ports=4) == ticks(engine, warp) == 1 + 3 * INTERVAL + LATENCY


def test_ports_belong_to_their_group(engine):
    loads = [[["load", [0, 1]]]] * 4
    assert ticks(engine, loads, groups=2, ports=2) == 1 + INTERVAL + LATENCY
    assert ticks(engine, loads, groups=2) == 1 + 3 * INTERVAL + LATENCY


@pytest.mark.parametrize("kind", ["load", "async", "atomic"])
def test_all_but_stores_pass_the_memory_port(engine, kind):
    """The store's port would make them wait for 1 + 2 * 70."""
    warp = [[["store", [0, 1]], [kind, [2]]]]
    assert ticks(engine, warp, stores="posted", store_interval=70, store_latency=1) == 1 + 1 + LATENCY


@pytest.mark.parametrize("interval", [0, 4, 25])
def test_stores_wait_for_each_other_alone(engine, interval):
    warp = [[["async", [0, 1, 2]], ["store", [3, 4, 5]], ["store", [6]]]]
    found = ticks(engine, warp, stores="posted", store_interval=interval)
    assert found == max(1 + 2 * INTERVAL, 2 + 3 * interval, 3 if interval == 0 else 0) + LATENCY


def test_stores_of_all_warps_share_one_port(engine):
    stores = [[["store", [warp]]] for warp in range(4)]
    assert ticks(engine, stores, ports=4, store_interval=7) == 1 + 3 * 7 + LATENCY
    assert ticks(engine, stores, ports=4) == 1 + LATENCY


def test_chunks_of_a_line_pass_the_store_port_together(engine):
    warp = [[["store", [0, 1, 2, 3, 4]]]]
    assert ticks(engine, warp, port_chunks=4, store_interval=7) == 1 + 7 + LATENCY
