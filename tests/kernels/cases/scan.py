ODD = [
    {"n": 1},
    {"n": 1, "threads": 1},
    {"n": 3, "threads": 1},
    {"n": 100, "threads": 1},
    {"n": 257, "threads": 128, "seed": 3},
    {"n": 256, "threads": 128},
    {"n": 1000, "threads": 4},
    {"n": 5000, "threads": 1024},
]

EVENTS = [{"n": 1, "threads": 128}, {"n": 1000, "threads": 32}, {"n": 77, "threads": 2}, {"n": 9, "threads": 1}]


def events(n, threads):
    segment = 2 * threads
    levels = segment.bit_length() - 1
    count = 0
    while True:
        blocks = -(-n // segment)
        # A thread: a join, 2 shared stores, barriers. A sum of the tree going up: 4 events; going down: 5.
        tree = threads * (3 + 2 + 2 * levels) + 9 * (segment - 1) + 3
        count += blocks * tree + 3 * n  # an element: read; out of shared memory, written
        if blocks == 1:
            return count
        # Added to each block but the first: an element is read and written, a thread reads the sum, joins, works.
        last_threads = min(threads, n - (blocks - 1) * segment)
        count += 2 * (n - segment) + 3 * ((blocks - 2) * threads + last_threads)
        n = blocks


MISTAKES = [
    ("STS(tree, SEGMENT - 1, 0)", "STS(tree, SEGMENT - 1, total)", {}),
    ("here + left", "here - left", {}),
    ("blockIdx.x + 1", "blockIdx.x", {}),
    ("i + THREADS < n ? LD", "i + THREADS < n - 2 ? LD", {"n": 1024, "threads": 32}),
]
