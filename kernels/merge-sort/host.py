"""Merge sort: blocks in shared memory, then rounds of blocked merges.

Blocks of Z elements are sorted in shared memory by odd-even merge sort. A round merges pairs of runs: every Z/2-th
element is looked up in the other run of its pair, and the sections between these cuts are merged in shared memory. Two
arrays take turns in the rounds; nothing races. The keys are padded to whole blocks with the largest number.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.4.2, Eq (4.35)"

PARAMETERS = {
    "n": Parameter(8192, "elements", minimum=1, maximum=2**24),
    "shared_elements": Parameter(
        256,
        "elements that are sorted or merged in shared memory at once, Z",
        choices=tuple(2**lg for lg in range(1, 13)),
    ),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "keys": Parameter(2**30, "different keys at most; few make many equal ones", minimum=1, maximum=2**31 - 1),
}

LARGEST = 2**31 - 1


def defines(p):
    return {"LOCAL": p.shared_elements, "THREADS": p.threads}


def algorithm(p):
    return "merge-sort", {"n": p.n}


def inputs(p):
    total = -(-p.n // p.shared_elements) * p.shared_elements
    keys = np.full(total, LARGEST, dtype=np.int32)
    keys[: p.n] = np.random.default_rng(p.seed).integers(p.keys, size=p.n)
    cuts = np.zeros((2 * total // p.shared_elements, 2), dtype=np.int32)
    return {"keys": keys, "merged": np.zeros_like(keys), "cuts": cuts}


def rounds(p, total):
    """The lengths of the runs that are merged, round by round."""
    run = p.shared_elements
    while run < total:
        yield run
        run *= 2


def launches(p, memory):
    total, sections = len(memory["keys"]), len(memory["cuts"])
    registers = 16 + -(-p.shared_elements // p.threads)  # assumption: bounds, indices, addresses; and one an element
    yield Launch(
        "sort_blocks",
        ("keys",),
        grid=total // p.shared_elements,
        block=p.threads,
        registers_per_thread=registers,
        shared_memory_bytes=4 * p.shared_elements,
    )
    before, after = "keys", "merged"
    for run in rounds(p, total):
        yield Launch(
            "split",
            (before, total, run, "cuts"),
            grid=-(-sections // p.threads),
            block=p.threads,
            registers_per_thread=16,  # assumption: as above, without the elements
        )
        yield Launch(
            "merge_sections",
            (before, total, run, "cuts", after),
            grid=sections,
            block=p.threads,
            registers_per_thread=registers,
            shared_memory_bytes=2 * 4 * p.shared_elements,
        )
        before, after = after, before


def check(p, before, after):
    merges = len(list(rounds(p, len(before["keys"]))))
    expect_equal("sorted", after[("keys", "merged")[merges % 2]], np.sort(before["keys"]))
