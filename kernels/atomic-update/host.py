"""Atomic updates of few counters in global memory: how long an update takes those that come behind it.

Each of n threads adds 1 to one of the counters, which lie `stride` elements apart. With a single counter, all updates
meet in one chunk of one partition. Which counter, it reads, so no compiler can gather updates beforehand.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = ""

PARAMETERS = {
    "n": Parameter(16384, "updates, one a thread", minimum=1, maximum=2**28),
    "counters": Parameter(1, "counters", minimum=1, maximum=2**20),
    "stride": Parameter(32, "elements of 4 bytes from one counter to the next", minimum=1, maximum=2**10),
    "threads": Parameter(256, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 8  # assumption: two pointers, an index


def inputs(p):
    # Counters begin anywhere: an addition that carries on from what was there is told from one that does not.
    random = np.random.default_rng(p.seed)
    return {
        "where": (random.integers(p.counters, size=p.n) * p.stride).astype(np.uint32),
        "counts": random.integers(2**20, size=p.counters * p.stride).astype(np.uint32),
    }


def launches(p, memory):
    yield Launch(
        "atomic_update", ("where", "counts", p.n), -(-p.n // p.threads), p.threads, registers_per_thread=REGISTERS
    )


def check(p, before, after):
    added = np.bincount(before["where"], minlength=p.counters * p.stride)
    expect_equal("counts", after["counts"], before["counts"] + added.astype(np.uint32))
