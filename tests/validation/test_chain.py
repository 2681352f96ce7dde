"""A chain of dependent multiply-adds, two warps on each scheduler of a V100 (docs/what-fails.md)."""

import numpy as np
import pytest

import simtmm
from simtmm import load_machine
from tests.cuda.compilers.conftest import needs_machine_code

CHAIN = """extern "C" __global__ void chain(float* o, float a, float b, int n)
{
    float x = threadIdx.x;
#pragma unroll 1
    for (int k = 0; k < n; k++)
#pragma unroll
        for (int q = 0; q < 32; q++) x = x * a + b;
    o[blockIdx.x * blockDim.x + threadIdx.x] = x;
}
"""
GROUPS, WARPS = 80, 8
TRIPS = 64, 128  # their difference has neither the launch nor the end of a block
BUSY = 2 * 32 * 2  # cycles of a pipe, of two warps' multiply-adds in a trip, at 16 lanes a cycle


@needs_machine_code
@pytest.mark.parametrize(("switch", "share"), [("on-stall", 0.845), ("every-instruction", 0.948)])
def test_eight_warps_reach_what_their_loop_allows_where_each_instruction_is_granted_by_itself(tmp_path, switch, share):
    """The loop's own instructions leave 128 of 135 cycles for multiply-adds."""
    path = tmp_path / "chain.cu"
    path.write_text(CHAIN)
    machine = load_machine("v100").replace({"scheduling.switch": switch})
    threads = 32 * WARPS
    ticks = [
        simtmm.run(
            path, machine=machine, grid=GROUPS, block=threads, what_if=False,
            args={"o": np.zeros(GROUPS * threads, np.float32), "a": 0.5, "b": 1.0, "n": trips},
        ).result.ticks
        for trips in TRIPS
    ]  # fmt: skip
    cycles = (ticks[1] - ticks[0]) / (TRIPS[1] - TRIPS[0]) / machine.ticks_per_cycle
    assert BUSY / cycles == pytest.approx(share, abs=0.002)
