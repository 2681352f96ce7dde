"""Functions that call themselves or are called by pointers, and forms that only optimised code has, as machine code."""

import struct

import numpy as np
import pytest

from simtmm.cuda.compilers import compile_source
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.machine_function import MachineFunction
from tests.cuda.compilers.conftest import needs_machine_code

BLOCKS, THREADS, WORDS = 2, 64, 16

HEAD = """
typedef unsigned u32; typedef unsigned long long u64;
typedef float (*Function)(float);
__device__ __noinline__ float more(float a) { return a + 1; }
__device__ __noinline__ float thrice(float a) { return a * 3; }
__device__ __noinline__ float half_of(float a) { return a / 2; }
__device__ Function table[3] = {half_of, more, thrice};
"""
# The assembler numbers functions where several kernels may call them; where one may, a pointer is a place in its code.
ALONE = f"""{HEAD}
extern "C" __global__ void pointers(const u32* in, u32* out) {{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  out[i * {WORDS}] = __float_as_uint(table[in[i] % 3](in[i] & 255));
}}
"""
SOURCE = f"""#include <cuda_fp16.h>
#include <cuda_bf16.h>
{HEAD}
__constant__ Function constants[3] = {{thrice, half_of, more}};
struct Shape {{
  int k;
  __device__ Shape(int k) : k(k) {{}}
  __device__ virtual float area(float a) const {{ return a; }}
}};
struct Square : Shape {{
  __device__ Square(int k) : Shape(k) {{}}
  __device__ float area(float a) const override {{ return a * a + k; }}
}};
struct Strip : Shape {{
  __device__ Strip(int k) : Shape(k) {{}}
  __device__ float area(float a) const override {{ return a * 4 - k; }}
}};
__device__ void sort(int* a, int low, int high) {{
  if (low >= high) return;
  int pivot = a[high], place = low;
  for (int k = low; k < high; k++)
    if (a[k] < pivot) {{ int t = a[k]; a[k] = a[place]; a[place++] = t; }}
  int t = a[place]; a[place] = a[high]; a[high] = t;
  sort(a, low, place - 1);
  sort(a, place + 1, high);
}}
extern "C" __global__ void pointers(const u32* in, u32* out) {{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  u32 v = in[i], *to = out + i * {WORDS};
  Function chosen = v & 1 ? more : thrice;
  if ((v & 14) == 2) chosen = half_of;
  to[0] = __float_as_uint(chosen(v & 255));
  to[1] = __float_as_uint(constants[v % 3](v & 127));
  to[2] = __float_as_uint(table[v % 3](v & 63));
  Square square(i); Strip strip(v & 7);
  const Shape* shape = v & 4 ? (const Shape*)&square : (const Shape*)&strip;
  to[3] = __float_as_uint(shape->area(v & 31));
}}
extern "C" __global__ void recursion(const u32* in, u32* out) {{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  int a[{WORDS}];
  for (int k = 0; k < {WORDS}; k++) a[k] = in[i * {WORDS} + k & 2047];
  sort(a, 0, {WORDS} - 1);
  for (int k = 0; k < {WORDS}; k++) out[i * {WORDS} + k] = a[k];
}}
extern "C" __global__ void forms(const u32* in, u32* out) {{
  __shared__ u32 shared[{THREADS}];
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  u32 v = in[i], *to = out + i * {WORDS};
  u64 wide = (u64)in[i + 1] << 32 | v, other = (u64)in[i + 2] << 32 | in[i + 3];
  double quotient = (double)(wide >> 12) / 4294967087.0;  // the reciprocal of a number that the instruction has
  to[0] = __double2hiint(quotient); to[1] = __double2loint(quotient);
  wide = wide < other ? wide : other;
  to[2] = wide; to[3] = wide >> 32;
  u32 parts[3];
  for (int k = 0; k < 3; k++) parts[k] = in[i + 4 + k] & 0x3fff3fff;
  __half2 product = __hcmadd(*(__half2*)parts, *(__half2*)(parts + 1), *(__half2*)(parts + 2));
  to[4] = *(u32*)&product;
  to[5] = __bfloat16_as_ushort(htrunc(__ushort_as_bfloat16(v >> 16 & 0xc1ff)));
  shared[threadIdx.x] = v;
  __syncthreads();
  const u32* place = v & 16 ? (const u32*)shared + (v >> 5) % {THREADS} : in + i;
  to[6] = *place; to[7] = __isShared(place) + 2 * __isGlobal(place) + 4 * __isLocal(place);
  asm volatile("red.relaxed.cta.global.max.u32 [%0], %1;" :: "l"(to + 8), "r"(v));
  u32 found; u64 number;
  asm volatile("mov.u32 %0, %%nsmid;" : "=r"(found));
  to[9] = found;
  asm volatile("mov.u64 %0, %%gridid;" : "=l"(number));
  to[10] = number; to[11] = number >> 32;
  to[12] = clock64() != 7;
#if __CUDA_ARCH__ < 1000
  asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(found));
  to[13] = found;
#endif
}}
"""
# Two numbers at once, with signs of one and of both, the upper one first and last, and one number for both.
PAIRS = f"""
extern "C" __global__ void pairs(const float2* in, float2* out) {{
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  float2 a = in[i], b = in[i + 100], c = in[i + 200], *to = out + i * {WORDS // 2};
  to[0] = __ffma2_rn(a, make_float2(b.x, -b.y), make_float2(-c.x, c.y));
  to[1] = __fmul2_rz(make_float2(-a.x, -a.y), make_float2(b.y, b.x));
  to[2] = __ffma2_rn(make_float2(fabsf(a.x), fabsf(a.y)), make_float2(-b.y, -b.y), make_float2(3, 3));
  to[3] = __fadd2_rd(make_float2(-fabsf(a.x), -fabsf(a.y)), b);
  to[4] = __fadd2_rn(a, make_float2(2, -5));
  to[5] = __ffma2_rn(make_float2(a.x, b.x), make_float2(b.y, -b.y), c);
}}
"""


