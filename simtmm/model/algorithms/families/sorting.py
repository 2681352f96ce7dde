"""Merging and sorting, in blocks of Z words.

Where the dissertation disagrees with itself, Table 4.4 against Eq (4.34) and (4.35), the equation is "printed" and the
table's row "table-4.4". The third term of Eq (4.35), lg(n / Z) L / C, has less than L for each of lg(n / Z) merges that
wait for one another; merge sort's variant "mended" has lg(n / Z) L.

Odd-even sort stands in the table only, with merge sort's M. Of the network's stages j = 1 ... lg n, of j passes each,
those beyond blocks of Z take j - lg Z passes through global memory and one more for the rest: the sum of i + 1 for
i = 1 ... lg(n / Z), of order lg^2(n / Z). That is its variant "mended".
"""

from simtmm.model.algorithms.algorithm import Algorithm, Form, Need
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value, lg

LENGTH = Symbol("n", "elements", "words", minimum=1)
BEYOND_SHARED_MEMORY = Need("n", "above", lambda Z: Z, "Z")

_merge = Form(
    work=lambda n, Z: n * lg(Z),
    span=lambda n: lg(n),
    memory=lambda n, C: n / C,
    source="000 (Ma), section 4.4.1, Eq (4.34), for lg n much below Z",
)


def _sort_work(n: Value, Z: Value) -> Value:
    return _merge.work(n, Z) * lg(n / Z)  # a merge of all n on each of lg(n / Z) levels


def _sort_memory(n: Value, Z: Value, C: Value) -> Value:
    return _merge.memory(n, C) * lg(n / Z)


MERGE = Algorithm(
    name="merge",
    title="Merge, blocked",
    symbols=(LENGTH,),
    forms={
        "printed": _merge,
        "printed-4.33": Form(
            work=lambda n, Z: n * lg(Z) + n / Z * lg(n),
            span=lambda n: lg(n),
            memory=lambda n, Z, C: n / C + n / Z * lg(n),
            source="000 (Ma), section 4.4.1, Eq (4.33), with the searches for the blocks' boundaries",
        ),
        "table-4.4": Form(
            work=_merge.work,
            span=lambda Z: lg(Z),
            memory=_merge.memory,
            source="000 (Ma), Table 4.4, whose span leaves out the searches through all n",
        ),
    },
)

MERGE_SORT = Algorithm(
    name="merge-sort",
    title="Merge sort",
    symbols=(LENGTH,),
    forms={
        "printed": Form(
            work=_sort_work,
            memory=_sort_memory,
            threads=lambda n: n,
            span=lambda n, Z: _merge.span(n) * lg(n / Z),
            needs=(BEYOND_SHARED_MEMORY,),
            source="000 (Ma), section 4.4.2, Eq (4.35)",
        ),
        "mended": Form(
            work=_sort_work,
            memory=_sort_memory,
            threads=lambda n: n,
            span=lambda n, Z: _merge.span(n) * lg(n / Z),
            chain=lambda n, Z: lg(n / Z),  # each level waits for memory at least once
            needs=(BEYOND_SHARED_MEMORY,),
            source="000 (Ma), section 4.4.2, Eq (4.35), with lg(n / Z) L for its third term",
        ),
        "table-4.4": Form(
            work=_sort_work,
            memory=_sort_memory,
            threads=lambda n: n,
            span=lambda n, Z: lg(Z) * lg(n / Z),
            needs=(BEYOND_SHARED_MEMORY,),
            source="000 (Ma), Table 4.4, whose span has lg Z for Eq (4.35)'s lg n",
        ),
    },
)

ODD_EVEN_SORT = Algorithm(
    name="odd-even-sort",
    title="Odd-even merge sort",
    symbols=(LENGTH,),
    forms={
        "printed": Form(
            work=lambda n: n * lg(n) ** 2,
            span=lambda n: lg(n) ** 2,
            memory=lambda n, Z, C: n / C * lg(n / Z),
            needs=(BEYOND_SHARED_MEMORY,),
            source="000 (Ma), Table 4.4, whose M is merge sort's; section 4.4.2",
        ),
        "mended": Form(
            work=lambda n: n * lg(n) ** 2,
            span=lambda n: lg(n) ** 2,
            memory=lambda n, Z, C: n / C * lg(n / Z) ** 2,
            needs=(BEYOND_SHARED_MEMORY,),
            source="000 (Ma), Table 4.4, with lg^2(n / Z) passes of the network through memory",
        ),
    },
)
