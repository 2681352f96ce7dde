"""What lowering and counting read of a machine: its digest is the key that machines share a workload by."""

import pytest

from simtmm import Machine, count, lower
from simtmm.machine.tables.instructions import Banks
from simtmm.trace.lower import fit, lower_with
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from tests.trace.build import load, shared, store, trace, work

BASE = Machine.from_dict(
    {
        "name": "base",
        "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 16},
        "memory": {"latency": 90, "chunk_words": 32, "store_latency": 90},
    }
)
TRACE = trace(
    [[[load(0, 8 * thread), shared(1, 8 * thread), work(2, 3), store(3, 4 * thread)] for thread in range(20)]]
)


@pytest.mark.parametrize(
    "change",
    [
        {"cores.warp_width": 4}, {"memory.chunk_words": 64}, {"memory.word_bytes": 8}, {"banks.count": 4},
        {"memory.coalescing": "half-warp-segments"}, {"banks.word_bytes": 8}, {"banks.lanes": 4},
        {"memory.atomics": "by-word"}, {"banks.latency": 20}, {"banks.remote_latency": 20}, {"banks.interval": 2},
        {"banks.remote_interval": 2},
        {"banks.service": 2}, {"scheduling.cluster_barrier": 1}, {"scheduling.cluster_fence": 1},
        {"scheduling.cluster_fence_interval": 1}, {"scheduling.fence_device": 1}, {"scheduling.fence_sequential": 1},
        {"scheduling.fence_system": 1},
        {"instructions.fp32": 4}, {"scheduling.barrier_latency": 4}, {"scheduling.barrier_interval": 1},
        {"results.special": 17}, {"results.shuffle": 24}, {"scheduling.operands": "banks"},
        {"scheduling.grid_barrier": 0},
    ],
)  # fmt: skip
def test_what_changes_the_workload_changes_the_digest(change):
    other = BASE.replace(change)
    assert LoweringSpecification.of(BASE).digest != LoweringSpecification.of(other).digest


def test_what_updates_take_counts_where_there_is_a_pipe():
    twice, pipe = {"banks.atomic_passes": 2}, {"memory.pipe.interval": 1}
    digests = [LoweringSpecification.of(BASE.replace(keys)).digest for keys in ({}, twice, pipe, twice | pipe)]
    assert digests[0] == digests[1]
    assert len(set(digests)) == 3


@pytest.mark.parametrize("change", [{"memory.latency": 200}, {"cores.groups": 9}, {"limits.blocks_per_group": 1}])
def test_machines_that_lower_alike_share_a_digest(change):
    other = BASE.replace(change)
    assert LoweringSpecification.of(BASE).digest == LoweringSpecification.of(other).digest
    assert fit(lower_with(TRACE, LoweringSpecification.of(BASE)), TRACE.info, other) == lower(TRACE, other)


def test_all_that_the_banks_are_decides_the_digest():
    """A key that is added to the table of banks has to be added to the specification too."""
    assert set(Banks.model_fields) == {
        "count", "word_bytes", "lanes", "latency", "remote_latency", "remote_interval", "interval", "service",
        "atomic_passes",
    }  # fmt: skip


def test_a_workload_without_occupancy_carries_no_limit():
    assert lower_with(TRACE, LoweringSpecification.of(BASE)).launch_limits.tolist() == [0]


def test_stores_that_take_less_than_a_load_change_the_counts_and_their_digest():
    """A warp waits for a load, then for its store; a store that takes less than L is not a wait."""
    quick = BASE.replace({"memory.store_latency": 20})
    assert (count(TRACE, BASE).waits, count(TRACE, quick).waits) == (2, 1)
    assert CountingSpecification.of(BASE).digest != CountingSpecification.of(quick).digest
