"""The papers' algorithms, a family a module. `find` gives one by name."""

from typing import Any

from simtmm.errors import ModelError, nearest
from simtmm.model.algorithms.algorithm import Algorithm
from simtmm.model.algorithms.families import (
    dense,
    fourier,
    graphs,
    hashing,
    list_ranking,
    primitives,
    shortest_paths,
    sorting,
    string_matching,
)

ALGORITHMS = {
    algorithm.name: algorithm
    for algorithm in (
        shortest_paths.DYNAMIC_PROGRAMMING,
        shortest_paths.JOHNSON_HEAP,
        shortest_paths.JOHNSON_ARRAY,
        shortest_paths.BELLMAN_FORD,
        string_matching.SUFFIX_TREE,
        string_matching.SUFFIX_ARRAY,
        fourier.FFT,
        sorting.MERGE,
        sorting.MERGE_SORT,
        sorting.ODD_EVEN_SORT,
        primitives.REDUCE,
        primitives.SCAN,
        list_ranking.WYLLIE,
        list_ranking.HELMAN_JAJA,
        graphs.CONNECTED_COMPONENTS,
        graphs.BORUVKA,
        hashing.HASHING,
        hashing.BLOOM_FILTER,
        hashing.FACS,
        dense.LOOPED_MEMORY_ACCESS,
        dense.MATRIX_MULTIPLICATION,
        dense.SEQUENCE_ALIGNMENT,
    )
}


def find(name: str) -> Algorithm:
    """The algorithm of this name.

    name: of an algorithm, as `simtmm predict --algorithm` takes it.

    Raises ModelError for an unknown one.
    """
    if name not in ALGORITHMS:
        raise ModelError(f"algorithm {name!r}: unknown{nearest(name, ALGORITHMS)}")
    return ALGORITHMS[name]


def catalogue() -> str:
    """All algorithms and variants as a table in Markdown."""
    columns = ("algorithm", "variant", "work T1", "span Tinf", "memory operations M", "chain L", "source")
    rows = [" | ".join(columns), " | ".join("---" for _ in columns)]
    for algorithm in ALGORITHMS.values():
        for variant, form in algorithm.forms.items():
            given = tuple(algorithm.defaults)
            parts = list(algorithm.counts(variant, given).expressions.values())[:3]
            chain = algorithm.refined(variant, given).expressions["chain"] if form.threads else None
            shown = [written(part) for part in parts] + ["" if chain is None else written(chain)]
            rows.append(" | ".join((f"`{algorithm.name}`", variant, *shown, form.source)))
    return "".join(f"| {row} |\n" for row in rows)


def written(expression: Any) -> str:
    """A SymPy expression as people write it in a line: lg for the logarithm to base 2, ^ for powers.

    expression: what SymPy holds.
    """
    import sympy

    lg, log2 = sympy.Function("lg"), sympy.log(2)
    shown = expression.replace(
        lambda part: part.func is sympy.log and part.args[0] != 2, lambda part: lg(part.args[0]) * log2
    )
    text = sympy.StrPrinter({"order": "none"}).doprint(sympy.simplify(shown))
    return str(text.replace("**", "^").replace("*", " ").replace("/", " / ").replace("ceiling", "ceil"))
