"""All-pairs shortest paths by Johnson's algorithm with arrays, a block a source.

n runs of Dijkstra's algorithm on a directed graph, random or your own, without negative weights, so that Johnson's
reweighting is not needed. The queue of a source is an array of keys in global memory, a key a vertex. All threads of
the block take part in finding the least key, by a reduction in shared memory, and in relaxing the edges of its vertex.
Those edges end at different vertices, so nothing races. A source stops when no vertex is left that it can reach.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.1.3, Algorithm 1, Eq (4.13) to (4.19)"

PARAMETERS = {
    "n": Parameter(48, "vertices of the graph", minimum=2, maximum=4096),
    "threads": Parameter(32, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=4096.0),
}

OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

UNREACHABLE = 1 << 30
HEAVIEST = 100
REGISTERS = 20  # assumption: addresses in five arrays, 64-bit minima and a handful of values


def edges(p):
    """Edges of the graph: at least one, at most one from each vertex to each other."""
    if p.own_graph is not None:
        return len(p.own_graph.arcs(simple=True))
    return int(max(1, min(round(p.degree * p.n), p.n * (p.n - 1))))


def defines(p):
    return {"THREADS": p.threads}


def algorithm(p):
    return "apsp-johnson-array", {"n": p.n, "m": edges(p)}


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
        "key": np.zeros((p.n, p.n), dtype=np.uint32),
        "distance": np.full((p.n, p.n), UNREACHABLE, dtype=np.uint32),
    }


def launches(p, memory):
    yield Launch(
        "dijkstra",
        ("first_edge", "end", "weight", "key", "distance", p.n),
        grid=p.n,
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=8 * p.threads,
    )


def check(p, before, after):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p.n))
    first, end, weight = (before[name] for name in ("first_edge", "end", "weight"))
    start = np.repeat(np.arange(p.n), np.diff(first))
    graph.add_weighted_edges_from(zip(start.tolist(), end.tolist(), weight.tolist(), strict=True))
    expected = np.asarray(nx.floyd_warshall_numpy(graph, nodelist=range(p.n)))
    found = after["distance"].astype(float)
    found[found == UNREACHABLE] = np.inf
    expect_equal("distance", found, expected)
