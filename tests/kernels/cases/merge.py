import numpy as np

from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "threads": 1},
    {"n": 2, "section": 1, "threads": 1},
    {"n": 100, "section": 7, "threads": 1024},
    {"n": 1000, "section": 33, "threads": 32, "share": 0.1, "seed": 4},
    {"n": 777, "section": 64, "threads": 100, "share": 0.0},  # nothing on the left
    {"n": 777, "section": 64, "threads": 1, "share": 1.0},  # nothing on the right
    {"n": 513, "section": 512, "threads": 512},
    {"n": 600, "section": 16, "threads": 16, "keys": 3},  # long stretches of equal keys
]

EVENTS = [
    {"n": 300, "section": 16, "threads": 24},
    {"n": 1000, "section": 100, "threads": 64, "share": 0.3},
    {"n": 90, "section": 8, "threads": 8, "keys": 4},
]


def steps(size, answer):
    """Halvings of a binary search among `size` elements that ends at `answer`."""
    low, high, count = 0, size, 0
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if middle < answer else (low, middle)
        count += 1
    return count


def events(section, threads, **parameters):
    kernel = load_kernel("merge")
    arrays = kernel.inputs(kernel.resolve({"section": section, "threads": threads, **parameters}))
    a, b = arrays["a"], arrays["b"]

    def searches(a, b):
        """Of each element in the other array, equal elements of a first: the halvings, and where they end."""
        in_b, in_a = np.searchsorted(b, a, "left"), np.searchsorted(a, b, "right")
        return [steps(len(b), end) for end in in_b], in_b, [steps(len(a), end) for end in in_a], in_a

    steps_a, in_b, steps_b, in_a = searches(a, b)
    bounds_a, bounds_b = range(0, len(a), section), range(0, len(b), section)
    # A splitter: its value, 2 events a halving (load, work), work, store.
    count = sum(3 + 2 * steps_a[i] for i in bounds_a) + sum(3 + 2 * steps_b[j] for j in bounds_b)
    cuts = sorted([*((i, int(in_b[i])) for i in bounds_a), *((int(in_a[j]), j) for j in bounds_b)], key=sum)
    for (i, j), (i_end, j_end) in zip(cuts, [*cuts[1:], (len(a), len(b))], strict=True):
        steps_a, _, steps_b, _ = searches(a[i:i_end], b[j:j_end])
        count += 6 * threads  # a thread: 2 asyncs for the cuts, 2 joins, 2 barriers
        # An element: async, shared store, 2 events a halving (shared load, work), work, shared store and load, store.
        count += 6 * (len(steps_a) + len(steps_b)) + 2 * (sum(steps_a) + sum(steps_b))
    return count


MISTAKES = [
    ("at + low - size_a, value[e]", "at, value[e]", {}),
    ("from.x + from.y + at", "from.x + at", {}),
    ("here == value[e] && !of_a", "here == value[e]", {"keys": 3}),
]
