ODD = [
    {"n": 1, "size": 1, "reads": 3},
    {"n": 37, "threads": 5, "indexes": "neighbours", "size": 7, "reads": 20, "seed": 3},
    {"n": 500, "threads": 96, "indexes": "random", "size": 1024, "reads": 1},
    {"n": 130, "threads": 64, "indexes": "random", "memory": "global", "size": 33},
    {"n": 65, "indexes": "neighbours", "memory": "global", "reads": 40, "size": 12},
]

EVENTS = [
    {"n": 100, "reads": 5, "memory": "constant"},
    {"n": 33, "reads": 9, "memory": "constant", "indexes": "random"},
    {"n": 100, "reads": 5, "memory": "global"},
]


def events(n, reads, memory, indexes=""):
    # A thread: its index, its sum; a read or an operation for each element.
    return n * (reads + 2)


MISTAKES = [
    ("sum += table[index];", "sum += table[index] + 1;", {}),
    ("sum += LD(copy, index);", "sum += LD(copy, read % SIZE);", {"memory": "global", "indexes": "random"}),
    ("(index + 1) % SIZE", "(index + 1) % SIZE / 2", {}),
    ("read < READS", "read + 1 < READS", {}),
]
