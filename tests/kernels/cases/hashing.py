WAYS = [
    {"memory": memory, "operation": operation} for memory in ("shared", "global") for operation in ("read", "update")
]

ODD = [
    {**way, **sizes}
    for way in WAYS
    for sizes in (
        {"n": 1},
        {"n": 5, "threads": 1, "blocks": 1, "working_set": 4},  # a table of one word
        {"n": 1000, "threads": 96, "blocks": 7, "working_set": 1003, "seed": 3},  # nothing divides anything
        {"n": 3000, "threads": 1024, "blocks": 2},
        {"n": 3, "threads": 32, "blocks": 5},  # blocks without an access
    )
]

EVENTS = [
    {**way, **sizes}
    for way in WAYS
    for sizes in (
        {"n": 500, "threads": 64, "blocks": 3, "working_set": 512},
        {"n": 1001, "threads": 96, "blocks": 4, "working_set": 130},
    )
]


def events(n, memory, operation, threads, blocks, working_set):
    words = working_set // 4
    if memory == "global":
        return 3 * n + threads * blocks if operation == "read" else 2 * n
    if operation == "read":
        # A word of the table: its work and its store. A thread: a barrier and the store of its sum.
        return blocks * (2 * words + 2 * threads) + 3 * n
    # A word: set to zero, read, stored to global memory. A thread: two barriers.
    return blocks * (3 * words + 2 * threads) + 2 * n


MISTAKES = [
    ("sum += value;  // from shared memory", "sum = value;", {}),
    ("sum += value;  // from global memory", "sum -= value;", {"memory": "global"}),
    ("SYNC();  // the table is filled", "", {}),
    ("SYNC();  // all updates are done", "", {"operation": "update"}),
    ("blockIdx.x * WORDS + word", "word", {"operation": "update"}),
    (
        "ATOMIC_ADD(table, position, 1u);",
        "ATOMIC_EXCH(table, position, 1u);",
        {"memory": "global", "operation": "update"},
    ),
]
