"""The fast engine's memory: 24 bytes for each operation of a warp and 8 for each chunk, the workload's own included."""

import tracemalloc

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.workload import ASYNC, COMPUTE

ROUNDS, WARPS, BLOCKS = 250, 32, 60


def workload():
    """Asyncs of two chunks that alternate with compute, 960,000 operations."""
    warps = WARPS * BLOCKS
    operations = np.arange(warps + 1) * 2 * ROUNDS
    return Workload(
        kind=np.tile(np.array([ASYNC, COMPUTE], np.uint8), ROUNDS * warps),
        amount=np.tile(np.array([2, 3], np.int64), ROUNDS * warps),
        chunks=np.arange(2 * ROUNDS * warps, dtype=np.int64),
        warp_operations=operations,
        warp_chunks=operations,
        block_warps=np.arange(BLOCKS + 1) * WARPS,
        launch_blocks=np.array([0, BLOCKS]),
        launch_limits=np.array([0]),
    )


@pytest.mark.parametrize("outstanding", [None, 4])
@pytest.mark.parametrize("service", [0, 3])
def test_memory_stays_within_24_bytes_an_operation_and_8_a_chunk(outstanding, service):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 4, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 64},
            "memory": {"latency": 400, "chunk_words": 32, "service": service, "outstanding": outstanding},
        }
    )
    run = workload()
    own = sum(array.nbytes for array in (run.kind, run.amount, run.chunks, run.warp_operations, run.warp_chunks))
    simulate(machine, Workload.from_dict({"blocks": [{"warps": [[["async", [0]]]]}]}), "fast")  # compiled
    tracemalloc.start()
    simulate(machine, run, "fast", threads=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    resident = 1 << 20  # what resident warps, groups and a block's bound take here, whatever the number of operations
    assert own + peak < 24 * run.operations + 8 * len(run.chunks) + resident
