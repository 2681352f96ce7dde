ODD = [
    {"n": 1},
    {"n": 2, "threads": 1},
    {"n": 100, "threads": 1},
    {"n": 257, "threads": 128, "seed": 3},
    {"n": 1000, "threads": 33},
    {"n": 5000, "threads": 1024},
]

EVENTS = [{"n": 1, "threads": 128}, {"n": 1000, "threads": 32}, {"n": 777, "threads": 5}, {"n": 9, "threads": 1}]


def events(n, threads):
    count = 0
    while True:
        blocks = -(-n // (2 * threads))
        # A thread: join, work, shared store, barriers. Of the tree, each thread but one is folded into another:
        # 1 shared load, work, 1 shared store. A block: a store.
        tree = 3 * (threads - 1) + (threads - 1).bit_length() * threads
        count += n + blocks * (4 * threads + tree + 1)
        n = blocks
        if n == 1:
            return count


MISTAKES = [
    ("i + THREADS < n", "i + THREADS < n - 1", {"n": 256, "threads": 128}),
    ("t + half < width", "t + half < width - 1", {}),
    ("2 * THREADS + threadIdx.x", "THREADS + threadIdx.x", {}),
]
