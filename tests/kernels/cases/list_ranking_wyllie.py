ODD = [
    {"n": 1},
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 1000, "threads": 33, "order": "ordered"},
    {"n": 1024, "threads": 1024},
]

EVENTS = [{"n": 100}, {"n": 1}, {"n": 1025, "threads": 100}]


def events(n, **_):
    steps = max(1, (n - 1).bit_length())
    # Node d from the end has a successor until it has jumped over d nodes; then it reads it and adds.
    return sum(3 * n + 2 * max(0, n - 2**step) for step in range(steps))


MISTAKES = [
    ("(unsigned)(node >> 32) + (unsigned)", "(unsigned)(node >> 32) - (unsigned)", {}),
    ("(i >= n)", "(i >= n - 1)", {}),
    ("| (unsigned)next", "| successor", {}),
]
