"""Sparse matrix times dense vector, the matrix in compressed rows (CSR), one or more threads a row.

`lanes` threads share a row: one is the scalar form, in which neighbouring threads read far apart; more are the vector
form, in which they read side by side and then add up in shared memory. Rows have from 0 to twice `nonzeros` elements,
evenly drawn, so that threads of a warp differ. All numbers are whole, so that the order of additions can't matter.
"""

import numpy as np
import scipy.sparse

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "Bell and Garland, SC 2009 (CSR, scalar and vector)"

PARAMETERS = {
    "n": Parameter(2048, "rows and columns of the matrix", minimum=1, maximum=2**24),
    "threads": Parameter(128, "threads of a block; fewer if that makes whole rows", minimum=1, maximum=1024),
    "lanes": Parameter(1, "threads that share a row", choices=(1, 2, 4, 8, 16, 32)),
    "nonzeros": Parameter(8, "elements that a row stores, on average", minimum=0, maximum=1000),
}

LARGEST = 9
REGISTERS = 20  # assumption: addresses in five arrays, three 64-bit values and a handful of indices


def rows(p):
    """Rows of the matrix that a block works on, one at least."""
    return max(1, p.threads // p.lanes)


def defines(p):
    return {"LANES": p.lanes, "THREADS": rows(p) * p.lanes}


def inputs(p):
    random = np.random.default_rng(p.seed)
    lengths = random.integers(0, 2 * p.nonzeros, p.n, endpoint=True)
    first = np.concatenate([[0], np.cumsum(lengths)])
    row = np.repeat(np.arange(p.n), lengths)
    column = random.integers(0, p.n, first[-1])
    return {
        "first": first.astype(np.int32),
        "column": (np.sort(row * p.n + column) % p.n).astype(np.int32),  # in order within each row
        "value": random.integers(-LARGEST, LARGEST, first[-1], endpoint=True).astype(float),
        "x": random.integers(-LARGEST, LARGEST, p.n, endpoint=True).astype(float),
        "y": np.full(p.n, np.nan),
    }


def launches(p, memory):
    yield Launch(
        "spmv_scalar" if p.lanes == 1 else "spmv_vector",
        ("first", "column", "value", "x", "y", p.n),
        grid=-(-p.n // rows(p)),
        block=rows(p) * p.lanes,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=0 if p.lanes == 1 else 8 * rows(p) * p.lanes,
    )


def check(p, before, after):
    matrix = scipy.sparse.csr_array((before["value"], before["column"], before["first"]), shape=(p.n, p.n))
    expect_equal("y", after["y"], matrix @ before["x"])
