"""Euler tour of a random tree: construct it, rank it, and root, measure, number or level the tree with it.

n vertices, vertex 0 the root, 2 (n - 1) arcs. The three arrays of the thesis are given: where each vertex's incident
list begins, the incident lists, and the ends of each arc. Two launches map each arc to the next of the tour, pointer
jumping ranks it (a launch a step, two buffers), and `computation` says what follows; preorder numbers and levels take
a scan (Hillis and Steele, a launch a step; the thesis takes CUDPP's). Nothing races. Where the thesis is at odds with
itself: its text has the incoming arc of an edge first in the incident list, but the indices of Algorithms 8 and 9 want
the outgoing one first, as here; and Algorithms 12 and 13 end in the weights instead of their sums.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "001 (Rehman) sections 5.1.2 and 5.2, Algorithms 8 to 13; section 5.3 (random binary trees)"

PARAMETERS = {
    "computation": Parameter(
        "rooting", "what is computed from the tour", choices=("rooting", "subtree-size", "preorder", "levels")
    ),
    "n": Parameter(1024, "vertices of the tree", minimum=2, maximum=2**22),
    "tree": Parameter(
        "binary", "binary by random splits, or each vertex attached to a random one", choices=("binary", "attachment")
    ),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

ROOT = 0
UNSET = -2
REGISTERS = 14  # assumption: two 64-bit nodes, pointers, an index
RESULT = {"rooting": "parent", "subtree-size": "size", "preorder": "numbers", "levels": "numbers"}


def algorithm(p):
    return "list-ranking", {"n": 2 * (p.n - 1)}  # ranking the arcs is most of it; the rest is a few passes over them


def steps(arcs):
    """Doublings until all arcs are covered."""
    return (arcs - 1).bit_length()


def parents(p, random):
    """A random tree, as the parents of vertices 1 to n - 1."""
    chance = random.random(p.n)
    if p.tree == "attachment":
        return (chance[1:] * np.arange(1, p.n)).astype(np.int64)
    parent = np.zeros(p.n, dtype=np.int64)
    open_subtrees = [(0, 0, p.n)]  # parent, first vertex and number of vertices
    while open_subtrees:
        above, vertex, size = open_subtrees.pop()
        parent[vertex] = above
        left = int(chance[vertex] * size)  # 0 to size - 1
        open_subtrees += [
            (vertex, first, count)
            for first, count in ((vertex + 1, left), (vertex + 1 + left, size - 1 - left))
            if count
        ]
    return parent[1:]


def inputs(p):
    random = np.random.default_rng(p.seed)
    label = np.concatenate(([ROOT], 1 + random.permutation(p.n - 1)))  # the tree's shape says nothing of memory
    edge = np.stack((label[parents(p, random)], label[1:]), axis=1)[random.permutation(p.n - 1)]
    ends = np.empty((2 * len(edge), 2), dtype=np.int32)
    ends[0::2], ends[1::2] = edge, edge[:, ::-1]
    outgoing = np.argsort(ends[:, 0], kind="stable")  # arcs, vertex by vertex
    start = np.zeros(p.n + 1, dtype=np.int32)
    start[1:] = 2 * np.cumsum(np.bincount(ends[:, 0], minlength=p.n))
    arrays = {
        "start": start,
        "incident": np.stack((outgoing, outgoing ^ 1), axis=1).astype(np.int32).ravel(),
        "ends": ends,
        "tour": np.zeros(len(ends), dtype=np.uint64),
        "jumped": np.zeros(len(ends), dtype=np.uint64),
        "parent": np.full(p.n, UNSET, dtype=np.int32),
        "entered_by": np.full(p.n, UNSET, dtype=np.int32),
    }
    if p.computation in ("preorder", "levels"):
        arrays |= {name: np.zeros(len(ends), dtype=np.int32) for name in ("weight", "scanned")}
    return arrays | ({} if p.computation == "rooting" else {RESULT[p.computation]: np.full(p.n, UNSET, dtype=np.int32)})


def launches(p, memory):
    arcs = len(memory["ends"])

    def launch(kernel, *arguments, threads=arcs):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    yield launch("map_along", "incident", "tour", arcs)
    yield launch("map_around", "start", "incident", "tour", p.n, threads=p.n)
    ranked, other = "tour", "jumped"
    for _ in range(steps(arcs)):
        yield launch("jump", ranked, other, arcs)
        ranked, other = other, ranked
    if p.computation in ("rooting", "subtree-size"):
        yield launch("find_parents", ranked, "ends", "parent", "entered_by", arcs)
    if p.computation == "subtree-size":
        yield launch("subtree_sizes", ranked, "entered_by", "size", p.n, threads=p.n)
    if p.computation in ("preorder", "levels"):
        weight_of_retreat = 0 if p.computation == "preorder" else -1
        yield launch(
            "find_parents_and_weigh", ranked, "ends", "parent", "entered_by", "weight", weight_of_retreat, arcs
        )
        scanned, other = "weight", "scanned"
        for step in range(steps(arcs)):
            yield launch("scan", scanned, other, 1 << step, arcs)
            scanned, other = other, scanned
        yield launch("number", ranked, "entered_by", scanned, "numbers", arcs, p.n, threads=p.n)


def check(p, before, after):
    expected = walk(p.n, before["ends"].tolist())
    expect_equal("parent", after["parent"], np.array(expected["rooting"], dtype=np.int32))
    name = RESULT[p.computation]
    expect_equal(name, after[name], np.array(expected[p.computation], dtype=np.int32))


def walk(n, ends):
    """All four answers, by a depth-first walk that turns at each vertex as the tour does."""
    outgoing = [[] for _ in range(n)]
    for arc, (tail, _) in enumerate(ends):
        outgoing[tail].append(arc)
    found = {"rooting": [-1] * n, "subtree-size": [1] * n, "preorder": [0] * n, "levels": [0] * n}
    visited = []
    waiting = [(ROOT, outgoing[ROOT][0], True)]  # vertex, and the arc behind which its turn begins
    while waiting:
        vertex, back, is_root = waiting.pop()
        found["preorder"][vertex] = len(visited)
        visited.append(vertex)
        turn = outgoing[vertex].index(back) + 1
        arcs = outgoing[vertex][turn:] + outgoing[vertex][: turn if is_root else turn - 1]
        for arc in reversed(arcs):
            child = ends[arc][1]
            found["rooting"][child] = vertex
            found["levels"][child] = found["levels"][vertex] + 1
            waiting.append((child, arc ^ 1, False))
    for vertex in reversed(visited[1:]):
        found["subtree-size"][found["rooting"][vertex]] += found["subtree-size"][vertex]
    return found
