"""Machine: validation, defaults, derived quantities, and the machines that ship (machine rules, section 8)."""

import copy
import csv
import json
import math
import os
import re
import tomllib
from pathlib import Path

import numpy as np
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.catalogue import names as known_names
from simtmm.errors import MachineError
from simtmm.machine import Machine, load_machine, machine_files, machine_toml, readable_machines, units

ROOT = Path(__file__).parents[1]
SHIPPED = sorted(path.stem for path in (ROOT / "machines").glob("*.toml"))
HARDWARE = Path(__file__).parents[2] / "shared" / "data" / "hardware" / "machines.csv"

SMALLEST = {
    "name": "small",
    "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 32, "max_threads_per_core": 128},
    "memory": {"latency": 400, "chunk_words": 32},
}
CACHE = {"sets": 4, "ways": 2, "latency": 28}
FULL = {
    **SMALLEST,
    "description": "every key has a value",
    "clock_hz": 1e9,
    "ticks_per_cycle": 10,
    "peak_bandwidth": 1e11,
    "compute_capability": "8.0",
    "scheduling": {
        "switch": "every-instruction",
        "scheduler": "oldest",
        "ports": "own",
        "stalls": "overlap",
        "operands": "banks",
        "grid_barrier": 300,
        "grid_barrier_block": 2.5,
        "barrier_latency": 22.5,
        "barrier_interval": 2.0,
        "mbarrier_latency": 1.5,
        "cluster_latency": 2.5,
        "cluster_barrier": 66.0,
        "cluster_fence": 610.5,
        "cluster_fence_interval": 19.5,
        "fence_device": 550.5,
        "fence_sequential": 670.5,
        "fence_system": 1250.5,
        "pipeline_depth": 4,
        "launch_overhead": 5,
        "graph_launch_overhead": 4,
        "first_launch": 9,
        "block_launch": 6,
        "block_interval": 8,
        "block_burst": 3,
        "warp_launch": 7,
    },
    "memory": {
        **SMALLEST["memory"],
        "word_bytes": 8,
        "coalescing": "chunk",
        "atomics": "by-word",
        "reductions": "posted",
        "transfers": "pipelined",
        "sectors": 4,
        "fetch_sectors": 2,
        "partial_writes": "read",
        "port_interval": 2,
        "port_chunks": 4,
        "ports": 2,
        "store_interval": 3.5,
        "fetch_interval": 5,
        "return_interval": 7,
        "return_delay": 8,
        "store_buffer": 2.5,
        "partitions": 6,
        "interleave": "hash",
        "service": 1.5,
        "atomic_service": 2.5,
        "write_share": 0.75,
        "turnaround": 3,
        "first_access": 9,
        "translations": "launch",
        "tlb": {
            "entries": 32,
            "page": 25344,
            "miss": 90.5,
        },  # a multiple of chunks of 32 or 33 words of 8 bytes, 32 of 9
        "rows": {"chunks": 16, "open": 4, "opening": 20},
        "stores": "posted",
        "store_latency": 60,
        "copy_interval": 30,
        "drain_latency": 31,
        "l1_after_store": "drop",
        "outstanding": 8,
        "l1": {**CACHE, "local_writes": "back", "index": "skewed"},
        "l2": {
            "sets": 16,
            "ways": 8,
            "latency": 200,
            "service": 2,
            "store_service": 3.5,
            "request_service": 1.5,
            "store_request_service": 2.5,
            "waiting_stores": 64,
            "copies": 1,
            "dies": 2,
            "halves": 1,
            "far_latency": 42.5,
            "far_service": 1.5,
            "index": "hash",
            "replacement": "random",
            "victims": "waited",
            "writes": "back",
            "start": "warm",
            "atomics": "here",
            "atomic_latency": 230,
        },
        "shared_l1": {"groups": 2, "sets": 16, "ways": 8, "latency": 60, "service": 1.5},
        "last_level": {
            "sets": 16,
            "ways": 8,
            "latency": 300,
            "service": 3,
            "index": "hash",
            "replacement": "random",
            "start": "warm",
        },
    },
    "limits": {"blocks_per_group": 8, "warps_per_group": 16},
    "resources": {"registers": 16384, "shared_memory": 16384, "threads_per_block": 512},
    "banks": {
        "count": 16,
        "word_bytes": 8,
        "lanes": 16,
        "latency": 22.5,
        "remote_latency": 250.5,
        "remote_interval": 4.5,
        "interval": 2.0,
        "service": 3,
        "atomic_passes": 2,
    },
    "pipes": {"fp64": {"interval": 16, "count": 2}},
    "hong_kim": {"departure_delay_coalesced": 4, "departure_delay_uncoalesced": 40},
}

COUNTS = (
    "ticks_per_cycle", "cores.groups", "cores.cores_per_group", "cores.warp_width", "memory.chunk_words",
    "memory.word_bytes", "memory.partitions", "memory.outstanding", "memory.l1.sets", "memory.l1.ways",
    "memory.l2.sets", "memory.l2.ways", "memory.l2.copies", "memory.l2.dies", "memory.l2.halves",
    "memory.last_level.sets", "memory.last_level.ways",
    "memory.shared_l1.groups", "memory.shared_l1.sets", "memory.shared_l1.ways",
    "memory.sectors", "memory.fetch_sectors",
    "memory.l2.waiting_stores", "scheduling.block_burst",
    "limits.blocks_per_group", "limits.warps_per_group", "resources.registers",
    "resources.shared_memory", "resources.threads_per_block", "banks.count", "banks.word_bytes", "banks.lanes",
    "memory.rows.chunks", "memory.rows.open", "memory.port_chunks", "memory.ports",
    "memory.tlb.entries", "pipes.fp64.count",
)  # fmt: skip
DURATIONS = (
    "scheduling.pipeline_depth", "scheduling.launch_overhead", "scheduling.block_launch", "scheduling.block_interval",
    "scheduling.warp_launch", "scheduling.first_launch", "scheduling.graph_launch_overhead",
    "scheduling.grid_barrier", "scheduling.grid_barrier_block",
    "memory.latency", "memory.port_interval", "memory.service", "memory.atomic_service", "memory.l1.latency",
    "memory.l2.latency", "memory.turnaround", "memory.store_latency", "memory.rows.opening",
    "memory.l2.service", "memory.l2.store_service", "memory.l2.request_service", "memory.l2.store_request_service",
    "memory.l2.far_latency", "memory.l2.far_service",
    "memory.first_access", "memory.store_interval", "memory.copy_interval", "memory.drain_latency",
    "memory.return_interval", "memory.return_delay", "memory.l2.atomic_latency", "memory.fetch_interval",
    "memory.tlb.miss", "memory.store_buffer", "pipes.fp64.interval",
    "memory.shared_l1.latency", "memory.shared_l1.service",
)  # fmt: skip
WORDS = {
    "scheduling.switch": ("on-stall", "every-instruction"),
    "scheduling.scheduler": ("fifo", "oldest", "greedy-oldest", "round-robin"),
    "scheduling.ports": ("any", "own"),
    "scheduling.stalls": ("add", "overlap", "none"),
    "scheduling.operands": ("free", "banks"),
    "memory.coalescing": ("chunk", "half-warp-segments"),
    "memory.partial_writes": ("masked", "read"),
    "memory.atomics": ("each", "by-word"),
    "memory.reductions": ("blocking", "posted"),
    "memory.transfers": ("pipelined", "serial"),
    "memory.interleave": ("modulo", "hash", "rotated"),
    "memory.stores": ("blocking", "posted", "at-end"),
    "memory.l1_after_store": ("keep", "drop"),
    "memory.l1.local_writes": ("through", "back"),
    "memory.l1.index": ("modulo", "skewed"),
    "memory.l2.index": ("modulo", "hash"),
    "memory.last_level.index": ("modulo", "hash"),
    "memory.last_level.replacement": ("lru", "random"),
    "memory.last_level.start": ("as-l2", "warm"),
    "memory.l2.writes": ("through", "back"),
    "memory.l2.start": ("cold", "warm", "kept"),
    "memory.l2.replacement": ("lru", "random"),
    "memory.l2.victims": ("posted", "waited"),
    "memory.translations": ("launch", "run"),
    "memory.l2.atomics": ("through", "here"),
}
NO_NUMBERS = (math.nan, math.inf, -math.inf, True, "4", [4], np.float64("nan"), np.bool_(True))


