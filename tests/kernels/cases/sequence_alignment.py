from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "m": 1, "threads": 1},
    {"n": 1, "m": 50, "threads": 32},
    {"n": 50, "m": 1, "threads": 3},
    {"n": 33, "m": 70, "threads": 1024, "seed": 1},
    {"n": 65, "m": 64, "threads": 1},
    {"n": 100, "m": 101, "threads": 32, "letters": 20},
    {"n": 30, "m": 20, "letters": 1},  # equal letters only
]

EVENTS = [{"n": 40, "m": 30, "threads": 16}, {"n": 17, "m": 64}, {"n": 1, "m": 1}]


def events(threads=128, **parameters):
    kernel = load_kernel("sequence-alignment")
    arrays = kernel.inputs(kernel.resolve({"threads": threads, **parameters}))
    first, second = arrays["first"].tolist(), arrays["second"].tolist()
    host = kernel.host
    scores = {}
    records = 0  # cells that beat the cells before them in their row: one store more
    for i, x in enumerate(first):
        best = 0
        for j, y in enumerate(second):
            substitution = scores.get((i - 1, j - 1), 0) + (host.MATCH if x == y else host.MISMATCH)
            gap = max(scores.get((i - 1, j), 0), scores.get((i, j - 1), 0)) - host.GAP
            scores[i, j] = max(0, substitution, gap)
            records += scores[i, j] > best
            best = max(best, scores[i, j])
    # A cell: 6 asyncs, join, work, store. At the end a load and work for each row, an atomic for each thread.
    return 9 * len(scores) + records + 2 * len(first) + threads


MISTAKES = [
    ("x == y ? match : mismatch", "x != y ? match : mismatch", {}),
    ("max(above, left) - gap", "max(above, left) + gap", {}),
    ("LD_ASYNC(last, i - 1)", "LD_ASYNC(last, i)", {}),
    ("score > row_best", "score < row_best", {}),
]
