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
] + [
    {"n": 1, "threads": 1, "blocks": 1, "ahead": 8},
    {"n": 1000, "threads": 33, "blocks": 3, "passes": 2, "ahead": 2},
    {"n": 1000, "threads": 33, "blocks": 3, "ahead": 64},  # parts are shorter than that
]

EVENTS = [
    {"n": n, "threads": threads, "blocks": 3, "passes": passes, "order": order}
    for n, threads, passes in ((100, 64, 1), (2000, 33, 3))
    for order in ORDERS
] + [{"n": 2000, "threads": 33, "blocks": 3, "passes": 3, "order": "sequential", "ahead": ahead} for ahead in (2, 8)]


def events(n, threads, blocks, passes, order, ahead=1):
    # a load and an addition; and a load of where to go, or a join of what was loaded ahead
    a_visit = 3 if order == "random" or ahead > 1 else 2
    return n * passes * a_visit + threads * blocks  # and a store of each thread's sum


MISTAKES = [
    ("i += stride", "i += stride + 1", {"order": "strided"}),
    ("pass < passes", "pass < 1", {"order": "sequential", "passes": 2}),
    ("for (unsigned i = first; i < last; ++i) {  // in order", "for (unsigned i = first + 1; i < last; ++i) {", {}),
    ("sum += loaded[(i - first) % AHEAD]", "sum += loaded[0]", {"ahead": 4}),
    ("if (next < last)", "if (next + 1 < last)", {"ahead": 4}),
    ("LD(permutation, i)", "LD(permutation, first)", {"order": "random"}),
]
