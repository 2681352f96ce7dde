"""List ranking: pointer jumping, and sublists that are ranked recursively."""

from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import lg

WYLLIE = Algorithm(
    name="list-ranking",
    title="List ranking: Wyllie's pointer jumping",
    symbols=(Symbol("n", "nodes of the list", "nodes", minimum=1),),
    forms={
        "printed": Form(
            work=lambda n: n * lg(n),
            span=lambda n: lg(n),
            memory=lambda n: n * lg(n),
            threads=lambda n: n,
            source="000 (Ma), section 4.5, Eq (4.36)",
        ),
    },
)

HELMAN_JAJA = Algorithm(
    name="list-ranking-helman-jaja",
    title="List ranking: Helman and JaJa, recursive",
    symbols=(Symbol("n", "nodes of the list", "nodes", minimum=4),),  # lg lg n is at least 1
    forms={
        "printed": Form(  # n / lg n sublists of lg n nodes each, which are the next list
            work=lambda n: n,
            span=lambda n: lg(n) ** 2 / lg(lg(n)),
            memory=lambda n: n,
            threads=lambda n: n / lg(n),
            chain=lambda n: lg(n) ** 2 / lg(lg(n)),
            source=(
                "001 (Rehman), section 4.2, work and span; M and the chain derived here: nodes lie anywhere, "
                "so that each is a transfer and a sublist's nodes wait for one another"
            ),
        ),
    },
)
