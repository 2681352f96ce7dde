from math import log2

RULES = ("n/log n", "n/(2 log^2 n)")

ODD = [
    {"n": 1},
    {"n": 2, "limit": 1, "threads": 1},
    {"n": 3, "limit": 1, "threads": 1024},
    {"n": 64},  # just short enough for one thread
    {"n": 65, "splitters": RULES[1]},  # one sublist
    {"n": 1000, "threads": 33, "limit": 1, "seed": 3},  # down to a list of one node, threads divide nothing
    {"n": 1023, "order": "ordered", "limit": 5},
    {"n": 5000, "splitters": RULES[1], "limit": 2, "seed": 1},
    {"n": 5000, "splitters": RULES[1], "order": "ordered", "threads": 1024},
    {"n": 1, "order": "equidistant"},
    {"n": 1000, "order": "equidistant", "seed": 2},
    {"n": 5000, "order": "equidistant", "splitters": RULES[1]},
    {"n": 1, "order": "drawn-splitters"},
    {"n": 5000, "order": "drawn-splitters", "splitters": RULES[1], "phases": "local-ranking"},
    {"n": 1000, "order": "shuffled-splitters", "limit": 1, "threads": 33, "seed": 2},
    {"n": 64, "phases": "local-ranking"},  # as short a list is not split
    {"n": 65, "phases": "local-ranking"},
    {"n": 5000, "phases": "local-ranking", "splitters": RULES[1], "seed": 1},
]

EVENTS = [
    {"n": 50},
    {"n": 4096},
    {"n": 777, "limit": 1, "threads": 100},
    {"n": 3000, "limit": 3, "splitters": RULES[1]},
    {"n": 3000, "phases": "local-ranking"},
    {"n": 3000, "order": "shuffled-splitters"},
]


def events(n, splitters=RULES[0], limit=64, phases="all", order="random", **_):
    count = 0
    first = True
    while n > limit:
        interval = max(2, round(2 * log2(n) ** 2 if first and splitters == RULES[1] else log2(n)))
        sublists = -(-n // interval)
        count += 3 * sublists  # split: a load, two stores
        # Local ranking. A node: two stores, an operation, and a look at its successor, which the last has not. A
        # sublist: one load at its begin, two stores at its end. A node that has a weight loads and joins it.
        count += 3 * n + (n - 1) + 3 * sublists + (0 if first else 2 * n)
        if first and order.endswith("-splitters"):
            count += 2 * sublists  # where the splitter lies, in both
        if phases == "local-ranking":
            return count
        count += 6 * n  # recombine: three loads, a join, an operation, a store
        n, first = sublists, False
    return count + 5 * n  # one thread: two loads, a join, an operation, a store


MISTAKES = [
    ("total += weight;", "total += 1;", {}),  # right in the first iteration only
    ("ST(sublist, node, t);", "ST(sublist, node, 0);", {}),
    ("ST(rank, i, local + before);", "ST(rank, i, local);", {}),
    ("ST(sublist, node, t);", "ST(sublist, node, 0);", {"phases": "local-ranking"}),
    (
        "ST(rank, node, total);\n        ST(sublist",
        "ST(rank, node, total + 1);\n        ST(sublist",
        {"phases": "local-ranking"},
    ),
    ("ST(sublist_total, t, total);", "ST(sublist_total, t, total - 1);", {"phases": "local-ranking"}),
    ("ST(sublist_total, t, total);", "ST(sublist_total, t, total - 1);", {}),
    ("if (i >= n) return;", "if (i >= n - 1) return;", {}),
]
