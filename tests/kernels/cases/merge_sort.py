import numpy as np

from simtmm.kernel import load_kernel
from tests.kernels.cases.merge import steps

ODD = [
    {"n": 1, "shared_elements": 2, "threads": 1},
    {"n": 2, "shared_elements": 2, "threads": 1},
    {"n": 37, "shared_elements": 2, "threads": 3},
    {"n": 100, "shared_elements": 8, "threads": 1024},
    {"n": 1000, "shared_elements": 64, "threads": 24, "seed": 4},  # runs that do not pair up
    {"n": 1024, "shared_elements": 256, "threads": 1},
    {"n": 513, "shared_elements": 512, "threads": 512},
    {"n": 700, "shared_elements": 16, "threads": 16, "keys": 3},  # long stretches of equal keys
]

EVENTS = [
    {"n": 300, "shared_elements": 16, "threads": 12},
    {"n": 1000, "shared_elements": 128, "threads": 64},
    {"n": 90, "shared_elements": 8, "threads": 8, "keys": 4},
    {"n": 20, "shared_elements": 64, "threads": 32},
]


def events(shared_elements, threads, **parameters):
    kernel = load_kernel("merge-sort")
    given = {"shared_elements": shared_elements, "threads": threads, **parameters}
    keys = kernel.inputs(kernel.resolve(given))["keys"]
    total, section = len(keys), shared_elements // 2

    # Batcher's network: merging runs of 2^i elements takes i + 1 passes; over all of them (l^2 - l + 4) 2^(l-2) - 1
    # comparators for 2^l elements, each of 2 shared loads, work, 2 shared stores.
    lg = shared_elements.bit_length() - 1
    passes = lg * (lg + 1) // 2
    comparators = (lg * lg - lg + 4) * 2**lg // 4 - 1
    # An element: async, shared store, shared load, store. A thread: join, a barrier, and one for each pass.
    count = total // shared_elements * (5 * comparators + 4 * shared_elements + threads * (2 + passes))

    width = shared_elements
    while width < total:
        for start in range(0, total, 2 * width):
            a, b = np.sort(keys[start : start + width]), np.sort(keys[start + width : start + 2 * width])
            count += merge(a, b, section, threads)
        width *= 2
    return count


def merge(a, b, section, threads):
    """The events of merging two runs in sections."""
    in_b, in_a = np.searchsorted(b, a, "left"), np.searchsorted(a, b, "right")
    cuts = [(i, int(in_b[i])) for i in range(0, len(a), section)]
    # A splitter: its value, 2 events a halving (load, work), work, store.
    count = sum(3 + 2 * steps(len(b), j) for _, j in cuts)
    for j in range(0, len(b), section):
        cuts.append((int(in_a[j]), j))
        count += 3 + 2 * steps(len(a), in_a[j])
    cuts.sort(key=sum)
    count += (6 * len(cuts) - 1) * threads  # a thread: 2 cuts, 2 joins, 2 barriers; the last section has one cut
    for (i, j), (i_end, j_end) in zip(cuts, [*cuts[1:], (len(a), len(b))], strict=True):
        part_a, part_b = a[i:i_end], b[j:j_end]
        halvings = sum(steps(len(part_b), end) for end in np.searchsorted(part_b, part_a, "left"))
        halvings += sum(steps(len(part_a), end) for end in np.searchsorted(part_a, part_b, "right"))
        # An element: async, shared store, 2 events a halving (shared load, work), work, shared store and load, store.
        count += 6 * (len(part_a) + len(part_b)) + 2 * halvings
    return count


MISTAKES = [  # at most one merge: another would search runs that are out of order, and go out of bounds
    ("x = LDS(sorted, i), y", "x = LDS(sorted, i + k), y", {}),
    ("k > 0; k /= 2", "k > 1; k /= 2", {"n": 200}),
    ("at + low - size_a, value[e]", "at, value[e]", {"n": 500}),
    ("from.x + from.y - pair.middle + at", "from.x + at", {"n": 500}),
]
