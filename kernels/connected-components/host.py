"""Connected components by hooking and pointer jumping (Shiloach and Vishkin), a thread an edge or a vertex.

An undirected graph, random or your own, as a list of edges. Each vertex points to the root of its tree. A round hooks
every root that has an edge to a lower root to the lowest of these, by an atomic minimum, then jumps until all trees are
stars. Jumps go from one buffer to another, and when they are done both are equal, so hooking can read one and lower the
other: nothing races, but for flags that all threads set to the same value.

A root that stays is lower than its neighbours. Each of those has hooked, to it or to a root that is lower still, to
which it will then be a neighbour and hook itself. So two rounds halve the number of trees that are left.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.6, Table 4.4, which cites Soman, Kothapalli and Narayanan 2010"

PARAMETERS = {
    "n": Parameter(4096, "vertices of the graph", minimum=2, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(2.0, "edges that meet at a vertex, on average", minimum=0.0, maximum=1000.0),
}

OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

REGISTERS = 12  # assumption: five addresses and a handful of values


def edges(p):
    """Edges of the graph, at least one. The same one may come twice."""
    return max(1, round(p.degree * p.n / 2)) if p.own_graph is None else len(p.own_graph.links())


def algorithm(p):
    return "connected-components", {"n": p.n, "m": edges(p)}


def inputs(p):
    if p.own_graph is not None:
        links = p.own_graph.links()
        start, end = links.start.astype(np.int32), links.end.astype(np.int32)
    else:
        random = np.random.default_rng(p.seed)
        start = random.integers(0, p.n, edges(p), dtype=np.int32)
        end = (start + random.integers(1, p.n, edges(p), dtype=np.int32)) % p.n  # another vertex
    root = np.arange(p.n, dtype=np.int32)
    return {"start": start, "end": end, "root": root, "jumped": root.copy(), "changed": np.zeros(1, dtype=np.int32)}


def launches(p, memory):
    before, after = "root", "jumped"
    step = 0  # its number is the flag's value, so that the flag need not be cleared

    def launch(kernel, *arguments):
        """The launch of a thread for each of the last argument."""
        blocks = -(-arguments[-1] // p.threads)
        return Launch(kernel, arguments, grid=blocks, block=p.threads, registers_per_thread=REGISTERS)

    for _ in range(2 * p.n.bit_length()):  # never are more needed, but a wrong kernel must end, too
        step += 1
        yield launch("hook", "start", "end", before, after, "changed", step, edges(p))
        if memory["changed"][0] != step:
            return
        for _ in range(p.n.bit_length() + 1):
            before, after = after, before
            step += 1
            yield launch("jump", before, after, "changed", step, p.n)
            if memory["changed"][0] != step:
                break


def check(p, before, after):
    graph = nx.Graph()
    graph.add_nodes_from(range(p.n))
    graph.add_edges_from(zip(before["start"].tolist(), before["end"].tolist(), strict=True))
    expected = np.empty(p.n, dtype=np.int32)
    for component in nx.connected_components(graph):
        expected[list(component)] = min(component)
    expect_equal("root", after["root"], expected)
