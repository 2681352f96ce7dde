import networkx as nx

from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1},
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},
    {"n": 50, "degree": 0.0},  # a single edge
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 1000, "threads": 33, "degree": 1.5},
    {"n": 1, "graph": "binary-tree"},
    {"n": 2, "graph": "binary-tree", "threads": 1},
    {"n": 500, "graph": "binary-tree", "seed": 2},
]

EVENTS = [{"n": 100}, {"n": 1000, "threads": 100, "degree": 2.0}, {"n": 1}, {"n": 300, "graph": "binary-tree"}]


def events(n, **others):
    arrays = inputs_of("bfs", {"n": n, **others})
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(n))
    first, end = arrays["first_edge"], arrays["end"]
    graph.add_edges_from((vertex, int(to)) for vertex in range(n) for to in end[first[vertex] : first[vertex + 1]])
    level = nx.single_source_shortest_path_length(graph, 0)
    edges = [(level[start], level[end]) for start, end in graph.edges() if start in level]
    # A level has two launches: a vertex is loaded and compared in each. A vertex of the frontier: 2 asyncs, a join. An
    # edge: 2 loads, work; to a new level, a mark. A new vertex: 3 stores.
    launches = 4 * n * (1 + max(level.values()))
    marks = sum(end == start + 1 for start, end in edges)
    return launches + 3 * len(level) + 3 * len(edges) + marks + 3 * (len(level) - 1)


MISTAKES = [
    ("next == UNREACHED", "next != UNREACHED", {"n": 40}),
    ("ST(level, v, current + 1)", "ST(level, v, current + 2)", {}),
    ("e < stop", "e < stop - 1", {}),
]
