"""Threads, blocks, calls and memory of the interpreter: kernels whose answers are known."""

import struct

import numpy as np
import pytest

from simtmm.cuda.ptx import parse_module
from tests.cuda.interpreter import DeadlockError, InterpreterError, Memory, run
from tests.cuda.interpreter.warps import source_lane
from tests.kernels.nvrtc import compile_ptx, library

needs_nvrtc = pytest.mark.skipif(library() is None, reason="nvidia-cuda-nvrtc is not installed")


def launch(text, blocks, threads, *arguments, shared_bytes=0, entry="k"):
    """Run a kernel on arrays and numbers; the memory, for what was printed."""
    module = parse_module(text)
    memory = Memory()
    memory.load(module)
    given = []
    for number, argument in enumerate(arguments):
        if isinstance(argument, np.ndarray):
            memory.allocate(argument, 0x10000 * (number + 1))
            given.append(struct.pack("<Q", 0x10000 * (number + 1)))
        else:
            given.append(argument)
    run(module, entry, (blocks, 1, 1), (threads, 1, 1), given, memory, shared_bytes, limit=2_000_000)
    return memory


def cuda(source, *launched, **more):
    """The same for CUDA C++ with a kernel "k"."""
    return launch(compile_ptx(source, "90", ["-lineinfo"]), *launched, **more)


def written(body, pointers=1):
    """A module of a hand-written body; %p0 and so on are its pointers."""
    taken = ", ".join(f".param .u64 a{at}" for at in range(pointers))
    loads = "\n".join(f"ld.param.u64 %p{at}, [a{at}];" for at in range(pointers))
    return f"""\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k({taken})
{{
  .reg .b64 %p<9>;
  .reg .b32 %r<20>;
  .reg .pred %q<9>;
  {loads}
  {body}
}}
"""


@needs_nvrtc
def test_a_reduction_by_shuffles_shared_memory_and_atomics():
    source = """extern "C" __global__ void k(const float* x, float* sum) {
      __shared__ float part[4];
      float v = x[blockIdx.x * blockDim.x + threadIdx.x];
      for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
      if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = v;
      __syncthreads();
      if (threadIdx.x == 0) atomicAdd(sum, part[0] + part[1] + part[2] + part[3]);
    }"""
    x, total = np.arange(384, dtype=np.float32), np.zeros(1, np.float32)
    cuda(source, 3, 128, x, total)
    assert total[0] == x.sum()


@needs_nvrtc
def test_recursion_keeps_a_frame_for_each_call():
    source = """__device__ __noinline__ int f(int n) {
      int held[2] = {n, n * n};
      return n < 2 ? n : f(n - 1) + f(n - 2) + held[n % 2] * 0;
    }
    extern "C" __global__ void k(int* out) { out[threadIdx.x] = f(threadIdx.x); }"""
    out = np.zeros(11, np.int32)
    cuda(source, 1, 11, out)
    assert out.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55]


@needs_nvrtc
def test_functions_are_called_through_pointers_in_constant_tables():
    source = """__device__ __noinline__ int twice(int x) { return 2 * x; }
    __device__ __noinline__ int square(int x) { return x * x; }
    typedef int (*Function)(int);
    __device__ Function table[2] = {twice, square};
    extern "C" __global__ void k(int* out) { out[threadIdx.x] = table[threadIdx.x % 2](threadIdx.x); }"""
    out = np.zeros(8, np.int32)
    cuda(source, 1, 8, out)
    assert out.tolist() == [0, 1, 4, 9, 8, 25, 12, 49]


@needs_nvrtc
def test_structures_travel_by_value_and_print():
    source = """struct Pair { double a; int b; char name[4]; };
    extern "C" int printf(const char*, ...);
    extern "C" __global__ void k(Pair p, double* out) {
      out[0] = p.a * p.b;
      printf("%s has %5.2f and %d, %llu%%\\n", p.name, p.a, p.b, 1ull << 40);
    }"""
    out = np.zeros(1)
    memory = cuda(source, 1, 1, struct.pack("<di4s", 1.5, -4, b"ab\0\0"), out)
    assert out[0] == -6.0
    assert memory.printed == ["ab has  1.50 and -4, 1099511627776%\n"]


