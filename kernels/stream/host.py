"""Streaming kernels over occupancy: init, read, scale, triad, 3- and 5-point stencil.

An element of 8 bytes a thread. `shared_memory` is claimed for each block and not used: it lowers the occupancy, as
the measurements of bandwidth over occupancy do. The triad has four streams, a = b + c * d.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "measured in RRZE-HPC gpu-benches, gpu-stream (bandwidth of streaming kernels over occupancy)"

PARAMETERS = {
    "operation": Parameter("triad", "which kernel", choices=("init", "read", "scale", "triad", "stencil3", "stencil5")),
    "n": Parameter(65536, "elements of an array", minimum=1, maximum=2**28),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "shared_memory": Parameter(0, "bytes of shared memory that a block claims", minimum=0, maximum=2**20),
}

SCALAR = 3.0
REGISTERS = 16  # assumption: at most five 64-bit values and an address
HALO = {"stencil3": 2, "stencil5": 4}
INPUTS = {"scale": "b", "triad": "bcd", "stencil3": "b", "stencil5": "b"}


def inputs(p):
    random = np.random.default_rng(p.seed)
    names = INPUTS.get(p.operation, "")
    arrays = {"a": random.random(p.n) if p.operation == "read" else np.zeros(p.n)}
    return arrays | {name: random.random(p.n + HALO.get(p.operation, 0)) for name in names}


def launches(p, memory):
    scalar = (SCALAR,) if p.operation in ("init", "scale") else ()
    yield Launch(
        f"stream_{p.operation}",
        ("a", *INPUTS.get(p.operation, ""), *scalar, p.n),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=p.shared_memory,
    )


def check(p, before, after):
    b = before.get("b")
    match p.operation:
        case "init":
            expected = np.full(p.n, SCALAR)
        case "read":
            expected = before["a"]
        case "scale":
            expected = SCALAR * b
        case "triad":
            expected = before["c"] * before["d"]
            expected += b
        case "stencil3":
            expected = np.convolve(b, [0.25, 0.5, 0.25], mode="valid")
        case "stencil5":
            expected = np.convolve(b, [0.0625, 0.25, 0.375, 0.25, 0.0625], mode="valid")
    expect_equal("a", after["a"], expected, tolerance=1e-14)  # a few roundings: 7 operations of 1.1e-16 each