def changed(tables, **values):
    """A copy of `tables` with some values set, by dotted key."""
    copied = copy.deepcopy(tables)
    for dotted, value in values.items():
        *parents, last = dotted.split(".")
        table = copied
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value
    return copied


def without(tables, dotted):
    copied = copy.deepcopy(tables)
    *parents, last = dotted.split(".")
    table = copied
    for parent in parents:
        table = table[parent]
    del table[last]
    return copied


def machine(**values):
    return Machine.from_dict(changed(SMALLEST, **values))


def complaint(tables):
    """The one line that refuses these tables."""
    with pytest.raises(MachineError) as caught:
        Machine.from_dict(tables, origin="m.toml")
    line = str(caught.value)
    assert "\n" not in line
    assert line.startswith("m.toml: ")
    return line.removeprefix("m.toml: ")


# What is refused


@pytest.mark.parametrize("value", [0, -1, 2.5, *NO_NUMBERS], ids=repr)
@pytest.mark.parametrize("key", COUNTS)
def test_a_count_is_a_whole_number_of_at_least_1(key, value):
    line = complaint(changed(FULL, **{key: value}))
    assert line.startswith(f"{key} = ")
    assert line.endswith(": must be a whole number of at least 1")


@pytest.mark.parametrize("value", [-1, -0.001, *NO_NUMBERS], ids=repr)
@pytest.mark.parametrize("key", DURATIONS)
def test_a_duration_is_a_number_of_at_least_0(key, value):
    line = complaint(changed(FULL, **{key: value}))
    assert line.startswith(f"{key} = ")
    assert line.endswith(": must be a number of at least 0")


@pytest.mark.parametrize("value", [0.999, 0, -1, *NO_NUMBERS], ids=repr)
def test_threads_per_core_are_at_least_1(value):
    line = complaint(changed(FULL, **{"cores.max_threads_per_core": value}))
    assert line.startswith("cores.max_threads_per_core = ")
    assert line.endswith(": must be a number of at least 1")


@pytest.mark.parametrize("value", [0, -1, *NO_NUMBERS], ids=repr)
@pytest.mark.parametrize(
    "key",
    ["clock_hz", "peak_bandwidth", "hong_kim.departure_delay_coalesced", "hong_kim.departure_delay_uncoalesced"],
)
def test_a_rate_or_a_delay_is_above_0(key, value):
    line = complaint(changed(FULL, **{key: value}))
    assert line.startswith(f"{key} = ")
    assert line.endswith(": must be a number above 0")


@pytest.mark.parametrize(("value", "known_as"), [("8.6", "8.6"), (8.6, "8.6"), (9, "9.0"), (np.float64(12.1), "12.1")])
def test_a_compute_capability_is_known_as_nvidia_writes_it(value, known_as):
    assert machine(compute_capability=value).compute_capability == known_as


@pytest.mark.parametrize("value", ["8", "sm_80", "8.60", "0.9", "", " 8.0", "8.0\n", 86.55, 100, *NO_NUMBERS], ids=repr)
def test_another_compute_capability_is_refused(value):
    line = complaint(changed(FULL, compute_capability=value))
    assert line.startswith("compute_capability = ")
    assert line.endswith(": must be a compute capability, from '1.0' to '99.9', such as '8.0'")


@pytest.mark.parametrize("value", ["fastest", "FIFO", "", 3, True, None, ["fifo"]], ids=repr)
@pytest.mark.parametrize("key", WORDS)
def test_an_unknown_word_is_refused_with_the_known_ones(key, value):
    line = complaint(changed(FULL, **{key: value}))
    assert line.startswith(f"{key} = {value!r}: must be ")
    for word in WORDS[key]:
        assert repr(word) in line


@pytest.mark.parametrize(("key", "word"), [(key, word) for key, words in WORDS.items() for word in words])
def test_each_known_word_is_accepted(key, word):
    levels = ("l1", "l2", *(["last_level"] if "last_level" in key else []))
    caches = {f"memory.{level}": dict(CACHE) for level in levels}
    assert machine(**caches, **{key: word}).values()[key] == word


@pytest.mark.parametrize(
    "key", ["memory.latency", "memory.l1.latency", "memory.l2.latency", "memory.l2.atomic_latency"]
)
@pytest.mark.parametrize(
    ("ticks_per_cycle", "too_short", "tick"), [(1, 0.49, "1"), (10, 0.049, "0.1"), (3, 0, "0.333333")]
)
def test_a_latency_of_less_than_one_tick_is_refused(key, ticks_per_cycle, too_short, tick):
    line = complaint(changed(FULL, **{key: too_short, "ticks_per_cycle": ticks_per_cycle}))
    assert line == f"{key} = {too_short:g}: must be at least one tick ({tick} cycles)"


@pytest.mark.parametrize("key", ["memory.latency", "memory.store_latency", "memory.l1.latency", "memory.l2.latency"])
@pytest.mark.parametrize(("ticks_per_cycle", "just_long_enough"), [(1, 0.5), (10, 0.05), (4, 0.125)])
def test_a_latency_that_rounds_to_one_tick_is_accepted(key, ticks_per_cycle, just_long_enough):
    result = Machine.from_dict(changed(FULL, **{key: just_long_enough, "ticks_per_cycle": ticks_per_cycle}))
    assert result.ticks(result.values()[key]) == 1


@pytest.mark.parametrize(
    "key",
    [
        "port_interval",
        "store_interval",
        "fetch_interval",
        "return_interval",
        "return_delay",
        "service",
        "atomic_service",
        "turnaround",
    ],
)
def test_serial_transfers_have_no_limit_on_bandwidth(key):
    line = complaint(changed(SMALLEST, **{"memory.transfers": "serial", f"memory.{key}": 0.25}))
    assert line == f"memory.{key} = 0.25: must be 0 with memory.transfers = 'serial'"


