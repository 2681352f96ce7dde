"""Rows of a partition, section 4: `memory.rows`, tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

TABLES = {
    "name": "m",
    "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 100, "chunk_words": 32},
}


def ticks(engine, operations, rows, **memory):
    """A single warp; it issues an operation a cycle."""
    machine = Machine.from_dict({**TABLES, "memory": {**TABLES["memory"], "rows": rows, **memory}})
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [operations]}]}), engine).ticks


@pytest.mark.parametrize(
    ("chunks", "openings"),
    [
        ([0], 1),  # none is open at first
        ([0, 1, 3], 1),  # 0 to 3 are a row
        ([0, 4], 2),
        ([0, 4, 0], 3),  # a partition has one row open here
        ([0, 4, 7, 3], 3),
    ],
)
def test_a_partition_begins_later_where_it_has_to_open_the_row(engine, chunks, openings):
    # Each takes the partition for 40, so that all wait for it.
    took = ticks(engine, [["load", chunks]], {"chunks": 4, "open": 1, "opening": 7}, service=40)
    assert took == 1 + 40 * (len(chunks) - 1) + 7 * openings + 100


@pytest.mark.parametrize(("chunks", "openings"), [([0, 4, 0, 4], 2), ([0, 4, 8, 0], 4), ([0, 4, 0, 8, 0], 3)])
def test_the_row_used_longest_ago_is_closed(engine, chunks, openings):
    took = ticks(engine, [["load", chunks]], {"chunks": 4, "open": 2, "opening": 7}, service=40)
    assert took == 1 + 40 * (len(chunks) - 1) + 7 * openings + 100


def test_every_partition_has_rows_of_its_own(engine):
    # Chunks 0, 2, 4, 6 are a row of partition 0, and 1, 3, 5, 7 of partition 1: two in each, one opening.
    took = ticks(engine, [["load", [0, 1, 6, 7]]], {"chunks": 4, "open": 1, "opening": 7}, service=40, partitions=2)
    assert took == 1 + 7 + 40 + 100


def test_rows_are_those_of_the_address_whatever_the_interleave(engine):
    memory = {"service": 40, "interleave": "hash", "partitions": 1}
    assert ticks(engine, [["load", [0, 3, 4]]], {"chunks": 4, "open": 1, "opening": 7}, **memory) == 1 + 80 + 14 + 100


@pytest.mark.parametrize("operation", ["load", "store", "atomic"])
def test_every_transfer_opens_its_row(engine, operation):
    # Service 0: without rows, it would be done 100 after it left its port at 1.
    assert ticks(engine, [[operation, [0]]], {"chunks": 4, "open": 1, "opening": 7}) == 1 + 7 + 100


def test_what_a_cache_has_opens_no_row(engine):
    took = ticks(
        engine,
        [["load", [0]], ["load", [4]], ["load", [0]], ["load", [5]]],
        {"chunks": 4, "open": 1, "opening": 7},
        service=1,
        l1={"sets": 1, "ways": 2, "latency": 10},
    )
    assert took == (1 + 7 + 100) + (1 + 7 + 100) + (1 + 10) + (1 + 100)


def test_a_launch_begins_with_all_rows_closed(engine):
    machine = Machine.from_dict(
        {**TABLES, "memory": {**TABLES["memory"], "rows": {"chunks": 4, "open": 1, "opening": 7}}}
    )
    launch = {"blocks": [{"warps": [[["load", [0]]]]}]}
    assert simulate(machine, Workload.from_dict({"launches": [launch, launch]}), engine).ticks == 2 * (1 + 7 + 100)
