"""Breadth-first search from vertex 0, level by level, a thread a vertex.

A directed graph, random or your own, or a random binary tree whose edges lead both ways, the edges of each vertex
behind one another (CSR). The tree is made by random splits and its vertices are numbered at random, as in euler-tour. A
level takes two launches: `expand` marks what the vertices of the level reach, `settle` makes the marked ones the next
level. Levels are read in one and written in the other, and a mark is the same whoever sets it; so nothing races but for
equal marks and flags.
"""

import numpy as np
import scipy.sparse

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "Harish and Narayanan, HiPC 2007; 001 (Rehman) section 5.3 (random binary trees)"

PARAMETERS = {
    "n": Parameter(4096, "vertices of the graph", minimum=1, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "graph": Parameter("random", "the graph", choices=("random", "binary-tree")),
    "degree": Parameter(4.0, "edges that leave a vertex, on average, of a random graph", minimum=0.0, maximum=1000.0),
}

OWN_GRAPH = ("graph", "degree", "seed")  # parameters that draw the graph

UNREACHED = -1
REGISTERS = 14  # assumption: addresses in four arrays and a handful of values


def edges(p):
    """Edges of the graph, at least one. The same one may come twice."""
    return max(1, round(p.degree * p.n))


def tree_edges(p, random):
    """Start and end of each edge of a random binary tree, both ways; vertex 0 is the root."""
    chance = random.random(p.n)
    above = np.zeros(p.n, dtype=np.int64)
    open_subtrees = [(0, 0, p.n)]  # parent, first vertex and number of vertices
    while open_subtrees:
        parent, vertex, size = open_subtrees.pop()
        above[vertex] = parent
        left = int(chance[vertex] * size)  # 0 to size - 1
        halves = ((vertex + 1, left), (vertex + 1 + left, size - 1 - left))
        open_subtrees += [(vertex, first, count) for first, count in halves if count]
    label = np.concatenate(([0], 1 + random.permutation(p.n - 1)))
    parents, children = label[above[1:]], label[1:]
    return np.concatenate((parents, children)), np.concatenate((children, parents))


def drawn_edges(p, random):
    """The same of the graph that is asked for, in the order of their starts."""
    if p.graph == "random":
        return np.sort(random.integers(0, p.n, edges(p))), random.integers(0, p.n, edges(p), dtype=np.int32)
    start, end = tree_edges(p, random)
    order = np.argsort(start, kind="stable")
    return start[order], end[order].astype(np.int32)


def inputs(p):
    if p.own_graph is not None:
        arcs = p.own_graph.arcs()
        start, end = arcs.start, arcs.end.astype(np.int32)
    else:
        start, end = drawn_edges(p, np.random.default_rng(p.seed))
    level = np.full(p.n, UNREACHED, dtype=np.int32)
    level[0] = 0
    return {
        "first_edge": np.searchsorted(start, np.arange(p.n + 1)).astype(np.int32),
        "end": end if len(end) else np.zeros(1, dtype=np.int32),  # a tree of one vertex has none
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
    ends = before["end"][: before["first_edge"][-1]]
    start = np.repeat(np.arange(p.n), np.diff(before["first_edge"]))
    graph = scipy.sparse.coo_array((np.ones(len(ends)), (start, ends)), shape=(p.n, p.n)).tocsr()
    lengths = scipy.sparse.csgraph.dijkstra(graph, indices=0, unweighted=True)  # of shortest paths from vertex 0
    expect_equal("level", after["level"], np.where(np.isfinite(lengths), lengths, UNREACHED))
