"""Stores' own rules, section 4: `store_latency`, `write_share`, `turnaround` and others, in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

TABLES = {
    "name": "m",
    "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
    "memory": {"latency": 100, "chunk_words": 32},
}
L1 = {"sets": 1, "ways": 2, "latency": 10}


def run(engine, operations, **memory):
    """A single warp; it issues an operation a cycle."""
    machine = Machine.from_dict({**TABLES, "memory": {**TABLES["memory"], **memory}})
    return simulate(machine, Workload.from_dict({"blocks": [{"warps": [operations]}]}), engine)


@pytest.mark.parametrize(("given", "ticks"), [({}, 101), ({"store_latency": 30}, 31), ({"store_latency": 300}, 301)])
def test_a_store_takes_its_own_latency(engine, given, ticks):
    assert run(engine, [["store", [0]]], **given).ticks == ticks


def test_loads_and_atomics_keep_theirs(engine):
    assert run(engine, [["load", [0]], ["atomic", [1]]], store_latency=30).ticks == 2 * 101


def test_chunks_of_a_store_follow_one_another_where_transfers_are_serial(engine):
    assert run(engine, [["store", [0, 1, 2]]], store_latency=30, transfers="serial").ticks == 1 + 3 * 30


@pytest.mark.parametrize(("share", "taken"), [(1, 40), (0.5, 20), (2.5, 100)])
def test_what_is_written_takes_its_partition_for_a_share_of_what_is_read(engine, share, taken):
    memory = {"service": 40, "store_latency": 30, "write_share": share}
    assert run(engine, [["store", [0, 1, 2]]], **memory).ticks == 1 + 2 * taken + 30
    assert run(engine, [["load", [0, 1, 2]]], **memory).ticks == 1 + 2 * 40 + 100
    assert run(engine, [["atomic", [0, 1, 2]]], **memory, atomic_service=7).ticks == 1 + 2 * 7 + 100


def test_a_line_that_is_written_back_takes_as_much(engine):
    memory = {"service": 40, "write_share": 0.25, "l2": {"sets": 1, "ways": 1, "latency": 5, "writes": "back"}}
    operations = [["store", [0]], ["load", [1, 2]]]
    short = run(engine, operations, **memory).ticks
    assert run(engine, operations, **{**memory, "write_share": 1}).ticks == short + 30


def test_a_posted_store_is_waited_for_by_nobody_but_the_end(engine):
    operations = [["store", [0]], ["compute", 50]]
    assert run(engine, operations, store_latency=30, stores="posted").ticks == 51
    assert run(engine, operations, store_latency=70, stores="posted").ticks == 71


@pytest.mark.parametrize(
    ("operations", "turns"),
    [
        ([["async", [0]], ["async", [1]]], 0),
        ([["store", [0]]], 1),  # a partition reads at first
        ([["store", [0]], ["store", [1]]], 1),
        ([["async", [0]], ["store", [1]], ["async", [2]]], 2),
        ([["store", [0]], ["atomic", [1]]], 1),  # an update writes as well
    ],
)
def test_a_partition_that_turns_round_begins_later(engine, operations, turns):
    # The first leaves its port at 1; each takes the partition for 40, so that all wait for it.
    ticks = run(engine, operations, service=40, atomic_service=40, turnaround=7, stores="posted").ticks
    assert ticks == 1 + 40 * (len(operations) - 1) + 7 * turns + 100


def test_turning_round_takes_a_partition_by_itself(engine):
    # Service 0: without turnaround, both would be done 100 after they left their ports at 1 and 2.
    assert run(engine, [["store", [0]], ["load", [1]]], turnaround=7, stores="posted").ticks == 1 + 7 + 7 + 100


def test_partitions_turn_round_on_their_own(engine):
    operations = [["store", [0]], ["load", [1]]]
    assert run(engine, operations, service=1, turnaround=7, partitions=2, stores="posted").ticks == 1 + 7 + 100


@pytest.mark.parametrize("writes", ["store", "atomic"])
@pytest.mark.parametrize(("rule", "hits"), [("keep", 1), ("drop", 0)])
def test_a_store_takes_its_line_out_of_the_l1(engine, writes, rule, hits):
    result = run(engine, [["load", [0]], [writes, [0]], ["load", [0]]], l1=L1, l1_after_store=rule)
    assert result.l1_hits == hits
    assert result.ticks == 3 + 200 + (10 if hits else 100)


def test_other_lines_stay_and_keep_their_order_of_use(engine):
    # Of 2 ways: 0 and 1 are in, 0 goes, so 2 finds room and 1 stays; then 3 drops 1, which was used before 2.
    loads = [["load", [0]], ["load", [1]], ["store", [0]], ["load", [2]], ["load", [1]], ["load", [2]], ["load", [3]]]
    assert run(engine, loads, l1=L1, l1_after_store="drop").l1_hits == 2
    assert run(engine, [*loads, ["load", [1]]], l1=L1, l1_after_store="drop").l1_hits == 2
    assert run(engine, [*loads, ["load", [2]]], l1=L1, l1_after_store="drop").l1_hits == 3


def test_the_l2_keeps_the_line_that_leaves_the_l1(engine):
    caches = {"l1": L1, "l2": {"sets": 4, "ways": 1, "latency": 40}}
    result = run(engine, [["load", [0]], ["store", [0]], ["load", [0]]], **caches, l1_after_store="drop")
    assert (result.l1_hits, result.l2_hits) == (0, 1)
    assert result.ticks == 3 + 200 + 40