def test_an_atomic_in_the_l2_takes_what_a_hit_takes_unless_the_machine_says_other():
    l2 = {"sets": 1, "ways": 1, "latency": 9, "atomics": "here"}
    assert machine(**{"memory.l2": l2}).durations.atomic_latency == 9
    assert machine(**{"memory.l2": {**l2, "atomic_latency": 12}}).durations.atomic_latency == 12


def test_serial_transfers_know_no_slices_of_the_l2():
    l2 = {"sets": 1, "ways": 1, "latency": 9}
    line = complaint(changed(SMALLEST, **{"memory.transfers": "serial", "memory.l2": {**l2, "service": 0.25}}))
    assert line == "memory.l2.service = 0.25: must be 0 with memory.transfers = 'serial'"
    result = machine(**{"memory.transfers": "serial", "memory.l2": l2})
    assert (result.memory.l2.service, result.memory.l2.writes, result.memory.l2.start) == (0, "through", "cold")


def test_serial_transfers_have_no_tlb():
    tlb = {"entries": 1, "page": 2**21, "miss": 0}
    line = complaint(changed(SMALLEST, **{"memory.transfers": "serial", "memory.tlb": tlb}))
    assert line == "memory.tlb: must be left out with memory.transfers = 'serial'"


@pytest.mark.parametrize("page", ["2MiB", 2**21])
def test_pages_are_given_as_sizes_too(page):
    assert machine(**{"memory.tlb": {"entries": 1, "page": page, "miss": 9}}).memory.tlb.page == 2**21


def test_pages_are_made_of_chunks():
    tables = changed(SMALLEST, **{"memory.tlb": {"entries": 1, "page": 1000, "miss": 9}})
    chunk = Machine.from_dict(SMALLEST).chunk_bytes
    expected = f"must be a multiple of memory.chunk_words * memory.word_bytes, {chunk}"
    assert complaint(tables) == f"memory.tlb.page = 1000: {expected}"


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"memory.sectors": 3}, "memory.sectors = 3: must be 1, 2 or 4"),
        ({"memory.sectors": 8}, "memory.sectors = 8: must be 1, 2 or 4"),
        ({"memory.sectors": 2, "memory.fetch_sectors": 4}, "memory.fetch_sectors = 4: must divide memory.sectors, 2"),
        ({"memory.fetch_sectors": 2}, "memory.fetch_sectors = 2: must divide memory.sectors, 1"),
        (
            {"memory.sectors": 4, "memory.chunk_words": 5, "memory.word_bytes": 2},
            "memory.sectors = 4: must divide memory.chunk_words * memory.word_bytes, 10, into at most 255 bytes",
        ),
        (
            {"memory.sectors": 2, "memory.chunk_words": 128, "memory.word_bytes": 4},
            "memory.sectors = 2: must divide memory.chunk_words * memory.word_bytes, 512, into at most 255 bytes",
        ),
        (
            {"memory.sectors": 2, "memory.transfers": "serial"},
            'memory.transfers = "serial": must be "pipelined" with memory.sectors above 1',
        ),
        (
            {"memory.sectors": 2, "memory.coalescing": "half-warp-segments", "memory.chunk_words": 32},
            'memory.coalescing = "half-warp-segments": must be "chunk" with memory.sectors above 1',
        ),
    ],
)
def test_chunks_are_made_of_sectors(changes, expected):
    assert complaint(changed(SMALLEST, **changes)) == expected


def test_serial_transfers_open_no_rows():
    rows = {"chunks": 1, "open": 1, "opening": 0}
    line = complaint(changed(SMALLEST, **{"memory.transfers": "serial", "memory.rows": rows}))
    assert line == "memory.rows: must be left out with memory.transfers = 'serial'"


def test_serial_transfers_without_a_limit_on_bandwidth_are_accepted():
    tables = {"memory.transfers": "serial", "memory.port_interval": 0, "memory.service": 0.0}
    assert machine(**tables).memory.transfers == "serial"


@pytest.mark.parametrize(("chunk_words", "word_bytes"), [(31, 4), (16, 4), (48, 4), (1, 8), (32, 1)])
def test_half_warp_segments_need_chunks_of_a_multiple_of_128_bytes(chunk_words, word_bytes):
    tables = {"memory.coalescing": "half-warp-segments", "memory.chunk_words": chunk_words}
    line = complaint(changed(SMALLEST, **tables, **{"memory.word_bytes": word_bytes}))
    assert line == (
        f"memory.chunk_words * memory.word_bytes = {chunk_words * word_bytes}: "
        "must be a multiple of 128 with memory.coalescing = 'half-warp-segments'"
    )


@pytest.mark.parametrize(("chunk_words", "word_bytes"), [(32, 4), (64, 4), (16, 8), (128, 1)])
def test_half_warp_segments_with_such_chunks_are_accepted(chunk_words, word_bytes):
    tables = {"memory.coalescing": "half-warp-segments", "memory.chunk_words": chunk_words}
    assert machine(**tables, **{"memory.word_bytes": word_bytes}).memory.coalescing == "half-warp-segments"


