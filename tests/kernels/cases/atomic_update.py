ODD = [
    {"n": 1},
    {"n": 1000, "counters": 1, "threads": 33},
    {"n": 77, "counters": 5, "stride": 3, "threads": 1024, "seed": 2},
]

EVENTS = [{"n": 64}, {"n": 1001, "counters": 7, "threads": 96}]


def events(n, **_):
    return 2 * n  # an element: read, counted


MISTAKES = [
    ("ATOMIC_ADD(counts, counter, 1u)", "ATOMIC_ADD(counts, counter, 2u)", {}),
    ("LD(where, i)", "LD(where, 0)", {"counters": 64}),
    ("i >= n", "i + 1 >= n", {}),
]
