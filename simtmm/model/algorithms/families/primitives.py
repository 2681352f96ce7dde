"""Reduce and scan: trees over neighbouring elements, which shared memory takes in one pass."""

from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import lg

LENGTH = Symbol("n", "elements", "words", minimum=1)
TREE = Form(
    work=lambda n: n,
    span=lambda n: lg(n),
    memory=lambda n, C: n / C,
    source="000 (Ma), Table 4.4",
)

REDUCE = Algorithm(name="reduce", title="Reduce", symbols=(LENGTH,), forms={"printed": TREE})
SCAN = Algorithm(name="scan", title="Scan", symbols=(LENGTH,), forms={"printed": TREE})
