"""The sum of n numbers: a tree over the threads of each block, and launches until one value is left.

A thread adds two elements, then the block's threads fold their sums in shared memory. Each launch leaves a sum a block,
for the next launch to add.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.6, Table 4.4"

PARAMETERS = {
    "n": Parameter(16384, "elements", minimum=1, maximum=2**26),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

LARGEST = 31  # the sum of the most elements still fits 32 bits
REGISTERS = 10  # assumption: two addresses and a handful of values


def blocks(p, n):
    """Blocks that add n elements, two a thread."""
    return -(-n // (2 * p.threads))


def defines(p):
    return {"THREADS": p.threads}


def algorithm(p):
    return "reduce", {"n": p.n}


def inputs(p):
    values = np.random.default_rng(p.seed).integers(-LARGEST, LARGEST, p.n, endpoint=True, dtype=np.int32)
    sums = np.zeros(blocks(p, p.n), dtype=np.int32)
    return {"values": values, "sums": sums, "more_sums": np.zeros(blocks(p, len(sums)), dtype=np.int32)}


def launches(p, memory):
    """One launch at least; then those that add the sums of the one before."""
    summands, sums, n = "values", "sums", p.n
    while True:
        yield Launch(
            "reduce",
            (summands, sums, n),
            grid=blocks(p, n),
            block=p.threads,
            registers_per_thread=REGISTERS,
            shared_memory_bytes=4 * p.threads,
        )
        n = blocks(p, n)
        if n == 1:
            return
        summands, sums = sums, "more_sums" if sums == "sums" else "sums"


def check(p, before, after):
    *_, last = launches(p, after)
    expect_equal("sum", after[last.arguments[1]][:1], before["values"].sum(dtype=np.int64, keepdims=True))
