"""Memory, atomics, warps, matrices, copies and barriers: what machine code does is what its PTX does."""

import re
import struct

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from simtmm.cuda.ptx.flow.steps import COPIES
from tests.cuda.cases import matrix_cases, memory_cases, warp_cases
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.compilers.conftest import needs
from tests.cuda.sass.lifted import run_lifted

needs_tools = needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
BLOCKS, THREADS, COUNT = 2, 128, 2048
# What ptxas takes for these architectures and not for older ones.
_FROM = {
    80: r"bf16|tf32|cp\.async|redux|m16n8k(16|32|64)|f64\.f64",
    90: r"add\.(noftz\.)?v[24]|b128|stmatrix|e4m3|(atom|red).*bf16|m16n8k[48].*f64",
    100: r"redux.*f32",
}
_EACH = {"memory": (memory_cases, 8), "warp": (warp_cases, 5), "matrix": (matrix_cases, 3)}


def _known(architecture):
    """Cases that an architecture has, some of each kind."""
    chosen = []
    for module, count in _EACH.values():
        cases = [
            case
            for case in module.cases()
            if not any(newer > architecture and re.search(names, case.name) for newer, names in _FROM.items())
        ]
        chosen += cases[architecture % 7 :: max(1, len(cases) // count)][:count]
    return chosen


@needs_tools
@pytest.mark.parametrize("architecture", [75, 80, 90, 120])
def test_one_instruction_as_machine_code_does_what_the_interpreter_says(architecture):
    cases = _known(architecture)
    for case, found in zip(cases, run_lifted(cases, architecture), strict=True):
        assert not case.differences(interpreted(case), found)


SOURCE = """
typedef unsigned u32; typedef unsigned long long u64;
__device__ u32 place(const void* p) { return (u32)__cvta_generic_to_shared(p); }

// Lanes leave for the slow way of a division, which stands behind all else, and meet before they shuffle.
extern "C" __global__ void meet(const u32* in, u32* out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x, lane = threadIdx.x & 31;
  float a = 1 + (in[i] & 255), b = 1 + (in[i] >> 8 & 255), c = 1 + (in[i] >> 16 & 255);
  if (i % 5 == 0) a *= 1e-38f;
  if (i % 7 == 0) b *= 1e-39f;
  float x = a / b;
  x += __shfl_xor_sync(~0u, x, 1);
  float y = x / c;
  y += __shfl_xor_sync(~0u, y, 2);
  u32 sum = __float_as_uint(y), v = in[i];
  for (int m = 0; m < 6; m++) {
    for (int n = 0; n < 6; n++) {
      if ((v >> m & 7) == n) goto out;
      v = v * 69069 + 1;
      if (v & 64) { sum += n; continue; }
      if (!(v & 7)) break;
      sum ^= v;
    }
  }
out:
  sum += __shfl_xor_sync(~0u, sum, 8);
  if (lane < 10) { sum += __shfl_sync(0x3ff, sum, (lane + 1) % 10); }
  else { for (u32 j = 0; j < (sum & 15); j++) sum = sum * 3 + 1; sum ^= __ballot_sync(0xfffffc00, sum & 2); }
  u32 mates = __match_any_sync(~0u, v & 7);  // masks of their own, side by side
  sum += __popc(__ballot_sync(mates, v & 64)) + __all_sync(mates, v & 32) + __shfl_sync(mates, v, __ffs(mates) - 1);
  out[i] = sum;
}

// Lanes that wait for a lock, and the one that has it, which all are to meet: it goes on alone.
extern "C" __global__ void lock(const u32* in, u32* out) {
  u32* held = out + 2000;
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (threadIdx.x & 1) {
    while (atomicCAS(held, 0, 1) != 0) ;
    __threadfence();
    ((volatile u32*)out)[1000] = ((volatile u32*)out)[1000] + in[i];
    __threadfence();
    atomicExch(held, 0);
  }
  __syncwarp();
  __shared__ volatile u32 seen;
  if (!threadIdx.x) seen = 0;
  __syncthreads();
  if (threadIdx.x >= 96) { while (seen < 96) ; out[i] = seen; } else atomicAdd((u32*)&seen, 1);
}

// Likewise within one another and one after another: who has gone on alone is not to be waited for where others meet.
__device__ __forceinline__ void add(u32* held, u32* sum, u32 v) {
  while (atomicCAS(held, 0, 1) != 0) ;
  __threadfence();
  *(volatile u32*)sum = *(volatile u32*)sum + v;
  __threadfence();
  atomicExch(held, 0);
}
extern "C" __global__ void locks(const u32* in, u32* out) {
  u32 v = in[threadIdx.x], *held = out + 2000, *sum = out + 1000;
  if (v % 3 == 0) {
    if (v & 16) add(held, sum, v); else { add(held, sum, v + 1); add(held, sum, v + 2); }
    if (v & 32) add(held, sum, v + 3);
    add(held, sum, v + 4);
  } else if (v % 3 == 1) {
    add(held, sum, v + 5);
    if (v & 8) add(held, sum, v + 6);
  }
  __syncwarp();
  out[threadIdx.x] = v;
}

extern "C" __global__ void updates(const u32* in, u32* out) {
  __shared__ u32 bins[128], low; __shared__ u64 wide; __shared__ float sum; __shared__ double more;
  int t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  bins[t] = 0;
  if (!t) { low = ~0u; wide = 0; sum = 0; more = 0; }
  __syncthreads();
  atomicAdd(&bins[in[i] & 127], 1);
  atomicMin(&low, in[i]);
  atomicAdd(&wide, (u64)in[i] * in[i + 1]);
  atomicAdd(&sum, (float)(in[i] & 15));
  atomicAdd(&more, (double)(in[i] & 1023));
  u32* any = in[i] & 1 ? &bins[127 - t] : out + 1500 + t;  // shared or global memory
  atomicAdd(any, 1000u);
  float* real = in[i] & 2 ? &sum : (float*)out + 1700;
  atomicAdd(real, 2.0f);
  int set = __syncthreads_count(in[i] & 4), whole = __syncthreads_and(in[i] != 77);
  u32 number = 1 + t / 64 + in[i] * 0, threads = 64 + in[i] * 0;
  asm volatile("bar.sync %0, %1;" ::"r"(number), "r"(threads));
  out[i] = bins[t] + set * 16 + whole;
  if (!t) { out[600 + blockIdx.x] = low; ((u64*)out)[310 + blockIdx.x] = wide + (u64)sum + (u64)more; }
}

extern "C" __global__ void asks(const u32* in, u32* out) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  assert(in[i] != 12345);
  if (in[i] % 50 == 0) printf("thread %d has %u and %f\\n", i, in[i], 1.5 * i);
  u32* own = (u32*)malloc(16);
  own[3] = in[i];
  out[i] = own[3] * 2;
  free(own);
}
#if __CUDA_ARCH__ >= 800
extern "C" __global__ void copies(const u32* in, u32* out) {
  __shared__ __align__(16) u32 held[2][512]; __shared__ u64 barrier;
  int t = threadIdx.x;
  u32 sum = 0, waits = place(&barrier);
  if (!t) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(waits), "r"(128));
  __syncthreads();
  for (int k = 0; k < 2; k++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16, %2;"
                 ::"r"(place(held[k] + 4 * t)), "l"(in + 4 * t + 64 * k),
                 "r"(16 - 4 * (t % 5)));
    asm volatile("cp.async.commit_group;");
  }
  asm volatile("cp.async.wait_group 1;");
  sum += held[0][4 * t] + held[0][4 * t + 3];
  asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(waits));
  for (int done = 0; !done;)
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(waits));
  sum = sum * 3 + held[1][4 * (t ^ 77) + 1];
  u64 state;
  asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(waits));
  for (int done = 0; !done;)
    asm volatile("{.reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(waits), "l"(state));
#if __CUDA_ARCH__ >= 900
  __syncthreads();
  if (!t) {
    asm volatile("mbarrier.inval.shared.b64 [%0]; mbarrier.init.shared.b64 [%0], 1;" ::"r"(waits));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(waits), "r"(1024));
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                     place(held[0])), "l"(in + 256), "r"(1024), "r"(waits) : "memory");
  }
  __syncthreads();
  for (int done = 0; !done;)
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
                 : "=r"(done) : "r"(waits) : "memory");
  sum += held[0][255 - t];
#endif
  out[t + blockIdx.x * blockDim.x] = sum;
}

extern "C" __global__ void fetches(const u32* in, u32* out) {
  __shared__ __align__(16) u32 held[5][512];
  int t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  u64 policy;
  asm volatile("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  asm volatile("cp.async.ca.shared.global.L2::64B [%0], [%1], 16;" ::"r"(place(held[0] + 4 * t)), "l"(in + 4 * t));
  asm volatile("cp.async.ca.shared.global.L2::128B [%0], [%1], 8;" ::"r"(place(held[1] + 4 * t)), "l"(in + 4 * t));
  asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(place(held[2] + 4 * t)), "l"(in + 4 * t + 8));
  asm volatile("cp.async.cg.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;" ::"r"(place(held[3] + 4 * t)),
               "l"(in + 4 * t + 4), "r"(4 * (t % 5)), "l"(policy));
  asm volatile("cp.async.ca.shared.global.L2::128B.L2::cache_hint [%0], [%1], 4, %2;" ::"r"(place(held[4] + 4 * t)),
               "l"(in + t), "l"(policy));
  asm volatile("cp.async.wait_all;");
  __syncthreads();
  int other = 4 * (t ^ 77);
  out[i] = held[0][other] + 3 * held[0][other + 3] + 5 * held[1][other + 1] + 7 * held[2][other + 2];
  out[i] += 11 * held[3][other + t % 4] + 13 * held[4][other];
}

extern "C" __global__ void waits_for_copies(const u32* in, u32* out) {
  __shared__ __align__(16) u32 held[512]; __shared__ u64 barrier;
  int t = threadIdx.x, i = t + blockIdx.x * blockDim.x;
  u32 waits = place(&barrier);
  if (!t) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(waits), "r"(128));
  __syncthreads();
  for (int phase = 0; phase < 3; phase++) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(place(held + 4 * t)), "l"(in + 4 * t + 32 * phase));
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(waits));  // expects an arrival, which the copy is
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(waits));
    for (int done = 0; !done;)
      asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
                   : "=r"(done) : "r"(waits), "r"(phase & 1) : "memory");
    out[i] = phase * out[i] + held[511 - t - i % 2];
    __syncthreads();
  }
}
#endif
"""


def _module(architecture):
    return LinkedModule([compile_source(SOURCE, name="kernels.cu", architecture=architecture)])


def _run(function, say=None):
    """What a kernel is given and leaves. say: takes what it prints."""
    device = Device()
    given = np.random.default_rng(11).integers(0, 1 << 32, COUNT, np.uint32)
    left = np.zeros(COUNT + 64, np.uint32)
    addresses = [device.memory.place("given", given), device.memory.place("left", left)]
    arguments = struct.pack("<2Q", *addresses)
    device.launch(function.quick, DeviceLaunch((BLOCKS, 1, 1), (THREADS, 1, 1), arguments), write=say, seconds=60)
    return given, left


@needs_tools
@pytest.mark.parametrize(
    ("kernel", "architecture"),
    [("meet", 75), ("meet", 90), ("locks", 75), ("locks", 90), ("updates", 120), ("copies", 80), ("copies", 90),
     ("fetches", 80), ("fetches", 86), ("fetches", 90), ("fetches", 120),
     ("waits_for_copies", 80), ("waits_for_copies", 90), ("waits_for_copies", 120)],
)  # fmt: skip
def test_kernels_as_machine_code_do_what_their_ptx_does(kernel, architecture):
    plain = KernelFunction(_module(architecture), kernel)
    _, expected = _run(plain)
    _, found = _run(MachineFunction(plain))
    assert np.array_equal(found, expected)
    assert found.any()


@needs_tools
def test_the_lane_that_has_a_lock_does_not_wait_for_those_that_want_it():
    given, left = _run(MachineFunction(KernelFunction(_module(90), "lock")))
    threads = np.arange(BLOCKS * THREADS)
    assert left[1000] == given[: BLOCKS * THREADS][threads % 2 == 1].sum(dtype=np.uint32)
    assert (left[threads[threads % THREADS >= 96]] == 96).all()


@needs_tools
@pytest.mark.parametrize("architecture", [75, 90])
def test_what_a_kernel_asks_of_the_driver_it_is_given(architecture):
    lines = []
    given, left = _run(MachineFunction(KernelFunction(_module(architecture), "asks")), lines.append)
    given = given[: BLOCKS * THREADS]
    expected = [f"thread {i} has {given[i]} and {1.5 * i:f}" for i in np.flatnonzero(given % 50 == 0)]
    assert "".join(lines).splitlines() == expected
    assert expected
    assert np.array_equal(left[: len(given)], given * np.uint32(2))


# What a trace has of an instruction; and bytes, 4 where its modifiers don't say so.
_KINDS = {
    "LDG": "async", "LD": "async", "LDGSTS": "async", "UBLKCP": "copy", "STG": "store", "ST": "store",
    "LDS": "shared_load", "STS": "shared_store", "ATOMS": "shared_atomic",
    **dict.fromkeys(("ATOM", "ATOMG", "RED", "REDG"), "atomic"),
}  # fmt: skip
_WIDTHS = {"U8": 1, "64": 8, "128": 16, "F64": 8}


@needs_tools
@pytest.mark.parametrize(("kernel", "architecture"), [("updates", 75), ("updates", 120), ("copies", 90)])
def test_each_access_is_recorded_once_with_its_kind_and_width(kernel, architecture):
    function = MachineFunction(KernelFunction(_module(architecture), kernel))
    (code,) = function.program.codes
    found = [
        (step.access.text, step.kind, step.width)
        for block in code.steps
        for step in block
        if step.access is not None and step.kind != "mbarrier"
    ]
    expected = [
        (each.text, _KINDS[each.opcode], next((_WIDTHS[m] for m in each.modifiers if m in _WIDTHS), 4))
        for each in function.lifted.listing.instructions
        if each.opcode in _KINDS
    ]
    bulk = [(text, kind, 16 if "UBLKCP" in text else width) for text, kind, width in expected]
    assert sorted(found) == sorted(bulk)


@needs_tools
def test_copies_are_waited_for_where_no_group_may_be_under_way():
    function = MachineFunction(KernelFunction(_module(80), "copies"))
    (code,) = function.program.codes
    steps = [step for block in code.steps for step in block]
    assert [step.kind for step in steps if COPIES in step.gives] == ["async", "async"]
    assert {step.width for step in steps if COPIES in step.gives} == {16}
    assert sum(COPIES in step.needs for step in steps) <= 1
