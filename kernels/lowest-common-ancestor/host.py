"""Lowest common ancestors of pairs of vertices, by the Euler tour of a tree and a table of minima.

A random tree of n vertices, vertex 0 the root, and its Euler tour as the vertices that it visits, 2 n - 1 of them, as
ranking leaves it (see euler-tour). The steps of the tour, down or up, are scanned to levels; `widen` fills a row of a
table for each power of two, the least level of each stretch of so many visits; and a query takes two entries of one
row, between the first visits of its vertices. Nothing races.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = (
    "001 (Rehman) chapter 7, which names it as a use of the Euler tour; Berkman and Vishkin, SIAM Journal on Computing "
    "22 (1993); Bender and Farach-Colton, LATIN 2000"
)

PARAMETERS = {
    "n": Parameter(1024, "vertices of the tree", minimum=1, maximum=2**20),
    "queries": Parameter(1024, "pairs of vertices", minimum=1, maximum=2**24),
    "tree": Parameter(
        "attachment", "each vertex attached to a random one, or to the one before", choices=("attachment", "path")
    ),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 16  # assumption: seven addresses, two visits of 64 bits and a handful of values


def steps(length):
    """Doublings until all visits are covered."""
    return (length - 1).bit_length()


def rows(length):
    """Where the stretches of 2^k visits begin in the table, by k, and behind the last its size."""
    sizes = [length - 2**k + 1 for k in range(length.bit_length())]
    return np.concatenate([[0], np.cumsum(sizes)])


def tour_of(parent):
    """The vertices that the Euler tour visits, in order."""
    children = [[] for _ in parent]
    for vertex, above in enumerate(parent[1:].tolist(), 1):
        children[above].append(vertex)
    tour, path = [0], [0]
    while path:
        if children[path[-1]]:
            path.append(children[path[-1]].pop())
        else:
            path.pop()
        tour += path[-1:]
    return np.array(tour, dtype=np.int32)


def inputs(p):
    random = np.random.default_rng(p.seed)
    number = np.arange(1, p.n)
    above = number - 1 if p.tree == "path" else (random.random(p.n - 1) * number).astype(np.int64)
    label = np.concatenate(([0], 1 + random.permutation(p.n - 1)))  # the tree's shape says nothing of memory
    parent = np.full(p.n, -1, dtype=np.int32)
    parent[label[1:]] = label[above]
    tour = tour_of(parent)
    row = rows(len(tour))
    return {
        "parent": parent,
        "tour": tour,
        "one": random.integers(0, p.n, p.queries, dtype=np.int32),
        "other": random.integers(0, p.n, p.queries, dtype=np.int32),
        "weight": np.zeros(len(tour), dtype=np.int32),
        "level": np.zeros(len(tour), dtype=np.int32),
        "scanned": np.zeros(len(tour), dtype=np.int32),
        "first": np.full(p.n, -1, dtype=np.int32),
        "least": np.zeros(row[-1], dtype=np.uint64),
        "row": row[:-1].astype(np.int32),
        "ancestor": np.full(p.queries, -1, dtype=np.int32),
    }


def launches(p, memory):
    def launch(kernel, *arguments):
        """The launch of a thread for each of the last argument."""
        blocks = -(-arguments[-1] // p.threads)
        return Launch(kernel, arguments, grid=blocks, block=p.threads, registers_per_thread=REGISTERS)

    length = len(memory["tour"])
    row = rows(length).tolist()
    yield launch("weigh", "tour", "parent", "weight", length)
    level, other = "weight", "level"
    for step in range(steps(length)):
        yield launch("scan_step", level, other, 1 << step, length)
        level, other = other, "scanned" if other == "level" else "level"
    yield launch("visit", "tour", "weight", level, "least", "first", length)
    for k in range(1, len(row) - 1):
        yield launch("widen", "least", row[k - 1], row[k], 1 << (k - 1), row[k + 1] - row[k])
    yield launch("answer", "one", "other", "first", "least", "row", "ancestor", p.queries)


def check(p, before, after):
    tree = nx.DiGraph()
    tree.add_nodes_from(range(p.n))
    tree.add_edges_from((above, vertex) for vertex, above in enumerate(before["parent"].tolist()) if above >= 0)
    pairs = list(zip(before["one"].tolist(), before["other"].tolist(), strict=True))
    found = dict(nx.tree_all_pairs_lowest_common_ancestor(tree, root=0, pairs=pairs))
    expected = np.array([found[pair] if pair in found else found[pair[::-1]] for pair in pairs], dtype=np.int32)
    expect_equal("ancestor", after["ancestor"], expected)
