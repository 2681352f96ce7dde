"""What is drawn to compare engines on: each of these values, for each of these keys, and all shapes of a workload."""

from collections import Counter, defaultdict
from functools import cache
from itertools import combinations, pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from pydantic import BaseModel

from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.testing import machines, space, workloads
from simtmm.testing.draw import RandomDraw
from simtmm.testing.mbarrier_space import mbarrier_workload
from simtmm.workload import ATOMIC, LOAD, REDUCE, SHARED, STORE

DURATIONS = [0, 1, 3, 7.46, 20]
FEW_DURATIONS = [0, 1, 2.5, 16]
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
    "scheduling.graph_launch_overhead": [None, 0, 3],
    "scheduling.first_launch": [0, 70],
    "scheduling.block_launch": [0, 40],
    "scheduling.block_interval": [0, 25],
    "scheduling.block_burst": [1, 2, 5],
    "scheduling.warp_launch": [0, 10],
    "scheduling.grid_barrier": [0, 33],
    "scheduling.grid_barrier_block": [0, 2.5],
    "scheduling.mbarrier_latency": FEW_DURATIONS,
    "scheduling.cluster_latency": FEW_DURATIONS,
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
    "memory.interleave": ["hash", "modulo", "rotated"],
    "memory.service": DURATIONS,
    "memory.atomic_service": DURATIONS,
    "memory.store_buffer": [0, 1, 2.5, 40],
    "memory.write_share": [0.5, 1, 1.25, 3],
    "memory.turnaround": DURATIONS,
    "memory.first_access": [0, 15, 120.5],
    "memory.translations": ["launch", "run"],
    "memory.tlb.entries": [None, 1, 2, 3],
    "memory.stores": ["at-end", "blocking", "posted"],
    "memory.store_latency": [None, 1, 20, 150.25],
    "memory.store_interval": [None, *DURATIONS],
    "memory.l1_after_store": ["drop", "keep"],
    "memory.outstanding": [None, 1, 2, 3],
    "memory.copy_interval": [0, 7.5],
    "memory.drain_latency": [0, 9.5],
    "memory.rows.chunks": [None, 1, 2, 3, 4],
    "memory.rows.open": [None, 1, 2, 3],
    "memory.pipe.access_interval": [None, *OF_A_PIPE],
    "memory.pipe.tag_interval": [None, *OF_A_PIPE],
    "memory.pipe.interval": [None, *OF_A_PIPE],
    "memory.pipe.fill_interval": [None, *OF_A_PIPE],
    "memory.pipe.drain_interval": [None, *OF_A_PIPE],
    "memory.pipe.misses": [None, 1, 2, 3, 4, 5],
    "memory.pipe.shared": [None, "apart", "together"],
    "memory.pipe.lanes": [None, 4, 8],
    "memory.pipe.run": [None, 8, 16],
    "memory.pipe.phase_bytes": [None, 64, 128],
    "memory.pipe.banks": [None, 3, 16],
    "memory.pipe.tag_banks": [None, 2, 5],
    "memory.l1.sets": [None, 1, 2, 3, 4],
    "memory.l1.ways": [None, 1, 2, 3],
    "memory.l1.index": [None, "modulo", "skewed"],
    "memory.l1.local_writes": [None, "back", "through"],
    "memory.l2.sets": [None, 1, 2, 3, 4],
    "memory.l2.ways": [None, 1, 2, 3],
    "memory.l2.copies": [None, 1, 2],
    "memory.l2.halves": [None, 1, 2],
    "memory.l2.far_latency": [None, 0, 12, 30.5],
    "memory.l2.far_service": [None, *DURATIONS],
    "memory.l2.index": [None, "hash", "modulo"],
    "memory.l2.writes": [None, "back", "through"],
    "memory.l2.replacement": [None, "lru", "random"],
    "memory.l2.victims": [None, "posted", "waited"],
    "memory.l2.start": [None, "cold", "kept", "warm"],
    "memory.l2.atomics": [None, "here", "through"],
    "memory.l2.waiting_stores": [None, 1, 3],
    "limits.warps_per_group": [6, 7, 8, 9, 10, 11, 12],
    "limits.blocks_per_group": [None, 1, 2, 3, 4],
    "banks.latency": [0, 22, 28.5],
    "banks.service": [1, 2],
    "products.interval": [None, *FEW_DURATIONS],
    "products.latency": [None, *FEW_DURATIONS],
    "products.count": [None, 1, 2, 3],
    **{f"pipes.{each}.interval": [None, *FEW_DURATIONS] for each in CLASSES},
    **{f"pipes.{each}.count": [None, 1, 2, 3] for each in CLASSES},
}
# Values that only lowering asks for, whose drawn tests are in tests/trace, and values that decide no tick
OF_LOWERING = {
    "banks.atomic_passes", "banks.count", "banks.interval", "banks.lanes", "banks.remote_latency", "banks.word_bytes",
    "memory.atomics",
    "memory.chunk_words", "memory.coalescing", "memory.reductions", "memory.word_bytes",
    *(f"instructions.{each}" for each in CLASSES),
    *(f"results.{each}" for each in ("fp64", "shuffle", "special", "tensor")),
    *(f"scheduling.{each}" for each in ("barrier_interval", "barrier_latency", "cluster_barrier", "cluster_fence",
      "cluster_fence_interval", "fence_device", "fence_sequential", "fence_system", "operands", "stalls")),
}  # fmt: skip
OF_OTHERS = {
    "changes", "clock_hz", "compute_capability", "description", "family", "link", "measured_bandwidth",
    "memory_bytes", "name", "peak_bandwidth", "sustained_clock_hz",
    "cores.max_threads_per_core",  # of occupancy, as resources are: drawn blocks all fit
    "memory.bandwidth", "memory.last_level.bandwidth",  # service in other words
}  # fmt: skip
OF_OTHER_TABLES = ("resources.", "sources.", "hong_kim.")
DRAWN = 1500  # often enough that the least likely of these values comes several times
DRAWING = {
    "max_examples": DRAWN, "derandomize": True, "database": None, "phases": [Phase.generate],
    "suppress_health_check": list(HealthCheck), "deadline": None,
}  # fmt: skip


