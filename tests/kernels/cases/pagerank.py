import numpy as np

from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1, "threads": 1},
    {"n": 2, "threads": 3, "damping": 1.0},
    {"n": 3, "threads": 1024, "degree": 0.0},
    {"n": 129, "threads": 128, "seed": 5, "iterations": 7},
    {"n": 500, "threads": 33, "degree": 0.5, "damping": 0.0},
]

EVENTS = [{"n": 100, "threads": 32, "iterations": 1}, {"n": 300, "threads": 48, "degree": 2.0, "iterations": 2}]


def sums(threads):
    """Events of a sum over a block: a store and a barrier a thread, then levels that halve it."""
    count, width = 2 * threads, threads
    while width > 1:
        half = (width + 1) // 2
        count += 3 * (width - half) + threads
        width = half
    return count


def events(n, threads, iterations, **others):
    arrays = inputs_of("pagerank", {"n": n, "threads": threads, "iterations": iterations, **others})
    blocks, edges = -(-n // threads), int(arrays["first_edge"][-1])
    # A vertex: 2 asyncs, a join, work, a store. A block: its sum and a store.
    pass_on = 5 * n + blocks * (sums(threads) + 1)
    gather = 2 * blocks + sums(threads) + 1
    # A vertex: the loose rank, work, 2 asyncs, a join, work, a store. An edge: 2 loads, work.
    receive = 7 * n + 3 * edges
    assert np.all(arrays["first_edge"][1:] >= arrays["first_edge"][:-1])
    return iterations * (pass_on + gather + receive)


MISTAKES = [
    ("(1 - damping) / n + damping * sum", "(1 - damping) + damping * sum", {"n": 40}),
    ("if (degree == 0) mine = r;", "if (degree == 1) mine = r;", {"n": 200, "degree": 0.5}),
    ("part < parts", "part < parts - 1", {"n": 200, "threads": 32, "degree": 0.5}),
    ("e < stop", "e < stop - 1", {}),
]
