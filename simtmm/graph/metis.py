"""METIS's graph files: a line for each vertex, with its neighbours and perhaps the weights of the edges to them."""

import re

import numpy as np

from simtmm.errors import KernelError, shown
from simtmm.graph.edge_list import WHOLE
from simtmm.graph.graph import MOST_EDGES, MOST_VERTICES, Graph

_FORM = re.compile(r"[01]{1,3}\Z")


def from_metis(name: str, text: str) -> Graph:
    """The undirected graph of a file. Weights and sizes of vertices are read over. Raises KernelError."""
    lines = [(number, line.split()) for number, line in enumerate(text.splitlines(), 1) if not line.startswith("%")]
    while lines and not lines[0][1]:
        lines.pop(0)
    if not lines:
        raise KernelError(f"{name}: is empty: must begin with the numbers of vertices and edges")
    vertices, edges, skipped, weighted = _head(name, *lines.pop(0))
    while len(lines) > vertices and not lines[-1][1]:
        lines.pop()  # empty lines at the end; an empty line before is a vertex without neighbours
    if len(lines) != vertices:
        raise KernelError(f"{name}: {len(lines):,} lines of vertices: must be {vertices:,}, as its first line says")
    found = _edges(name, lines, skipped, weighted)
    once = [(one, other, weight) for (one, other), weight in found.items() if one < other]
    if len(once) != edges:
        raise KernelError(f"{name}: {len(once):,} edges: must be {edges:,}, as its first line says")
    array = np.array(once, np.int64).reshape(-1, 3)
    weight_column = array[:, 2].astype(np.float64) if weighted else None
    return Graph(name, vertices, array[:, 0].copy(), array[:, 1].copy(), False, weight_column)


def _edges(name: str, lines: list[tuple[int, list[str]]], skipped: int, weighted: bool) -> dict[tuple[int, int], int]:
    """The weight of each edge by its two vertices, from 0 on, in both orders. Raises KernelError.

    lines: the number and the words of each vertex's line. skipped: how many numbers come before its neighbours.
    weighted: whether a weight follows each neighbour.
    """
    found: dict[tuple[int, int], int] = {}
    for vertex, (number, words) in enumerate(lines):
        parts = _whole(name, number, words)[skipped:]
        if len(words) < skipped or (weighted and len(parts) % 2):
            raise KernelError(f"{name}: line {number}: {len(words)} numbers: fmt requires weights, which are missing")
        neighbours = parts[:: 2 if weighted else 1]
        weights = parts[1::2] if weighted else [1] * len(parts)
        for neighbour, weight in zip(neighbours, weights, strict=True):
            if not 1 <= neighbour <= len(lines) or neighbour == vertex + 1:
                raise KernelError(
                    f"{name}: line {number}: neighbour {neighbour}: must be another vertex, from 1 to {len(lines):,}"
                )
            if (vertex, neighbour - 1) in found:
                raise KernelError(f"{name}: line {number}: neighbour {neighbour}: appears more than once")
            found[vertex, neighbour - 1] = weight
    for (one, other), weight in found.items():
        if found.get((other, one)) != weight:
            raise KernelError(
                f"{name}: edge from {one + 1} to {other + 1}: must be in the lines of both vertices, with the same "
                "weight"
            )
    return found


def _head(name: str, number: int, words: list[str]) -> tuple[int, int, int, bool]:
    """Vertices, edges, how many numbers of a vertex come before its neighbours, and whether edges have weights."""
    form = words[2] if len(words) > 2 else "0"
    if not 2 <= len(words) <= 4 or not _FORM.match(form):
        raise KernelError(f"{name}: line {number}: {shown(' '.join(words))}: must be VERTICES EDGES [FMT [NCON]]")
    vertices, edges, *more = _whole(name, number, [*words[:2], *words[3:]])
    if not 1 <= vertices <= MOST_VERTICES or not 1 <= edges <= MOST_EDGES:
        raise KernelError(
            f"{name}: line {number}: {vertices:,} vertices, {edges:,} edges: must be from 1 to {MOST_VERTICES:,} and "
            f"{MOST_EDGES:,}"
        )
    sized, with_weights, weighted = (digit == "1" for digit in form.zfill(3))
    return vertices, edges, sized + ((more[0] if more else 1) if with_weights else 0), weighted


def _whole(name: str, number: int, words: list[str]) -> list[int]:
    for word in words:
        if not WHOLE.match(word):
            raise KernelError(f"{name}: line {number}: {shown(word)}: must be a whole number")
    return [int(word) for word in words]
