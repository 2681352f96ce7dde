"""Loops over arrays, matrix product and sequence alignment.

The papers name these three (003, abstract and section 1) and give no numbers for them, so their forms are derived here,
for the standard algorithms; a loop's threads wait for memory at least once.
"""

from simtmm.model.algorithms.algorithm import Algorithm, Equation, Form, Need
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value, minimum, sqrt
from simtmm.model.equations.symbols import SUB_BLOCK

NAMED = "named in 003, without numbers; derived here"
SUB_BLOCKS: dict[str, Equation] = {"S_D": lambda Z: sqrt(Z)}  # section 4.1.1 of 000: S_D = Theta(sqrt(Z))
FITS = (Need("S_D", "at most", lambda Z: sqrt(Z), "sqrt(Z)"),)  # a sub-block of S_D by S_D words

LOOPED_MEMORY_ACCESS = Algorithm(
    name="looped-memory-access",
    title="Loop over memory",
    symbols=(Symbol("n", "iterations, one access each", "iterations", minimum=1),),
    forms={
        "regular": Form(
            work=lambda n: n,
            span=lambda: 1,
            memory=lambda n, C: n / C,
            threads=lambda n: n,
            chain=lambda: 1,
            source=f"{NAMED}: independent iterations over neighbouring words",
        ),
        "irregular": Form(
            work=lambda n: n,
            span=lambda: 1,
            memory=lambda n: n,
            threads=lambda n: n,
            chain=lambda: 1,
            source=f"{NAMED}: independent iterations, no two accesses in a chunk",
        ),
    },
)


def product(n: Value, S_D: Value, C: Value) -> Value:
    """M of a product in sub-blocks: n^2 / C chunks, each read for n / S_D sub-blocks (000, section 4.1.1)."""
    return n**2 / C * (n / S_D)


MATRIX_MULTIPLICATION = Algorithm(
    name="matrix-multiplication",
    title="Matrix product",
    symbols=(Symbol("n", "rows and columns of each matrix", "words", minimum=1), SUB_BLOCK),
    defaults=SUB_BLOCKS,
    fits=FITS,
    forms={
        "sub-blocks": Form(
            work=lambda n: n**3,
            span=lambda n: n,
            memory=product,
            source="named in 003, without numbers; work, span and M of a product as in 000, section 4.1.1",
        ),
        "unblocked": Form(
            work=lambda n: n**3,
            span=lambda n: n,
            memory=lambda n, C: n**3 / C,
            source=f"{NAMED}: without shared memory, a thread for each element, neighbours' reads in one chunk",
        ),
    },
)

SEQUENCE_ALIGNMENT = Algorithm(
    name="sequence-alignment",
    title="Sequence alignment",
    symbols=(
        Symbol("n", "length of one sequence", "characters", minimum=1),
        Symbol("m", "length of the other", "characters", minimum=1),
    ),
    forms={
        "anti-diagonals": Form(
            work=lambda n, m: n * m,
            span=lambda n, m: n + m,
            memory=lambda n, m, C: n * m / C,
            threads=lambda n, m: minimum(n, m),
            chain=lambda n, m: n + m,  # an anti-diagonal is read back before the next is written
            source=f"{NAMED}: dynamic program over an n by m table, its anti-diagonals one after another",
        ),
    },
)