@pytest.mark.parametrize(
    ("key", "nearest"),
    [
        ("clock_hertz", "clock_hz"),
        ("latency", "banks.latency"),  # or 'memory.latency'
        ("cores.group", "cores.groups"),
        ("scheduling.schedular", "scheduling.scheduler"),
        ("memory.latenci", "memory.latency"),
        ("memory.l1.latencies", "memory.l1.latency"),
        ("memory.l2.way", "memory.l2.ways"),
        ("limits.block_per_group", "limits.blocks_per_group"),
        ("resources.register", "resources.registers"),
        ("banks.counts", "banks.count"),
        ("memory.coalesce", "memory.coalescing"),
        ("hong_kim.departure_delay_coalesce", "hong_kim.departure_delay_coalesced"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest(key, nearest):
    line = complaint(changed(FULL, **{key: 1}))
    assert line.startswith(f"{key}: unknown key; did you mean {nearest!r}")


def test_an_unknown_key_near_no_other_is_refused_with_all_of_its_table():
    assert complaint(changed(FULL, **{"cores.zzz": 1})) == (
        "cores.zzz: unknown key; known: cluster_groups, cores_per_group, groups, issue_ports, max_threads_per_core, "
        "warp_width"
    )


@pytest.mark.parametrize(
    "key",
    [
        "name", "cores", "cores.groups", "cores.cores_per_group", "cores.warp_width", "cores.max_threads_per_core",
        "memory", "memory.latency", "memory.chunk_words", "memory.l1.sets", "memory.l1.ways", "memory.l1.latency",
    ],
)  # fmt: skip
def test_a_key_without_a_default_is_named_when_it_is_missing(key):
    assert complaint(without(FULL, key)) == f"{key}: is missing"


@pytest.mark.parametrize(
    "key", ["cores", "scheduling", "memory", "limits", "resources", "banks", "hong_kim", "sources"]
)
def test_a_value_in_the_place_of_a_table_is_refused(key):
    assert complaint(changed(FULL, **{key: 3})) == f"{key} = 3: must be a table of keys"


@pytest.mark.parametrize(("value", "size"), [(40, "40MiB"), (0.5, "40MiB"), ("big", "40MiB"), (72, "72MiB")])
def test_a_size_is_asked_for_in_the_place_of_a_cache(value, size):
    line = f"memory.l1 = {value!r}: must be a table of keys, or with --set a size, as memory.l1={size}"
    assert complaint(changed(FULL, **{"memory.l1": value})) == line


@pytest.mark.parametrize("value", [3, True, ["a"]], ids=repr)
def test_a_name_is_a_text(value):
    assert complaint(changed(SMALLEST, name=value)) == f"name = {value!r}: must be a text"


def test_tables_that_are_none_are_refused():
    assert complaint([1]) == "must be a table of keys, not list"


def test_a_long_value_is_shortened_in_the_complaint():
    assert len(complaint(changed(SMALLEST, **{"memory.latency": "9" * 10000}))) < 200


def test_a_source_of_a_key_without_a_value_is_refused_with_the_nearest():
    sources = {"memory.latenci": {"source": "here", "certainty": "assumption"}}
    line = complaint({**SMALLEST, "sources": sources})
    assert line.startswith("sources.memory.latenci: no such key with a value; did you mean 'memory.latency'")


def test_a_source_of_unknown_certainty_is_refused():
    line = complaint({**SMALLEST, "sources": {"memory.latency": {"source": "here", "certainty": "sure"}}})
    assert line.startswith("sources.memory.latency.certainty = 'sure': must be 'measured', 'confirmed', 'paper', ")


HUGE = [("memory.latency", 1e308, 100), ("memory.latency", 10**400, 1), ("cores.groups", 10**400, 1)]


@pytest.mark.parametrize(("key", "value", "ticks_per_cycle"), HUGE, ids=["1e308", "10**400", "a count"])
def test_a_number_beyond_the_range_of_a_double_is_refused(key, value, ticks_per_cycle):
    assert key in complaint(changed(SMALLEST, **{key: value, "ticks_per_cycle": ticks_per_cycle}))


# What is accepted, and what is there without being given


@pytest.mark.parametrize("number", [np.int32, np.int64, np.uint8, np.float32, np.float64])
def test_numpy_numbers_are_plain_numbers_afterwards(number):
    result = machine(**{"cores.groups": number(15), "memory.latency": number(64)})
    assert (result.cores.groups, result.memory.latency) == (15, 64)
    assert type(result.cores.groups) is int
    assert json.loads(json.dumps(result.to_dict())) == result.to_dict()


def test_a_whole_float_is_a_count():
    assert machine(**{"cores.groups": 15.0}).cores.groups == 15


def test_threads_per_core_may_be_fractional():
    result = machine(**{"cores.max_threads_per_core": 10.67, "cores.cores_per_group": 192})
    assert result.warps_per_group == 64  # floor(10.67 * 192 / 32)


DEFAULTS = {
    "ticks_per_cycle": 1,
    "scheduling.switch": "on-stall",
    "scheduling.scheduler": "fifo",
    "scheduling.pipeline_depth": 1,
    "scheduling.launch_overhead": 0,
    "scheduling.first_launch": 0,
    "scheduling.grid_barrier_block": 0,
    "scheduling.block_launch": 0,
    "scheduling.block_interval": 0,
    "scheduling.block_burst": 1,
    "memory.first_access": 0,
    "memory.fetch_interval": 0,
    "memory.return_interval": 0,
    "memory.return_delay": 0,
    "memory.store_buffer": 0,
    "scheduling.warp_launch": 0,
    "memory.word_bytes": 4,
    "memory.coalescing": "chunk",
    "memory.atomics": "each",
    "memory.reductions": "blocking",
    "memory.transfers": "pipelined",
    "memory.port_interval": 0,
    "memory.partitions": 1,
    "memory.interleave": "modulo",
    "memory.service": 0,
    "memory.atomic_service": 0,
    "memory.write_share": 1,
    "memory.turnaround": 0,
    "memory.stores": "blocking",
    "memory.l1_after_store": "keep",
    "memory.port_chunks": 1,
    "memory.ports": 1,
    "banks.latency": 0,
    "banks.interval": 0,
}


@pytest.mark.parametrize(("key", "default"), DEFAULTS.items())
def test_defaults_are_those_of_section_8(key, default):
    assert machine().values()[key] == default


@pytest.mark.parametrize(
    "key",
    ["clock_hz", "peak_bandwidth", "scheduling.graph_launch_overhead",
     "scheduling.grid_barrier", "memory.store_latency", "memory.outstanding", "memory.l1.sets", "memory.l2.sets",
     "memory.rows.chunks", "memory.tlb.entries",
     "limits.blocks_per_group", "limits.warps_per_group", "resources.registers", "resources.shared_memory",
     "resources.threads_per_block",
     "hong_kim.departure_delay_coalesced", "hong_kim.departure_delay_uncoalesced"],
)  # fmt: skip
def test_what_has_no_default_is_no_limit(key):
    assert key not in machine().values()


def test_the_tables_come_back_as_they_went_in():
    result = Machine.from_dict(FULL)
    assert result.to_dict() == {**FULL, "sources": {}}
    assert Machine.from_dict(result.to_dict()) == result


def test_every_key_has_a_unit_and_a_meaning():
    known = units()
    assert set(Machine.from_dict(FULL).values()) <= set(known)
    assert all(meaning for _, meaning in known.values())


# Derived quantities


@pytest.mark.parametrize(("width", "cores", "cycles"), [(32, 8, 4), (32, 32, 1), (32, 64, 1), (1, 1, 1), (32, 12, 3)])
def test_issue_takes_the_width_over_the_cores_rounded_up(width, cores, cycles):
    result = machine(**{"cores.warp_width": width, "cores.cores_per_group": cores})
    assert result.issue_cycles == cycles


@pytest.mark.parametrize(("width", "cores", "ports"), [(32, 8, 1), (32, 32, 1), (32, 63, 1), (32, 64, 2), (1, 5, 5)])
def test_ports_are_the_cores_over_the_width_rounded_down_but_one_at_least(width, cores, ports):
    assert machine(**{"cores.warp_width": width, "cores.cores_per_group": cores}).ports == ports


@pytest.mark.parametrize(
    ("threads", "cores", "width", "limit", "warps"),
    [(48, 32, 32, None, 48), (1.9, 17, 32, None, 1), (48, 32, 32, 47, 47), (48, 32, 32, 49, 48), (1, 1, 32, None, 0)],
)
def test_warps_of_a_group_are_its_threads_over_the_width_rounded_down_or_the_limit(threads, cores, width, limit, warps):
    cores = {"groups": 1, "cores_per_group": cores, "warp_width": width, "max_threads_per_core": threads}
    limits = {} if limit is None else {"warps_per_group": limit}
    assert Machine.from_dict({**SMALLEST, "cores": cores, "limits": limits}).warps_per_group == warps


def test_chunk_bytes_are_words_of_a_chunk_times_bytes_of_a_word():
    assert machine(**{"memory.chunk_words": 24, "memory.word_bytes": 8}).chunk_bytes == 192


def test_processors_are_the_cores_of_all_groups():
    assert machine().processors == 16


@pytest.mark.parametrize(
    ("cycles", "ticks_per_cycle", "ticks"),
    [
        (0, 1, 0), (0.49, 1, 0), (0.5, 1, 1), (1.5, 1, 2), (2.5, 1, 3), (400, 1, 400),  # halves go up, never to even
        (6.07, 100, 607), (552.2, 100, 55220), (33.1, 10, 331), (0.125, 4, 1), (0.1, 4, 0),
        (1.005, 100, 100),  # 1.005 * 100 is 100.49999999999999 in double precision
    ],
)  # fmt: skip
def test_ticks_are_rounded_once_and_halves_up(cycles, ticks_per_cycle, ticks):
    assert machine(ticks_per_cycle=ticks_per_cycle).ticks(cycles) == ticks


@given(st.floats(0, 1e6), st.integers(1, 1000))
def test_ticks_are_within_half_a_tick_of_the_cycles(cycles, ticks_per_cycle):
    ticks = machine(ticks_per_cycle=ticks_per_cycle).ticks(cycles)
    assert isinstance(ticks, int)
    # half a tick, and the rounding of one product and one sum of up to 1e9
    assert abs(ticks - cycles * ticks_per_cycle) <= 0.5 + 2e-7


# replace


def test_replace_takes_dotted_keys():
    result = machine().replace({"memory.latency": 800, "scheduling.scheduler": "oldest", "clock_hz": 2e9})
    assert (result.memory.latency, result.scheduling.scheduler, result.clock_hz) == (800, "oldest", 2e9)


@pytest.mark.parametrize("key", ["name", "description"])
def test_replace_gives_another_name(key):
    assert getattr(machine().replace({key: "other"}), key) == "other"


def test_replace_leaves_the_original_as_it_was():
    result = load_machine("gtx480")
    before = copy.deepcopy(result.to_dict())
    result.replace({"memory.latency": 800, "memory.l1": None, "limits.blocks_per_group": 1})
    assert result.to_dict() == before


def test_replace_by_none_takes_an_optional_key_away():
    result = Machine.from_dict(FULL).replace(
        {"limits.blocks_per_group": None, "memory.outstanding": None, "clock_hz": None}
    )
    assert (result.limits.blocks_per_group, result.memory.outstanding, result.clock_hz) == (None, None, None)


def test_replace_by_none_takes_a_table_away_with_its_sources():
    result = load_machine("gtx480").replace({"memory.l1": None})
    assert result.memory.l1 is None
    assert result.memory.l2 is not None
    assert not [key for key in result.sources if key.startswith("memory.l1")]


def test_replace_by_none_of_what_has_a_default_gives_the_default():
    assert Machine.from_dict(FULL).replace({"memory.stores": None}).memory.stores == "blocking"


@pytest.mark.parametrize("key", ["name", "cores", "memory.latency"])
def test_replace_by_none_of_what_is_needed_is_refused(key):
    with pytest.raises(MachineError, match=rf"^machine small: {key}: is missing$"):
        machine().replace({key: None})


def test_replace_gives_a_table_that_was_not_there():
    assert machine().replace({"memory.l1": CACHE}).memory.l1.ways == 2
    result = machine().replace({"memory.l1.sets": 1, "memory.l1.ways": 2, "memory.l1.latency": 3})
    assert result.memory.l1.latency == 3


def test_replace_marks_the_user_as_the_source():
    result = load_machine("gtx480").replace({"memory.latency": 800, "scheduling.warp_launch": 3})
    assert result.sources["memory.latency"].certainty == "user"
    assert result.sources["scheduling.warp_launch"].certainty == "user"
    assert result.sources["cores.groups"] == load_machine("gtx480").sources["cores.groups"]


def test_replace_of_a_table_marks_the_user_as_the_source_of_its_values():
    result = load_machine("gtx480").replace({"memory.l1": CACHE})
    assert result.sources["memory.l1.sets"].certainty == "user"


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("memory.latenci", 3, "machine small: memory.latenci: unknown key; did you mean 'memory.latency'"),
        ("memory.latency", "long", "machine small: memory.latency = 'long': must be a number of at least 0"),
        ("memory.latency.now", 3, "machine small: memory.latency.now: latency is a value, not a table"),
        ("memory.l1.sets", 3, "machine small: memory.l1.ways: is missing"),
    ],
)
def test_replace_refuses_what_from_dict_refuses(key, value, line):
    with pytest.raises(MachineError) as caught:
        machine().replace({key: value})
    assert str(caught.value).startswith(line)


# digest, frozen


PIPE = {
    "access_interval": 2, "tag_interval": 0.5, "interval": 3, "fill_interval": 4, "drain_interval": 5,
    "lanes": 8, "run": 16,
    "phase_bytes": 64, "banks": 4, "tag_banks": 2, "misses": 9, "shared": "apart",
}  # fmt: skip
PIPED = {**SMALLEST, "memory": {**SMALLEST["memory"], "pipe": PIPE}}


@pytest.mark.parametrize("key", PIPE)
def test_the_digest_changes_with_every_value_of_a_pipe(key):
    dotted = f"memory.pipe.{key}"
    first = Machine.from_dict(PIPED)
    others = {"shared": "together", "lanes": 4, "run": 32}
    other = others[key] if key in others else PIPE[key] + 1
    assert first.replace({dotted: other}).digest() != first.digest()
    assert set(PIPE) == {name.removeprefix("memory.pipe.") for name in first.values() if "memory.pipe." in name}


@pytest.mark.parametrize("key", [key for key in Machine.from_dict(FULL).values() if key != "compute_capability"])
def test_the_digest_changes_with_every_value(key):
    value = Machine.from_dict(FULL).values()[key]
    if key in WORDS:
        other = next(word for word in WORDS[key] if word != value)
    else:
        factors = {"memory.tlb.page": 2, "memory.sectors": 0.5, "memory.fetch_sectors": 2, "memory.l2.halves": 2}
        other = int(value * factors[key]) if key in factors else value + 1
    if key in ("memory.transfers", "memory.translations"):  # what FULL has does not go with them
        tables = changed(SMALLEST, **{key: other})
        assert Machine.from_dict(tables).digest() != Machine.from_dict(SMALLEST).digest()
    elif key == "memory.l2.halves":  # nor do dies
        whole = {"memory.l2.dies": 1}
        full = Machine.from_dict(changed(FULL, **whole))
        assert Machine.from_dict(changed(FULL, **{key: other, **whole})).digest() != full.digest()
    elif key == "memory.coalescing":  # of which sectors want one
        whole = {"memory.sectors": 1, "memory.fetch_sectors": 1}
        full = Machine.from_dict(changed(FULL, **whole))
        assert Machine.from_dict(changed(FULL, **{key: other, **whole})).digest() != full.digest()
    else:
        assert Machine.from_dict(changed(FULL, **{key: other})).digest() != Machine.from_dict(FULL).digest()


def test_the_digest_does_not_depend_on_names_and_sources():
    sources = {"memory.latency": {"source": "here", "certainty": "paper"}}
    other = Machine.from_dict({**FULL, "name": "other", "description": "other", "sources": sources})
    assert other.digest() == Machine.from_dict(FULL).digest()


def test_the_digest_does_not_depend_on_what_kernels_are_compiled_for():
    result = Machine.from_dict(changed(FULL, compute_capability="9.0"))
    assert result.digest() == Machine.from_dict(FULL).digest()
    assert result != Machine.from_dict(FULL)


def test_the_digest_does_not_depend_on_the_order_of_keys():
    backwards = dict(reversed(FULL.items())) | {"memory": dict(reversed(FULL["memory"].items()))}
    assert Machine.from_dict(backwards).digest() == Machine.from_dict(FULL).digest()


def test_the_digest_does_not_depend_on_the_kind_of_number():
    assert machine(**{"memory.latency": 400.0, "cores.groups": 2.0}).digest() == machine().digest()


@pytest.mark.parametrize("key", [key for key in DEFAULTS if key in DURATIONS])
def test_the_digest_is_the_same_where_a_default_is_given(key):
    assert machine(**{key: DEFAULTS[key]}).digest() == machine().digest()


@pytest.mark.parametrize("key", [key for key in DEFAULTS if key not in DURATIONS])
def test_the_digest_is_the_same_where_a_default_count_or_word_is_given(key):
    assert machine(**{key: DEFAULTS[key]}).digest() == machine().digest()


def test_the_digest_stays_where_a_value_is_replaced_by_itself():
    assert machine().replace({"memory.latency": 400}).digest() == machine().digest()


@pytest.mark.parametrize(("table", "key"), [(None, "clock_hz"), ("cores", "groups"), ("memory", "latency")])
def test_a_machine_is_frozen(table, key):
    result = machine()
    with pytest.raises(pydantic.ValidationError, match="frozen"):
        setattr(getattr(result, table) if table else result, key, 1)


# load_machine


def test_a_machine_is_found_by_name():
    assert load_machine("gtx480").name == "GeForce GTX 480"


@pytest.mark.parametrize("kind", [str, Path])
def test_a_machine_is_read_from_a_path(kind):
    assert load_machine(kind(ROOT / "machines" / "ideal.toml")) == load_machine("ideal")


def test_an_unknown_name_is_refused_with_the_nearest():
    with pytest.raises(MachineError, match=r"^machine 'gtx48': unknown; did you mean 'gtx480'"):
        load_machine("gtx48")


def test_a_name_near_no_other_is_refused_with_all():
    with pytest.raises(MachineError) as caught:
        load_machine("zzz")
    known = ", ".join(machine_files())
    assert str(caught.value) == (
        f"machine 'zzz': unknown; known: {known}. `simtmm machines new` makes one from a data sheet"
    )


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (None, "can't be read (No such file or directory)"),
        (b"name = ", "is not TOML ("),
        (b"name = 'a'\nname = 'b'", "is not TOML ("),
        (b"\xff\xfe", "is not TOML ("),
        (b"name = 'a'", "cores: is missing"),
        (b"[cores]\ngroups = 0\n", "name: is missing"),
        (b"name = 'a'\n[cores]\ngroups = 0", "cores.groups = 0: must be a whole number of at least 1"),
    ],
)
def test_a_file_that_is_no_machine_is_refused_with_its_path(tmp_path, content, line):
    path = tmp_path / "m.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(MachineError) as caught:
        load_machine(path)
    assert str(caught.value).startswith(f"{path}: {line}")
    assert "\n" not in str(caught.value)