@cache
def by_hypothesis():
    found = []

    @settings(**DRAWING)
    @given(machines())
    def draw(machine):
        found.append(machine)

    draw()
    return found


@cache
def by_random_numbers():
    draw = RandomDraw(1)
    return [space.machine(draw) for _ in range(DRAWN)]


@pytest.fixture(scope="module", params=[by_hypothesis, by_random_numbers])
def values(request):
    found = defaultdict(Counter)
    for machine in request.param():
        there = machine.values()
        for key in MACHINES:
            found[key][there.get(key)] += 1
    return found


@pytest.mark.parametrize("key", MACHINES)
def test_a_drawn_machine_has_any_of_these_values_and_no_other(values, key):
    assert {*values[key]} == {*MACHINES[key]}


def keys_of(table, prefix=""):
    """All keys that a machine may have."""
    for name, field in table.model_fields.items():
        parts = [field.annotation, *get_args(field.annotation)]
        below = [part for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
        if below:
            yield from keys_of(below[0], f"{prefix}{name}.")
        else:
            yield prefix + name


def test_each_key_is_drawn_or_is_said_not_to_be():
    """A new key that no one draws is one on which the engines are not compared."""
    draw, found = RandomDraw(2), defaultdict(set)
    for _ in range(DRAWN):
        for key, value in space.machine(draw).values().items():
            found[key].add(str(value))
    fixed = {key for key in keys_of(Machine) if len(found[key]) < 2 and not key.startswith(OF_OTHER_TABLES)}
    assert fixed == OF_LOWERING | OF_OTHERS


@pytest.mark.parametrize("found", [by_hypothesis, by_random_numbers])
def test_keys_are_switched_on_together_in_most_ways(found):
    """Of all pairs of values of the keys above, most have come; each way of drawing has as many as the other."""
    seen = set()
    for machine in found():
        there = machine.values()
        seen.update(combinations([(key, there.get(key)) for key in MACHINES], 2))
    possible = sum(len(MACHINES[one]) * len(MACHINES[other]) for one, other in combinations(MACHINES, 2))
    assert len(seen) > 0.8 * possible


def test_the_same_seed_draws_the_same():
    def texts(seed):
        draw = RandomDraw(seed)
        return [space.machine(draw).digest(), space.workload(draw).to_dict(), mbarrier_workload(draw).to_dict()]

    assert texts(4) == texts(4)
    assert texts(4) != texts(5)


def test_a_list_has_all_of_its_lengths_and_some_of_its_values_again():
    draw = RandomDraw(6)
    lists = [draw.many(lambda draw: draw.whole(0, 10**9), 0, 10) for _ in range(1000)]
    assert {len(each) for each in lists} == {*range(11)}
    assert 0 < sum(not each for each in lists) < 100  # few of them empty, which nothing is learned from
    assert sum(len(set(each)) < len(each) for each in lists) > 300  # each other number is new
    assert {len(draw.many(lambda draw: 1, 2, 3)) for _ in range(100)} == {2, 3}


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
