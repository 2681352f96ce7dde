"""A matrix product on tensor cores, with Triton: the fastest of two tilings of the machine is taken."""

import numpy as np
import triton
import triton.language as tl

try:
    import torch  # Triton on a GPU takes PyTorch's tensors
except ImportError:
    torch = None  # simtmm takes NumPy arrays, too


@triton.autotune(
    configs=[
        triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=2, num_stages=2),
        triton.Config({"BM": 64, "BN": 64, "BK": 32}, num_warps=4, num_stages=3),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    k = tl.arange(0, BK)
    a = a_ptr + rows[:, None] * K + k[None, :]
    b = b_ptr + k[:, None] * N + columns[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, K, BK):
        total = tl.dot(tl.load(a), tl.load(b), total)
        a += BK
        b += BK * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total)


def to_device(array):
    return torch.from_numpy(array).cuda() if torch else array


def to_host(array):
    return array.cpu().numpy() if torch else array


M, N, K = 128, 128, 128
rng = np.random.default_rng(0)
a, b = rng.random((M, K)).astype(np.float16), rng.random((K, N)).astype(np.float16)
c = to_device(np.empty((M, N), np.float32))
matmul[lambda meta: (M // meta["BM"], N // meta["BN"])](to_device(a), to_device(b), c, M, N, K)
print("as NumPy multiplies:", np.allclose(to_host(c), a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3))
