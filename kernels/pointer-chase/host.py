"""Pointer chase: a chain of dependent loads over a buffer, which takes `steps` latencies.

A cycle through n elements of 4 bytes, `stride` elements apart: a working set of 4 n stride bytes. Thread k begins at
the k-th element, and round again if there are more threads than elements. `random` goes through the elements in a
random cycle, `ordered` from each to the one behind it.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "measured in RRZE-HPC gpu-benches, gpu-latency (latency over buffer size); L of 000 (Ma) section 3.1"

PARAMETERS = {
    "n": Parameter(4096, "elements of the cycle", minimum=1, maximum=2**28),
    "stride": Parameter(16, "elements of 4 bytes from one to the next", minimum=1, maximum=2**20),
    "steps": Parameter(1000, "loads of a thread", minimum=0, maximum=2**24),
    "threads": Parameter(1, "threads of a block", minimum=1, maximum=1024),
    "blocks": Parameter(1, "blocks", minimum=1, maximum=2**16),
    "order": Parameter("random", "how the cycle lies in memory", choices=("random", "ordered")),
}

MOST_ELEMENTS = 2**28
REGISTERS = 8  # assumption: two pointers, the place, the count


def cycle(p):
    """The elements in the order in which they are visited, as indices of the buffer."""
    order = np.random.default_rng(p.seed).permutation(p.n) if p.order == "random" else np.arange(p.n)
    return order * p.stride


def inputs(p):
    if p.n * p.stride > MOST_ELEMENTS:
        raise KernelError(f"n * stride = {p.n * p.stride}: must be at most {MOST_ELEMENTS}")
    following = np.zeros(p.n * p.stride, dtype=np.uint32)
    visited = cycle(p)
    following[visited] = np.roll(visited, -1)
    return {"next": following, "last": np.zeros(p.threads * p.blocks, dtype=np.uint32)}


def launches(p, memory):
    yield Launch("chase", ("next", "last", p.n, p.stride, p.steps), p.blocks, p.threads, registers_per_thread=REGISTERS)


def check(p, before, after):
    visited = cycle(p)
    turn = np.empty(p.n, dtype=np.int64)  # when an element is visited
    turn[visited // p.stride] = np.arange(p.n)
    begin = turn[np.arange(p.threads * p.blocks) % p.n]
    expect_equal("last", after["last"], visited[(begin + p.steps) % p.n].astype(np.uint32))
