from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1, "threads": 1},
    {"n": 2, "threads": 1024},
    {"n": 3, "tree": "path"},
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 200, "threads": 33, "tree": "path", "seed": 2},
    {"n": 257, "threads": 64, "seed": 9},
]

EVENTS = [{"n": 1}, {"n": 2}, {"n": 100, "seed": 3}, {"n": 77, "tree": "path", "threads": 64}]


def events(n, **others):
    before = inputs_of("expression-evaluation", {"n": n, **others})
    vertices = 2 * n - 1
    inner_left = int((before["side"][before["parent"] >= 0] == 0).sum())  # left children, which look for their sibling
    # tour: 3 asyncs, a join, work, 4 stores; of a vertex with a parent work; of a left child a load
    count = 9 * vertices + (vertices - 1) + inner_left
    visits, reached = 2 * vertices, 0
    for _ in range((visits - 1).bit_length()):  # 2 asyncs, a join, work, 2 stores; while there is a next, 4 more
        count += 6 * visits + 4 * max(0, visits - 1 - reached)
        reached = 2 * reached + 1
    count += 2 * vertices + 3 * n  # place: a load, work; of a leaf a load, work, a store
    left = n
    while left > 1:
        odd = left // 2
        # rake: both times 2 loads, work; of those that leave 8 asyncs, 2 joins, a load, work, 3 stores, work, a store
        count += 2 * 3 * odd + 17 * odd
        left = -(-left // 2)
        count += 2 * left  # pack
    return count + 6  # evaluate: a load, 2 asyncs, a join, work, a store


MISTAKES = [
    ("b = multiplies ? b * mine : b + mine;", "b = b + mine;", {"n": 200}),
    ("a = outer * a;", "", {"n": 200}),
    ("ST(side, sibling, place);", "", {"n": 200}),
    ("b = outer * b + (unsigned)of_parent;", "b = outer * b;", {"n": 200}),
]
