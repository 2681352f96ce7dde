"""Matrix multiplication by sub-blocks in shared memory.

Two n x n matrices; a block of sub_block x sub_block threads computes a sub-block of the product, an element a thread.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "003 (FGCS 2017) names it, without details; sub-blocks as in 000 (Ma) section 4.1.1"

PARAMETERS = {
    "n": Parameter(64, "rows and columns of a matrix", minimum=1, maximum=4096),
    "sub_block": Parameter(8, "rows and columns of a sub-block", minimum=1, maximum=32),
}

REGISTERS = 16  # assumption: the sum, two elements, indices


def defines(p):
    return {"SUB_BLOCK": p.sub_block}


def algorithm(p):
    return "matrix-multiplication", {"n": p.n, "S_D": p.sub_block}


def inputs(p):
    random = np.random.default_rng(p.seed)
    a, b = random.random((2, p.n, p.n), dtype=np.float32)
    return {"a": a, "b": b, "product": np.zeros_like(a)}


def launches(p, memory):
    sub_blocks = -(-p.n // p.sub_block)
    yield Launch(
        "multiply",
        ("a", "b", "product", p.n),
        grid=(sub_blocks, sub_blocks),
        block=(p.sub_block, p.sub_block),
        registers_per_thread=REGISTERS,
        shared_memory_bytes=2 * p.sub_block * p.sub_block * 4,
    )


def check(p, before, after):
    expected = before["a"].astype(float) @ before["b"].astype(float)
    # n products and n - 1 sums of numbers that are not negative: a relative error of n roundings of 2^-24 to first
    # order, and less than twice that in all.
    expect_equal("product", after["product"], expected, tolerance=p.n * 2.0**-23)