def test_a_folder_is_no_machine(tmp_path):
    with pytest.raises(MachineError) as caught:
        load_machine(tmp_path)
    assert str(caught.value) == f"{tmp_path}: can't be read (Is a directory)"


@pytest.mark.parametrize("value", ["1" * 5000, "[" * 5000], ids=["a number of 5000 digits", "5000 brackets"])
def test_toml_that_python_gives_up_on_is_refused(tmp_path, value):
    path = tmp_path / "m.toml"
    path.write_text(f"clock_hz = {value}", encoding="utf-8")
    with pytest.raises(MachineError, match="is not TOML"):
        load_machine(path)


def put_machine(folder, name, latency):
    (folder / "machines").mkdir(parents=True)
    text = f'name = "{name}"\n[cores]\ngroups = 1\ncores_per_group = 1\nwarp_width = 1\nmax_threads_per_core = 1\n'
    text += f"[memory]\nlatency = {latency}\nchunk_words = 1\n"
    (folder / "machines" / "gtx480.toml").write_text(text, encoding="utf-8")


@pytest.fixture
def nothing_told(monkeypatch):
    """As in a new process, of which machine is taken nothing has been said."""
    monkeypatch.setattr(known_names, "_told", set())


@pytest.mark.usefixtures("nothing_told")
def test_a_machine_of_the_working_directory_never_takes_a_shipped_ones_name(tmp_path, monkeypatch, caplog):
    put_machine(tmp_path, "mine", 7)
    (tmp_path / "machines" / "other.toml").write_text((tmp_path / "machines" / "gtx480.toml").read_text())
    monkeypatch.chdir(tmp_path)
    assert load_machine("gtx480").name == "GeForce GTX 480"
    assert "using the shipped one, not machines/gtx480.toml" in caplog.text
    assert load_machine("other").name == "mine"
    assert load_machine("machines/gtx480.toml").name == "mine"


