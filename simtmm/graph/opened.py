"""A graph from whatever names it: a file, or an object of networkx."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from simtmm.documents import read_text
from simtmm.errors import KernelError, shown
from simtmm.graph.edge_list import from_edge_list
from simtmm.graph.graph import MOST_EDGES, Graph
from simtmm.graph.matrix_market import HEADER, from_matrix_market
from simtmm.graph.metis import from_metis
from simtmm.graph.node_link import from_node_link

LARGEST = 256 << 20  # bytes of a file
FORMS: dict[str, Callable[[str, str], Graph]] = {
    ".txt": from_edge_list, ".el": from_edge_list, ".wel": from_edge_list, ".edges": from_edge_list,
    ".edgelist": from_edge_list, ".csv": from_edge_list, ".tsv": from_edge_list,
    ".mtx": from_matrix_market, ".graph": from_metis, ".metis": from_metis, ".json": from_node_link,
}  # fmt: skip

Source: TypeAlias = str | Path | Graph | Any  # a graph of networkx, which is not imported for this


def opened_graph(source: Source) -> Graph:
    """The graph that a user named, checked.

    source: a file, an edge list (.txt, .el, .wel, .edges, .edgelist, .csv, .tsv), Matrix Market (.mtx), METIS (.graph,
        .metis) or networkx's node-link JSON (.json); a graph of networkx, whose weights are the edges' `weight`; or a
        Graph.

    Raises KernelError, naming the file, the line, and what is allowed.
    """
    if isinstance(source, Graph):
        return source
    if isinstance(source, (str, Path)):
        return _of_file(Path(source))
    needed = ("is_directed", "number_of_nodes", "edges", "nodes")
    if not all(hasattr(source, name) for name in needed):
        raise KernelError(f"graph = {shown(source)}: must be a file or a graph of networkx")
    return _of_networkx(source)


def _of_file(path: Path) -> Graph:
    form = FORMS.get(path.suffix.lower())
    if form is None:
        raise KernelError(f"graph {path}: its name must end in one of {', '.join(FORMS)}")
    text = read_text(path, "a graph", KernelError, LARGEST)
    if form is from_edge_list and text.startswith(HEADER):
        form = from_matrix_market
    return form(str(path), text)


def _of_networkx(graph: Any) -> Graph:
    number = {node: index for index, node in enumerate(graph.nodes)}
    edges = graph.number_of_edges()
    name = f"networkx {type(graph).__name__}"
    if edges > MOST_EDGES:
        raise KernelError(f"{name}: {edges:,} edges: must be at most {MOST_EDGES:,}")
    start, end = np.empty(edges, np.int64), np.empty(edges, np.int64)
    weight, weighted = np.ones(edges), 0
    for at, (one, other, data) in enumerate(graph.edges(data=True)):
        start[at], end[at] = number[one], number[other]
        if "weight" in data:
            weighted += 1
            weight[at] = _number(name, one, other, data["weight"])
    if 0 < weighted < edges:
        raise KernelError(f"{name}: {weighted:,} of {edges:,} edges have a weight: must be all of them or none")
    return Graph(name, len(number), start, end, bool(graph.is_directed()), weight if weighted else None)


def _number(name: str, one: object, other: object, value: Any) -> float:
    try:
        weight = float(value)
    except (TypeError, ValueError, OverflowError):
        weight = np.nan
    if isinstance(value, (str, bool)) or not np.isfinite(weight):
        raise KernelError(
            f"{name}: edge from {shown(one)} to {shown(other)}: weight = {shown(value)}: must be a finite number"
        )
    return weight
