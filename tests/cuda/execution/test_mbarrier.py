"""mbarrier: arrivals and bytes complete a phase; copies in bulk, which it counts the bytes of."""

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.execution.layout import COPIER_BIT, MISALIGNED, OUT_OF_BOUNDS
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.errors import PtxError
from simtmm.workload import ACTION_SHIFT
from tests.cuda.execution.kernels import Faulted, kernel, run

DECLARED = """.reg .b32 %r<8>; .reg .b64 %s<8>; .reg .pred %q<4>;
.shared .align 8 .b64 bar; .shared .align 128 .b8 tile[4096];
.reg .pred %first;"""
TELL = "selp.u32 %r0, 1, 0, %q0; mad.wide.u32 %at, %lane, 4, %p{place}; st.global.u32 [%at+{offset}], %r0;"


def told(place: int, *lines: str) -> str:
    """PTX that stores, of each lane, what the predicates %q0 that lines give say, one row [32] a line."""
    return "\n".join(f"{line}\n{TELL.format(place=place, offset=128 * n)}" for n, line in enumerate(lines))


def test_a_phase_is_complete_when_all_have_arrived() -> None:
    # Of 33 arrivals 32 come at once, the last alone: only then the phase with parity 0 is over.
    body = told(
        0,
        """setp.eq.u32 %first, %lane, 0;
        @%first mbarrier.init.shared::cta.b64 [bar], 33;
        bar.warp.sync -1;
        mbarrier.arrive.shared::cta.b64 %s0, [bar];
        bar.warp.sync -1;
        mbarrier.test_wait.shared::cta.b64 %q0, [bar], %s0;""",
        """@%first mbarrier.arrive.release.cta.shared::cta.b64 %s1, [bar], 1;
        bar.warp.sync -1;
        mbarrier.test_wait.acquire.cta.shared::cta.b64 %q0, [bar], %s0;""",
        "mbarrier.try_wait.parity.shared::cta.b64 %q0, [bar], 0;",
        "mbarrier.try_wait.parity.shared::cta.b64 %q0, [bar], 1;",
    )
    found = np.zeros((4, 32), np.uint32)
    run(kernel(body, 1, DECLARED), "k", [found])
    assert found.all(axis=1).tolist() == [False, True, True, False]
    assert found.any(axis=1).tolist() == [False, True, True, False]


def test_an_arrival_gives_how_many_are_missing() -> None:
    body = """setp.eq.u32 %first, %lane, 0;
    @%first mbarrier.init.shared.b64 [bar], 40;
    bar.warp.sync -1;
    mbarrier.arrive.noComplete.shared.b64 %s0, [bar], 1;
    mbarrier.pending_count.b64 %r1, %s0;
    mad.wide.u32 %at, %lane, 4, %p0; st.global.u32 [%at], %r1;"""
    found = np.zeros(32, np.uint32)
    run(kernel(body, 1, DECLARED), "k", [found])
    assert sorted(found.tolist()) == list(range(9, 41))


def test_who_drops_out_is_not_waited_for_again() -> None:
    body = told(
        0,
        """setp.eq.u32 %first, %lane, 0;
        @%first mbarrier.init.shared.b64 [bar], 32;
        bar.warp.sync -1;
        @!%first mbarrier.arrive_drop.shared.b64 %s0, [bar];
        @%first mbarrier.arrive.shared.b64 %s0, [bar];
        mbarrier.test_wait.parity.shared.b64 %q0, [bar], 0;""",
        """@%first mbarrier.arrive.shared.b64 %s0, [bar];
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared.b64 %q0, [bar], 1;""",
    )
    found = np.zeros((2, 32), np.uint32)
    run(kernel(body, 1, DECLARED), "k", [found])
    assert found.all()


def test_bytes_are_waited_for_whether_they_come_early_or_late() -> None:
    body = told(
        0,
        """setp.eq.u32 %first, %lane, 0;
        @%first mbarrier.init.shared::cta.b64 [bar], 1;
        @%first mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;
        @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 64;
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 0;""",
        """@%first mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 0;""",
        """@%first mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 32;
        @%first mbarrier.arrive.shared::cta.b64 _, [bar];
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 1;""",
    )
    found = np.zeros((3, 32), np.uint32)
    run(kernel(body, 1, DECLARED), "k", [found])
    assert found.any(axis=1).tolist() == [False, True, False]


def test_copies_by_the_thread_arrive() -> None:
    body = told(
        1,
        """setp.eq.u32 %first, %lane, 0;
        @%first mbarrier.init.shared::cta.b64 [bar], 32;
        bar.warp.sync -1;
        mad.lo.u32 %r1, %lane, 4, tile; mad.wide.u32 %at, %lane, 4, %p0;
        cp.async.ca.shared.global [%r1], [%at], 4;
        cp.async.mbarrier.arrive.shared::cta.b64 [bar];
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 0;""",
        """cp.async.mbarrier.arrive.noinc.shared::cta.b64 [bar];
        bar.warp.sync -1;
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 0;""",
    )
    given, found = np.arange(32, dtype=np.uint32), np.zeros((2, 32), np.uint32)
    run(kernel(body, 2, DECLARED), "k", [given, found])
    assert found.all(axis=1).tolist() == [False, True]
    assert not found[0].any()


