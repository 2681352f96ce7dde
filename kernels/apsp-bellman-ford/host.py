"""All-pairs shortest paths by n runs of Bellman-Ford, a block a source.

A random directed graph in the dissertation's arrays: `start` (A), `end` (B) and `weight` (W) hold the edges, sorted by
the vertex where they end; a row of `distance` (D) holds what is known of the paths from one source. A thread relaxes an
edge, a barrier ends each of the n - 1 iterations. Each iteration reads one buffer and lowers, by atomics, a copy of it,
so that nothing races. Weights may be negative, no cycle is.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.1.4, Algorithm 2, Eq (4.20) to (4.24)"

PARAMETERS = {
    "n": Parameter(32, "vertices of the graph", minimum=2, maximum=4096),
    "threads": Parameter(64, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0, maximum=4096.0),
}

UNREACHABLE = 1 << 29
HEAVIEST = 100
STEEPEST = 50  # potentials differ by less; they make some weights negative, and no cycle
REGISTERS = 18  # assumption: addresses in five arrays and a handful of values


def edges(p):
    """Edges of the graph: at least one, at most one from each vertex to each other."""
    return int(max(1, min(round(p.degree * p.n), p.n * (p.n - 1))))


def algorithm(p):
    return "apsp-bellman-ford", {"n": p.n, "m": edges(p)}


def inputs(p):
    random = np.random.default_rng(p.seed)
    start, end = np.divmod(random.choice(p.n * (p.n - 1), edges(p), replace=False), p.n - 1)
    end += end >= start  # no edge from a vertex to itself
    sorted_by_end = np.lexsort((start, end))
    start, end = start[sorted_by_end], end[sorted_by_end]
    potential = random.integers(0, STEEPEST, p.n)
    weight = random.integers(1, HEAVIEST, len(start), endpoint=True) + potential[start] - potential[end]
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