def _both_ways(plain):
    """What a kernel leaves as PTX, and as machine code."""
    values = np.random.default_rng(8).integers(0, 1 << 32, 2048, np.uint32, endpoint=False)
    values[(values & 0x7F800000) == 0x7F800000] = 1  # no NaN, whose bits are nobody's concern
    for function in (plain.quick, MachineFunction(plain).quick):
        device, left = Device(), np.zeros(BLOCKS * THREADS * WORDS, np.uint32)
        parameters = struct.pack("<2Q", device.memory.place("in", values.copy()), device.memory.place("out", left))
        device.launch(function, DeviceLaunch((BLOCKS, 1, 1), (THREADS, 1, 1), parameters, 32))
        yield left


@needs_machine_code
@pytest.mark.parametrize("architecture", [75, 86, 120])
def test_machine_code_does_what_its_ptx_does(architecture):
    for source, kernels in ((ALONE, ["pointers"]), (SOURCE, ["pointers", "recursion", "forms"])):
        linked = LinkedModule([compile_source(source, architecture=architecture)])
        for kernel in kernels:
            as_ptx, as_machine_code = _both_ways(KernelFunction(linked, kernel))
            assert as_ptx.any()
            np.testing.assert_array_equal(as_machine_code, as_ptx, kernel)


HERE = f"""
extern "C" __global__ void here(const unsigned* in, unsigned* out) {{
  unsigned i = threadIdx.x + blockIdx.x * blockDim.x, v = in[i] % 7, *to = out + i * {WORDS};
  if (v % 3 == 0) to[0] = __activemask();
  if (v % 2 == 0) to[1] = __popc(__activemask()) * 100 + __popc(__activemask() & ((1u << threadIdx.x % 32) - 1));
  if (v > 3) to[2] = __ballot_sync(__activemask(), v & 1);
  if (v > 2) to[3] = __all_sync(__activemask(), v > 2) + 2 * __any_sync(__activemask(), v < 3);
  if (v < 5) to[4] = __match_any_sync(__activemask(), v / 2);
  if (v & 4) {{ int all; to[5] = __match_all_sync(__activemask(), v / 4, &all) + all; }}
#if __CUDA_ARCH__ >= 800
  if (v != 1) to[6] = __reduce_add_sync(__activemask(), v);
  if (v != 2) to[7] = __reduce_min_sync(__activemask(), (int)v - 8);
#endif
}}
"""


