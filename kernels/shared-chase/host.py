"""Pointer chase in shared memory: a chain of dependent accesses, which takes `steps` latencies of shared memory.

Each block copies a random cycle through n elements of 4 bytes into its shared memory and goes along it. Thread k begins
at the k-th element, and round again if there are more threads than elements. The difference between two numbers of
steps leaves the copying out.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = ""

PARAMETERS = {
    "n": Parameter(1024, "elements of the cycle", minimum=1, maximum=2**13),
    "steps": Parameter(1000, "accesses of a thread", minimum=0, maximum=2**24),
    "threads": Parameter(1, "threads of a block", minimum=1, maximum=1024),
    "blocks": Parameter(1, "blocks", minimum=1, maximum=2**16),
}

REGISTERS = 8  # assumption: two pointers, the place, the count


def defines(p):
    return {"ELEMENTS": p.n}


def inputs(p):
    order = np.random.default_rng(p.seed).permutation(p.n)
    following = np.empty(p.n, dtype=np.uint32)
    following[order] = np.roll(order, -1)
    return {"next": following, "last": np.zeros(p.threads * p.blocks, dtype=np.uint32)}


def launches(p, memory):
    yield Launch(
        "shared_chase",
        ("next", "last", p.steps),
        p.blocks,
        p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=4 * p.n,
    )


def check(p, before, after):
    following = before["next"].astype(np.int64)
    at = np.arange(p.threads) % p.n
    jump, left = following, p.steps  # along 1, 2, 4, ... elements
    while left:
        at = jump[at] if left & 1 else at
        jump, left = jump[jump], left >> 1
    expect_equal("last", after["last"], np.tile(at, p.blocks).astype(np.uint32))
