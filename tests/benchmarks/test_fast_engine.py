"""How fast the compiled engine is, single thread; an operation is an entry of a warp's list. Ticks are pinned."""

import os
import time

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.workload import COMPUTE, LOAD

FULL = {
    "memory.partitions": 80,
    "memory.interleave": "hash",
    "memory.service": 7,
    "memory.port_interval": 1,
    "memory.l1": {"sets": 64, "ways": 4, "latency": 30},
    "memory.l2": {"sets": 4096, "ways": 16, "latency": 200},
    "scheduling.scheduler": "round-robin",
    "limits.blocks_per_group": 2,
    "cores.max_threads_per_core": 64,
}
BARREL = {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4}


def machine(groups, changes):
    tables = {
        "name": "benchmark",
        "cores": {"groups": groups, "cores_per_group": 32, "warp_width": 32, "max_threads_per_core": 48},
        "memory": {"latency": 400, "chunk_words": 32},
    }
    return Machine.from_dict(tables).replace(changes)


def alternating(blocks, warps, rounds, compute, chunks):
    """Blocks of warps of loads, of random chunks, that alternate with compute."""
    total = blocks * warps
    kind = np.tile(np.array([LOAD, COMPUTE], np.uint8), rounds * total)
    amount = np.tile(np.array([chunks, compute], np.int64), rounds * total)
    listed = np.random.default_rng(0).integers(0, 1 << 20, rounds * total * chunks)
    return Workload(
        kind,
        amount,
        listed,
        warp_operations=np.arange(total + 1) * 2 * rounds,
        warp_chunks=np.arange(total + 1) * rounds * chunks,
        block_warps=np.arange(blocks + 1) * warps,
        launch_blocks=np.array([0, blocks]),
        launch_limits=np.array([0]),
    )


# Each with its ticks: what is timed, and less of it. The reference engine says the same ticks of the latter.
CASES = {
    "A ideal": (machine(15, {}), ((90, 48, 231, 4, 1), 562_740), ((90, 48, 12, 4, 1), 30_570)),
    "B full": (machine(108, FULL), ((432, 32, 36, 4, 2), 85_670), ((432, 32, 2, 4, 2), 5_571)),
    "C barrel": (machine(15, BARREL), ((90, 48, 60, 8, 1), 167_958), ((90, 48, 4, 8, 1), 16_302)),
}


ASKED = {"plain": {"breakdown": False}, "breakdown": {}, "stalls": {"stalls": True}}


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("case", CASES)
def test_fast_engine(benchmark, sized, case, asked):
    on, *both = CASES[case]
    sizes, ticks = sized(*both)
    workload = alternating(*sizes)
    simulate(on, workload, "fast")  # compiled
    result = benchmark.pedantic(simulate, (on, workload, "fast"), {**ASKED[asked], "threads": 1}, rounds=5)
    assert result.ticks == ticks
    assert (result.stalls is not None) == (asked == "stalls")
    if benchmark.enabled:
        median = benchmark.stats.stats.median
        benchmark.extra_info["operations a second"] = round(workload.operations / median)
        benchmark.extra_info["instructions a second"] = round(result.issued / median)


def test_fast_engine_against_the_reference(benchmark, sized):
    """A with fewer operations: at least 100 times as fast, both timed here."""
    on, workload = machine(15, {}), alternating(15, 48, sized(70, 14), 4, 1)
    large = alternating(*sized(*CASES["A ideal"][1:])[0])
    simulate(on, workload, "fast")
    begin = time.perf_counter()
    slow = simulate(on, workload, "reference", breakdown=False)
    reference = (time.perf_counter() - begin) / workload.operations
    assert simulate(on, workload, "fast", breakdown=False) == slow
    benchmark.pedantic(simulate, (on, large, "fast"), {"breakdown": False, "threads": 1}, rounds=5)
    if benchmark.enabled:
        times = reference / (benchmark.stats.stats.median / large.operations)
        benchmark.extra_info["times the reference"] = round(times)
        assert times > 100


@pytest.mark.parametrize("threads", [1, 2])
def test_groups_that_nothing_couples_in_threads(benchmark, sized, threads):
    """A with ten times the operations: blocks long enough to be shared out, as those of a tenth are."""
    rounds, ticks = sized((2310, 5_614_710), (240, 584_610))
    on, workload = machine(15, {}), alternating(90, 48, rounds, 4, 1)
    simulate(on, workload, "fast", threads=threads)
    result = benchmark.pedantic(simulate, (on, workload, "fast"), {"breakdown": False, "threads": threads}, rounds=3)
    assert result.ticks == ticks
    if benchmark.enabled:
        benchmark.extra_info["operations a second"] = round(workload.operations / benchmark.stats.stats.median)


# 10^8 operations take 2 GB and a minute to lay out, so they are for those who ask: SIMTMM_LARGE=1
SIZES = [10**5, 10**6, 10**7, *([10**8] if os.environ.get("SIMTMM_LARGE") else [])]


@pytest.mark.parametrize("operations", SIZES)
@pytest.mark.parametrize("groups", [1, 15, 132])
def test_the_cost_of_an_operation_over_size_and_groups(benchmark, sized, operations, groups):
    """Blocks of 48 warps of 2,000 operations at most, as many as there is work for."""
    operations = sized(operations, operations // 10)
    rounds = min(1000, operations // (2 * 48 * groups)) or 1
    blocks = max(groups, operations // (2 * 48 * rounds))
    on, workload = machine(groups, {}), alternating(blocks, 48, rounds, 4, 1)
    simulate(on, workload, "fast")
    result = benchmark.pedantic(simulate, (on, workload, "fast"), {"breakdown": False, "threads": 1}, rounds=3)
    assert result.issued == 5 * workload.operations // 2
    if benchmark.enabled:
        cost = benchmark.stats.stats.median / workload.operations
        benchmark.extra_info["nanoseconds an operation"] = round(cost * 1e9, 2)
