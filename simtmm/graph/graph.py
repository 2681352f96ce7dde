"""Graph: edges between numbered vertices, with or without weights; and what kernels take of one."""

import hashlib
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import KernelError
from simtmm.graph.measures import Extent, degrees, extent_of

MOST_VERTICES = 1 << 24
MOST_EDGES = 1 << 23
LARGEST_WEIGHT = 2**31 - 1

Numbers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Graph:
    """A graph as its source has it.

    name: of its file, or of what it came from.
    vertices: how many there are, numbered from 0.
    start, end: int64, the ends of each edge, in the order of the source.
    directed: whether an edge leads from its start to its end only.
    weight: float64, of each edge; None where the source has none.

    Raises KernelError.
    """

    name: str
    vertices: int
    start: Numbers
    end: Numbers
    directed: bool = True
    weight: Numbers | None = None
    _made: dict[str, "Graph"] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        if not len(self.start):
            raise KernelError(f"{self.name}: no edge: must have at least one")
        if not 1 <= self.vertices <= MOST_VERTICES:
            raise KernelError(f"{self.name}: {self.vertices:,} vertices: must be from 1 to {MOST_VERTICES:,}")
        if len(self.start) > MOST_EDGES:
            raise KernelError(f"{self.name}: {len(self.start):,} edges: must be at most {MOST_EDGES:,}")

    def __len__(self) -> int:
        """Edges, as the source lists them."""
        return len(self.start)

    def arcs(self, simple: bool = False) -> "Graph":
        """Its edges as directed ones, those of an undirected graph both ways, by start and then by end.

        simple: without edges from a vertex to itself, and of edges between the same vertices only the lightest.
        """
        name = "simple arcs" if simple else "arcs"
        if name not in self._made:
            self._made[name] = self._arcs(simple)
        return self._made[name]

    def _arcs(self, simple: bool) -> "Graph":
        both = self if self.directed else self._both_ways()
        kept = both.start != both.end if simple else np.ones(len(both), np.bool_)
        chosen = np.flatnonzero(kept)
        weight = np.zeros(len(both)) if both.weight is None else both.weight
        chosen = chosen[np.lexsort((weight[chosen], both.end[chosen], both.start[chosen]))]
        if simple and len(chosen):
            new = np.diff(both.start[chosen], prepend=-1) != 0
            new |= np.diff(both.end[chosen], prepend=-1) != 0
            chosen = chosen[new]
        return both._of(chosen, "arc between different vertices" if simple else "arc")

    def links(self) -> "Graph":
        """Its edges without direction, each once as listed, without those from a vertex to itself."""
        if "links" not in self._made:
            different = np.flatnonzero(self.start != self.end)
            self._made["links"] = self._of(different, "edge between different vertices")
        return self._made["links"]

    def first_edges(self) -> Numbers:
        """Of arcs in the order of their starts, int32: the first of each vertex, and behind the last their number."""
        return np.searchsorted(self.start, np.arange(self.vertices + 1)).astype(np.int32)

    def whole_weights(self, least: int, most: int = LARGEST_WEIGHT) -> Numbers:
        """The weights as int64, 1 where the source has none. least, most: what the kernel can take.

        Raises KernelError.
        """
        if self.weight is None:
            return np.ones(len(self.start), np.int64)
        wrong = (self.weight != np.floor(self.weight)) | (self.weight < least) | (self.weight > most)
        if wrong.any():
            at = int(np.argmax(wrong))
            raise KernelError(
                f"{self.name}: edge from {self.start[at]} to {self.end[at]}: weight = {self.weight[at]:.17g}: this "
                f"kernel takes whole numbers from {least:,} to {most:,}"
            )
        return self.weight.astype(np.int64)

    @cached_property
    def digest(self) -> str:
        """A hash of all but its name: equal digests, equal graphs."""
        content = hashlib.sha256(f"{self.vertices} {self.directed} {self.weight is not None}".encode())
        for column in (self.start, self.end, *(() if self.weight is None else (self.weight,))):
            content.update(np.ascontiguousarray(column).view(np.uint8).data)
        return content.hexdigest()[:16]

    @cached_property
    def extent(self) -> Extent:
        """How far apart its vertices are."""
        return extent_of(self.vertices, self.arcs())

    def to_dict(self) -> dict[str, Any]:
        """Its sizes, degrees and diameter, for reports and JSON."""
        return {
            "name": self.name,
            "digest": self.digest,
            "vertices": self.vertices,
            "edges": len(self),
            "directed": self.directed,
            "weighted": self.weight is not None,
            "degree": degrees(self.vertices, self.arcs().start),
            **self.extent.to_dict(),
        }

    def _both_ways(self) -> "Graph":
        back = self.start != self.end  # an edge from a vertex to itself is one arc
        return replace(
            self,
            start=np.concatenate([self.start, self.end[back]]),
            end=np.concatenate([self.end, self.start[back]]),
            directed=True,
            weight=None if self.weight is None else np.concatenate([self.weight, self.weight[back]]),
        )

    def _of(self, chosen: Numbers, what: str) -> "Graph":
        if not len(chosen):
            raise KernelError(f"{self.name}: no {what}: must have at least one")
        weight = None if self.weight is None else self.weight[chosen]
        return replace(self, start=self.start[chosen], end=self.end[chosen], weight=weight)
