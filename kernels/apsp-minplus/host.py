"""All-pairs shortest paths by repeated min-plus squaring, in sub-blocks.

A random directed graph of n vertices, or one of your own; after step s the matrix holds the shortest paths of at most
2^s edges. The matrix is padded to whole sub-blocks with vertices that no edge reaches. A thread loads its part of two
sub-blocks and waits for all of it (loads = together), or for each load before the next, as the TMM counts memory
operations (one-by-one).
"""

import networkx as nx
import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.1.1, Eq (4.1) to (4.7); section 6.2, Eq (6.4)"

PARAMETERS = {
    "n": Parameter(64, "vertices of the graph", minimum=2, maximum=8192),
    "sub_block": Parameter(16, "dimension of a sub-block, S_D", minimum=1, maximum=96),
    "threads": Parameter(64, "threads of a block", minimum=1, maximum=1024),
    "degree": Parameter(4.0, "edges that leave a vertex, on average", minimum=0.0),
    "squarings": Parameter(0, "squarings of the matrix, 0 for as many as all paths need", minimum=0, maximum=13),
    "computed": Parameter(
        0,
        "sub-blocks of the product that are computed, the first ones of its first row; 0 for all",
        minimum=0,
        maximum=8192,
    ),
    "loads": Parameter("together", "how a thread waits for its loads", choices=("together", "one-by-one")),
}

OWN_GRAPH = ("degree", "seed")  # parameters that draw the graph

UNREACHABLE = 1 << 29  # the sum of two still fits 32 bits
HEAVIEST = 100


def steps(p):
    """Squarings: those that are wanted, or as many as it takes until paths of n - 1 edges are known."""
    return p.squarings or max(1, (p.n - 2).bit_length())


def defines(p):
    return {"SUB_BLOCK": p.sub_block, "THREADS": p.threads, "ONE_BY_ONE": int(p.loads == "one-by-one")}


def algorithm(p):
    if p.squarings or p.computed:
        return None  # only a part of it
    return "apsp-dynamic-programming", {"n": p.n, "S_D": p.sub_block}


def inputs(p):
    padded = -(-p.n // p.sub_block) * p.sub_block
    if p.computed and (p.squarings != 1 or p.computed * p.sub_block > padded):
        raise KernelError(
            f"kernel apsp-minplus: computed = {p.computed}: must be at most {padded // p.sub_block}, the sub-blocks of "
            "a row, and squarings must be 1, as another one would need the whole product"
        )
    distance = np.full((padded, padded), UNREACHABLE, dtype=np.int32)
    if p.own_graph is not None:
        arcs = p.own_graph.arcs(simple=True)
        distance[arcs.start, arcs.end] = arcs.whole_weights(0, (UNREACHABLE - 1) // (p.n - 1))
    else:
        random = np.random.default_rng(p.seed)
        edge = random.random((p.n, p.n)) < p.degree / p.n
        weight = random.integers(1, HEAVIEST, (p.n, p.n), endpoint=True, dtype=np.int32)
        distance[: p.n, : p.n][edge] = weight[edge]
    np.fill_diagonal(distance, 0)
    return {"distance": distance, "product": np.zeros_like(distance)}


def launches(p, memory):
    buffers = ("distance", "product")
    dimension = len(memory["distance"])
    sub_blocks = dimension // p.sub_block
    elements = -(-p.sub_block * p.sub_block // p.threads)
    for step in range(steps(p)):
        before, after = buffers[step % 2], buffers[(step + 1) % 2]
        yield Launch(
            "minplus",
            (before, after, dimension),
            grid=(p.computed, 1) if p.computed else (sub_blocks, sub_blocks),
            block=p.threads,
            registers_per_thread=14 + 3 * elements,  # assumption: indices, and three registers an element
            shared_memory_bytes=2 * p.sub_block * p.sub_block * 4,
        )


def check(p, before, after):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(p.n))
    found = after[("distance", "product")[steps(p) % 2]][: p.n, : p.n].astype(float)
    found[found >= UNREACHABLE] = np.inf
    matrix = before["distance"][: p.n, : p.n]
    if p.computed:
        rows, columns = min(p.n, p.sub_block), min(p.n, p.computed * p.sub_block)
        known = np.where(matrix >= UNREACHABLE, np.inf, matrix)
        expected = np.array([(row[:, None] + known[:, :columns]).min(axis=0) for row in known[:rows]])
        expect_equal("distance", found[:rows, :columns], expected)
        return
    if p.squarings:
        expected = np.where(matrix >= UNREACHABLE, np.inf, matrix)
        for _ in range(p.squarings):
            expected = np.array([(row[:, None] + expected).min(axis=0) for row in expected])
        expect_equal("distance", found, expected)
        return
    rows, columns = np.nonzero(~np.eye(p.n, dtype=bool) & (matrix < UNREACHABLE))
    graph.add_weighted_edges_from(zip(rows.tolist(), columns.tolist(), matrix[rows, columns].tolist(), strict=True))
    expected = np.asarray(nx.floyd_warshall_numpy(graph, nodelist=range(p.n)))
    expect_equal("distance", found, expected)
