"""Copy kernels that show coalescing: misaligned by an offset, or at a stride.

An element of 4 bytes a thread. Element i + offset, or element i * stride, of the input goes to the same place of the
output.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "001 (Rehman) section 6.2.1, Listings 6.1 and 6.2"

PARAMETERS = {
    "pattern": Parameter("offset", "how it accesses", choices=("offset", "stride")),
    "n": Parameter(65536, "elements to copy", minimum=1, maximum=2**26),
    "offset": Parameter(1, "elements that the copy is displaced by", minimum=0, maximum=2**20),
    "stride": Parameter(2, "elements from a thread's to its neighbour's", minimum=1, maximum=2**20),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

MOST_ELEMENTS = 2**28
REGISTERS = 6  # assumption: two pointers, an index, a value


def algorithm(p):
    return "looped-memory-access", {"n": p.n}  # an iteration loads and stores


def places(p):
    """The indices of the elements that are copied."""
    return np.arange(p.n) + p.offset if p.pattern == "offset" else np.arange(p.n) * p.stride


def inputs(p):
    size = p.n + p.offset if p.pattern == "offset" else p.n * p.stride
    if size > MOST_ELEMENTS:
        raise KernelError(f"n * stride = {size}: must be at most {MOST_ELEMENTS}")
    random = np.random.default_rng(p.seed)
    return {"input": random.random(size, dtype=np.float32), "output": np.zeros(size, dtype=np.float32)}


def launches(p, memory):
    yield Launch(
        f"copy_{p.pattern}",
        ("input", "output", p.offset if p.pattern == "offset" else p.stride, p.n),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    expected = np.zeros_like(before["output"])
    expected[places(p)] = before["input"][places(p)]
    expect_equal("output", after["output"], expected)
