from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024, "degree": 2.0},  # all edges
    {"n": 17, "threads": 33, "degree": 0.0},  # a single edge
    {"n": 21, "threads": 7, "seed": 5, "degree": 2.5},
    {"n": 9, "threads": 64, "degree": 100.0},  # more than there can be
]

EVENTS = [{"n": 12, "threads": 8}, {"n": 19, "threads": 5, "degree": 2.0}, {"n": 2, "threads": 1}]


def events(n, threads, **others):
    arrays = inputs_of("apsp-bellman-ford", {"n": n, "threads": threads, **others})
    edges = list(zip(*(arrays[name].tolist() for name in ("start", "end", "weight")), strict=True))
    shorter = 0
    for source in range(n):
        distance = {source: 0}
        for _ in range(n - 1):
            before = dict(distance)
            for start, end, weight in edges:
                if start in before and before[start] + weight < before.get(end, float("inf")):
                    shorter += 1
                    distance[end] = min(distance.get(end, float("inf")), before[start] + weight)
    # An edge: 5 asyncs, 2 joins, work. A vertex: a load and a store. A thread: 2 barriers.
    iteration = 8 * len(edges) + 2 * n + 2 * threads
    return n * (n + threads + (n - 1) * iteration) + shorter


MISTAKES = [
    ("from + w < to", "from + w > to", {}),
    ("i < n; ++i", "i < 2; ++i", {}),
    ("from != UNREACHABLE &&", "", {"degree": 1.0}),
    ("e += blockDim.x", "e += blockDim.x + 1", {"threads": 1}),
]
