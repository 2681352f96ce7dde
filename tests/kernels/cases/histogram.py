ODD = [
    {"n": 1},
    {"n": 5, "threads": 1, "blocks": 1, "bins": 1},  # one bin
    {"n": 1000, "threads": 96, "blocks": 7, "bins": 37, "values": "normal", "seed": 3},
    {"n": 3000, "threads": 1024, "blocks": 2, "bins": 1500},
    {"n": 500, "threads": 33, "blocks": 9, "values": "same"},
    {"n": 3, "threads": 32, "blocks": 5},  # blocks without a value
]

EVENTS = [
    {"n": 500, "threads": 64, "blocks": 3, "bins": 32},
    {"n": 1001, "threads": 96, "blocks": 4, "bins": 100},
]


def events(n, threads, blocks, bins):
    # A bin of a block: set to zero, read, added. A thread: two barriers. A value: read, counted.
    return blocks * (3 * bins + 2 * threads) + 2 * n


MISTAKES = [
    ("ATOMIC_ADD(counts, bin, 1u);", "ATOMIC_EXCH(counts, bin, 1u);", {}),
    ("SYNC();  // all values are counted", "", {}),
    ("SYNC();  // all counts are zero", "", {}),
    ("ATOMIC_ADD(totals, bin, count);", "ATOMIC_MAX(totals, bin, count);", {}),
]
