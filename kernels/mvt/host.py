"""Products of a matrix and of its transpose with a vector, of PolyBench-GPU: x1 += A y1, then x2 += A^T y2, naive.

A launch for each product, a row or column a thread, blocks of `side` threads in one dimension, as PolyBench-GPU has
DIM_THREAD_BLOCK_Y = 1 here. Threads of a warp read a column of A in the first, which does not coalesce, and a row in
the second. The running sum is stored in each step,
since the arrays might overlap. `sum` says whether it is also loaded again: in memory as the source is written, or in
a register as compilers keep it, which know what they have just stored.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "PolyBench-GPU, MVT (the kernel's definition)"

PARAMETERS = {
    "n": Parameter(128, "rows and columns", minimum=1, maximum=16384),
    "side": Parameter(16, "threads of a block, which lie in a line", minimum=1, maximum=1024),
    "sum": Parameter("memory", "where a step finds the running sum", choices=("memory", "register")),
}

REGISTERS = 16  # assumption: three pointers of 64 bits, indices, operands
ROUNDING = 2.0**-24  # of 32-bit floats, half a unit in the last place


def defines(p):
    return {"SUM_IN_MEMORY": int(p.sum == "memory")}


def inputs(p):
    random = np.random.default_rng(p.seed)
    vectors = {name: random.random(p.n, dtype=np.float32) for name in ("x1", "x2", "y1", "y2")}
    return {"a": random.random((p.n, p.n), dtype=np.float32)} | vectors


def launches(p, memory):
    for kernel, x, y in (("rows", "x1", "y1"), ("columns", "x2", "y2")):
        yield Launch(
            kernel,
            ("a", x, y, p.n),
            grid=-(-p.n // p.side),
            block=p.side,
            registers_per_thread=REGISTERS,
        )


def check(p, before, after):
    a, x1, x2, y1, y2 = (before[name].astype(np.float64) for name in ("a", "x1", "x2", "y1", "y2"))
    # All terms are positive. A term is rounded once at most before it is added, a sum once for every term.
    tolerance = (p.n + 2) * ROUNDING
    expect_equal("x1", after["x1"], x1 + a @ y1, tolerance)
    expect_equal("x2", after["x2"], x2 + y2 @ a, tolerance)