@pytest.mark.usefixtures("nothing_told")
@pytest.mark.parametrize("variable", ["SIMTMM_PATH", "SIMTMM_MACHINE_PATH"])
def test_a_folder_that_was_given_comes_before_the_shipped_one_and_says_so(tmp_path, monkeypatch, caplog, variable):
    put_machine(tmp_path / "here", "mine", 7)
    put_machine(tmp_path / "there", "theirs", 8)
    monkeypatch.chdir(tmp_path / "here")
    folder = tmp_path / "there"
    monkeypatch.setenv(variable, str(folder if variable == "SIMTMM_PATH" else folder / "machines"))
    assert load_machine("gtx480").name == "theirs"
    assert machine_files()["gtx480"] == tmp_path / "there" / "machines" / "gtx480.toml"
    assert "instead of the shipped one of that name" in caplog.text


@pytest.mark.parametrize("name", ["GTX480", "Gtx480", "gtx480"])
def test_capitals_of_a_name_do_not_matter(name):
    assert load_machine(name).name == "GeForce GTX 480"


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("h100", "did you mean 'h100-pcie' or 'h100-sxm'?"),
        ("RTX 4090", "did you mean 'rtx-4090'?"),
        ("a100", "did you mean 'a100-40' or 'a100-80'?"),
        ("gtx408", "did you mean"),
    ],
)
def test_a_name_that_is_unknown_says_what_may_be_meant(name, meant):
    with pytest.raises(MachineError, match=re.escape(meant)):
        load_machine(name)


