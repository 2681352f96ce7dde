"""List ranking by pointer jumping (Wyllie), a launch a step.

n nodes, a thread a node, ceil(lg n) steps. Two buffers take turns, so a step reads what the step before has left,
as on a PRAM; nothing races.
"""

from math import ceil, log2

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "001 (Rehman) section 3.2, Algorithm 3, 64-bit packing; 000 (Ma) section 4.5, Eq (4.36)"

PARAMETERS = {
    "n": Parameter(4096, "nodes of the list", minimum=1, maximum=2**26),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
}

END_OF_LIST = 0xFFFFFFFF
REGISTERS = 10  # assumption: a handful of 64-bit values


def steps(n):
    """Pointer jumps until every node has seen the end of a list of n nodes."""
    return max(1, ceil(log2(n)))


def algorithm(p):
    return "list-ranking", {"n": p.n}


def inputs(p):
    order = np.random.default_rng(p.seed).permutation(p.n) if p.order == "random" else np.arange(p.n)
    successor = np.full(p.n, END_OF_LIST, dtype=np.uint64)
    successor[order[:-1]] = order[1:]
    rank = np.ones(p.n, dtype=np.uint64)
    rank[order[-1]] = 0  # the rank is the distance to the last node
    return {"nodes": rank << np.uint64(32) | successor, "jumped": np.zeros(p.n, dtype=np.uint64)}


def launches(p, memory):
    buffers = ("nodes", "jumped")
    for step in range(steps(p.n)):
        before, after = buffers[step % 2], buffers[(step + 1) % 2]
        yield Launch(
            "jump",
            (before, after, p.n),
            grid=-(-p.n // p.threads),
            block=p.threads,
            registers_per_thread=REGISTERS,
        )


def check(p, before, after):
    nodes = before["nodes"] & np.uint64(END_OF_LIST)
    (node,) = np.flatnonzero(np.bincount(nodes[nodes != END_OF_LIST].astype(np.int64), minlength=p.n) == 0).tolist()
    successor, order = nodes.tolist(), []  # from the head on, which is nobody's successor
    while node != END_OF_LIST:
        order.append(node)
        node = successor[node]
    expected = np.empty(p.n, dtype=np.uint64)
    expected[order] = np.arange(p.n - 1, -1, -1)
    ranked = after[("nodes", "jumped")[steps(p.n) % 2]]
    expect_equal("rank", ranked >> np.uint64(32), expected)
