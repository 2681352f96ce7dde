"""Loops over memory: each thread sums its part of an array, in order, by strides, or at random.

As on the XMT a thread's part is contiguous: ceil(n / threads in all) elements of 8 bytes. So threads of a warp lie a
part apart, and each of their loads is a transfer of its own. Every order visits each element once a pass.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "003 (FGCS 2017) abstract: memory access on Cray XMTs, of which the paper's two pages give no numbers"

PARAMETERS = {
    "n": Parameter(16384, "elements of the array", minimum=1, maximum=2**26),
    "threads": Parameter(64, "threads of a block", minimum=1, maximum=1024),
    "blocks": Parameter(16, "blocks", minimum=1, maximum=2**16),
    "passes": Parameter(1, "times that a thread goes over its part", minimum=1, maximum=1024),
    "order": Parameter("sequential", "how it goes", choices=("sequential", "strided", "random")),
    "stride": Parameter(4, "elements from one to the next, if strided", minimum=1, maximum=2**26),
    "ahead": Parameter(1, "loads of a thread in flight, if sequential; 1 waits for each", minimum=1, maximum=64),
}

REGISTERS = 14  # assumption: 64-bit sum and pointers, the bounds of three loops


def part(p):
    """Elements of a thread."""
    return -(-p.n // (p.threads * p.blocks))


def defines(p):
    return {"AHEAD": p.ahead}


def algorithm(p):
    return "looped-memory-access", {"n": p.n}


def inputs(p):
    if p.ahead > 1 and p.order != "sequential":
        raise KernelError(f"kernel looped-memory-access: ahead = {p.ahead}: must be 1 where order is {p.order}")
    random = np.random.default_rng(p.seed)
    array = random.integers(0, 2**63, p.n, dtype=np.uint64)
    arrays = {"array": array, "sums": np.zeros(p.threads * p.blocks, dtype=np.uint64)}
    if p.order == "random":
        keys = np.arange(p.n) // part(p) + random.random(p.n)  # a thread's elements stay together
        arrays["permutation"] = np.argsort(keys).astype(np.uint32)
    return arrays


def launches(p, memory):
    sizes = (p.n, part(p), p.passes)
    kernel, arguments = {
        "sequential": ("sequential", ("array", "sums", *sizes)),
        "strided": ("strided", ("array", "sums", *sizes, p.stride)),
        "random": ("random_order", ("array", "permutation", "sums", *sizes)),
    }[p.order]
    yield Launch(kernel, arguments, p.blocks, p.threads, registers_per_thread=REGISTERS)


def check(p, before, after):
    padded = np.zeros(p.threads * p.blocks * part(p), dtype=np.uint64)
    padded[: p.n] = before["array"]
    expected = np.uint64(p.passes) * padded.reshape(-1, part(p)).sum(axis=1, dtype=np.uint64)  # both wrap round
    expect_equal("sums", after["sums"], expected)