def test_a_file_that_is_no_toml_is_no_machine_of_its_folder(tmp_path, monkeypatch):
    put_machine(tmp_path, "mine", 7)
    (tmp_path / "machines" / "notes.txt").write_text("")
    monkeypatch.chdir(tmp_path)
    assert "notes" not in machine_files()


# The machines that ship


def flat(tables, prefix=""):
    for key, value in tables.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{key}.")
        else:
            yield prefix + key


def written(name):
    return tomllib.loads((ROOT / "machines" / f"{name}.toml").read_text(encoding="utf-8"))


def test_machines_ship():
    assert {"gtx280", "gtx480", "cray-xmt", "ideal"} <= set(SHIPPED)


@pytest.mark.parametrize("name", SHIPPED)
def test_a_shipped_machine_holds_what_its_file_says(name):
    tables = written(name)
    sources = tables.pop("sources")
    result = load_machine(name)
    values = result.values()
    lookup = {"name": result.name, "description": result.description, "family": result.family, **values}
    for key in flat(tables):
        value = tables
        for part in key.split("."):
            value = value[part]
        assert lookup[key] == value
    reported = {key: source.source for key, source in result.sources.items()}
    assert {key: reported.pop(key) for key in sources} == {key: source["source"] for key, source in sources.items()}
    assert all(source == "as service" or source.startswith(f"family {result.family}: ") for source in reported.values())


@pytest.mark.parametrize("name", SHIPPED)
def test_every_written_value_of_a_shipped_machine_has_a_source_and_no_other_key_has(name):
    tables = written(name)
    sources = tables.pop("sources")
    assert set(sources) == set(flat(tables)) - {"name", "description", "family"}
    assert all(entry["source"] for entry in sources.values())


@pytest.mark.parametrize("name", SHIPPED)
def test_a_derived_value_of_a_shipped_machine_says_from_what(name):
    for key, source in load_machine(name).sources.items():
        if source.certainty == "derived":
            assert source.source or source.note, key


def bandwidth_service(made, bytes_per_second):
    """Cycles that a partition needs for a chunk if all of them together move that many bytes a second."""
    return made.memory.partitions * made.chunk_bytes / (bytes_per_second / made.clock_hz)


@pytest.mark.parametrize(
    ("name", "bytes_per_second"),
    [("gtx280", 141.7e9), ("gtx480", 177.4e9)],  # that of an A100 is fitted: tests/test_profiles.py
)
def test_service_is_derived_from_bandwidth(name, bytes_per_second):
    result = load_machine(name)
    # the files give hundredths of a cycle
    assert result.memory.service == pytest.approx(bandwidth_service(result, bytes_per_second), abs=0.005)
    assert result.memory.atomic_service == result.memory.service


@pytest.mark.parametrize(
    ("name", "threads_of_a_group"), [("gtx280", 1024), ("gtx480", 1536), ("a100-80", 2048), ("cray-xmt", 128)]
)
def test_threads_per_core_are_derived_from_the_threads_of_a_group(name, threads_of_a_group):
    result = load_machine(name)
    assert result.cores.max_threads_per_core * result.cores.cores_per_group == threads_of_a_group


@pytest.mark.parametrize(
    ("name", "cache", "kib"),
    [("gtx480", "l1", 16), ("gtx480", "l2", 768), ("a100-80", "l1", 128), ("a100-80", "l2", 40 * 1024)],
)
def test_sets_of_a_cache_are_derived_from_its_size(name, cache, kib):
    result = load_machine(name)
    entry = getattr(result.memory, cache)
    assert entry.sets * entry.ways * result.chunk_bytes == kib * 1024


def test_the_partitions_of_the_gtx480_are_derived_from_bandwidth_and_memory_clock():
    result = load_machine("gtx480")
    bits = result.peak_bandwidth / (4 * 924e6) * 8  # four transfers a clock
    assert round(bits) == 384
    assert result.memory.partitions == 384 // 64


def test_the_latency_of_the_xmt_is_the_time_of_the_mta_2_in_its_own_cycles():
    result = load_machine("cray-xmt")
    seconds = 160 / 220e6  # the middle of 150 to 170 cycles
    assert result.memory.latency == round(seconds * result.clock_hz)


CONFIRMED = {
    "core_groups": ("cores.groups", 1),
    "cores_per_group": ("cores.cores_per_group", 1),
    "warp": ("cores.warp_width", 1),
    "clock_core": ("clock_hz", 1e6),
    "clock": ("clock_hz", 1e6),
    "peak_bw": ("peak_bandwidth", 1e9),
    "blocks_per_group_max": ("limits.blocks_per_group", 1),
    "threads_per_block_max": ("resources.threads_per_block", 1),
    "registers_per_group": ("resources.registers", 1),
    "Z_shared": ("resources.shared_memory", 1),
    "L_global": ("memory.latency", 1),
    "L_L1": ("memory.l1.latency", 1),
    "L_L2_near": ("memory.l2.latency", 1),
    "lookahead": ("memory.outstanding", 1),
    "streams": ("cores.max_threads_per_core", 1),
}
ELSEWHERE = {("A100", "peak_bw")}  # of the 40 GB board; the machine is the one with 80


def confirmed_values():
    if not HARDWARE.is_file():
        return []
    names = {"GTX280": "gtx280", "GTX480": "gtx480", "A100": "a100-80", "CrayXMT": "cray-xmt"}
    with HARDWARE.open(newline="", encoding="utf-8") as lines:
        return [
            (names[row["machine"]], row["parameter"], float(row["value"]))
            for row in csv.DictReader(lines)
            if row["machine"] in names
            and row["status"] == "confirmed"
            and row["parameter"] in CONFIRMED
            and (row["machine"], row["parameter"]) not in ELSEWHERE
        ]  # fmt: skip


@pytest.mark.skipif(not HARDWARE.is_file(), reason="the hardware table lies outside the project")
@pytest.mark.parametrize(("name", "parameter", "value"), confirmed_values())
def test_confirmed_numbers_of_the_hardware_table_are_the_machines(name, parameter, value):
    key, factor = CONFIRMED[parameter]
    assert load_machine(name).values()[key] == pytest.approx(value * factor, rel=1e-12)  # the factor's rounding


# Eq (5.2): B_a = min(Z / Z_B, R / (R_T T_r), B_max, T_max / T_r)

