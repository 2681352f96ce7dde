"""All-pairs shortest paths: the four algorithms of the dissertation, section 4.1.

The papers take graphs to be connected and large, n > Z; their variants for n < Z and for edges that fit the local
memories together stand in section 4.1.6.

Eq (4.26) compares with a min what Eq (4.18) and Table 4.1 have as a max; it is there as the variant "printed-4.26".
With the max, the dynamic program's memory term is below Johnson's (arrays) at every density if lg n < sqrt(Z).
"""

from simtmm.model.algorithms.algorithm import Algorithm, Form, Need
from simtmm.model.algorithms.families.dense import FITS, MATRIX_MULTIPLICATION, SUB_BLOCKS, product
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import lg, maximum, minimum
from simtmm.model.equations.symbols import SUB_BLOCK

VERTICES = Symbol("n", "vertices of the graph", "vertices", minimum=1)
EDGES = Symbol("m", "edges of the graph", "edges", minimum=1)
ONE_PRODUCT = MATRIX_MULTIPLICATION.form("sub-blocks")

DYNAMIC_PROGRAMMING = Algorithm(
    name="apsp-dynamic-programming",
    title="All-pairs shortest paths: dynamic program",
    symbols=(VERTICES, SUB_BLOCK),
    defaults=SUB_BLOCKS,
    fits=FITS,
    forms={
        "printed": Form(  # lg n products
            work=lambda n: ONE_PRODUCT.work(n) * lg(n),
            span=lambda n: ONE_PRODUCT.span(n) * lg(n),
            memory=lambda n, S_D, C: product(n, S_D, C) * lg(n),
            source="000 (Ma), section 4.1.1, Eq (4.2) to (4.7); with S_D, section 6.2, Eq (6.5) and (6.6)",
        ),
    },
)

JOHNSON_HEAP = Algorithm(
    name="apsp-johnson-heap",
    title="All-pairs shortest paths: Johnson, binary heaps",
    symbols=(VERTICES, EDGES),
    forms={
        "printed": Form(
            work=lambda n, m: m * n * lg(n),
            span=lambda n, m: m * lg(n),
            memory=lambda n, m: m * n * lg(n),
            source="000 (Ma), section 4.1.2, Eq (4.8) to (4.12)",
        ),
    },
)

JOHNSON_ARRAY = Algorithm(
    name="apsp-johnson-array",
    title="All-pairs shortest paths: Johnson, arrays",
    symbols=(VERTICES, EDGES),
    forms={
        "printed": Form(
            work=lambda n: n**3,
            span=lambda n, Z: n**2 * lg(Z) / Z,
            pram_span=lambda n, m: maximum(n * lg(n), m),
            memory=lambda n, m, C: maximum(n**3 / C, m * n),
            source="000 (Ma), section 4.1.3, Eq (4.13) to (4.19)",
        ),
        "printed-4.26": Form(
            work=lambda n: n**3,
            span=lambda n, Z: n**2 * lg(Z) / Z,
            pram_span=lambda n, m: maximum(n * lg(n), m),
            memory=lambda n, m, C: minimum(n**3 / C, m * n),
            source="000 (Ma), section 4.1.5, Eq (4.26), whose min contradicts Eq (4.18)",
        ),
        "vertices-fit": Form(
            work=lambda n: n**3,
            span=lambda n, m: maximum(n * lg(n), m),  # nothing to read in pieces: the PRAM's
            memory=lambda n, m: m * n,
            needs=(Need("n", "below", lambda Z: Z, "Z"),),
            source="000 (Ma), section 4.1.6, vertices fit in shared memory; its span is the PRAM's",
        ),
    },
)

BELLMAN_FORD = Algorithm(
    name="apsp-bellman-ford",
    title="All-pairs shortest paths: n times Bellman-Ford",
    symbols=(VERTICES, EDGES),
    forms={
        "printed": Form(
            work=lambda n, m: m * n**2,
            span=lambda n: n,
            memory=lambda n, m, C: m * n**2 / C,
            source="000 (Ma), section 4.1.4, Eq (4.20) to (4.24)",
        ),
        "edges-fit": Form(
            work=lambda n, m: m * n**2,
            span=lambda n: n,
            memory=lambda n, C: n**3 / C,
            needs=(Need("m", "at most", lambda P, Z, Q: P * Z / Q, "P Z / Q"),),
            source="000 (Ma), section 4.1.6, edges fit in the combined local memories",
        ),
    },
)
