"""Kernels that tests of direct launches run."""

import numpy as np

SAXPY = """
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""

SCALE = """
template <typename T, int FACTOR> __global__ void scale(T* x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= FACTOR;
}
"""

VARIABLES = """
namespace filter { __constant__ float factor = 3; }
__constant__ float coefficients[4];
__device__ int calls;
__device__ int other[4] = {5, 6, 7, 8};
__device__ int* pointer = other + 1;
extern "C" __global__ void weigh(const float* x, float* y) {
    y[threadIdx.x] = filter::factor * coefficients[threadIdx.x % 4] * x[threadIdx.x];
    if (threadIdx.x == 0) atomicAdd(&calls, 1);
}
extern "C" __global__ void follow(int* y) { y[threadIdx.x] = pointer[threadIdx.x]; }
extern "C" __global__ void add_one(int* x) { x[threadIdx.x] += 1; }
"""

REVERSED = """
extern "C" __global__ void reversed(int* x) {
    extern __shared__ int tile[];
    tile[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    x[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}
"""

BEYOND = """
extern "C" __global__ void beyond(int* x, int shift) { x[(int)threadIdx.x + shift] = 1; }
"""


def saxpy_arrays(n=1000):
    random = np.random.default_rng(0)
    return random.random(n, dtype=np.float32), random.random(n, dtype=np.float32)


def events(trace):
    """All that a trace holds, row by row: its arrays, launches, and events without their sites' numbers."""
    info = trace.info
    return info.arrays, info.launches, trace.to_table().to_pydict()
