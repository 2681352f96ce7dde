"""A run names the lines that race where the order of warps decides what its kernel leaves, and no others."""

import pytest

from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code

REVERSE = """
__global__ void k(const int* x, int* y)
{
    __shared__ int tile[128];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = x[i];
    %s
    y[i] = tile[127 - threadIdx.x];
}
"""
APPEND = """
__global__ void k(const int* x, int* y)
{
    __shared__ int next;
    if (threadIdx.x == 0) next = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[blockIdx.x * blockDim.x + atomicAdd(&next, 1)] = x[i];
}
"""
SUM = """
__global__ void k(const float* x, float* y)
{
    __shared__ float sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, x[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
"""
WHOLE, REAL = ("x=arange:int32:512", "y=zeros:int32:512"), ("x=random:float32:512", "y=zeros:float32:512")


def races(trace):
    return [warning for warning in trace.info.provenance.get("warnings", ()) if "racecheck" in warning]


def test_a_missing_barrier_is_named_with_both_lines_and_the_check(ran):
    assert races(ran(REVERSE % "", 4, 128, WHOLE)) == [
        "k: the order of warps decides the result: k.cu:6 and k.cu:8 race: --check racecheck looks for it"
    ]


@pytest.mark.parametrize(
    ("source", "block", "arguments"),
    [
        (REVERSE % "__syncthreads();", 128, WHOLE),
        (APPEND, 128, WHOLE),  # whose order of updates decides, and is no race
        (SUM, 128, REAL),  # which is rounded otherwise
    ],
    ids=["barrier", "append", "sum"],
)
def test_what_does_not_race_is_not_named(source, block, arguments, ran):
    assert races(ran(source, 4, block, arguments)) == []
