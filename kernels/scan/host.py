"""Exclusive scan (prefix sums) of n numbers, work-efficient, by Blelloch's two sweeps over a tree.

A block scans a segment, two elements a thread, in shared memory and keeps the segment's sum. The sums are scanned in
the same way, in place, until they are one segment; then they are added to the segments behind them, level by level.
"""

from itertools import accumulate

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.6, Table 4.4; 001 (Rehman) Figure 1.3"

PARAMETERS = {
    "n": Parameter(16384, "elements", minimum=1, maximum=2**26),
    "threads": Parameter(128, "threads of a block, a power of two", choices=tuple(2**power for power in range(11))),
}

LARGEST = 31  # the sum of the most elements still fits 32 bits
REGISTERS = 12  # assumption: three addresses and a handful of values


def levels(p):
    """Elements at each level: n, then the segments' sums, until they are one segment."""
    sizes = [p.n]
    while sizes[-1] > 2 * p.threads:
        sizes.append(-(-sizes[-1] // (2 * p.threads)))
    return sizes


def defines(p):
    return {"THREADS": p.threads}


def algorithm(p):
    return "scan", {"n": p.n}


def inputs(p):
    values = np.random.default_rng(p.seed).integers(-LARGEST, LARGEST, p.n, endpoint=True, dtype=np.int32)
    arrays = {"values": values, "sums0": np.zeros(p.n, dtype=np.int32)}
    for level, size in enumerate([*levels(p)[1:], 1], start=1):  # above the last segment there is the whole sum
        arrays[f"sums{level}"] = np.zeros(size, dtype=np.int32)
    return arrays


def launches(p, memory):
    segments = [-(-size // (2 * p.threads)) for size in levels(p)]
    for level, size in enumerate(levels(p)):
        yield Launch(
            "scan_segments",
            ("values" if level == 0 else f"sums{level}", f"sums{level}", f"sums{level + 1}", size),
            grid=segments[level],
            block=p.threads,
            registers_per_thread=REGISTERS,
            shared_memory_bytes=8 * p.threads,
        )
    for level, size in reversed(list(enumerate(levels(p)[:-1]))):
        yield Launch(
            "add_sums",
            (f"sums{level}", f"sums{level + 1}", size),
            grid=segments[level] - 1,
            block=p.threads,
            registers_per_thread=REGISTERS,
        )


def check(p, before, after):
    expected = list(accumulate(before["values"].tolist(), initial=0))
    expect_equal("scan", after["sums0"], np.array(expected[:-1]))
    expect_equal("sum", after[f"sums{len(levels(p))}"], np.array(expected[-1:]))
