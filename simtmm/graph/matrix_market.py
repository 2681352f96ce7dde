"""Matrix Market coordinate files as graphs: an entry in row i and column j is an edge from i to j."""

from collections.abc import Iterator

import numpy as np

from simtmm.errors import KernelError, shown
from simtmm.graph.edge_list import WHOLE, weight_of
from simtmm.graph.graph import MOST_EDGES, MOST_VERTICES, Graph

HEADER = "%%MatrixMarket"
FIELDS = ("real", "integer", "pattern")
SYMMETRIES = ("general", "symmetric")


def from_matrix_market(name: str, text: str) -> Graph:
    """The graph of a square sparse matrix; undirected where the matrix is symmetric. Raises KernelError."""
    lines = text.splitlines()
    head = lines[0].split() if lines else []
    if len(head) != 5 or head[0] != HEADER:
        raise KernelError(f"{name}: line 1: must be {HEADER} matrix coordinate FIELD SYMMETRY")
    _, what, form, field, symmetry = (word.lower() for word in head)
    for key, value, allowed in (
        ("object", what, ("matrix",)), ("format", form, ("coordinate",)), ("field", field, FIELDS),
        ("symmetry", symmetry, SYMMETRIES),
    ):  # fmt: skip
        if value not in allowed:
            raise KernelError(f"{name}: line 1: {key} = {shown(value)}: must be one of {', '.join(allowed)}")
    rows = _rows(lines)
    number, sizes = next(rows, (len(lines), []))
    vertices, columns, edges = _whole(name, number, sizes, 3, "rows, columns and entries")
    if vertices != columns:
        raise KernelError(f"{name}: line {number}: {vertices:,} rows and {columns:,} columns: a graph's are equal")
    if not 1 <= vertices <= MOST_VERTICES or not 1 <= edges <= MOST_EDGES:
        raise KernelError(
            f"{name}: line {number}: {vertices:,} rows, {edges:,} entries: must be from 1 to {MOST_VERTICES:,} and "
            f"{MOST_EDGES:,}"
        )
    ends, weights = [], []
    for number, parts in rows:
        weight = 1.0
        if field != "pattern":
            if len(parts) != 3:
                raise KernelError(f"{name}: line {number}: {len(parts)} columns: must be 3: row, column, value")
            weight = weight_of(name, number, parts.pop())
        row, column = _whole(name, number, parts, 2, "row and column")
        if not (1 <= row <= vertices and 1 <= column <= vertices):
            raise KernelError(f"{name}: line {number}: entry ({row}, {column}): must be from 1 to {vertices:,}")
        if symmetry == "symmetric" and row < column:
            raise KernelError(f"{name}: line {number}: entry ({row}, {column}): a symmetric matrix has row >= column")
        ends.append((row - 1, column - 1))
        weights.append(weight)
    if len(ends) != edges:
        raise KernelError(f"{name}: {len(ends):,} entries: must be {edges:,}, as its header says")
    array = np.array(ends, np.int64)
    weight_column = None if field == "pattern" else np.array(weights)
    return Graph(name, vertices, array[:, 0].copy(), array[:, 1].copy(), symmetry == "general", weight_column)


def _rows(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """The lines that are neither empty nor comments, behind the first, with their numbers."""
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and not line.startswith("%"):
            yield number, line.split()


def _whole(name: str, line: int, parts: list[str], count: int, what: str) -> list[int]:
    if len(parts) != count or not all(WHOLE.match(part) for part in parts):
        raise KernelError(f"{name}: line {line}: {shown(' '.join(parts))}: must be {what}, {count} whole numbers")
    return [int(part) for part in parts]
