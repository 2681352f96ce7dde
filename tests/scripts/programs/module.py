"""A module with templates, constants and shared memory: tiled matrix product, histogram, stencil; streams and pools."""

import cupy as cp
import numpy as np
from cupy.cuda import Device, Stream

CODE = r"""
__constant__ float weights[3];
template <typename T> __global__ void matmul(const T* a, const T* b, T* c, int n) {
  __shared__ T x[8][8], y[8][8];
  int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
  T sum = 0;
  for (int tile = 0; tile < n / 8; ++tile) {
    x[threadIdx.y][threadIdx.x] = a[row * n + tile * 8 + threadIdx.x];
    y[threadIdx.y][threadIdx.x] = b[(tile * 8 + threadIdx.y) * n + column];
    __syncthreads();
    for (int k = 0; k < 8; ++k) sum += x[threadIdx.y][k] * y[k][threadIdx.x];
    __syncthreads();
  }
  c[row * n + column] = sum;
}
extern "C" __global__ void histogram(const unsigned char* data, unsigned int* counts, size_t n) {
  __shared__ unsigned int own[16];
  if (threadIdx.x < 16) own[threadIdx.x] = 0;
  __syncthreads();
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&own[data[i] & 15], 1u);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&counts[threadIdx.x], own[threadIdx.x]);
}
extern "C" __global__ void stencil(const float* in, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i > 0 && i < n - 1) out[i] = weights[0] * in[i - 1] + weights[1] * in[i] + weights[2] * in[i + 1];
}
"""
random = np.random.default_rng(1)
module = cp.RawModule(code=CODE, options=("-std=c++17",), name_expressions=["matmul<float>", "matmul<double>",
                      "histogram", "stencil"])  # fmt: skip
for kind in ("float", "double"):
    a, b = (random.random((32, 32)).astype(kind + ("32" if kind == "float" else "")) for _ in range(2))
    c = cp.zeros_like(cp.asarray(a))
    module.get_function(f"matmul<{kind}>")((4, 4), (8, 8), (cp.asarray(a), cp.asarray(b), c, np.int32(32)))
    np.testing.assert_allclose(c.get(), a @ b, rtol=1e-4)

data = random.integers(0, 256, 5000, dtype=np.uint8)
counts = cp.zeros(16, dtype=cp.uint32)
with Stream(non_blocking=True) as stream:
    module.get_function("histogram")((4,), (64,), (cp.asarray(data), counts, data.size))
    stream.synchronize()
np.testing.assert_array_equal(cp.asnumpy(counts), np.bincount(data & 15, minlength=16))

weights = cp.ndarray((3,), dtype=cp.float32, memptr=module.get_global("weights"))
weights[:] = cp.array([0.25, 0.5, 0.25], dtype=cp.float32)
x = random.random(300, dtype=np.float32)
device, out = cp.asarray(x), cp.zeros(300, dtype=cp.float32)
module.get_function("stencil")((3,), (128,), (device.data.ptr, out.data.ptr, 300))
np.testing.assert_allclose(out[1:-1].get(), 0.25 * x[:-2] + 0.5 * x[1:-1] + 0.25 * x[2:], rtol=1e-5)
np.testing.assert_allclose(cp.convolve(device, weights, "valid").get(), out[1:-1].get(), rtol=1e-5)
assert Device(0).attributes["WarpSize"] == 32
pool = cp.get_default_memory_pool()
pool.free_all_blocks()
print(module.get_function("matmul<float>").attributes["shared_size_bytes"], pool.used_bytes())
