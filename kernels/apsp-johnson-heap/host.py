"""All-pairs shortest paths by Johnson's algorithm with binary heaps, a thread a source.

n runs of Dijkstra's algorithm on a directed graph, random or your own, without negative weights, so that Johnson's
reweighting is not needed. Each thread has a heap of n entries in global memory, and the place of each vertex in it.
`layout` says how the arrays of the threads lie: a row a thread, so that neighbouring threads are n elements apart, or
interleaved, so that equal places of neighbouring threads are neighbours. A source stops when no vertex is left that it
can reach.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.1.2, Algorithm 1, Eq (4.8) to (4.12)"

PARAMETERS = {
    "n": Parameter(64, "vertices of the graph", minimum=2, maximum=4096),
    "threads": Parameter(32, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=4096.0),
    "layout": Parameter("rows", "how the threads' arrays lie in memory", choices=("rows", "interleaved")),
}

OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

UNREACHABLE = 1 << 30
HEAVIEST = 100
REGISTERS = 28  # assumption: addresses in six arrays, three 64-bit entries and a handful of values


def edges(p):
    """Edges of the graph: at least one, at most one from each vertex to each other."""
    if p.own_graph is not None:
        return len(p.own_graph.arcs(simple=True))
    return int(max(1, min(round(p.degree * p.n), p.n * (p.n - 1))))


def algorithm(p):
    return "apsp-johnson-heap", {"n": p.n, "m": edges(p)}


def drawn_edges(p):
    """First edge of each vertex, and end and weight of each edge."""
    random = np.random.default_rng(p.seed)
    pairs = np.sort(random.choice(p.n * (p.n - 1), edges(p), replace=False))
    start, end = np.divmod(pairs, p.n - 1)
    end += end >= start  # no edge from a vertex to itself
    return np.searchsorted(start, np.arange(p.n + 1)), end, random.integers(1, HEAVIEST, len(end), endpoint=True)


def own_edges(p):
    """The same of the user's graph."""
    arcs = p.own_graph.arcs(simple=True)
    return arcs.first_edges(), arcs.end, arcs.whole_weights(0, (UNREACHABLE - 1) // (p.n - 1))


def inputs(p):
    first_edge, end, weight = drawn_edges(p) if p.own_graph is None else own_edges(p)
    return {
        "first_edge": first_edge.astype(np.int32),
        "end": end.astype(np.int32),
        "weight": weight.astype(np.int32),
        "heap": np.zeros((p.n, p.n), dtype=np.uint64),
        "place": np.zeros((p.n, p.n), dtype=np.int32),
        "distance": np.full((p.n, p.n), UNREACHABLE, dtype=np.uint32),
    }


def launches(p, memory):
    strides = (p.n, 1) if p.layout == "rows" else (1, p.n)
    yield Launch(
        "dijkstra",
        ("first_edge", "end", "weight", "heap", "place", "distance", p.n, *strides),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p.n))
    first, end, weight = (before[name] for name in ("first_edge", "end", "weight"))
    start = np.repeat(np.arange(p.n), np.diff(first))
    graph.add_weighted_edges_from(zip(start.tolist(), end.tolist(), weight.tolist(), strict=True))
    expected = np.asarray(nx.floyd_warshall_numpy(graph, nodelist=range(p.n)))
    found = (after["distance"] if p.layout == "rows" else after["distance"].T).astype(float)
    found[found == UNREACHABLE] = np.inf
    expect_equal("distance", found, expected)
