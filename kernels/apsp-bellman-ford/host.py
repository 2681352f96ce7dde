"""All-pairs shortest paths by n runs of Bellman-Ford, a block a source.

A directed graph, random or your own, in the dissertation's arrays: `start` (A), `end` (B) and `weight` (W) hold the
edges, sorted by the vertex where they end; a row of `distance` (D) holds what is known of the paths from one source. A
thread relaxes an edge, a barrier ends each of the n - 1 iterations. Each iteration reads one buffer and lowers, by
atomics, a copy of it, so that nothing races. Weights may be negative, no cycle is.
"""

import networkx as nx
import numpy as np
import scipy.sparse

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.1.4, Algorithm 2, Eq (4.20) to (4.24)"

PARAMETERS = {
    "n": Parameter(32, "vertices of the graph", minimum=2, maximum=4096),
    "threads": Parameter(64, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=4096.0),
}

OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

UNREACHABLE = 1 << 29
HEAVIEST = 100
STEEPEST = 50  # potentials differ by less; they make some weights negative, and no cycle
REGISTERS = 18  # assumption: addresses in five arrays and a handful of values


def edges(p):
    """Edges of the graph: at least one, at most one from each vertex to each other."""
    if p.own_graph is not None:
        return len(p.own_graph.arcs(simple=True))
    return int(max(1, min(round(p.degree * p.n), p.n * (p.n - 1))))


def algorithm(p):
    return "apsp-bellman-ford", {"n": p.n, "m": edges(p)}


def drawn_edges(p):
    """Start, end and weight of each edge, by end and then by start."""
    random = np.random.default_rng(p.seed)
    start, end = np.divmod(random.choice(p.n * (p.n - 1), edges(p), replace=False), p.n - 1)
    end += end >= start  # no edge from a vertex to itself
    sorted_by_end = np.lexsort((start, end))
    start, end = start[sorted_by_end], end[sorted_by_end]
    potential = random.integers(0, STEEPEST, p.n)
    weight = random.integers(1, HEAVIEST, len(start), endpoint=True) + potential[start] - potential[end]
    return start, end, weight


def own_edges(p):
    """The same of the user's graph."""
    heaviest = (UNREACHABLE - 1) // (p.n - 1)
    arcs = p.own_graph.arcs()  # an edge from a vertex to itself may be a negative cycle
    if has_negative_cycle(p.n, arcs.start, arcs.end, arcs.whole_weights(-heaviest, heaviest)):
        raise KernelError(f"{p.own_graph.name}: has a cycle whose weights add up to less than 0: must have none")
    arcs = p.own_graph.arcs(simple=True)
    order = np.lexsort((arcs.start, arcs.end))
    return arcs.start[order], arcs.end[order], arcs.whole_weights(-heaviest, heaviest)[order]


def has_negative_cycle(n, start, end, weight):
    """Whether there is one, searched from a vertex of its own that leads to all others."""
    if weight.min() >= 0:
        return False
    if (weight[start == end] < 0).any():
        return True
    order = np.lexsort((weight, end, start))
    start, end, weight = start[order], end[order], weight[order]
    lightest = (np.diff(start, prepend=-1) != 0) | (np.diff(end, prepend=-1) != 0)  # csr_array would add parallel edges
    start = np.concatenate([start[lightest], np.full(n, n)])
    end = np.concatenate([end[lightest], np.arange(n)])
    weight = np.concatenate([weight[lightest], np.zeros(n)])
    graph = scipy.sparse.csr_array((weight, end, np.searchsorted(start, np.arange(n + 2))), shape=(n + 1, n + 1))
    try:
        scipy.sparse.csgraph.bellman_ford(graph, indices=n)
    except scipy.sparse.csgraph.NegativeCycleError:
        return True
    return False


def inputs(p):
    start, end, weight = drawn_edges(p) if p.own_graph is None else own_edges(p)
    return {
        "start": start.astype(np.int32),
        "end": end.astype(np.int32),
        "weight": weight.astype(np.int32),
        "distance": np.zeros((p.n, p.n), dtype=np.int32),
        "relaxed": np.zeros((p.n, p.n), dtype=np.int32),
    }


def launches(p, memory):
    yield Launch(
        "bellman_ford",
        ("start", "end", "weight", "distance", "relaxed", p.n, edges(p)),
        grid=p.n,
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p.n))
    columns = (before[name].tolist() for name in ("start", "end", "weight"))
    graph.add_weighted_edges_from(zip(*columns, strict=True))
    expected = np.asarray(nx.floyd_warshall_numpy(graph, nodelist=range(p.n)))
    found = after[("distance", "relaxed")[(p.n - 1) % 2]].astype(float)
    found[found == UNREACHABLE] = np.inf
    expect_equal("distance", found, expected)
