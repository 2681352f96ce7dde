"""Kernels of plain CUDA: between them they do each thing that can be recorded on a GPU."""

from dataclasses import dataclass, field
from typing import Any

from simtmm.recorder.compiled.cuda_file import cuda_program


@dataclass(frozen=True)
class Plain:
    """A kernel and how it is launched. architecture: the first that it can be compiled for."""

    source: str
    grid: Any
    block: Any
    arguments: tuple[str, ...]
    more: dict[str, Any] = field(default_factory=dict)
    architecture: int = 75

    def program(self, folder):
        """As a file in a folder."""
        path = folder / "k.cu"
        path.write_text(self.source)
        return cuda_program(path, self.grid, self.block, self.arguments, **self.more)


PLAIN = {
    "lanes that part, in blocks of two sizes and a part of a warp": Plain(
        """__global__ void f(int* a, int n) {
            int i = (blockIdx.y * gridDim.x + blockIdx.x) * 72 + threadIdx.y * 24 + threadIdx.x, s = 0;
            if (i >= n) return;
            for (int j = 0; j < i % 7; ++j) s += a[(i * 13 + j) % n];
            if (s & 1) a[i] = s; else atomicAdd(a + s % n, 1);
        }""",
        (3, 2), (24, 3), ("a=arange:int32:300", "n=300"),
    ),
    "shared memory of several arrays, one of them dynamic": Plain(
        """__global__ void f(float* a) {
            __shared__ float s[64]; __shared__ int t[7]; extern __shared__ float d[];
            int i = threadIdx.x;
            s[i] = a[i]; d[i] = 1; if (i < 7) t[i] = i;
            __syncthreads();
            a[i] = s[63 - i] + t[i % 7] + d[(i + 1) % 64];
        }""",
        2, 64, ("a=random:float32:64",), {"shared": 256},
    ),
    "generic addresses of three state spaces, in functions that are called": Plain(
        """__device__ __noinline__ float get(const float* p, int i) { return p[i]; }
        __device__ __noinline__ void put(float* p, int i, float v) { p[i] = v; atomicAdd(p + i, 1.f); }
        __global__ void f(float* a, int k) {
            __shared__ float s[32]; float l[8]; int i = threadIdx.x;
            for (int j = 0; j < 8; ++j) l[(j * k) % 8] = j;
            put(s, i, a[i]);
            __syncthreads();
            const float* p = i % 3 == 0 ? s : i % 3 == 1 ? a : l;
            a[i] = get(p, i % 8);
            put(a, i, 2.f);
        }""",
        1, 32, ("a=random:float32:32", "k=3"),
    ),
    "constants, and variables that launches share": Plain(
        """__constant__ int c[16] = {3, 1, 4, 1, 5, 9, 2, 6};
        __device__ int total; __device__ int table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
        __global__ void f(int* a) {
            int i = threadIdx.x;
            a[i] += c[i % 16] + table[i % 8] + total;
            __syncthreads();
            atomicAdd(&total, a[i] & 1);
        }""",
        1, 40, ("a=arange:int32:64",),
    ),
    "shuffles, votes and barriers that reduce": Plain(
        """__global__ void f(int* a) {
            int i = threadIdx.x, v = a[i];
            for (int o = 16; o; o /= 2) v += __shfl_down_sync(-1, v, o);
            unsigned b = __ballot_sync(-1, v & 1);
            if (__syncthreads_or(v > 900)) a[i] = v + b;
            int n = __syncthreads_count(i & 1);
            if (i & 1) a[i] = __popc(__activemask()) + n;
        }""",
        2, 96, ("a=arange:int32:96",),
    ),
    "copies to shared memory of which some read nothing": Plain(
        """#include <cuda_pipeline.h>
        __global__ void f(const float4* x, float4* y, int n) {
            __shared__ float4 s[64]; int i = threadIdx.x;
            __pipeline_memcpy_async(s + i, x + i, 16, i < n ? 0 : 16);
            __pipeline_commit(); __pipeline_wait_prior(0); __syncthreads();
            y[i] = s[63 - i];
        }""",
        1, 64, ("x=random:float32:256", "y=zeros:float32:256", "n=40"), {}, 80,
    ),
    "fragments of matrices": Plain(
        """#include <mma.h>
        using namespace nvcuda;
        __global__ void f(const half* a, const half* b, float* c) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> A;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> B;
            wmma::fragment<wmma::accumulator, 16, 16, 16, float> C;
            wmma::fill_fragment(C, 0.f);
            wmma::load_matrix_sync(A, a, 32); wmma::load_matrix_sync(B, b, 16);
            wmma::mma_sync(C, A, B, C);
            wmma::store_matrix_sync(c, C, 24, wmma::mem_col_major);
        }""",
        1, 32, ("a=random:float16:1024", "b=random:float16:1024", "c=zeros:float32:1024"),
    ),
    "tiles, whose rows some lanes name": Plain(
        """__global__ void f(const unsigned* a, unsigned* c) {
            __shared__ unsigned s[256]; int i = threadIdx.x;
            for (int j = i; j < 256; j += 32) s[j] = a[j];
            __syncwarp();
            unsigned r, t, p = (unsigned)__cvta_generic_to_shared(s + 4 * (i % 16));
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" : "=r"(r), "=r"(t) : "r"(p));
            c[i] = r ^ t;
        }""",
        1, 32, ("a=arange:uint32:256", "c=zeros:uint32:32"),
    ),
    "assembly with names of its own, and guards": Plain(
        """__global__ void f(int* a, int n) {
            int i = threadIdx.x;
            asm volatile("{ .reg .pred p; .reg .b32 t; setp.lt.s32 p, %1, %2; @p ld.global.b32 t, [%0]; "
                         "@p add.s32 t, t, 1; @!p mov.b32 t, 7; st.global.b32 [%0], t; }"
                         :: "l"(a + i), "r"(i), "r"(n) : "memory");
        }""",
        1, 64, ("a=arange:int32:64", "n=50"),
    ),
    "a function that calls itself, and one of the host's": Plain(
        """#include <cstdio>
        __device__ __noinline__ int fib(int n, int* a) { return n < 2 ? a[n] : fib(n - 1, a) + fib(n - 2, a); }
        __global__ void f(int* a) {
            if (threadIdx.x < 2) printf("%d\\n", a[threadIdx.x]);
            a[2 + threadIdx.x] = fib(threadIdx.x % 6, a);
        }""",
        1, 32, ("a=arange:int32:64",),
    ),
}  # fmt: skip
