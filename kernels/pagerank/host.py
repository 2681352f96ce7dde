"""PageRank by power iteration, a thread a vertex that collects along the edges that end in it.

A directed graph, random or your own, the sources of each vertex's edges behind one another. Three launches an
iteration: `pass_on` divides each rank by the vertex's out-degree, and sums up the rank of vertices without edges, a
part a block; `gather` adds the parts; `receive` adds what comes in. That rank is spread evenly over all vertices. No
atomic is needed, and each sum has one order, so that every run gives the same bits.
"""

import numpy as np
import scipy.sparse

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "Page, Brin, Motwani and Winograd, The PageRank citation ranking, 1999"

PARAMETERS = {
    "n": Parameter(2048, "vertices of the graph", minimum=1, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=1000.0),
    "iterations": Parameter(3, "iterations", minimum=1, maximum=1000),
    "damping": Parameter(0.85, "part of the rank that goes along edges", minimum=0.0, maximum=1.0),
}
OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

REGISTERS = 20  # assumption: five addresses, sums of 64 bits and a handful of values
TOLERANCE = 1e-9  # sums of at most 2^23 doubles, each rounded by 1.1e-16 of at most 1


def defines(p):
    return {"THREADS": p.threads}


def drawn_edges(p):
    """Start and end of each edge. The same one may come twice."""
    if p.own_graph is not None:
        arcs = p.own_graph.arcs()
        return arcs.start, arcs.end
    random = np.random.default_rng(p.seed)
    count = max(1, round(p.degree * p.n))
    return random.integers(0, p.n, count), random.integers(0, p.n, count)


def inputs(p):
    start, end = drawn_edges(p)
    order = np.lexsort((start, end))
    start, end = start[order], end[order]
    return {
        "first_edge": np.searchsorted(end, np.arange(p.n + 1)).astype(np.int32),
        "source": start.astype(np.int32),
        "out_degree": np.bincount(start, minlength=p.n).astype(np.int32),
        "rank": np.full(p.n, 1 / p.n),
        "passed": np.zeros(p.n),
        "loose": np.zeros(-(-p.n // p.threads) + 1),
    }


def launches(p, memory):
    blocks = -(-p.n // p.threads)
    shape = {"block": p.threads, "registers_per_thread": REGISTERS}
    shared = {"shared_memory_bytes": 8 * p.threads}
    for _ in range(p.iterations):
        yield Launch("pass_on", ("rank", "out_degree", "passed", "loose", p.n), grid=blocks, **shape, **shared)
        yield Launch("gather", ("loose", blocks), grid=1, **shape, **shared)
        yield Launch(
            "receive",
            ("first_edge", "source", "passed", "loose", "rank", p.damping, blocks, p.n),
            grid=blocks,
            **shape,
        )


def check(p, before, after):
    end = np.repeat(np.arange(p.n), np.diff(before["first_edge"]))
    start = before["source"]
    out = np.bincount(start, minlength=p.n)
    flow = scipy.sparse.coo_array((1 / out[start], (end, start)), shape=(p.n, p.n)).tocsr()
    rank = np.full(p.n, 1 / p.n)
    for _ in range(p.iterations):
        rank = (1 - p.damping) / p.n + p.damping * (flow @ rank + rank[out == 0].sum() / p.n)
    expect_equal("rank", after["rank"], rank, tolerance=TOLERANCE)
