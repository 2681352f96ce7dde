"""Local memory that is written back in the L1 (section 4), tick by tick in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

pytestmark = pytest.mark.parametrize("engine", ENGINES)

LOCAL = 2**61 // 128  # the first chunk of local memory
L1 = {"sets": 1, "ways": 1, "latency": 10, "local_writes": "back"}
L2 = {"sets": 1, "ways": 4, "latency": 40}


def run(engine, operations, stalls=False, **memory):
    """A warp that issues an operation a cycle. Memory takes 100 cycles, a store 70."""
    tables = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "store_latency": 70, "chunk_words": 32, "stores": "posted", "l1": L1, **memory},
    }
    workload = Workload.from_dict({"blocks": [{"warps": [operations]}]})
    return simulate(Machine.from_dict(tables), workload, engine, stalls=stalls)


@pytest.mark.parametrize(("local_writes", "hits", "ticks"), [("back", 1, 2 + 10), ("through", 0, 2 + 100)])
def test_a_load_finds_what_was_stored_in_local_memory(engine, local_writes, hits, ticks):
    result = run(engine, [["store", [LOCAL]], ["load", [LOCAL]]], l1={**L1, "local_writes": local_writes})
    assert (result.l1_hits, result.ticks) == (hits, ticks)


@pytest.mark.parametrize(("chunk", "ticks"), [(LOCAL - 1, 1 + 70), (LOCAL, 1 + 10), (2**63 - 1, 1 + 10)])
def test_local_memory_begins_at_its_byte(engine, chunk, ticks):
    assert run(engine, [["store", [chunk]]], stores="blocking").ticks == ticks


def test_a_store_that_stays_takes_its_port_and_nothing_below(engine):
    local = [LOCAL, LOCAL + 1]
    assert run(engine, [["store", local]], port_interval=5, service=50, l2=L2).ticks == 1 + 5 + 10
    assert run(engine, [["store", local]], store_interval=7, service=50, l2=L2).ticks == 1 + 7 + 10
    assert run(engine, [["store", local]], transfers="serial").ticks == 1 + 10 + 10


@pytest.mark.parametrize(
    ("before", "written"),
    [
        ([["load", [LOCAL]]], 0),
        ([["store", [LOCAL]]], 1),
        ([["store", [LOCAL]], ["store", [LOCAL]]], 1),
        ([["load", [LOCAL]], ["store", [LOCAL]]], 1),
        ([["store", [LOCAL]], ["load", [LOCAL]]], 1),  # a load does not make it clean
        ([["store", [LOCAL]], ["load", [1]], ["load", [LOCAL]]], 0),  # it came back as it was read
        ([["store", [0]]], 0),  # global memory is written through
    ],
)
def test_a_written_line_that_falls_out_takes_its_partition(engine, before, written):
    """All is at rest before 2 comes in; what it throws out stands before the load of 3."""
    begin = run(engine, [*before, ["compute", 1000]], service=60).ticks
    behind = [["async", [2]], ["async", [3]], ["join"]]
    assert run(engine, [*before, ["compute", 1000], *behind], service=60).ticks == begin + 1 + 60 + written * 60 + 100


def test_writing_back_turns_a_partition_round(engine):
    machine = {"service": 60, "turnaround": 9}
    before = [["store", [LOCAL]], ["compute", 1000]]
    begin = run(engine, before, **machine).ticks
    behind = [["async", [2]], ["async", [3]], ["join"]]  # it reads, writes, reads
    assert run(engine, [*before, *behind], **machine).ticks == begin + 1 + 60 + 9 + 60 + 9 + 100


def test_a_written_line_that_falls_out_ends_in_an_l2_that_is_written_back(engine):
    machine = {"service": 60, "l2": {**L2, "writes": "back", "service": 7}}
    thrown_out = [["store", [LOCAL]], ["compute", 1000], ["load", [0]], ["compute", 1000]]
    begin = run(engine, thrown_out, **machine).ticks
    result = run(engine, [*thrown_out, ["load", [LOCAL]]], **machine)
    assert (result.l1_hits, result.l2_hits, result.ticks) == (0, 1, begin + 1 + 40)


def test_what_an_l2_takes_from_an_l1_takes_a_slice(engine):
    """The load of 0 throws the written line out, which takes the slice before the load of 1."""
    machine = {"l2": {**L2, "writes": "back", "service": 30}}
    stored = [["store", [LOCAL]], ["compute", 1000]]
    begin = run(engine, stored, **machine).ticks
    assert run(engine, [*stored, ["load", [0, 1]]], **machine).ticks == begin + 1 + 30 + 30 + 100


def test_what_lies_in_the_l1_at_the_end_is_not_written(engine):
    assert run(engine, [["store", [LOCAL]]], service=500).ticks == 1 + 10


def test_stores_to_local_memory_keep_their_line_where_others_drop_theirs(engine):
    loads_and_stores = [["store", [LOCAL]], ["atomic", [LOCAL]], ["load", [LOCAL]]]
    assert run(engine, loads_and_stores, l1_after_store="drop").l1_hits == 1


def test_stalls_count_what_ends_in_the_l1(engine):
    stores = [["store", [LOCAL, LOCAL + 1, 0]]]
    (row,) = run(engine, stores, stalls=True, stores="blocking").sites
    assert (row["l1_stores"], row["l1_bytes"], row["memory_bytes"]) == (2, 3 * 128, 128)
    (row,) = run(engine, [["store", [LOCAL]]], stalls=True, stores="blocking").sites
    assert (row["l1_latency"], row["memory_latency"]) == (10, 0)


def test_a_machine_that_writes_through_keeps_its_digest(engine):
    tables = {
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
        "memory": {"latency": 100, "chunk_words": 32, "l1": {"sets": 1, "ways": 1, "latency": 10}},
    }
    machine = Machine.from_dict(tables)
    assert machine.replace({"memory.l1.local_writes": "through"}).digest() == machine.digest()
    assert machine.replace({"memory.l1.local_writes": "back"}).digest() != machine.digest()
