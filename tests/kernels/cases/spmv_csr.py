from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1},
    {"n": 2, "threads": 1, "lanes": 1},
    {"n": 2, "threads": 1, "lanes": 2},  # lanes above threads: a row a block
    {"n": 3, "threads": 1024, "lanes": 32},
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 100, "threads": 33, "lanes": 8},  # 4 rows a block, the 33rd thread left out
    {"n": 77, "threads": 64, "lanes": 4, "nonzeros": 0},
    {"n": 65, "threads": 64, "lanes": 16, "nonzeros": 40},
]

EVENTS = [{"n": 100}, {"n": 200, "threads": 96, "lanes": 8}, {"n": 33, "threads": 50, "lanes": 4}, {"n": 7, "lanes": 1}]


def events(n, threads=128, lanes=1, **others):
    arrays = inputs_of("spmv-csr", {"n": n, "threads": threads, "lanes": lanes, **others})
    nonzeros = len(arrays["value"])
    count = n * (3 * lanes + 1) + 5 * nonzeros  # a lane: 2 asyncs, a join; a row: a store; a nonzero: 2, 1, load, work
    if lanes == 1:
        return count
    rows = max(1, threads // lanes)
    blocks = -(-n // rows)
    # The tree: each lane but one is folded into another, with a shared load, work and a shared store.
    return count + blocks * rows * (lanes * (2 + lanes.bit_length() - 1) + 3 * (lanes - 1))


MISTAKES = [
    ("total += a * LD(x, column_of_a)", "total -= a * LD(x, column_of_a)", {}),
    ("j += LANES", "j += LANES + 1", {"lanes": 4}),
    ("half = LANES / 2", "half = LANES / 4", {"lanes": 8}),
]
