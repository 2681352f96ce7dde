"""Expression evaluation by tree contraction, its leaves numbered by an Euler tour and list ranking.

An expression is a binary tree of sums and products of numbers, all modulo 2^32. Its Euler tour is ranked by pointer
jumping, which numbers the leaves from left to right. Then in each round every second leaf is raked, those that are left
children first: it leaves with its parent, and its sibling takes the parent's place, with a linear function that does
what both have done. After lg n rounds one leaf is left. Nothing races: parents of leaves that are raked together are no
neighbours.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = (
    "001 (Rehman) sections 2.6 and 7.2, which name it as a use of the Euler tour; Miller and Reif, FOCS 1985; Bader, "
    "Sreshta and Weisse-Bernstein, HiPC 2002; JaJa, An Introduction to Parallel Algorithms, section 3.3"
)

PARAMETERS = {
    "n": Parameter(512, "numbers of the expression, the leaves of its tree", minimum=1, maximum=2**22),
    "tree": Parameter("random", "each inner vertex splits anywhere, or takes one number", choices=("random", "path")),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

NOBODY = -1
REGISTERS = 20  # assumption: eight pointers, three functions of 64 bits and a handful of vertices


def tree_of(p, random):
    """Children of each vertex, two by two, NOBODY of a leaf. Vertex 0 is the root; children follow their parent."""
    child = np.full((2 * p.n - 1, 2), NOBODY, dtype=np.int32)
    pending, free = [(0, p.n)], 1
    while pending:
        vertex, leaves = pending.pop()
        if leaves == 1:
            continue
        left = int(random.integers(1, leaves)) if p.tree == "random" else int(random.choice([1, leaves - 1]))
        child[vertex] = free, free + 1
        pending += [(free, left), (free + 1, leaves - left)]
        free += 2
    return child


def inputs(p):
    random = np.random.default_rng(p.seed)
    ordered = tree_of(p, random)
    vertices = len(ordered)
    label = np.concatenate(([0], 1 + random.permutation(vertices - 1))).astype(np.int32)  # shape says nothing of memory
    child = np.full((vertices, 2), NOBODY, dtype=np.int32)
    child[label] = np.where(ordered >= 0, label[ordered], NOBODY)
    parent = np.full(vertices, NOBODY, dtype=np.int32)
    side = np.zeros(vertices, dtype=np.int32)
    for which in (0, 1):
        (inner,) = np.nonzero(child[:, which] >= 0)
        parent[child[inner, which]] = inner
        side[child[inner, which]] = which
    return {
        "parent": parent,
        "side": side,
        "child": child.reshape(-1),
        "times": random.integers(0, 2, vertices, dtype=np.int32),
        "value": random.integers(0, 2**32, vertices, dtype=np.uint32),
        "function": np.full(vertices, 1 << 32, dtype=np.uint64),  # x itself
        **{name: np.zeros(2 * vertices, dtype=np.int32) for name in ("next", "weight", "farther", "sum")},
        "leaves": np.zeros(p.n, dtype=np.int32),
        "packed": np.zeros(p.n, dtype=np.int32),
        "root": np.zeros(1, dtype=np.int32),
        "result": np.zeros(1, dtype=np.uint32),
    }


def launches(p, memory):
    def launch(kernel, *arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    vertices = len(memory["parent"])
    yield launch("tour", "parent", "side", "child", "next", "weight", vertices, threads=vertices)
    now, other = ("next", "weight"), ("farther", "sum")
    for _ in range((2 * vertices - 1).bit_length()):
        yield launch("jump", *now, *other, 2 * vertices, threads=2 * vertices)
        now, other = other, now
    yield launch("place", "child", now[1], "leaves", p.n, vertices, threads=vertices)
    leaves, packed, count = "leaves", "packed", p.n
    arrays = ("parent", "side", "child", "function", "value", "times", "root")
    while count > 1:
        for which in (0, 1):
            yield launch("rake", leaves, *arrays, which, count, threads=count // 2)
        yield launch("pack", leaves, packed, count, threads=-(-count // 2))
        leaves, packed, count = packed, leaves, -(-count // 2)
    yield launch("evaluate", "root", "function", "value", "result", threads=1)


def check(p, before, after):
    child = before["child"].reshape(-1, 2).tolist()
    value = before["value"].tolist()
    order, pending = [], [0]
    while pending:  # a vertex before its children
        vertex = pending.pop()
        order.append(vertex)
        pending += [each for each in child[vertex] if each >= 0]
    for vertex in reversed(order):
        left, right = child[vertex]
        if left >= 0:
            both = value[left], value[right]
            value[vertex] = (both[0] * both[1] if before["times"][vertex] else sum(both)) % 2**32
    expect_equal("result", after["result"], np.array([value[0]], dtype=np.uint32))
