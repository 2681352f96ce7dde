"""List ranking by random splicing (Anderson and Miller): nodes leave the list, are ranked as they come back.

A thread has a queue of lg n nodes. In each round it tosses a coin for the node at the top, and the node leaves the
list if the coin shows heads and its predecessor is no top with heads; so neighbours never leave together. Once all
have left but the head, node 0, they come back in reverse, each with its predecessor's rank and its distance from there.
A round takes two launches, `choose` and `splice`, and one more on the way back, `restore`; nothing races but for equal
flags.
"""

from math import log2

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter
from simtmm.right_answer.linked_list import drawn_list, expect_ranks

PAPER = "Anderson and Miller, Information Processing Letters 33 (1990); 001 (Rehman) section 2.5, Table 2.1"

PARAMETERS = {
    "n": Parameter(4096, "nodes of the list", minimum=1, maximum=2**26),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
    "threads": Parameter(512, "threads of a block", minimum=1, maximum=1024),
}

END_OF_LIST = 0x7FFFFFFF
REGISTERS = 14  # assumption: pointers, a node and its neighbours, a hash
# A top leaves with a chance of 1/4 at least, and a queue has 26 nodes at most: of 2.6 million threads one would need
# more rounds once in 10^50 lists.
MOST_ROUNDS = 1024


def queue(n):
    """Nodes of a thread."""
    return max(1, round(log2(n)))


def inputs(p):
    _, successor = drawn_list(np.random.default_rng(p.seed), p.n, p.order, END_OF_LIST)
    tops = np.arange(0, p.n, queue(p.n), dtype=np.int32)
    tops[0] = 1  # the head stays
    return {
        "successor": successor,
        "predecessor": np.zeros(p.n, dtype=np.int32),
        "distance": np.ones(p.n, dtype=np.int32),
        "left_in": np.zeros(p.n, dtype=np.int32),
        "rank": np.zeros(p.n, dtype=np.int32),
        "tops": tops,
        "chosen": np.zeros(len(tops), dtype=np.int32),
        "unfinished": np.zeros(MOST_ROUNDS, dtype=np.int32),
    }


def launches(p, memory):
    def launch(kernel, arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    threads, nodes = len(memory["tops"]), queue(p.n)
    common = (nodes, p.n, threads)
    yield launch("link_back", ("successor", "predecessor", p.n), p.n)
    for done in range(MOST_ROUNDS):
        yield launch("choose", ("predecessor", "tops", "chosen", "unfinished", p.seed % 2**31, done, *common), threads)
        if not memory["unfinished"][done]:
            break
        arrays = ("successor", "predecessor", "distance", "left_in", "tops", "chosen")
        yield launch("splice", (*arrays, done, *common), threads)
    else:
        raise KernelError(f"seed = {p.seed}: {MOST_ROUNDS} rounds do not empty the list; take another")
    for round_ in reversed(range(done)):
        arrays = ("predecessor", "distance", "left_in", "tops", "rank")
        yield launch("restore", (*arrays, round_, nodes, threads), threads)


def check(p, before, after):
    expect_ranks("rank", after["rank"], before["successor"])