BULK = """setp.eq.u32 %first, %lane, 0;
@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};
@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p0], {size}, [bar];
bar.warp.sync -1;
wait:
mbarrier.try_wait.parity.shared::cta.b64 %q0, [bar], 0;
@!%q0 bra wait;
@%first cp.async.bulk.global.shared::cta.bulk_group [%p1], [tile], {size};
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group.read 0;
"""


@pytest.mark.parametrize("threads", [32, 20])
def test_copies_in_bulk_move_bytes_and_are_recorded_in_pieces(threads: int) -> None:
    given, found = np.random.default_rng(0).integers(0, 256, (2, 1040)).astype(np.uint8)
    found[:] = 0
    logged = run(kernel(BULK.format(size=1040), 2, DECLARED), "k", [given, found], threads=threads, record=True)
    assert np.array_equal(found, given)
    for kind in ("copy", "store"):
        pieces = [
            address & (1 << COPIER_BIT) - 1
            for what, mask, addresses in logged
            if what == kind
            for lane, address in enumerate(addresses)
            if mask >> lane & 1 and address < 1 << ACTION_SHIFT
        ]
        assert [piece - pieces[0] for piece in pieces] == list(range(0, 1040, 16))
    assert all(mask < 1 << threads for _, mask, _ in logged)


@pytest.mark.parametrize(
    ("place", "size", "fault"),
    [("[%p0]", 1056, OUT_OF_BOUNDS), ("[%p0+8]", 16, MISALIGNED), ("[%p0+65536]", 16, OUT_OF_BOUNDS)],
)
def test_copies_in_bulk_stay_within_their_arrays(place: str, size: int, fault: int) -> None:
    text = kernel(BULK.format(size=size).replace("[%p0]", place), 2, DECLARED)
    with pytest.raises(Faulted, match=str(fault)):
        run(text, "k", [np.zeros(1040, np.uint8), np.zeros(2080, np.uint8)])


def test_a_store_may_tell_an_mbarrier() -> None:
    body = told(
        0,
        """setp.eq.u32 %first, %lane, 0;
        @%first mbarrier.init.shared::cta.b64 [bar], 1;
        @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
        bar.warp.sync -1;
        mad.lo.u32 %r1, %lane, 4, tile; mapa.shared::cluster.u32 %r2, %r1, 0; mov.u32 %r3, bar;
        st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%r2], %lane, [%r3];
        mbarrier.test_wait.parity.shared::cta.b64 %q0, [bar], 0;""",
    )
    found = np.zeros(32, np.uint32)
    run(kernel(body, 1, DECLARED), "k", [found])
    assert found.all()


SOURCE = r"""
#include <cuda/barrier>
#include <cuda/std/utility>
using barrier = cuda::barrier<cuda::thread_scope_block>;
extern "C" __global__ void rotate(const int* in, int* out) {
    __shared__ alignas(16) int tile[128];
#pragma nv_diag_suppress static_var_with_dynamic_init
    __shared__ barrier bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta_ptr(); }
    __syncthreads();
    for (int round = 0; round < 3; round++) {
        barrier::arrival_token token;
        if (threadIdx.x == 0) {
            cuda::device::experimental::cp_async_bulk_global_to_shared(tile, in + 128 * round, sizeof(tile), bar);
            token = cuda::device::barrier_arrive_tx(bar, 1, sizeof(tile));
        } else token = bar.arrive();
        bar.wait(cuda::std::move(token));
        out[128 * round + threadIdx.x] = tile[(threadIdx.x + 1) % 128];
        __syncthreads();
    }
}
""".replace("cuda::device::experimental::fence_proxy_async_shared_cta_ptr();", "")


def test_a_kernel_of_cuda_barrier() -> None:
    given, found = np.arange(384, dtype=np.int32), np.zeros(384, np.int32)
    run(compile_source(SOURCE, architecture=90).ptx, "rotate", [given, found], threads=128)
    assert np.array_equal(found.reshape(3, 128), np.roll(given.reshape(3, 128), -1, axis=1))


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        (
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%p0], 24, [bar];",
            "no multiple of 16",
        ),
        ("st.bulk.weak.shared::cta [tile], 128, 0;", "fills memory"),
    ],
)
def test_what_is_not_run_is_refused(instruction: str, why: str) -> None:
    with pytest.raises(PtxError, match=f"PTX line .*`{instruction[:8]}.*{why}"):
        Program(parse_module(kernel(instruction, 1, DECLARED)), "k").assembly()
