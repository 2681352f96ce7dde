"""Sum of two vectors of 32-bit floats, as vectorAdd of the CUDA samples.

An element a thread, blocks of side^2 threads.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "CUDA samples, vectorAdd (the kernel's definition)"

PARAMETERS = {
    "n": Parameter(16384, "elements", minimum=1, maximum=2**28),
    "side": Parameter(16, "side of a square of as many threads as a block has", minimum=1, maximum=32),
}

REGISTERS = 12  # assumption: three pointers of 64 bits, an index, operands


def inputs(p):
    random = np.random.default_rng(p.seed)
    a, b = (random.random(p.n, dtype=np.float32) for _ in range(2))
    return {"a": a, "b": b, "c": np.zeros(p.n, dtype=np.float32)}


def launches(p, memory):
    threads = p.side**2
    yield Launch(
        "vector_add",
        ("a", "b", "c", p.n),
        grid=-(-p.n // threads),
        block=threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    expect_equal("c", after["c"], before["a"] + before["b"])  # one rounding, by the same rule on either side