@needs_nvrtc
def test_dynamic_shared_memory_stands_behind_the_static_one():
    source = """extern __shared__ int more[];
    extern "C" __global__ void k(unsigned* out) {
      __shared__ char few[3];
      few[threadIdx.x] = 7; more[threadIdx.x] = 9;
      out[threadIdx.x] = (unsigned)__cvta_generic_to_shared(&more[threadIdx.x]) + 100 * few[threadIdx.x];
    }"""
    out = np.zeros(2, np.uint32)
    cuda(source, 1, 2, out, shared_bytes=8)
    assert out.tolist() == [716, 720]


@needs_nvrtc
def test_threads_of_a_warp_and_of_other_blocks_go_on_while_one_spins():
    source = """__device__ int lock, ready;
    extern "C" __global__ void k(int* count, int* seen) {
      bool done = false;
      while (!done) if (atomicCAS(&lock, 0, 1) == 0) {
        *count += 1; __threadfence(); atomicExch(&lock, 0); done = true;
      }
      if (blockIdx.x == 0) { while (*(volatile int*)&ready < 32) {} seen[threadIdx.x] = *count; }
      else atomicAdd(&ready, 1);
    }"""
    count, seen = np.zeros(1, np.int32), np.zeros(32, np.int32)
    cuda(source, 2, 32, count, seen)
    assert count[0] == 64
    assert (seen >= 32).all()


@needs_nvrtc
def test_divergent_threads_that_are_together_see_one_another():
    source = """extern "C" __global__ void k(unsigned* out) {
      if (threadIdx.x % 3 == 0) out[threadIdx.x] = __activemask();
      else out[threadIdx.x] = __ballot_sync(0xffffffff & ~0x49249249, threadIdx.x & 1);
    }"""
    out = np.zeros(32, np.uint32)
    cuda(source, 1, 32, out)
    assert set(out[::3].tolist()) == {0x49249249}
    assert set(out[1::3].tolist()) == {0xAAAAAAAA & ~0x49249249}


def test_a_branch_by_index():
    out = np.zeros(4, np.uint32)
    body = """mov.u32 %r0, %tid.x;
    table: .branchtargets A, B, C;
    min.u32 %r1, %r0, 2;
    brx.idx %r1, table;
    A: mov.u32 %r2, 10; bra END;
    B: mov.u32 %r2, 20; bra END;
    C: mov.u32 %r2, 30;
    END: mad.wide.u32 %p1, %r0, 4, %p0; st.global.u32 [%p1], %r2; ret;"""
    launch(written(body), 1, 4, out)
    assert out.tolist() == [10, 20, 30, 30]


def test_spaces_are_distinguished_and_hints_change_nothing():
    out = np.zeros(8, np.uint32)
    body = """.shared .align 4 .b32 s; .local .align 4 .b32 l;
    .reg .b64 %t<4>;
    mov.u64 %t0, s; cvta.shared.u64 %t0, %t0; mov.u64 %t1, l; cvta.local.u64 %t1, %t1;
    isspacep.shared %q0, %t0; isspacep.global %q1, %p0; isspacep.local %q2, %t1; isspacep.shared::cta %q3, %t1;
    selp.u32 %r0, 1, 0, %q0; selp.u32 %r1, 1, 0, %q1; selp.u32 %r2, 1, 0, %q2; selp.u32 %r3, 1, 0, %q3;
    st.global.v4.u32 [%p0], {%r0, %r1, %r2, %r3};
    createpolicy.fractional.L2::evict_first.b64 %t2; applypriority.global.L2::evict_normal [%p0], 128;
    prefetch.global.L1 [%p0]; prefetchu.L1 [%p0]; membar.gl; fence.acq_rel.gpu; nanosleep.u32 5; pmevent 1;
    griddepcontrol.wait; setmaxnreg.dec.sync.aligned.u32 40;
    mapa.u64 %t3, %t0, 0; sub.u64 %t3, %t3, %t0; cvt.u32.u64 %r4, %t3; getctarank.u32 %r5, %t0;
    elect.sync %r6|%q4, 0xffffffff; ldu.global.u32 %r7, [%p0];
    mov.u32 %r8, 0; @%q4 mov.u32 %r8, 1;
    redux.sync.add.u32 %r8, %r8, 0xffffffff; add.u32 %r8, %r8, %r4; add.u32 %r8, %r8, %r5;
    st.global.u32 [%p0+16], %r8; st.global.u32 [%p0+20], %r7; ret;"""
    launch(written(body), 1, 32, out)
    assert out.tolist() == [1, 1, 1, 0, 1, 1, 0, 0]


