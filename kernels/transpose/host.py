"""Transpose of a matrix, straight or by tiles in shared memory.

An element a thread, blocks of side x side. Straight, the stores of a warp do not coalesce; by tiles they do. A tile
has `padding` words behind each row: without, the elements of a column of the tile lie in one bank.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = ""

PARAMETERS = {
    "n": Parameter(128, "rows", minimum=1, maximum=16384),
    "columns": Parameter(128, "columns", minimum=1, maximum=16384),
    "way": Parameter("tiled", "straight or by tiles", choices=("naive", "tiled")),
    "side": Parameter(16, "side of a block, which has side^2 threads, and of a tile", minimum=1, maximum=32),
    "padding": Parameter(1, "words behind a row of a tile", minimum=0, maximum=32),
}

REGISTERS = 10  # assumption: pointers, indices, an element


def defines(p):
    return {"SIDE": p.side, "PADDING": p.padding}


def inputs(p):
    matrix = np.random.default_rng(p.seed).random((p.n, p.columns), dtype=np.float32)
    return {"matrix": matrix, "transpose": np.zeros((p.columns, p.n), dtype=np.float32)}


def launches(p, memory):
    yield Launch(
        p.way,
        ("matrix", "transpose", p.n, p.columns),
        grid=(-(-p.columns // p.side), -(-p.n // p.side)),
        block=(p.side, p.side),
        registers_per_thread=REGISTERS,
        shared_memory_bytes=4 * p.side * (p.side + p.padding) if p.way == "tiled" else 0,
    )


def check(p, before, after):
    expect_equal("transpose", after["transpose"], before["matrix"].T)
