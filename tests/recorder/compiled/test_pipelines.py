"""Loads in flight across barriers: kernels as a GPU's programmers write them, down to the time of a turn."""

import dataclasses

import pytest

from simtmm import load_machine, lower, simulate
from simtmm.workload import BARRIER, JOIN, OF_CLASS, OPERATIONS, SYNC

A100 = load_machine("a100-80").replace({"memory.l2.start": "cold"})
THREADS = 128

PIPELINE = """
#include <cuda_pipeline.h>
__global__ void pipe(float* out, const float* in, int turns)
{
    __shared__ float tile[STAGES][128];
    int t = threadIdx.x;
    in += blockIdx.x * turns * 128 + t;
    float sum = 0;
    for (int stage = 0; stage < STAGES - 1; stage++) {
        __pipeline_memcpy_async(&tile[stage][t], in + stage * 128, 4);
        __pipeline_commit();
    }
#pragma unroll 1
    for (int turn = 0; turn < turns; turn++) {
        __pipeline_wait_prior(STAGES - 2);
        __syncthreads();
        int next = turn + STAGES - 1;
        if (next < turns) __pipeline_memcpy_async(&tile[next % STAGES][t], in + next * 128, 4);
        __pipeline_commit();
        sum += tile[turn % STAGES][t ^ 1];
    }
    out[blockIdx.x * 128 + t] = sum;
}
"""


def words(workload, warp=0):
    kinds = workload.kind[slice(*workload.warp_operations[warp : warp + 2].tolist())]
    return ["compute" if kind >= OF_CLASS else OPERATIONS[kind] for kind in kinds]


def pipeline(ran, stages, turns, blocks=1, form=None):
    """The workload of a pipeline on an A100."""
    source = PIPELINE.replace("STAGES", str(stages))
    arguments = (
        f"out=zeros:float32:{blocks * THREADS}",
        f"in=ones:float32:{blocks * turns * THREADS}",
        f"turns={turns}",
    )
    return lower(ran(source, blocks, THREADS, arguments, architecture=80, form=form), A100)


def as_barriers(workload):
    """As it was lowered before there were syncs."""
    kind = workload.kind.copy()
    kind[kind == SYNC] = BARRIER
    return dataclasses.replace(workload, kind=kind)


def turn_of(short, long, turns):
    """Cycles of a turn, from runs of so few and so many."""
    return (simulate(A100, long).cycles - simulate(A100, short).cycles) / (turns[1] - turns[0])


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("blocks", [1, 108])
def test_a_turn_takes_the_latency_over_the_turns_that_copies_are_begun_ahead(ran, stages, blocks):
    turns = 16, 48
    short, long = (pipeline(ran, stages, number, blocks) for number in turns)
    # The latency, and what a turn does between the wait for a copy and the next copy: at most 60 cycles of stalls, and
    # what its four warps wait behind the barrier.
    share = A100.memory.latency / (stages - 1)
    behind = A100.scheduling.barrier_latency + THREADS // 32 * A100.scheduling.barrier_interval
    assert share < turn_of(short, long, turns) < share + 60 + behind
    assert turn_of(as_barriers(short), as_barriers(long), turns) > A100.memory.latency


@pytest.mark.parametrize("form", ["compiled", "ptx"])
def test_each_turn_waits_for_its_own_copies_and_leaves_the_later_ones(ran, form):
    stages, turns = 4, 12
    workload = pipeline(ran, stages, turns, form=form)
    amounts = workload.amount[workload.kind == JOIN]
    assert BARRIER not in workload.kind
    assert words(workload).count("sync") == turns
    # In the last turns groups have no copies, and all that are left belong to earlier ones.
    waits = [2] * (turns - stages + 2) + [1, 0]
    assert amounts[: len(waits)].tolist() == waits


