"""Batcher's odd-even merge sort, a network of comparators.

Runs that fit shared memory, of Z elements, are sorted in one launch. Larger ones are merged by a launch for each pass
over global memory, until the stride is Z/8; the passes that are left make one launch in shared memory, of windows of Z
elements that overlap by half and go to another array. Comparators of a pass share no element; nothing races. The keys
are padded to a power of two with the largest number.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.4.2 (its first part) and Table 4.4, Odd-even Sort"

PARAMETERS = {
    "n": Parameter(8192, "elements", minimum=1, maximum=2**24),
    "shared_elements": Parameter(
        512, "elements that a block holds in shared memory, Z", choices=tuple(2**lg for lg in range(1, 13))
    ),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "keys": Parameter(2**30, "different keys at most; few make many equal ones", minimum=1, maximum=2**31 - 1),
}

LARGEST = 2**31 - 1


def defines(p):
    return {"LOCAL": p.shared_elements, "THREADS": p.threads}


def algorithm(p):
    return "odd-even-sort", {"n": p.n}


def inputs(p):
    keys = np.full(max(p.shared_elements, 1 << (p.n - 1).bit_length()), LARGEST, dtype=np.int32)
    keys[: p.n] = np.random.default_rng(p.seed).integers(p.keys, size=p.n)
    return {"keys": keys, "other": np.zeros_like(keys)}


def launches(p, memory):
    total = len(memory["keys"])
    in_shared_memory = {
        "block": p.threads,
        "registers_per_thread": 16 + -(-p.shared_elements // p.threads),  # assumption: indices; and one an element
        "shared_memory_bytes": 4 * p.shared_elements,
    }
    yield Launch("sort_blocks", ("keys",), grid=total // p.shared_elements, **in_shared_memory)
    before, after = "keys", "other"
    run, widest_inside = p.shared_elements, p.shared_elements // 8
    while run < total:
        stride = run
        while stride > widest_inside:
            yield Launch(
                "pass",
                (before, total // 2, run, stride),
                grid=-(-(total // 2) // p.threads),
                block=p.threads,
                registers_per_thread=10,  # assumption: two elements, indices
            )
            stride //= 2
        if widest_inside:
            yield Launch(
                "last_passes", (before, after, total, run), grid=2 * total // p.shared_elements, **in_shared_memory
            )
            before, after = after, before
        run *= 2


def check(p, before, after):
    merges = (len(before["keys"]) // p.shared_elements).bit_length() - 1
    to_other = merges % 2 if p.shared_elements >= 8 else 0  # a merge with passes in shared memory changes the array
    expect_equal("sorted", after[("keys", "other")[to_other]], np.sort(before["keys"]))
