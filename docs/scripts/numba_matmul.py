"""A matrix product in tiles of shared memory, with Numba CUDA."""

import numpy as np
from numba import cuda, float32

TILE = 16


@cuda.jit
def matmul(a, b, c):
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    column, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for tile in range(cuda.gridDim.x):
        tile_a[y, x] = a[row, tile * TILE + x]
        tile_b[y, x] = b[tile * TILE + y, column]
        cuda.syncthreads()
        for k in range(TILE):
            total += tile_a[y, k] * tile_b[k, x]
        cuda.syncthreads()
    c[row, column] = total


rng = np.random.default_rng(0)
a, b = rng.random((2, 64, 64), dtype=np.float32)
c = cuda.device_array((64, 64), np.float32)
matmul[(4, 4), (TILE, TILE)](cuda.to_device(a), cuda.to_device(b), c)
print("largest difference to NumPy below 1e-5:", np.abs(c.copy_to_host() / (a @ b) - 1).max() < 1e-5)
