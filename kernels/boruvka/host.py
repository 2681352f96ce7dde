"""Minimum spanning forest by Boruvka's algorithm, a thread an edge or a vertex.

An undirected graph, random or your own, as a list of edges with weights. In a round each tree finds its lightest edge
to another tree, by an atomic minimum over 64 bits, weight above edge, so that equal weights are told apart; each root
hooks to the tree across that edge, except for the lower of two that found the same one; then pointers jump until all
trees are stars. Hooking and jumps go from one buffer to another: nothing races, but for flags that all threads set to
the same value.
"""

import networkx as nx
import numpy as np

from simtmm.kernel import Launch, Parameter, WrongAnswer, expect_equal

PAPER = "000 (Ma) section 4.6, Table 4.4, which cites Vineet, Harish, Patidar and Narayanan 2009"

PARAMETERS = {
    "n": Parameter(2048, "vertices of the graph", minimum=2, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that meet at a vertex, on average", minimum=0.0, maximum=1000.0),
    "heaviest": Parameter(1000, "the largest weight; the least is 1", minimum=1, maximum=10**6),
}

OWN_GRAPH = ("degree", "heaviest", "seed")  # parameters that draw the graph

REGISTERS = 18  # assumption: addresses in six arrays, two 64-bit minima and a handful of values


def edges(p):
    """Edges of the graph, at least one. Two of them may join the same vertices."""
    return max(1, round(p.degree * p.n / 2)) if p.own_graph is None else len(p.own_graph.links())


def algorithm(p):
    return "boruvka", {"n": p.n, "m": edges(p)}


def inputs(p):
    if p.own_graph is not None:
        links = p.own_graph.links()
        start, end = links.start.astype(np.int32), links.end.astype(np.int32)
        weight = links.whole_weights(0).astype(np.int32)
    else:
        random = np.random.default_rng(p.seed)
        start = random.integers(0, p.n, edges(p), dtype=np.int32)
        end = (start + random.integers(1, p.n, edges(p), dtype=np.int32)) % p.n  # another vertex
        weight = random.integers(1, p.heaviest, edges(p), endpoint=True, dtype=np.int32)
    root = np.arange(p.n, dtype=np.int32)
    return {
        "start": start,
        "end": end,
        "weight": weight,
        "root": root,
        "jumped": root.copy(),
        "lightest": np.zeros(p.n, dtype=np.uint64),
        "chosen": np.zeros(edges(p), dtype=np.int32),
        "changed": np.zeros(1, dtype=np.int32),
    }


def launches(p, memory):
    before, after = "root", "jumped"
    step = 0  # its number is the flag's value, so that the flag need not be cleared

    def launch(kernel, *arguments):
        """The launch of a thread for each of the last argument."""
        blocks = -(-arguments[-1] // p.threads)
        return Launch(kernel, arguments, grid=blocks, block=p.threads, registers_per_thread=REGISTERS)

    for _ in range(p.n.bit_length() + 1):  # never are more needed, but a wrong kernel must end, too
        step += 1
        yield launch("clear", "lightest", p.n)
        yield launch("find", "start", "end", "weight", before, "lightest", edges(p))
        yield launch("hook", "start", "end", before, after, "lightest", "chosen", "changed", step, p.n)
        if memory["changed"][0] != step:
            return
        for _ in range(p.n.bit_length() + 1):
            before, after = after, before
            step += 1
            yield launch("jump", before, after, "changed", step, p.n)
            if memory["changed"][0] != step:
                break


def check(p, before, after):
    edge_list = list(zip(*(before[name].tolist() for name in ("start", "end", "weight")), strict=True))
    graph, forest = nx.MultiGraph(), nx.MultiGraph()
    for made, its_edges in ((graph, edge_list), (forest, [edge_list[e] for e in np.flatnonzero(after["chosen"])])):
        made.add_nodes_from(range(p.n))
        made.add_weighted_edges_from(its_edges)
    if not nx.is_forest(forest):
        raise WrongAnswer("the edges that were chosen have a cycle")
    if nx.number_connected_components(forest) != nx.number_connected_components(graph):
        raise WrongAnswer("the edges that were chosen do not span the graph")
    least = nx.minimum_spanning_tree(graph).size(weight="weight")
    expect_equal("weight", np.array([forest.size(weight="weight")]), np.array([least]))
