ODD = [
    {"n": 1},
    {"n": 1, "side": 1},
    {"n": 7, "side": 1},  # a thread a block
    {"n": 19, "side": 8, "seed": 3},
    {"n": 33, "side": 32},  # 1024 threads a block
    {"n": 20, "side": 6, "sum": "register"},
]

EVENTS = [{"n": n, "side": side, "sum": place} for n, side in ((16, 8), (21, 16)) for place in ("memory", "register")]


def events(n, sum, **_):  # noqa: A002 - the parameter's name
    # An element: c scaled by beta is a load, work, a store; then n times two asyncs, a join, work, a store.
    return n**2 * (3 + n * (6 if sum == "memory" else 5))


MISTAKES = [
    ("alpha * x * y", "alpha * x + y", {}),
    ("sum *= beta", "sum *= alpha", {}),
    ("i >= n || j >= n", "i >= n || j > n - 2", {}),
    ("LD_ASYNC(b, k * n + j)", "LD_ASYNC(b, j * n + k)", {}),
    ("k < n; ++k", "k + 1 < n; ++k", {"sum": "register"}),
]
