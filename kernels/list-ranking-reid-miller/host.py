"""List ranking by Reid-Miller's algorithm: sublists between random cuts, walked twice, packed while they are walked.

m random nodes end sublists. A first walk sums up each sublist, Wyllie's algorithm ranks the list of sublists, and a
second walk ranks the nodes. Sublists differ in length, so a walk is cut into launches, and those sublists that have
not ended are packed behind one another between them: lanes of a warp are threads that still walk. Besides the list and
its ranks there are arrays of m elements alone, and the list is as before at the end.

Unordered: a sublist that has not ended takes its place among the packed ones by an atomic addition, so the order of
threads decides which thread walks it on. Lengths, sums and ranks are the same in any order.

What the thesis leaves open, and so is assumed: m is n / log n, as in Helman and JaJa's; the first launch of a walk is
as long as the mean sublist, and each further one twice as long as the one before.
"""

from math import ceil, log2

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal
from simtmm.right_answer.linked_list import drawn_list, expect_ranks

PAPER = "Reid-Miller, SPAA 1994; 001 (Rehman) section 2.5, Table 2.1"

PARAMETERS = {
    "n": Parameter(4096, "nodes of the list", minimum=1, maximum=2**26),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
    "links": Parameter(
        0,
        "nodes walked until sublists are packed, twice as many each further time; 0: the mean length of a sublist",
        minimum=0,
        maximum=2**26,
    ),
    "threads": Parameter(512, "threads of a block", minimum=1, maximum=1024),
}

END_OF_LIST = 0x7FFFFFFF
REGISTERS = 12  # assumption: pointers, four numbers of the walk, the thread's index
MOST_LAUNCHES = 32  # of a walk: each is twice as long


def interval(n):
    """The mean length of a sublist."""
    return max(2, round(log2(n)))


def inputs(p):
    random = np.random.default_rng(p.seed)
    order, successor = drawn_list(random, p.n, p.order, END_OF_LIST)
    sublists = max(1, p.n // interval(p.n))
    cuts = order[random.choice(max(1, p.n - 1), max(1, sublists - 1), replace=False)]  # the last node is none
    return {
        "successor": successor,
        "rank": np.zeros(p.n, dtype=np.int32),
        "tails": cuts.astype(np.int32),
        "begin": np.zeros(sublists, dtype=np.int32),
        "walked": np.zeros(sublists, dtype=np.uint64),
        "sublists": np.zeros(sublists, dtype=np.uint64),
        "jumped": np.zeros(sublists, dtype=np.uint64),
        "active": np.zeros(sublists, dtype=np.int32),
        "packed": np.zeros(sublists, dtype=np.int32),
        "left": np.zeros(2 * MOST_LAUNCHES, dtype=np.int32),
    }


def launches(p, memory):
    sublists = len(memory["begin"])

    def launch(kernel, arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    def walk(kernel, target, first):
        """The launches of a walk. first: its place among the numbers of sublists that are left."""
        links, count, buffers = p.links or interval(p.n), sublists, ("active", "packed")
        for place in range(first, first + MOST_LAUNCHES):
            yield launch(kernel, ("successor", target, "walked", *buffers, "left", place, links, count), count)
            count = int(memory["left"][place])
            if not count:
                return
            links, buffers = min(2 * links, p.n), buffers[::-1]

    yield launch("cut", ("successor", "tails", "begin", "walked", "active", sublists), sublists)
    yield from walk("sum", "sublists", 0)
    steps = ceil(log2(sublists))
    for step in range(steps):
        before, after = ("sublists", "jumped")[:: 1 - 2 * (step % 2)]
        yield launch("jump", (before, after, sublists), sublists)
    ranked = ("sublists", "jumped")[steps % 2]
    yield launch("place", (ranked, "begin", "walked", "active", p.n, sublists), sublists)
    yield from walk("expand", "rank", MOST_LAUNCHES)
    if sublists > 1:
        yield launch("mend", ("successor", "tails", "begin", sublists), sublists)


def check(p, before, after):
    expect_equal("successor", after["successor"], before["successor"])
    expect_ranks("rank", after["rank"], before["successor"])
