"""Bandwidth and hits over time: what passed each level in a stretch over its time, by hand."""

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.analysis.bandwidth import L2, MEMORY, PORTS, over_time

MACHINE = Machine.from_dict(
    {
        "name": "one",
        "clock_hz": 1e9,
        "ticks_per_cycle": 2,
        "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 8},
        "memory": {
            "latency": 20, "chunk_words": 8, "port_interval": 1, "partitions": 2, "service": 4,
            "l1": {"sets": 1, "ways": 1, "latency": 3}, "l2": {"sets": 1, "ways": 8, "latency": 9, "service": 2},
        },
    }
)  # fmt: skip
# Chunk 0 misses both, is in the L1, 1 puts it out of it, and it is in the L2; a store has nothing to look for
WARP = [["load", [0]], ["load", [0]], ["load", [1]], ["load", [0]], ["load", [0]], ["load", [0]], ["store", [5]]]
CHUNK = 32  # bytes


def found(most, **changes):
    machine = MACHINE.replace(changes)
    workload = Workload.from_dict({"blocks": [{"warps": [WARP]}]})
    result = simulate(machine, workload, "reference", timeline=True)
    return over_time(machine, result, most), result


def test_each_level_moves_its_chunks_in_the_time_of_the_run():
    whole, result = found(1)
    seconds = result.ticks / 2e9
    chunks = {name: rate.tolist()[0] * seconds / CHUNK for name, rate in whole.bandwidth.items()}
    assert whole.edges.tolist() == [0, result.ticks]
    assert chunks == pytest.approx({PORTS: 7, L2: 3, MEMORY: 3})  # 6 loads and a store; 0, 1 and 0 again; the store


def test_hits_are_of_the_loads_that_came_to_a_cache():
    whole, _ = found(1)
    assert {name: part.tolist() for name, part in whole.hits.items()} == {"L1": [3 / 6], "L2": [1 / 3]}
    alone, _ = found(1, **{"memory.l1": None})
    assert {name: part.tolist() for name, part in alone.hits.items()} == {"L2": [4 / 6]}
    bare, _ = found(1, **{"memory.l1": None, "memory.l2": None})
    assert not bare.hits
    assert set(bare.bandwidth) == {PORTS, MEMORY}


def test_where_no_load_came_to_a_cache_nothing_is_said_of_its_hits():
    parts, _ = found(10**6)
    came = parts.bandwidth[L2] > 0
    assert 0 < came.sum() < len(came)
    assert (np.isnan(parts.hits["L2"]) == ~came).all()


@pytest.mark.parametrize("most", [1, 2, 3, 7, 10**6])
def test_stretches_end_with_the_run_and_move_together_what_the_run_moves(most):
    parts, result = found(most)
    assert len(parts.edges) - 1 <= most
    assert (parts.edges[0], parts.edges[-1]) == (0, result.ticks)
    moved = (parts.bandwidth[PORTS] * np.diff(parts.edges)).sum() / 2e9
    assert moved == pytest.approx(7 * CHUNK)


def test_peaks_are_what_could_pass_by_the_second_or_by_the_cycle():
    expected = {PORTS: 32 / 1, L2: 2 * 32 / 2, MEMORY: 2 * 32 / 4}
    whole, _ = found(1)
    assert whole.peaks == pytest.approx({name: peak * 1e9 for name, peak in expected.items()})
    unclocked, result = found(1, clock_hz=None)
    assert unclocked.peaks == pytest.approx(expected)
    assert unclocked.bandwidth[PORTS].tolist() == pytest.approx([7 * CHUNK / (result.ticks / 2)])


def test_without_traffic_there_is_none():
    workload = Workload.from_dict({"blocks": [{"warps": [WARP]}]})
    assert over_time(MACHINE, simulate(MACHINE, workload, "reference"), 10) is None
