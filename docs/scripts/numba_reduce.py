"""A sum, of a warp by shuffles, of a block through shared memory, and of the grid by an atomic, with Numba CUDA."""

import numpy as np
from numba import cuda, float64

WARP = 32


@cuda.jit
def total(x, out):
    of_warps = cuda.shared.array(WARP, float64)
    lane, warp = cuda.threadIdx.x % WARP, cuda.threadIdx.x // WARP
    value = 0.0
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        value += x[i]
    offset = WARP // 2
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if lane == 0:
        of_warps[warp] = value
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        for other in range(1, cuda.blockDim.x // WARP):
            value += of_warps[other]
        cuda.atomic.add(out, 0, value)


x = np.random.default_rng(0).random(20_000)
out = np.zeros(1)
total[16, 128](x, out)
print("as NumPy sums it:", np.isclose(out[0], x.sum()))
