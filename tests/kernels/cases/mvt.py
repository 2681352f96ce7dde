ODD = [
    {"n": 1},
    {"n": 2, "side": 1},  # a thread a block
    {"n": 100, "side": 9, "seed": 3},
    {"n": 67, "side": 32},  # 1024 threads a block
    {"n": 65, "side": 8, "sum": "register"},
]

EVENTS = [{"n": n, "side": side, "sum": place} for n, side in ((50, 4), (65, 8)) for place in ("memory", "register")]


def events(n, sum, **_):  # noqa: A002 - the parameter's name
    # A row in either launch: n times two asyncs, a join, work, a store, and a load of the sum each time or once.
    return 2 * n * (5 * n + (n if sum == "memory" else 1))


MISTAKES = [
    ("LD_ASYNC(a, i * n + j)", "LD_ASYNC(a, j * n + i)", {}),
    ("LD_ASYNC(a, j * n + i)", "LD_ASYNC(a, i * n + j)", {}),
    ("sum += x * y;  // of a row", "sum = x * y;", {"sum": "register"}),
    ("ST(x2, i, sum)", "ST(x2, i, sum + 1)", {}),
]
