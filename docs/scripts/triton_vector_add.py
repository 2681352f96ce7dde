"""Two vectors added, with Triton: on a GPU, or by simtmm, with PyTorch or without."""

import numpy as np
import triton
import triton.language as tl

try:
    import torch  # Triton on a GPU takes PyTorch's tensors
except ImportError:
    torch = None  # simtmm takes NumPy arrays, too


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def to_device(array):
    return torch.from_numpy(array).cuda() if torch else array


def to_host(array):
    return array.cpu().numpy() if torch else array


x, y = np.random.default_rng(0).random((2, 100_000), dtype=np.float32)
out = to_device(np.empty_like(x))
add[(triton.cdiv(x.size, 1024),)](to_device(x), to_device(y), out, x.size, BLOCK=1024)
print("as NumPy adds them:", np.array_equal(to_host(out), x + y))