SIGNALLED = """
#include <cuda/barrier>
__global__ void signalled(float* out, const float* in)
{
    __shared__ float tile[128];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) init(&bar, 128);
    __syncthreads();
    cuda::memcpy_async(&tile[threadIdx.x], in + threadIdx.x, cuda::aligned_size_t<4>(4), bar);
    bar.arrive_and_wait();
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
"""

CALLED = """
#include <cuda_pipeline.h>
__device__ __noinline__ void wait() { __pipeline_wait_prior(0); }
__global__ void called(float* out, const float* in)
{
    __shared__ float tile[128];
    __pipeline_memcpy_async(&tile[threadIdx.x], in + threadIdx.x, 4);
    __pipeline_commit();
    wait();
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 1];
}
"""


@pytest.mark.parametrize(("source", "form"), [(SIGNALLED, "compiled"), (CALLED, "ptx")],
                         ids=["mbarrier", "in a function, PTX"])  # fmt: skip
def test_barriers_wait_for_copies_of_which_nothing_says_where_they_are_waited_for(ran, source, form):
    arguments = "out=zeros:float32:128", "in=ones:float32:128"
    workload = lower(ran(source, 1, THREADS, arguments, architecture=80, form=form), A100)
    assert "async" in words(workload)
    assert BARRIER in workload.kind
    assert SYNC not in workload.kind


def test_an_mbarrier_of_ptx_is_waited_for_and_barriers_leave_copies_in_flight(ran):
    arguments = "out=zeros:float32:128", "in=ones:float32:128"
    workload = lower(ran(SIGNALLED, 1, THREADS, arguments, architecture=80, form="ptx"), A100)
    actions = [each[1] for warp in range(workload.warps) for each in workload.warp(warp) if each[0] == "mbarrier"]
    assert {"init", "arrive-copied", "arrive", "wait"} == {*actions}
    assert SYNC in workload.kind
    assert BARRIER not in workload.kind


GEMM = """
#define T 16
__global__ void gemm(float* c, const float* a, const float* b, int n)
{
    __shared__ float of_a[2][T][T], of_b[2][T][T];
    int x = threadIdx.x, y = threadIdx.y;
    a += (blockIdx.y * T + y) * n + x;
    b += y * n + blockIdx.x * T + x;
    of_a[0][y][x] = a[0];
    of_b[0][y][x] = b[0];
    __syncthreads();
    float sum = 0;
    for (int tile = 0; tile < n / T; tile++) {
        int now = tile & 1;
        float next_a = 0, next_b = 0;
        if (tile + 1 < n / T) {
            next_a = a[(tile + 1) * T];
            next_b = b[(tile + 1) * T * n];
        }
        if (EARLY) __syncthreads();
        for (int k = 0; k < T; k++) sum += of_a[now][y][k] * of_b[now][k][x];
        of_a[1 - now][y][x] = next_a;
        of_b[1 - now][y][x] = next_b;
        __syncthreads();
    }
    c[(blockIdx.y * T + y) * n + blockIdx.x * T + x] = sum;
}
"""


def test_loads_begun_before_a_barrier_are_hidden_behind_the_work_after_it(ran):
    """A prefetch into registers: a barrier between the loads and the work that hides them costs next to nothing."""
    n = 128
    arguments = f"c=zeros:float32:{n * n}", f"a=ones:float32:{n * n}", f"b=ones:float32:{n * n}", f"n={n}"

    def workload(early):
        source = GEMM.replace("EARLY", str(early))
        return lower(ran(source, (n // 16, n // 16), (16, 16), arguments, architecture=80), A100)

    plain, early = simulate(A100, workload(0)).cycles, simulate(A100, workload(1)).cycles
    before = simulate(A100, as_barriers(workload(1))).cycles
    assert early < 1.1 * plain
    # A barrier that waited for them would add, in each of the turns, what of the latency the work hides: 16 steps of
    # an FFMA and two reads of shared memory, above 100 cycles.
    assert before - early > 100 * (n // 16 - 1)
