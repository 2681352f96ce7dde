ORDERS = ("sequential", "strided", "random")

ODD = [
    {"order": order, **sizes}
    for order in ORDERS
    for sizes in (
        {"n": 1, "threads": 1, "blocks": 1},
        {"n": 3, "threads": 1024, "blocks": 2},  # most threads have no part
        {"n": 1000, "threads": 33, "blocks": 3, "passes": 2, "seed": 1},  # the last part is shorter
        {"n": 1000, "threads": 1, "blocks": 7, "stride": 1000},  # a stride beyond the part
        {"n": 640, "threads": 8, "blocks": 2, "stride": 7},
    )
]

EVENTS = [
    {"n": n, "threads": threads, "blocks": 3, "passes": passes, "order": order}
    for n, threads, passes in ((100, 64, 1), (2000, 33, 3))
    for order in ORDERS
]


def events(n, threads, blocks, passes, order):
    a_visit = 3 if order == "random" else 2  # a load and an addition; and a load of where to go
    return n * passes * a_visit + threads * blocks  # and a store of each thread's sum


MISTAKES = [
    ("i += stride", "i += stride + 1", {"order": "strided"}),
    ("pass < passes", "pass < 1", {"order": "sequential", "passes": 2}),
    ("for (unsigned i = first; i < last; ++i) {  // in order", "for (unsigned i = first + 1; i < last; ++i) {", {}),
    ("LD(permutation, i)", "LD(permutation, first)", {"order": "random"}),
]
