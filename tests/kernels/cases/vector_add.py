ODD = [
    {"n": 1},
    {"n": 2, "side": 1},  # a thread a block
    {"n": 1000, "side": 7, "seed": 3},
    {"n": 1025, "side": 32},  # 1024 threads a block
]

EVENTS = [{"n": 100, "side": 8}, {"n": 1024, "side": 16}]


def events(n, **_):
    return 5 * n  # two asyncs, a join, work, a store


MISTAKES = [
    ("x + y", "x - y", {}),
    ("i >= n", "i >= n - 1", {}),
    ("LD_ASYNC(b, i)", "LD_ASYNC(a, i)", {}),
]