GROUP = {
    "cores": {"groups": 15, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 48},  # 1536 threads
    "limits": {"blocks_per_group": 8},
    "resources": {"registers": 32768, "shared_memory": 49152, "threads_per_block": 1024},
}


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "limits"),
    [
        (256, 20, 12289, {"shared memory": 3, "registers": 6, "blocks": 8, "threads": 6}),
        (256, 43, 4096, {"shared memory": 12, "registers": 2, "blocks": 8, "threads": 6}),
        (64, 20, 4096, {"shared memory": 12, "registers": 25, "blocks": 8, "threads": 24}),
        (512, 20, 4096, {"shared memory": 12, "registers": 3, "blocks": 8, "threads": 3}),
        (700, 1, 1, {"shared memory": 49152, "registers": 46, "blocks": 8, "threads": 2}),
        (256, 20, 0, {"shared memory": None, "registers": 6, "blocks": 8, "threads": 6}),
        (256, 0, 12288, {"shared memory": 4, "registers": None, "blocks": 8, "threads": 6}),
    ],
    ids=["shared memory", "registers", "blocks", "a tie", "threads", "no shared memory", "no registers"],
)
def test_active_blocks_are_the_least_of_the_four_terms(threads, registers, shared_memory, limits):
    result = machine(**GROUP)
    terms = result.block_limits(threads, registers, shared_memory)
    del terms["warps"]  # not one of Eq (5.2)'s
    assert terms == limits
    least = min(blocks for blocks in limits.values() if blocks is not None)
    assert result.active_blocks(threads, registers, shared_memory) == least


def test_a_machine_without_resources_limits_blocks_by_threads_alone():
    result = machine(cores=GROUP["cores"])
    assert result.block_limits(256, 10**6, 10**9) == {
        "shared memory": None,
        "registers": None,
        "blocks": None,
        "threads": 6,
        "warps": 6,
    }
    assert result.active_blocks(256, 10**6, 10**9) == 6


@pytest.mark.parametrize(
    ("threads", "registers", "shared_memory", "line"),
    [
        (
            1025, 1, 0,
            "a block of 1025 threads does not fit: at most 1024 threads a block (resources.threads_per_block)",
        ),
        (
            1024, 33, 0,
            "a block that needs 33792 registers does not fit: a core group has 32768 registers (resources.registers)",
        ),
        (
            32, 1, 49153,
            "a block that needs 49153 bytes of shared memory does not fit: "
            "a core group has 49152 bytes (resources.shared_memory)",
        ),
    ],
)  # fmt: skip
def test_a_block_that_fits_no_group_is_refused_with_the_resource(threads, registers, shared_memory, line):
    with pytest.raises(MachineError) as caught:
        machine(**GROUP).active_blocks(threads, registers, shared_memory)
    assert str(caught.value) == f"machine small: {line}"


def test_a_block_of_more_threads_than_a_group_holds_is_refused():
    with pytest.raises(MachineError) as caught:
        machine(cores=GROUP["cores"]).active_blocks(1537)
    assert str(caught.value) == (
        "machine small: a block that needs 1537 threads does not fit: "
        "a core group has 1536 threads (cores.max_threads_per_core * cores.cores_per_group)"
    )


def test_a_key_that_came_later_changes_no_digest_until_it_is_set():
    machine = Machine.from_dict(SMALLEST)
    assert machine.replace({"scheduling.block_interval": 0}).digest() == machine.digest()
    assert machine.replace({"scheduling.block_interval": 1}).digest() != machine.digest()
    for later, other in (
        ("memory.atomics", "by-word"),
        ("memory.reductions", "posted"),
        ("memory.first_access", 1),
        ("memory.ports", 2),
        ("memory.fetch_interval", 1),
        ("memory.return_interval", 1),
        ("memory.return_delay", 1),
        ("memory.store_buffer", 1),
        ("banks.latency", 9),
        ("banks.interval", 2),
    ):
        assert machine.replace({later: machine.values()[later]}).digest() == machine.digest()
        assert machine.replace({later: other}).digest() != machine.digest()


@pytest.mark.parametrize("more", ["", "[changes]\n"])
def test_a_source_without_words_is_written_and_read_again(tmp_path, more):
    path = tmp_path / "m.toml"
    tables = {**load_machine("gtx280").to_dict(), "sources": {"memory.latency": {"source": "", "certainty": "user"}}}
    path.write_text(machine_toml(Machine.from_dict(tables, "m")) + more, encoding="utf-8")
    result = load_machine(path)
    path.write_text(machine_toml(result), encoding="utf-8")
    assert load_machine(path) == result


def test_a_scheduler_by_its_name_elsewhere_points_to_its_name_here():
    line = complaint(changed(SMALLEST, **{"scheduling.scheduler": "GTO"}))
    assert line.endswith("must be 'fifo', 'oldest', 'greedy-oldest' or 'round-robin' (that is 'greedy-oldest' here)")


def test_files_that_can_not_be_understood_are_left_out_of_the_list_with_a_warning(tmp_path, monkeypatch, caplog):
    """A pipe too, which would be waited for."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "machines"
    (folder / "folder.toml").mkdir(parents=True)
    (folder / "junk.toml").write_text("junk")
    (folder / "bytes.toml").write_bytes(b"\xff\xfe")
    (folder / "dangling.toml").symlink_to("nothing")
    os.mkfifo(folder / "pipe.toml")
    known = readable_machines()
    assert "gtx280" in known
    assert not {"folder", "junk", "bytes", "dangling", "pipe"} & set(known)
    warned = sorted(re.sub(r".*/machines/", "", record.getMessage()) for record in caplog.records)
    assert [line.partition(" ")[0] for line in warned] == [
        "bytes.toml:", "dangling.toml:", "folder.toml:", "junk.toml:", "pipe.toml:"
    ]  # fmt: skip
    assert warned[4] == "pipe.toml: is not a file: skipped"


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"\udcff": 1}, r"\udcff: unknown key: must be a text in UTF-8"),
        ({"memory.\udcff": 1}, r"memory.\udcff: unknown key: must be a text in UTF-8"),
        ({"memory.stores": "\udcff"}, r"memory.stores = '\udcff': must be a text in UTF-8"),
        ({"name": "\udcff"}, r"name = '\udcff': must be a text in UTF-8"),
        (
            {"sources": {"clock_hz": {"source": "\ud800"}}},
            r"sources.clock_hz.source = '\ud800': must be a text in UTF-8",
        ),
    ],
)
def test_bytes_of_a_command_line_that_are_no_text_are_refused_with_their_key(changes, line):
    with pytest.raises(MachineError) as caught:
        load_machine("gtx280").replace(changes)
    assert str(caught.value) == f"machine GeForce GTX 280: {line}"


@pytest.mark.parametrize("name", ["\U0001f600", "\ue000 \uffff", "a\x7fb", 'say "\\"', "größer\t", "\\ud83d\\ude00"])
def test_a_machine_of_any_name_is_written_and_read_again(tmp_path, name):
    """A pair of surrogates, as JSON has letters beyond the first 65,536, is none in TOML."""
    machine = load_machine("gtx280").replace({"name": name, "description": name})
    path = tmp_path / "m.toml"
    path.write_text(machine_toml(machine), encoding="ascii")
    assert load_machine(path) == machine
    assert load_machine(path).description == name


def test_a_table_that_says_that_it_is_whole_is_the_machine_that_it_says():
    tables = Machine.from_dict(SMALLEST).to_dict()
    assert Machine.from_dict({**tables, "whole": True}) == Machine.from_dict(tables)