def test_threads_that_ended_are_not_waited_for():
    out = np.zeros(1, np.uint32)
    body = """mov.u32 %r0, %tid.x;
    setp.ge.u32 %q0, %r0, 5;
    @%q0 exit;
    bar.sync 0;
    vote.sync.ballot.b32 %r1, %q0, 0xffffffff;
    bar.red.popc.u32 %r2, 1, !%q0;
    st.global.u32 [%p0], %r2;
    ret;"""
    launch(written(body), 1, 64, out)
    assert out[0] == 5


def test_a_deadlock_names_threads_and_lines():
    body = """mov.u32 %r0, %tid.x;
    setp.eq.u32 %q0, %r0, 3;
    @%q0 bra ALONE;
    bar.sync 0;
    ret;
    ALONE: bar.sync 1;
    ret;"""
    with pytest.raises(DeadlockError, match=r"PTX line 13: bar\.sync 0: block \(0, 0, 0\), thread \(0, 0, 0\)"):
        launch(written(body), 1, 4, np.zeros(1, np.uint32))


def test_lanes_that_name_different_masks_wait_forever():
    body = """mov.u32 %r0, %laneid;
    setp.eq.u32 %q0, %r0, 0;
    selp.b32 %r1, 0xffffffff, 0xfffffffe, %q0;
    bar.warp.sync %r1;
    bar.sync 0;
    ret;"""
    with pytest.raises(DeadlockError, match=r"bar\.warp\.sync %r1: block \(0, 0, 0\), thread \(0, 0, 0\); "):
        launch(written(body), 1, 32, np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    ("access", "error"),
    [
        ("ld.global.u32 %r0, [%p0+8];", "no allocation has the 4 bytes at 0x10008"),
        ("ld.global.u32 %r0, [%p0+2];", "is not a multiple of 4"),
        ("ld.global.v2.u32 {%r0, %r1}, [%p0+4];", "is not a multiple of 8"),
        ("mov.u32 %r1, 64; ld.shared.u32 %r0, [%r1];", "outside of what there is"),
        ("trap;", "the kernel trapped"),
        ("wgmma.fence.sync.aligned;", "wgmma.fence.sync.aligned is not known"),
    ],
)
def test_mistakes_are_named(access, error):
    with pytest.raises(InterpreterError, match=error):
        launch(written(access), 1, 1, np.zeros(2, np.uint32))


def test_a_launch_without_an_end_is_ended():
    with pytest.raises(InterpreterError, match="no end after"):
        launch(written("AGAIN: bra AGAIN;"), 1, 1, np.zeros(1, np.uint32))


@pytest.mark.parametrize(
    ("mode", "lane", "b", "c", "expected"),
    [
        ("up", 5, 2, 0, (3, True)),
        ("up", 1, 2, 0, (1, False)),
        ("up", 17, 2, 0x1000, (17, False)),  # segments of 16: lane 15 is another one's
        ("down", 30, 2, 31, (30, False)),
        ("down", 5, 2, 0x181F, (7, True)),  # segments of 8
        ("down", 6, 2, 0x181F, (6, False)),
        ("bfly", 5, 3, 31, (6, True)),
        ("bfly", 3, 8, 0x1807, (3, False)),
        ("idx", 20, 33, 31, (1, True)),
        ("idx", 20, 9, 0x181F, (17, True)),
        ("idx", 20, 6, 0x1803, (20, False)),  # clamped to the first four of a segment
    ],
)
def test_shuffles_stay_in_their_segments(mode, lane, b, c, expected):
    assert source_lane(mode, lane, b, c) == expected
