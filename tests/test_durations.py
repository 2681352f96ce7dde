"""A machine's durations in ticks: every key that is a duration has one, rounded once."""

from dataclasses import asdict

import pytest

from simtmm import Machine
from simtmm.machine.durations import Durations
from simtmm.machine.tables import cores, memory

# By duration, the key it comes from, and its whole cycles here
KEYS = {
    "pipeline_depth": ("scheduling.pipeline_depth", 3),
    "launch_overhead": ("scheduling.launch_overhead", 500),
    "graph_launch_overhead": ("scheduling.graph_launch_overhead", 300),
    "mbarrier_latency": ("scheduling.mbarrier_latency", 21),
    "cluster_latency": ("scheduling.cluster_latency", 23),
    "grid_barrier": ("scheduling.grid_barrier", 310),
    "grid_barrier_block": ("scheduling.grid_barrier_block", 15),
    "first_launch": ("scheduling.first_launch", 700),
    "block_launch": ("scheduling.block_launch", 7),
    "first_access": ("memory.first_access", 17),
    "block_interval": ("scheduling.block_interval", 6),
    "warp_launch": ("scheduling.warp_launch", 2),
    "latency": ("memory.latency", 400),
    "store_latency": ("memory.store_latency", 123),
    "port_interval": ("memory.port_interval", 4),
    "store_interval": ("memory.store_interval", 8),
    "fetch_interval": ("memory.fetch_interval", 10),
    "return_interval": ("memory.return_interval", 12),
    "return_delay": ("memory.return_delay", 14),
    "service": ("memory.service", 9),
    "atomic_service": ("memory.atomic_service", 11),
    "turnaround": ("memory.turnaround", 13),
    "tlb_miss": ("memory.tlb.miss", 19),
    "row_opening": ("memory.rows.opening", 17),
    "l1_latency": ("memory.l1.latency", 30),
    "l2_latency": ("memory.l2.latency", 201),
    "l2_service": ("memory.l2.service", 5),
    "l2_store_service": ("memory.l2.store_service", 7),
    "far_latency": ("memory.l2.far_latency", 45),
    "far_service": ("memory.l2.far_service", 2),
    "l2_request_service": ("memory.l2.request_service", 4),
    "copy_interval": ("memory.copy_interval", 21),
    "drain_latency": ("memory.drain_latency", 22),
    "l2_store_request_service": ("memory.l2.store_request_service", 6),
    "atomic_latency": ("memory.l2.atomic_latency", 205),
    "shared_l1_latency": ("memory.shared_l1.latency", 120),
    "shared_l1_service": ("memory.shared_l1.service", 1),
    "last_level_latency": ("memory.last_level.latency", 310),
    "last_level_service": ("memory.last_level.service", 3),
}
LOWERED = {
    "scheduling.barrier_latency", "scheduling.barrier_interval", "scheduling.cluster_barrier",
    "scheduling.cluster_fence", "scheduling.cluster_fence_interval", "scheduling.fence_device",
    "scheduling.fence_sequential", "scheduling.fence_system",
}  # fmt: skip


def machine(**changes):
    return Machine.from_dict(
        {
            "name": "m",
            "ticks_per_cycle": 2,
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 20, "max_threads_per_core": 16},
            "memory": {"latency": 10, "chunk_words": 8},
        }
    ).replace(changes)


def full():
    lines = {"sets": 1, "ways": 1, "latency": 1}
    shared = {**lines, "atomics": "here", "halves": 2}
    caches = {"memory.l1": lines, "memory.l2": shared, "memory.rows": {"chunks": 1, "open": 1, "opening": 0}}
    caches["memory.tlb"] = {"entries": 1, "page": 32, "miss": 0}
    caches["memory.last_level"] = lines
    caches["memory.shared_l1"] = {**lines, "groups": 1}
    return machine(**caches).replace({key: cycles + 0.25 for key, cycles in KEYS.values()})


@pytest.mark.parametrize("name", KEYS)
def test_a_duration_is_its_key_in_ticks_rounded_half_up(name):
    assert getattr(full().durations, name) == 2 * KEYS[name][1] + 1


def test_every_key_that_is_a_duration_has_one():
    """A key that is added to the tables is added to Durations, once for both engines, unless lowering counts it."""
    named = {"scheduling": cores.Scheduling, "memory": memory.Memory, "memory.rows": memory.Rows}
    named["memory.tlb"] = memory.Tlb
    caches = {"memory.l1": memory.Cache, "memory.l2": memory.SharedCache, "memory.last_level": memory.LastLevelCache}
    caches["memory.shared_l1"] = memory.SharedL1
    found = {
        f"{table}.{key}"
        for table, model in {**named, **caches}.items()
        for key, field in model.model_fields.items()
        if (field.json_schema_extra or {}).get("unit") == "cycles"
    }
    assert found - LOWERED == {key for key, _ in KEYS.values()}


def test_an_instruction_holds_its_port_for_the_width_over_the_cores():
    assert machine().durations.issue == 2 * 3


def test_what_a_machine_does_not_have_takes_nothing_and_hits_take_as_long_as_global_memory():
    durations = machine(**{"scheduling.pipeline_depth": 0}).durations
    taken = {name: ticks for name, ticks in asdict(durations).items() if ticks}
    caches = ("l1_latency", "shared_l1_latency", "l2_latency", "last_level_latency")
    latencies = ("latency", "store_latency", *caches, "atomic_latency")
    assert taken == {"issue": 6, "mbarrier_latency": 1, **dict.fromkeys(latencies, 20)}


def test_the_fastest_and_the_slowest_load_are_those_of_the_levels():
    caches = {"memory.l1": {"sets": 1, "ways": 1, "latency": 3}, "memory.l2": {"sets": 1, "ways": 1, "latency": 30}}
    assert (machine(**caches).durations.fastest_load, machine(**caches).durations.slowest_load) == (6, 60)
    assert machine().durations.fastest_load == machine().durations.slowest_load == 20
    halves = {**caches, "memory.l2": {**caches["memory.l2"], "halves": 2, "far_latency": 12}}
    assert (machine(**halves).durations.fastest_load, machine(**halves).durations.slowest_load) == (6, 84)


def test_without_halves_nothing_of_the_l2_is_far():
    one = {"sets": 1, "ways": 1, "latency": 30, "far_latency": 12, "far_service": 2}
    durations = machine(**{"memory.l2": one}).durations
    assert (durations.far_latency, durations.far_service) == (0, 0)


def test_another_machine_has_its_own():
    one = machine()
    assert one.durations is one.durations
    assert one.replace({"memory.latency": 11}).durations.latency == 22
    assert isinstance(one.durations, Durations)
