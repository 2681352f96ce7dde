"""What is drawn to compare engines on: each of these values, for each of these keys, and all shapes of a workload."""

from collections import Counter, defaultdict
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings

from simtmm.stalls import CLASSES
from simtmm.testing import machines, workloads
from simtmm.workload import ATOMIC, LOAD, REDUCE, SHARED, STORE

DURATIONS = [0, 1, 3, 7.46, 20]
OF_A_PIPE = [0, 0.28, 1, 2, 7.46]
MACHINES = {
    "ticks_per_cycle": [1, 100],
    "cores.groups": [1, 2, 3, 4],
    "cores.cores_per_group": [1, 4, 8, 32],
    "cores.warp_width": [1, 8, 32],
    "cores.issue_ports": [None, 1, 3, 5],
    "scheduling.switch": ["every-instruction", "on-stall"],
    "scheduling.scheduler": ["fifo", "greedy-oldest", "oldest", "round-robin"],
    "scheduling.ports": ["any", "own"],
    "scheduling.pipeline_depth": [0, 1, 4, 21],
    "scheduling.launch_overhead": [0, 5],
    "scheduling.first_launch": [0, 70],
    "scheduling.block_launch": [0, 40],
    "scheduling.block_interval": [0, 25],
    "scheduling.block_burst": [1, 2, 5],
    "scheduling.warp_launch": [0, 10],
    "scheduling.grid_barrier": [0, 33],
    "scheduling.grid_barrier_block": [0, 2.5],
    "memory.latency": [1, 3, 50, 100.5],
    "memory.transfers": ["pipelined", "serial"],
    "memory.ports": [1, 2, 3],
    "memory.port_interval": DURATIONS,
    "memory.fetch_interval": DURATIONS,
    "memory.return_interval": DURATIONS,
    "memory.return_delay": DURATIONS,
    "memory.port_chunks": [1, 4],
    "memory.sectors": [1, 2, 4],
    "memory.fetch_sectors": [1, 2],
    "memory.partial_writes": ["masked", "read"],
    "memory.partitions": [1, 2, 3, 4, 5],
    "memory.interleave": ["hash", "modulo"],
    "memory.service": DURATIONS,
    "memory.atomic_service": DURATIONS,
    "memory.store_buffer": [0, 1, 2.5, 40],
    "memory.turnaround": DURATIONS,
    "memory.first_access": [0, 15, 120.5],
    "memory.translations": ["launch", "run"],
    "memory.tlb.entries": [None, 1, 2, 3],
    "memory.stores": ["at-end", "blocking", "posted"],
    "memory.store_latency": [None, 1, 20, 150.25],
    "memory.store_interval": [None, *DURATIONS],
    "memory.l1_after_store": ["drop", "keep"],
    "memory.outstanding": [None, 1, 2, 3],
    "memory.rows.chunks": [None, 1, 2, 3, 4],
    "memory.rows.open": [None, 1, 2, 3],
    "memory.pipe.access_interval": [None, *OF_A_PIPE],
    "memory.pipe.tag_interval": [None, *OF_A_PIPE],
    "memory.pipe.interval": [None, *OF_A_PIPE],
    "memory.pipe.fill_interval": [None, *OF_A_PIPE],
    "memory.pipe.misses": [None, 1, 2, 3, 4, 5],
    "memory.pipe.shared": [None, "apart", "together"],
    "memory.l1.sets": [None, 1, 2, 3, 4],
    "memory.l1.ways": [None, 1, 2, 3],
    "memory.l1.index": [None, "modulo", "skewed"],
    "memory.l1.local_writes": [None, "back", "through"],
    "memory.l2.sets": [None, 1, 2, 3, 4],
    "memory.l2.ways": [None, 1, 2, 3],
    "memory.l2.copies": [None, 1, 2],
    "memory.l2.writes": [None, "back", "through"],
    "memory.l2.replacement": [None, "lru", "random"],
    "memory.l2.victims": [None, "posted", "waited"],
    "memory.l2.start": [None, "cold", "kept", "warm"],
    "memory.l2.atomics": [None, "here", "through"],
    "limits.warps_per_group": [6, 7, 8, 9, 10, 11, 12],
    "limits.blocks_per_group": [None, 1, 2, 3, 4],
    "banks.latency": [0, 22, 28.5],
    "banks.service": [1, 2],
    **{f"pipes.{each}.interval": [None, 0, 1, 2.5, 16] for each in CLASSES[:3]},
    **{f"pipes.{each}.count": [None, 1, 2, 3] for each in CLASSES[:3]},
}
DRAWN = 600  # often enough that the least likely of these values comes several times
DRAWING = {
    "max_examples": DRAWN, "derandomize": True, "database": None, "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck), "deadline": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def values():
    found = defaultdict(Counter)

    @settings(**DRAWING)
    @given(machines())
    def draw(machine):
        there = machine.values()
        for key in MACHINES:
            found[key][there.get(key)] += 1

    draw()
    return found


@pytest.mark.parametrize("key", MACHINES)
def test_a_drawn_machine_has_any_of_these_values_and_no_other(values, key):
    assert {*values[key]} == {*MACHINES[key]}


def test_a_drawn_workload_has_any_of_these_shapes():
    launches, blocks, warps, even, longest, kinds = set(), set(), set(), set(), set(), set()

    @settings(**{**DRAWING, "max_examples": 100})  # each of several blocks, and blocks of several warps
    @given(workloads())
    def draw(workload):
        launches.add(workload.launches)
        for first, last in pairwise(workload.launch_blocks.tolist()):
            blocks.add(last - first)
            each = np.diff(workload.block_warps[first : last + 1]).tolist()
            warps.update(each)
            even.add(len({*each}) <= 1)
        longest.update(np.diff(workload.warp_operations).tolist())
        kinds.update(workload.kind.tolist())

    draw()
    assert launches == {1, 2}
    assert {0, 1, 2, 10} <= blocks <= {*range(11)}
    assert {0, 1, 2, 3, 6} <= warps <= {*range(7)}
    assert even == {True, False}
    assert {0, 1, 2, 10} <= longest <= {*range(11)}
    assert kinds >= {LOAD, STORE, ATOMIC, REDUCE, SHARED}
