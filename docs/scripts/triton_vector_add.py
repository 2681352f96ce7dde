"""Two vectors added, with Triton on NumPy arrays."""

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


x, y = np.random.default_rng(0).random((2, 100_000), dtype=np.float32)
out = np.empty_like(x)
add[(triton.cdiv(x.size, 1024),)](x, y, out, x.size, BLOCK=1024)
print("as NumPy adds them:", np.array_equal(out, x + y))
