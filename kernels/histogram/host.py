"""Histogram: atomic counts in shared memory, added to those in global memory.

The values are numbers of bins; the blocks together go through them in order. The fewer bins they fall into, the more
lanes of a warp meet in one.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = ""

PARAMETERS = {
    "n": Parameter(16384, "values", minimum=1, maximum=2**28),
    "bins": Parameter(256, "bins", minimum=1, maximum=2**16),
    "values": Parameter("uniform", "how the values fall into the bins", choices=("uniform", "normal", "same")),
    "blocks": Parameter(30, "blocks of the grid", minimum=1, maximum=4096),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 12  # assumption: pointers, an index, a count


def defines(p):
    return {"BINS": p.bins}


def inputs(p):
    random = np.random.default_rng(p.seed)
    match p.values:
        case "uniform":
            values = random.integers(0, p.bins, p.n)
        case "normal":  # eight standard deviations wide
            values = np.clip(random.normal(p.bins / 2, p.bins / 8, p.n), 0, p.bins - 1)
        case "same":
            values = np.full(p.n, random.integers(p.bins))
    return {"values": values.astype(np.uint32), "totals": np.zeros(p.bins, dtype=np.uint32)}


def launches(p, memory):
    yield Launch(
        "histogram",
        ("values", "totals", p.n),
        grid=p.blocks,
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=4 * p.bins,
    )


def check(p, before, after):
    expect_equal("totals", after["totals"], np.bincount(before["values"], minlength=p.bins))
