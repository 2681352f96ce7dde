"""Kernels of Hopper as they are recorded: what of them is in the trace, and what the report says is not."""

from pathlib import Path

import numpy as np
import pytest

from simtmm.programs.program import cuda_program
from simtmm.trace.schema import Kind

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


def test_what_no_rule_times_is_told_in_one_line(trace) -> None:
    (told,) = [each for each in trace.info.warnings if "leaves out" in each]
    assert "placement of clusters (in shared_tiles)" in told
    assert "one_stage" not in told
    assert "by_mma" not in told
    assert "\n" not in told


def test_products_by_four_warps_count_as_so_many_of_one(trace) -> None:
    counts = {dict(site.work).get("tensor", 0) for site in trace.info.sites}
    assert counts == {0, 1, 6}  # mma.m16n8k16; and of 64 columns a warp's share, in two thirds of the time of eight
