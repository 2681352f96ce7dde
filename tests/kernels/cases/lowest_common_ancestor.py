from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1, "queries": 3, "threads": 1},
    {"n": 2, "queries": 1, "threads": 1024},
    {"n": 3, "queries": 50, "tree": "path"},
    {"n": 129, "queries": 129, "threads": 128, "seed": 5},
    {"n": 200, "queries": 33, "threads": 33, "tree": "path", "seed": 2},
]

EVENTS = [{"n": 100, "queries": 40}, {"n": 33, "queries": 100, "tree": "path"}, {"n": 1, "queries": 2}]


def events(n, queries, **others):
    tour = inputs_of("lowest-common-ancestor", {"n": n, "queries": queries, **others})["tour"]
    length = len(tour)
    assert length == 2 * n - 1
    # A visit but the first: 2 asyncs, a join, a load, work; each: a store.
    count = 5 * (length - 1) + length
    # The scan: a load and a store; a load and work where there is an element 2^step before.
    count += sum(2 * length + 2 * max(0, length - 2**step) for step in range((length - 1).bit_length()))
    count += 6 * length + n  # 3 asyncs, a join, work, a store; of a first visit one more
    power = 1
    while 2 * power <= length:  # 2 asyncs, a join, work, a store
        power *= 2
        count += 5 * (length - power + 1)
    return count + 13 * queries  # 7 loads that may overlap or not, 3 joins, work twice, a store


MISTAKES = [
    ("(Visit)mine << 32", "(Visit)0 << 32", {"n": 200}),
    ("from + i + half", "from + i", {"n": 200}),
    ("begin + high + 1 - (1 << k)", "begin + high - (1 << k)", {"n": 200}),
    ("left < right ? left : right", "left", {"n": 200}),
]
