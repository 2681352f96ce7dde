"""A kernel's parameters where a user's graph stands in for the one that it draws."""

from collections.abc import Collection, Mapping

from simtmm.errors import KernelError, shown
from simtmm.graph.graph import Graph
from simtmm.parameter import OWN_GRAPH, Parameter, resolved

Value = int | float | str


def identity(graph: Graph) -> str:
    """Which graph it was, in a word: its file's name and its digest."""
    return f"{graph.name.rpartition('/')[2]}:{graph.digest}"


def resolved_with(
    kernel: str,
    parameters: Mapping[str, Parameter],
    drawing: Collection[str],
    given: Mapping[str, object],
    graph: Graph,
) -> dict[str, Value]:
    """All parameters of a kernel but those that only draw a graph; `n` is the graph's, and OWN_GRAPH says which it is.

    drawing: the parameters that draw a graph, beside `n`. Raises KernelError for one that is given all the same.
    kernel: its name.
    parameters: those that it declares, by name.
    given: values of some of them, as texts or numbers.
    graph: the graph that it runs on.
    """
    known = identity(graph)
    if given.get(OWN_GRAPH, known) != known:
        raise KernelError(f"kernel {kernel}: {OWN_GRAPH} = {shown(given[OWN_GRAPH])}: the graph is {known}")
    for name in given:
        if name in drawing or (name == "n" and str(given["n"]) != str(graph.vertices)):
            raise KernelError(f"kernel {kernel}: parameter {name}: is for a generated graph, but {graph.name} is given")
    n = parameters["n"]
    if not (n.minimum or 1) <= graph.vertices <= (n.maximum or float("inf")):
        raise KernelError(f"{graph.name}: {graph.vertices:,} vertices: kernel {kernel} takes {n.allowed}")
    rest = {name: value for name, value in given.items() if name != OWN_GRAPH}
    values = resolved(kernel, parameters, rest | {"n": graph.vertices})
    return {name: value for name, value in values.items() if name not in drawing} | {OWN_GRAPH: known}
