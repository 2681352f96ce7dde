"""Blocked merge of two sorted arrays, in sections that fit shared memory.

Every section-th element of each array is looked up in the other by binary search; these cuts part both arrays into
sections of at most `section` elements of each, which match up. Then a block merges a section in shared memory: an
element's rank is its own index plus its rank in the other part.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "000 (Ma) section 4.4.1, Eq (4.33) and (4.34)"

PARAMETERS = {
    "n": Parameter(8192, "elements of both arrays together", minimum=1, maximum=2**24),
    "section": Parameter(128, "elements that a section has of one array at most, Z / 2", minimum=1, maximum=2048),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
    "share": Parameter(0.5, "share of the elements that the first array has", minimum=0.0, maximum=1.0),
    "keys": Parameter(2**30, "different keys at most; few make many equal ones", minimum=1, maximum=2**31 - 1),
}


def defines(p):
    return {"SECTION": p.section, "THREADS": p.threads}


def algorithm(p):
    return "merge", {"n": p.n}


def inputs(p):
    keys = np.random.default_rng(p.seed).integers(p.keys, size=p.n, dtype=np.int32)
    size_a = round(p.share * p.n)
    a, b = np.sort(keys[:size_a]), np.sort(keys[size_a:])
    cuts = np.zeros((-(-len(a) // p.section) + -(-len(b) // p.section) + 1, 2), dtype=np.int32)
    cuts[-1] = len(a), len(b)  # the last section ends where the arrays end
    return {"a": a, "b": b, "cuts": cuts, "merged": np.full(p.n, -1, dtype=np.int32)}


def launches(p, memory):
    sections = len(memory["cuts"]) - 1
    yield Launch(
        "split",
        ("a", len(memory["a"]), "b", len(memory["b"]), "cuts"),
        grid=-(-sections // p.threads),
        block=p.threads,
        registers_per_thread=16,  # assumption: the search's bounds and value, addresses
    )
    yield Launch(
        "merge_sections",
        ("a", "b", "cuts", "merged"),
        grid=sections,
        block=p.threads,
        registers_per_thread=16 + -(-2 * p.section // p.threads),  # assumption: likewise, and one an element
        shared_memory_bytes=4 * p.section * 4,
    )


def check(p, before, after):
    expect_equal("merged", after["merged"], np.sort(np.concatenate([before["a"], before["b"]])))
