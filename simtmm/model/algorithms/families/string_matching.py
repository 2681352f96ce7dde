"""Batches of queries matched against a text by an index: suffix tree and suffix array.

Where a query is shorter than a chunk, Eq (4.30) has a comparison of a query with a suffix take less than one transfer.
The variant "mended" counts ceil(k / C) of them.
"""

from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import ceiling, lg

SYMBOLS = (
    Symbol("n", "queries of the batch", "queries", minimum=1),
    Symbol("k", "length of a query", "characters", minimum=1),
    Symbol("m", "length of the text", "characters", minimum=2),
)

SUFFIX_TREE = Algorithm(
    name="suffix-tree",
    title="String matching: suffix tree",
    symbols=SYMBOLS,
    forms={
        "printed": Form(
            work=lambda n, k: n * k,
            span=lambda k: k,
            memory=lambda n, k: n * k,
            threads=lambda n: n,
            source="000 (Ma), section 4.2.1, Eq (4.28) and (4.29)",
        ),
    },
)

SUFFIX_ARRAY = Algorithm(
    name="suffix-array",
    title="String matching: suffix array",
    symbols=SYMBOLS,
    forms={
        "printed": Form(
            work=lambda n, k, m: n * k * lg(m),
            span=lambda k, m: k * lg(m),
            memory=lambda n, k, m, C: n * (k / C) * lg(m),
            threads=lambda n: n,
            source="000 (Ma), section 4.2.2, Eq (4.30)",
        ),
        "mended": Form(
            work=lambda n, k, m: n * k * lg(m),
            span=lambda k, m: k * lg(m),
            memory=lambda n, k, m, C: n * ceiling(k / C) * lg(m),
            threads=lambda n: n,
            source="000 (Ma), section 4.2.2, Eq (4.30), with ceil(k / C) for k / C",
        ),
    },
)
