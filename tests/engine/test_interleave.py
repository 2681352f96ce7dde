"""How chunks spread over partitions, section 4, step 6, in every engine."""

import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES

LATENCY, SERVICE, PARTITIONS = 100, 40, 4

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def ticks(engine, chunks, interleave, **memory):
    """Of a load of these chunks, which leaves its port at 1."""
    tables = {"latency": LATENCY, "chunk_words": 32, "service": SERVICE, "partitions": PARTITIONS, **memory}
    machine = Machine.from_dict({
        "name": "m",
        "cores": {"groups": 1, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 1},
        "memory": {**tables, "interleave": interleave},
    })  # fmt: skip
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", list(chunks)]]]}]})
    return simulate(machine, workload, engine).ticks


def fullest(engine, chunks, interleave, **memory):
    """The chunks that lie in the partition with most of them."""
    return (ticks(engine, chunks, interleave, **memory) - 1 - LATENCY) // SERVICE + 1


@pytest.mark.parametrize("partitions", [3, 4, 7])
def test_each_round_of_chunks_meets_each_partition_once_in_turn_and_rotated(engine, partitions):
    rounds = [range(partitions * turn, partitions * (turn + 1)) for turn in range(12)]
    most = {
        how: {fullest(engine, chunks, how, partitions=partitions) for chunks in rounds}
        for how in ("modulo", "rotated", "hash")
    }
    assert most["modulo"] == most["rotated"] == {1}
    assert max(most["hash"]) > 1


def test_a_buffer_fills_all_partitions_alike_but_by_a_hash(engine):
    chunks = range(32 * PARTITIONS)
    assert [fullest(engine, chunks, how) for how in ("modulo", "rotated")] == [32, 32]
    assert fullest(engine, chunks, "hash") > 32


def test_chunks_a_round_apart_lie_in_one_partition_in_turn_alone(engine):
    apart = range(0, 32 * PARTITIONS, PARTITIONS)
    assert fullest(engine, apart, "modulo") == 32
    assert fullest(engine, apart, "rotated") < 16
    assert fullest(engine, apart, "hash") < 16


def test_slices_of_the_l2_are_those_of_the_partitions(engine):
    l2 = {"sets": 1, "ways": 1, "latency": 20, "service": SERVICE}
    chunks = range(4 * PARTITIONS)
    assert ticks(engine, chunks, "rotated", service=0, l2=l2) == 1 + 3 * SERVICE + LATENCY
