ODD = [
    {"n": 1, "shared_elements": 2, "threads": 1},
    {"n": 2, "shared_elements": 2, "threads": 1},
    {"n": 37, "shared_elements": 2, "threads": 3},  # nearly all passes over global memory
    {"n": 100, "shared_elements": 8, "threads": 1024},
    {"n": 1000, "shared_elements": 64, "threads": 24, "seed": 4},
    {"n": 1024, "shared_elements": 256, "threads": 1},
    {"n": 1025, "shared_elements": 512, "threads": 512},
    {"n": 300, "shared_elements": 4, "threads": 16, "keys": 3},
    {"n": 5, "shared_elements": 1024, "threads": 128},  # mostly padding
]

EVENTS = [
    {"n": 300, "shared_elements": 16, "threads": 12},
    {"n": 1000, "shared_elements": 128, "threads": 64},
    {"n": 20, "shared_elements": 64, "threads": 32},
    {"n": 60, "shared_elements": 4, "threads": 8},
]


def events(n, shared_elements, threads):
    total = max(shared_elements, 1 << (n - 1).bit_length())
    lg_local, lg_total = shared_elements.bit_length() - 1, total.bit_length() - 1

    # Batcher's network sorts 2^l elements by (l^2 - l + 4) 2^(l-2) - 1 comparators in l (l + 1) / 2 passes.
    comparators = (lg_local**2 - lg_local + 4) * shared_elements // 4 - 1
    # In shared memory, a comparator: 2 shared loads, work, 2 shared stores; an element: async, shared store, shared
    # load, store; a thread: join, a barrier, and one for each pass.
    passes = lg_local * (lg_local + 1) // 2
    count = total // shared_elements * (5 * comparators + 4 * shared_elements + threads * (2 + passes))

    window, halo = shared_elements, shared_elements // 4
    for lg_run in range(lg_local, lg_total):
        run = 2**lg_run
        merges = total // (2 * run)
        strides = [2**lg for lg in range(lg_run + 1)]
        for stride in strides:
            if stride > window // 8:  # a pass over global memory, a comparator: 2 asyncs, join, work, 2 stores
                count += 6 * merges * (run if stride == run else run - stride)
        inside = [stride for stride in strides if stride <= window // 8]
        if not inside:
            continue
        for first in range(-halo, total - halo, window // 2):
            elements = range(max(0, first), min(total, first + window))
            count += threads * (2 + len(inside)) + 2 * len(elements)  # async and shared store; join and barriers
            count += 2 * (window // 2)  # shared load and store of the window's inner half
            for stride in inside:  # both ends in the window and in the same pair of runs, the lower in an odd stretch
                count += 5 * sum(
                    at // stride % 2 == 1 and at + stride in elements and at // (2 * run) == (at + stride) // (2 * run)
                    for at in elements
                )
    return count


SMALL = {"n": 1000, "shared_elements": 64, "threads": 32}
MISTAKES = [
    ("x = LDS(sorted, i), y", "x = LDS(sorted, i + k), y", {}),
    ("ST(keys, i, min(x, y));", "ST(keys, i, max(x, y));", SMALL),
    ("(k < p ? k : 0) + 2 * k * (q / k)", "2 * k * (q / k)", {}),
    ("k = WINDOW / 8; k > 0", "k = WINDOW / 8; k > 1", SMALL),
    ("STS(window, i + k, max(x, y));", "STS(window, i + k, min(x, y));", SMALL),
]