def _of_lanes_here(values, architecture):
    """What the kernel `here` leaves in an array of zeros, by Python."""
    left = np.zeros((len(values), WORDS), np.uint32)

    def mask(lanes):
        return sum(1 << lane for lane in lanes)

    for first in range(0, len(values), 32):
        warp = {lane: int(values[first + lane] % 7) for lane in range(32)}
        for lane, v in warp.items():
            to = left[first + lane]
            conditions = (v % 3 == 0, v % 2 == 0, v > 3, v > 2, v < 5, v & 4, v != 1, v != 2)
            here = [
                {each: w for each, w in warp.items() if holds(w)}
                for holds in (
                    lambda w: w % 3 == 0, lambda w: w % 2 == 0, lambda w: w > 3, lambda w: w > 2, lambda w: w < 5,
                    lambda w: w & 4, lambda w: w != 1, lambda w: w != 2,
                )
            ]  # fmt: skip
            results = (
                mask(here[0]),
                len(here[1]) * 100 + sum(each < lane for each in here[1]),
                mask(each for each, w in here[2].items() if w & 1),
                1,
                mask(each for each, w in here[4].items() if w // 2 == v // 2),
                mask(here[5]) + 1,
                sum(here[6].values()),
                min(here[7].values(), default=0) - 8 & 0xFFFFFFFF,
            )
            for number, (condition, result) in enumerate(zip(conditions, results, strict=True)):
                if condition and (number < 6 or architecture >= 80):
                    to[number] = result & 0xFFFFFFFF
    return left


@needs_machine_code
@pytest.mark.parametrize("architecture", [75, 80, 90, 120])
def test_lanes_that_a_guard_leaves_out_take_no_part(architecture):
    """Short bodies of `if` become predicated instructions: a vote among the lanes that are here has a guard then."""
    linked = LinkedModule([compile_source(HERE, architecture=architecture)])
    values = np.random.default_rng(8).integers(0, 1 << 32, 2048, np.uint32, endpoint=False)
    values[(values & 0x7F800000) == 0x7F800000] = 1
    expected = _of_lanes_here(values[: BLOCKS * THREADS], architecture).reshape(-1)
    as_ptx, as_machine_code = _both_ways(KernelFunction(linked, "here"))
    np.testing.assert_array_equal(as_ptx, expected)
    np.testing.assert_array_equal(as_machine_code, expected)


@needs_machine_code
def test_pairs_of_real_numbers_have_signs_and_an_order_of_their_own():
    linked = LinkedModule([compile_source(PAIRS, architecture=100)])
    as_ptx, as_machine_code = _both_ways(KernelFunction(linked, "pairs"))
    assert len(np.unique(as_ptx)) > BLOCKS * THREADS
    np.testing.assert_array_equal(as_machine_code, as_ptx)


@needs_machine_code
def test_code_that_is_not_optimised_checks_its_stack():
    source = """extern "C" __global__ void k(const unsigned* in, unsigned* out) {
      int i = threadIdx.x + blockIdx.x * blockDim.x;
      unsigned v[4];
      for (int k = 0; k < 4; k++) v[k] = in[i + k];
      out[i] = v[in[i + 4] & 3];
    }"""
    module = compile_source(source, architecture=86, options=["-Xptxas=-O0"])
    as_ptx, as_machine_code = _both_ways(KernelFunction(LinkedModule([module]), "k"))
    assert as_ptx.any()
    np.testing.assert_array_equal(as_machine_code, as_ptx)
