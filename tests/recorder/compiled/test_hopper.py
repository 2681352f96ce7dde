"""Kernels of Hopper as they are recorded: what of them is in the trace, and what the report says is not."""

from pathlib import Path

import numpy as np
import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.programs.program import cuda_program
from simtmm.stalls import CLASSES, Reason
from simtmm.trace.lower import lower
from simtmm.trace.schema import Kind
from simtmm.workload import OF_CLASS, PRODUCT

PROGRAM = Path(__file__).parents[2] / "programs" / "hopper_gemm.cu"
ROWS, COLUMNS, DEPTH, TILE = 128, 128, 192, 64
WAYS = {"by_mma": 1, "one_stage": 1, "pipelined": 1, "shared_tiles": 2}


@pytest.fixture(scope="module")
def trace(tmp_path_factory):
    output = tmp_path_factory.mktemp("hopper") / "trace.parquet"
    outcome = cuda_program([str(PROGRAM)]).run(output=output)
    assert outcome.status == 0
    return outcome.trace


def test_the_bytes_that_copies_of_boxes_bring_are_in_the_trace(trace) -> None:
    launches = [launch.kernel for launch in trace.info.launches]
    assert [name.partition("(")[0] for name in launches] == [name for name, count in WAYS.items() for _ in range(count)]
    loaded = np.zeros(len(launches), int)
    for batch in trace.batches():
        launches_of = np.repeat(batch.launch, np.diff(batch.ends, prepend=0))
        is_copy = batch.events["kind"] == Kind.COPY
        loaded += np.bincount(launches_of[is_copy], batch.events["bytes"][is_copy], len(launches)).astype(int)
    tiles = DEPTH // TILE * 2 * TILE * TILE * 2  # bytes of A and B that a block multiplies
    blocks = ROWS // TILE * (COLUMNS // TILE)
    assert loaded[1:].tolist() == [blocks * tiles, blocks * tiles, blocks * tiles * 3 // 4, blocks * tiles * 3 // 4]


def test_what_a_block_multicasts_is_what_comes_into_its_group_for_others(trace) -> None:
    assert not any("leaves out" in each for each in trace.info.warnings)
    workload = lower(trace, load_machine("h100-sxm"))
    blocks = ROWS // TILE * (COLUMNS // TILE)
    found = []
    for launch in range(workload.launches):
        first, last = workload.launch_blocks[launch : launch + 2]
        warps = range(workload.block_warps[first], workload.block_warps[last])
        words = [word[2:] for warp in warps for word in workload.warp(warp) if word[1:2] == ["complete-multicast"]]
        own, others = (sum(word[1] for word in words if word[2:] == what) for what in ([], [1]))
        found.append((own, others))
    half = blocks * DEPTH // TILE * TILE * TILE * 2 // 2  # of the tiles of B that blocks share, in bytes
    assert found == [(0, 0)] * 3 + [(half, half)] * 2


def test_products_by_four_warps_count_as_so_many_of_one(trace) -> None:
    counts = {dict(site.work).get("tensor", 0) for site in trace.info.sites}
    assert counts == {0, 1, 6}  # mma.m16n8k16; and of 64 columns a warp's share, in two thirds of the time of eight


def test_warps_wait_for_the_bytes_of_their_stage_and_products_go_on_beside_them(trace) -> None:
    h100 = load_machine("h100-sxm")
    workload = lower(trace, h100)
    found = [word[0] for warp in range(workload.warps) for word in workload.warp(warp)]
    assert {"copy", "mbarrier", "product", "finish"} <= {*found}
    results = [simulate(h100, workload, engine, stalls=True) for engine in ("fast", "reference")]
    assert results[0] == results[1]
    booked = results[0].stalls.ticks.sum(axis=0)
    assert booked[Reason.COPIES] > 0
    slower = simulate(h100.replace({"memory.l2.latency": 2000, "memory.latency": 3000}), workload, "fast", stalls=True)
    assert slower.stalls.ticks.sum(axis=0)[Reason.COPIES] > 2 * booked[Reason.COPIES]


def test_a_machine_without_products_does_them_as_work_of_its_warps(trace) -> None:
    others = load_machine("h100-sxm").replace({"products": None})
    tensor = OF_CLASS + CLASSES.index("tensor")
    beside, own = (lower(trace, each) for each in (load_machine("h100-sxm"), others))
    assert PRODUCT in beside.kind
    assert PRODUCT not in own.kind
    assert (own.kind == tensor).sum() > (beside.kind == tensor).sum()


def test_what_one_lane_copies_is_one_operation(trace) -> None:
    workload = lower(trace, load_machine("h100-sxm"))
    listed = [len(word[1]) for warp in range(workload.warps) for word in workload.warp(warp) if word[0] == "copy"]
    assert len(listed) > 0
    assert min(listed) >= TILE * TILE * 2 // 128 // 2  # of a box of a tile, half of which another block may send
