"""Breadth-first search from vertex 0, level by level, a thread a vertex.

A random directed graph, the edges of each vertex behind one another (CSR). A level takes two launches: `expand` marks
what the vertices of the level reach, `settle` makes the marked ones the next level. Levels are read in one and written
in the other, and a mark is the same whoever sets it; so nothing races but for equal marks and flags.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "Harish and Narayanan, HiPC 2007"

PARAMETERS = {
    "n": Parameter(4096, "vertices of the graph", minimum=1, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=1000.0),
}

UNREACHED = -1
REGISTERS = 14  # assumption: addresses in four arrays and a handful of values


def edges(p):
    """Edges of the graph, at least one. The same one may come twice."""
    return max(1, round(p.degree * p.n))


def inputs(p):
    random = np.random.default_rng(p.seed)
    start = np.sort(random.integers(0, p.n, edges(p)))
    level = np.full(p.n, UNREACHED, dtype=np.int32)
    level[0] = 0
    return {
        "first_edge": np.searchsorted(start, np.arange(p.n + 1)).astype(np.int32),
        "end": random.integers(0, p.n, edges(p), dtype=np.int32),
        "level": level,
        "marked": np.zeros(p.n, dtype=np.int32),
        "deepest": np.zeros(1, dtype=np.int32),
    }


def launches(p, memory):
    shape = {"grid": -(-p.n // p.threads), "block": p.threads, "registers_per_thread": REGISTERS}
    for current in range(p.n):
        if memory["deepest"][0] != current:  # the deepest level that has vertices
            return
        yield Launch("expand", ("first_edge", "end", "level", "marked", current, p.n), **shape)
        yield Launch("settle", ("level", "marked", "deepest", current, p.n), **shape)


def check(p, before, after):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p.n))
    start = np.repeat(np.arange(p.n), np.diff(before["first_edge"]))
    graph.add_edges_from(zip(start.tolist(), before["end"].tolist(), strict=True))
    expected = np.full(p.n, UNREACHED, dtype=np.int32)
    for vertex, level in nx.single_source_shortest_path_length(graph, 0).items():
        expected[vertex] = level
    expect_equal("level", after["level"], expected)
