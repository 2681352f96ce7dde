from tests.kernels.cases.recount import inputs_of, jumping

ODD = [
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},
    {"n": 50, "degree": 0.0},  # a single edge
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 200, "threads": 33, "degree": 1.0, "heaviest": 1},  # all weights equal
    {"n": 64, "threads": 1, "degree": 30.0},
]

EVENTS = [{"n": 100}, {"n": 333, "degree": 1.0, "threads": 33}, {"n": 60, "heaviest": 1}]


def events(n, **others):
    arrays = inputs_of("boruvka", {"n": n, **others})
    edges = list(zip(*(arrays[name].tolist() for name in ("start", "end", "weight")), strict=True))
    component, count = list(range(n)), 0
    while True:
        lightest, crossing = {}, 0
        for number, (start, end, weight) in enumerate(edges):
            trees = component[start], component[end]
            if trees[0] != trees[1]:
                crossing += 1
                for tree, other in (trees, trees[::-1]):
                    lightest[tree] = min(lightest.get(tree, (weight, number, other)), (weight, number, other))
        hooked = {
            tree: other for tree, (_, number, other) in lightest.items() if lightest[other][1] != number or other < tree
        }
        # Clearing: a store a vertex. An edge: 4 asyncs, 2 joins, work; between trees a load, work and 2 atomics.
        count += n + 7 * len(edges) + 4 * crossing
        # Hooking, a vertex: load, work, store; a root: load, work; with an edge: 4 asyncs, 2 joins, load, work;
        # one that hooks: 2 stores.
        count += 3 * n + 2 * len(set(component)) + 8 * len(lightest) + 2 * len(hooked)
        if not hooked:
            return count
        component = [hooked.get(tree, tree) if vertex == tree else tree for vertex, tree in enumerate(component)]
        count += jumping(component)
        for vertex in range(n):
            while component[vertex] != component[component[vertex]]:
                component[vertex] = component[component[vertex]]


MISTAKES = [
    ("ATOMIC_MIN(lightest, other, packed);", "", {"n": 100}),
    ("(Packed)w << 32", "(Packed)(1000000 - w) << 32", {}),
    ("if (one == other) return;", "if (one == other || e == 0) return;", {"n": 2, "degree": 1.0}),
    ("ST(chosen, e, 1)", "ST(chosen, e, one == v)", {}),
]
