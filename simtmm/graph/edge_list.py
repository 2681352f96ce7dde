"""Edge lists: a line for each edge, with its start, its end and perhaps its weight."""

import re
from collections.abc import Iterator

import numpy as np

from simtmm.errors import KernelError, shown
from simtmm.graph.graph import MOST_EDGES, Graph

_SEPARATOR = re.compile(r"[\s,;]+")
_COMMENTS = ("#", "%", "//")
WHOLE = re.compile(r"\d{1,18}\Z")
_NO_DATA = "{}"  # what networkx.write_edgelist writes behind an edge without attributes


def from_edge_list(name: str, text: str) -> Graph:
    """The directed graph of a list. Columns are parted by blanks, commas or semicolons; # and % begin comments.

    Vertices are named by whole numbers or by words. Where all names are whole numbers vertices are numbered in that
    order, else in the order in which they appear. Raises KernelError.
    """
    starts, ends, weights = [], [], []
    columns = 0
    for number, parts in _lines(text):
        columns = columns or len(parts)
        if len(parts) not in (2, 3) or len(parts) != columns:
            wanted = str(columns) if columns in (2, 3) else "2 or 3"
            raise KernelError(f"{name}: line {number}: {len(parts)} columns: must be {wanted}: start, end, weight")
        starts.append(parts[0])
        ends.append(parts[1])
        if columns == 3:
            weights.append(weight_of(name, number, parts[2]))
        if len(starts) > MOST_EDGES:
            raise KernelError(f"{name}: line {number}: more than {MOST_EDGES:,} edges")
    index = _numbered(starts, ends)
    start = np.fromiter((index[one] for one in starts), np.int64, len(starts))
    end = np.fromiter((index[one] for one in ends), np.int64, len(ends))
    return Graph(name, len(index), start, end, True, np.array(weights) if columns == 3 else None)


def _lines(text: str) -> Iterator[tuple[int, list[str]]]:
    """The numbers of the lines that have an edge, and their columns."""
    for number, line in enumerate(text.splitlines(), 1):
        line = line.strip()
        if not line or line.startswith(_COMMENTS):
            continue
        parts = _SEPARATOR.split(line.removesuffix(_NO_DATA).strip())
        yield number, parts


def _numbered(starts: list[str], ends: list[str]) -> dict[str, int]:
    """A number from 0 for each name; "007" and "7" are one vertex where all names are whole numbers."""
    names = dict.fromkeys(name for pair in zip(starts, ends, strict=True) for name in pair)
    if all(WHOLE.match(name) for name in names):
        rank = {value: index for index, value in enumerate(sorted({int(name) for name in names}))}
        return {name: rank[int(name)] for name in names}
    return {name: index for index, name in enumerate(names)}


def weight_of(name: str, line: int, text: str) -> float:
    """A weight. Raises KernelError."""
    try:
        weight = float(text)
    except ValueError:
        weight = np.nan
    if not np.isfinite(weight) or "_" in text:
        raise KernelError(f"{name}: line {line}: weight = {shown(text)}: must be a finite number")
    return weight
