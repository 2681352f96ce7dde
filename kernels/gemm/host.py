"""Matrix product of PolyBench-GPU: C = alpha A B + beta C, naive.

An element of C a thread, blocks of side x side threads. The running sum is stored to C in each step, since A and B
might overlap C. `sum` says whether it is also loaded again: in memory as the source is written, or in a register as
compilers keep it, which know what they have just stored.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "PolyBench-GPU, GEMM (the kernel's definition)"

PARAMETERS = {
    "n": Parameter(32, "rows and columns", minimum=1, maximum=8192),
    "side": Parameter(16, "side of a block, which has side^2 threads", minimum=1, maximum=32),
    "sum": Parameter("memory", "where a step finds the running sum", choices=("memory", "register")),
}

ALPHA, BETA = 1.5, 0.75
REGISTERS = 20  # assumption: three pointers of 64 bits, indices, operands
ROUNDING = 2.0**-24  # of 32-bit floats, half a unit in the last place


def defines(p):
    return {"SUM_IN_MEMORY": int(p.sum == "memory")}


def inputs(p):
    random = np.random.default_rng(p.seed)
    return {name: random.random((p.n, p.n), dtype=np.float32) for name in "abc"}


def launches(p, memory):
    blocks = -(-p.n // p.side)
    yield Launch(
        "gemm",
        ("a", "b", "c", ALPHA, BETA, p.n),
        grid=(blocks, blocks),
        block=(p.side, p.side),
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    a, b, c = (before[name].astype(np.float64) for name in "abc")
    # All terms are positive. A term is rounded three times at most before it is added, a sum once for every term.
    expect_equal("c", after["c"], ALPHA * (a @ b) + BETA * c, tolerance=(p.n + 4) * ROUNDING)
