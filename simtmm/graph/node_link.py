"""networkx's node-link JSON, as networkx.node_link_data writes it."""

from typing import Any

import numpy as np

from simtmm.documents import parsed_json
from simtmm.errors import KernelError, shown, shown_error
from simtmm.graph.graph import MOST_EDGES, MOST_VERTICES, Graph

MULTIGRAPH_KEYS = ("edges", "links")  # networkx 3.4 and later; before


def from_node_link(name: str, text: str) -> Graph:
    """The graph of a document. Raises KernelError."""
    try:
        document = parsed_json(text, once=True)
    except ValueError as error:
        raise KernelError(f"{name}: is not JSON ({shown_error(error)})") from None
    if not isinstance(document, dict):
        raise KernelError(f"{name}: must be an object with nodes and edges (networkx.node_link_data)")
    nodes = _list(name, document, ("nodes",), MOST_VERTICES)
    edges = _list(name, document, MULTIGRAPH_KEYS, MOST_EDGES)
    directed = document.get("directed", False)
    if not isinstance(directed, bool):
        raise KernelError(f"{name}: directed = {shown(directed)}: must be true or false")
    number: dict[Any, int] = {}
    for at, node in enumerate(nodes):
        label = _label(name, f"nodes[{at}]", node, "id")
        if label in number:
            raise KernelError(f"{name}: nodes[{at}]: id = {shown(node['id'])}: appears more than once")
        number[label] = at
    start, end = np.empty(len(edges), np.int64), np.empty(len(edges), np.int64)
    weight, weighted = np.ones(len(edges)), 0
    for at, edge in enumerate(edges):
        for key, column in (("source", start), ("target", end)):
            label = _label(name, f"edges[{at}]", edge, key)
            if label not in number:
                raise KernelError(f"{name}: edges[{at}]: {key} = {shown(edge[key])}: must be the id of a node")
            column[at] = number[label]
        if "weight" in edge:
            weighted += 1
            weight[at] = _weight(name, at, edge["weight"])
    if 0 < weighted < len(edges):
        raise KernelError(f"{name}: {weighted:,} of {len(edges):,} edges have a weight: must be all of them or none")
    return Graph(name, len(nodes), start, end, directed, weight if weighted else None)


def _list(name: str, document: dict[str, Any], keys: tuple[str, ...], most: int) -> list[Any]:
    key = next((key for key in keys if key in document), keys[0])
    value = document.get(key)
    if not isinstance(value, list) or not 1 <= len(value) <= most:
        raise KernelError(f"{name}: {key}: must be a list of 1 to {most:,} entries")
    return value


def _label(name: str, where: str, entry: Any, key: str) -> tuple[type, Any]:
    """What names a node; a number and a text that read alike are two."""
    value = entry.get(key) if isinstance(entry, dict) else None
    if type(value) not in (str, int, float):
        raise KernelError(f"{name}: {where}: {key} = {shown(value)}: must be a number or a text")
    return type(value), value


def _weight(name: str, at: int, value: Any) -> float:
    if type(value) not in (int, float) or not np.isfinite(value):
        raise KernelError(f"{name}: edges[{at}]: weight = {shown(value)}: must be a finite number")
    return float(value)
