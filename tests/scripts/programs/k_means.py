"""k-means with two raw kernels, random starts, and boolean masks."""

import sys

import cupy
import numpy as np

VARIANCE = cupy.ReductionKernel("T x, T mean", "T y", "(x - mean) * (x - mean)", "a + b", "y = a / _in_ind.size()", "0",
                                "variance")  # fmt: skip
ASSIGN = cupy.RawKernel(
    r"""
extern "C" __global__ void assign(const float* points, const float* centres, int* label, int n, int k) {
  extern __shared__ float held[];
  for (int j = threadIdx.x; j < 2 * k; j += blockDim.x) held[j] = centres[j];
  __syncthreads();
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  float best = 1e30f; int which = 0;
  for (int j = 0; j < k; j++) {
    float dx = points[2 * i] - held[2 * j], dy = points[2 * i + 1] - held[2 * j + 1], d = dx * dx + dy * dy;
    if (d < best) { best = d; which = j; }
  }
  label[i] = which;
}""",
    "assign",
)
SUM = cupy.RawKernel(
    r"""
extern "C" __global__ void add_up(const float* points, const int* label, float* sums, int* counts, int n) {
  int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  atomicAdd(&sums[2 * label[i]], points[2 * i]);
  atomicAdd(&sums[2 * label[i] + 1], points[2 * i + 1]);
  atomicAdd(counts + label[i], 1);
}""",
    "add_up",
)


def fit(points, k, steps):
    xp = cupy.get_array_module(points)
    assert xp is cupy
    n = len(points)
    centres = points[:: n // k][:k].copy()
    label = cupy.zeros(n, cupy.int32)
    for _ in range(steps):
        ASSIGN(((n + 127) // 128,), (128,), (points, centres, label, n, k), shared_mem=2 * k * 4)
        sums, counts = cupy.zeros((k, 2), cupy.float32), cupy.zeros(k, dtype="i")
        SUM(((n + 127) // 128,), (128,), (points, label, sums, counts, n))
        centres = sums / cupy.maximum(counts, 1)[:, None].astype(np.float32)
    return centres, label


def fit_on_the_host(points, k, steps):
    centres = points[:: len(points) // k][:k].copy()
    for _ in range(steps):
        label = ((points[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        centres = np.stack([points[label == j].mean(axis=0) for j in range(k)])
    return centres, label


random = np.random.RandomState(0)
host = np.concatenate([random.randn(200, 2) * 0.3 + centre for centre in ((0, 0), (3, 3), (-3, 2))]).astype(np.float32)
random.shuffle(host)
centres, label = fit(cupy.asarray(host), 3, int(sys.argv[1]))
wanted, labels = fit_on_the_host(host, 3, int(sys.argv[1]))
np.testing.assert_allclose(cupy.asnumpy(centres), wanted, rtol=1e-4)
np.testing.assert_array_equal(label.get(), labels)
for j in range(3):
    mine = cupy.asarray(host)[label == j]
    mean = mine.mean(axis=0)
    np.testing.assert_allclose(VARIANCE(mine, mean).get(), mine.get().var(axis=0).mean(), rtol=1e-3)
print(f"{int((label == 0).sum())} points of {len(host)} are in the first")
