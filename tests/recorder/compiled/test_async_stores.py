"""Stores and updates of another block's shared memory that its mbarrier counts, as they are recorded and timed."""

from pathlib import Path

import pytest

from simtmm.engine import simulate
from simtmm.machine import load_machine
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.recorder.compiled.record import record
from simtmm.trace.lower import lower
from simtmm.workload import MBARRIER, OPERATIONS, REMOTE, SHARED

SOURCE = """
extern "C" __global__ void __cluster_dims__(2, 1, 1) k(int* out)
{
    __shared__ __align__(128) int taken[32 * TIMES];
    __shared__ __align__(8) long long bar;
    unsigned rank, at, own = (unsigned)__cvta_generic_to_shared(&bar), to = (unsigned)__cvta_generic_to_shared(taken);
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (int n = 0; n < TIMES; ++n) taken[32 * n + threadIdx.x] = 0;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(own) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(own), "r"(TIMES * 128) : "memory");
    }
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(to), "r"(rank ^ 1));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(own), "r"(rank ^ 1));
#pragma unroll
    for (int n = 0; n < TIMES; ++n)
        asm volatile("WHAT.u32 [%0], %1, [%2];" ::"r"(to + 128 * n + PLACE), "r"(threadIdx.x), "r"(at) : "memory");
    asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W;}" ::"r"(own) : "memory");
    int sum = 0;
    for (int n = 0; n < TIMES; ++n) sum += taken[32 * n + threadIdx.x];
    out[blockIdx.x * 32 + threadIdx.x] = sum;
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
"""
STORE = "st.async.shared::cluster.mbarrier::complete_tx::bytes"
ADD = "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add"
TIMES = 6


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """What records a kernel whose lanes do it at a place of their own, so many bytes apart."""
    monkeypatch.chdir(tmp_path)

    def of(what, place):
        source = SOURCE.replace("WHAT", what).replace("TIMES", str(TIMES)).replace("PLACE", place)
        Path("k.cu").write_text(source, encoding="utf-8")
        one = record(cuda_program("k.cu", 2, 32, ("zeros:int32:64",)), {"seed": 0}, architecture=90)
        assert not one.info.warnings
        return one

    return of


@pytest.mark.parametrize("what", [STORE, ADD])
def test_each_takes_a_pass_over_the_banks_and_the_way_and_is_there_behind_it(recorded, what):
    h100 = load_machine("h100-sxm")
    one = recorded(what, "4 * threadIdx.x")
    sender = list(lower(one, h100).warp(0))
    far = [number for number, word in enumerate(sender) if word[0] == OPERATIONS[REMOTE]]
    assert len(far) == TIMES
    assert all(sender[number - 1] == [OPERATIONS[SHARED], 1] for number in far)
    told = [word for word in sender if word[:2] == [OPERATIONS[MBARRIER], "complete"]]
    assert [word[3:] for word in told] == [[128, 1]] * TIMES
    # A way so slow that nothing else matters: the wait is over when all have passed it, the last one, too.
    ticks = []
    for cycles in (1000, 1500):
        slow = h100.replace({"banks.remote_interval": cycles})
        workload = lower(one, slow)
        results = [simulate(slow, workload, engine) for engine in ("fast", "reference")]
        assert results[0] == results[1]
        ticks.append(results[0].ticks / slow.ticks_per_cycle)
    assert ticks[1] - ticks[0] == TIMES * 500


def test_lanes_whose_words_are_in_one_bank_take_a_pass_each(recorded):
    h100 = load_machine("h100-sxm")
    one = recorded(STORE, "4 * (threadIdx.x & ~31)")  # all of them at one word: served together
    together = [word for word in lower(one, h100).warp(0) if word[0] == OPERATIONS[REMOTE]]
    one = recorded(ADD, "4 * (threadIdx.x & ~31)")  # and updated one after another
    apart = [word for word in lower(one, h100).warp(0) if word[0] == OPERATIONS[REMOTE]]
    assert (together, apart) == ([[OPERATIONS[REMOTE], 1]] * TIMES, [[OPERATIONS[REMOTE], 32]] * TIMES)
