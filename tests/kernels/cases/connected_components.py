from tests.kernels.cases.recount import inputs_of, jumping

ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},
    {"n": 50, "degree": 0.0},  # a single edge
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 300, "threads": 33, "degree": 1.0},
    {"n": 64, "threads": 1, "degree": 30.0},
]

EVENTS = [{"n": 100}, {"n": 333, "degree": 1.0, "threads": 33}, {"n": 2}]


def events(n, **others):
    arrays = inputs_of("connected-components", {"n": n, **others})
    edges = list(zip(arrays["start"].tolist(), arrays["end"].tolist(), strict=True))
    component, count = list(range(n)), 0
    while True:
        between = [sorted((component[start], component[end])) for start, end in edges]
        between = [(low, high) for low, high in between if low != high]
        count += 7 * len(edges) + 2 * len(between)  # an edge: 4 asyncs, 2 joins, work; between trees: atomic, flag
        if not between:
            return count
        for low, high in between:
            component[high] = min(component[high], low)
        count += jumping(component)
        for vertex in range(n):
            while component[vertex] != component[component[vertex]]:
                component[vertex] = component[component[vertex]]


MISTAKES = [
    ("min(one, other)", "max(one, other)", {"n": 40}),
    ("if (one != other)", "if (one > other)", {}),
    ("other = LD_ASYNC(before, v)", "other = LD_ASYNC(before, u)", {}),
    ("if (e >= m)", "if (e >= m - 1)", {"n": 2, "degree": 1.0}),
]
