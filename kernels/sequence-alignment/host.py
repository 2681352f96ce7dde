"""Local sequence alignment (Smith-Waterman, linear gaps), a launch an anti-diagonal.

The score of two random sequences of n and m letters. Three arrays take turns as the diagonal and the two before it, and
each row keeps its best score, whose maximum is found at the end; nothing races.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "003 (FGCS 2017) names sequence alignment, without details"

PARAMETERS = {
    "n": Parameter(128, "letters of the first sequence", minimum=1, maximum=2**15),
    "m": Parameter(128, "letters of the second sequence", minimum=1, maximum=2**15),
    "letters": Parameter(4, "letters of the alphabet", minimum=1, maximum=26),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

MATCH, MISMATCH, GAP = 2, -1, 1  # two matches make good for two gaps, so that best alignments have some
REGISTERS = 16  # assumption: five scores, letters, addresses
DIAGONALS = ("diagonal0", "diagonal1", "diagonal2")


def algorithm(p):
    return "sequence-alignment", {"n": p.n, "m": p.m}


def inputs(p):
    random = np.random.default_rng(p.seed)
    return {
        "first": random.integers(p.letters, size=p.n, dtype=np.uint8),
        "second": random.integers(p.letters, size=p.m, dtype=np.uint8),
        **{name: np.zeros(p.n + 1, dtype=np.int32) for name in DIAGONALS},
        "best": np.zeros(p.n + 1, dtype=np.int32),
        "score": np.zeros(1, dtype=np.int32),
    }


def launches(p, memory):
    for d in range(2, p.n + p.m + 1):
        top, bottom = max(1, d - p.m), min(p.n, d - 1)
        diagonals = tuple(DIAGONALS[(d + turn) % 3] for turn in range(3))
        yield Launch(
            "diagonal",
            ("first", "second", *diagonals, "best", d, top, bottom, MATCH, MISMATCH, GAP),
            grid=-(-(bottom - top + 1) // p.threads),
            block=p.threads,
            registers_per_thread=REGISTERS,
        )
    yield Launch("best_of_rows", ("best", p.n, "score"), grid=1, block=p.threads, registers_per_thread=REGISTERS)


def check(p, before, after):
    """Row by row, where the kernel goes by diagonals."""
    columns = GAP * np.arange(p.m)
    above = np.zeros(p.m + 1, dtype=np.int64)  # column 0 stays 0
    best = []
    for letter in before["first"]:
        substitution = above[:-1] + np.where(before["second"] == letter, MATCH, MISMATCH)
        row = np.maximum(np.maximum(substitution, above[1:] - GAP), 0)
        above[1:] = np.maximum.accumulate(row + columns) - columns  # gaps along the row, of every length
        best.append(above.max())
    expect_equal("best", after["best"][1:], np.array(best))
    expect_equal("score", after["score"], np.array([max(best)]))
