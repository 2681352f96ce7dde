"""Connected components and minimum spanning trees."""

from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.algorithms.families.shortest_paths import EDGES, VERTICES
from simtmm.model.equations.functions import lg

CONNECTED_COMPONENTS = Algorithm(
    name="connected-components",
    title="Connected components",
    symbols=(VERTICES, EDGES),
    forms={
        "printed": Form(
            work=lambda n, m: (m + n) * lg(n),
            span=lambda n: lg(n) ** 2,
            memory=lambda n, m, C: (m + n) / C * lg(n),
            source="000 (Ma), Table 4.4; M takes neighbours to be read in chunks",
        ),
    },
)

BORUVKA = Algorithm(
    name="boruvka",
    title="Minimum spanning tree: Boruvka",
    symbols=(VERTICES, EDGES),
    forms={
        "printed": Form(
            work=lambda n, m: m * lg(n),
            span=lambda n: lg(n),
            memory=lambda n, m: m * lg(n),
            source="000 (Ma), Table 4.4",
        ),
    },
)
