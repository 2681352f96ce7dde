"""Measures of a graph: degrees, and how far apart its vertices are."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.native import Loop, inlined

if TYPE_CHECKING:
    from simtmm.graph.graph import Graph

Numbers = npt.NDArray[Any]

MOST_STEPS = 1 << 29  # arcs and vertices that searches from all vertices may look at: a second or two
SWEEPS = 16  # searches for a bound where that is too much, each from a vertex that the one before found farthest


@dataclass(frozen=True)
class Extent:
    """How far apart vertices are, in edges along their directions.

    diameter: the longest of the shortest paths between vertices that a path joins; at least that where not exact.
    reached: vertices that vertex 0 reaches, itself included.
    """

    diameter: int
    exact: bool
    reached: int

    @property
    def words(self) -> str:
        """The diameter, as "12" or "at least 12"."""
        return f"{'' if self.exact else 'at least '}{self.diameter:,}"

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {"diameter": self.diameter, "diameter_is_exact": self.exact, "reached_from_0": self.reached}


def degrees(vertices: int, start: Numbers) -> dict[str, float]:
    """The least, mean and greatest number of arcs that leave a vertex."""
    counts = np.bincount(start, minlength=vertices)
    return {"least": int(counts.min()), "mean": float(counts.mean()), "greatest": int(counts.max())}


def extent_of(vertices: int, arcs: "Graph") -> Extent:
    """The extent of a graph whose arcs are in the order of their starts."""
    first = arcs.first_edges().astype(np.int64)
    end = arcs.end.astype(np.int64)
    level, queue = np.empty(vertices, np.int64), np.empty(vertices, np.int64)
    reached = _search(first, end, 0, level, queue)
    if vertices * (vertices + len(end)) <= MOST_STEPS:
        return Extent(_diameter(first, end, level, queue), True, reached)
    last, diameter = int(queue[reached - 1]), int(level[queue[reached - 1]])
    for _ in range(SWEEPS):
        last = int(queue[_search(first, end, last, level, queue) - 1])
        diameter = max(diameter, int(level[last]))
    return Extent(diameter, False, reached)


@inlined
def _reach(
    first: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    source: int,
    level: npt.NDArray[np.int64],
    queue: npt.NDArray[np.int64],
) -> int:
    """Search breadth-first from a vertex: how many vertices were reached, itself included.

    level: of each vertex its distance, -1 where it is not reached. queue: the vertices that are, the farthest last.
    """
    for vertex in range(len(level)):
        level[vertex] = -1
    level[source] = 0
    queue[0] = source
    done, found = 0, 1
    while done < found:
        vertex = queue[done]
        done += 1
        for arc in range(first[vertex], first[vertex + 1]):
            to = end[arc]
            if level[to] < 0:
                level[to] = level[vertex] + 1
                queue[found] = to
                found += 1
    return found


_search = Loop(_reach)


@Loop
def _diameter(
    first: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    level: npt.NDArray[np.int64],
    queue: npt.NDArray[np.int64],
) -> int:
    """The greatest distance of one vertex from another, by a search from each."""
    greatest = 0
    for source in range(len(level)):
        found = _reach(first, end, source, level, queue)
        greatest = max(greatest, level[queue[found - 1]])
    return greatest
