"""List ranking by queues and deterministic coin tossing (Anderson and Miller): linear work with n / lg n threads.

A thread has a queue of lg n nodes. In each round the tops of all queues are coloured by deterministic coin tossing, as
far as they are neighbours in the list; those whose colour is less than their neighbours' leave the list, which is at
least one in ten of a chain. Once all have left but the head, node 0, they come back in reverse, each with its
predecessor's rank and its distance from there. The paper's threads take rulers and their subjects where many tops form
one chain, which keeps the rounds to lg n; here each round colours again. Nothing races but for equal flags.
list-ranking-randomized tosses random coins in the same way, and list-ranking-cole-vishkin has a thread for each node.
"""

from math import log2

import numpy as np

from simtmm.kernel import Launch, Parameter
from simtmm.right_answer.linked_list import drawn_list, expect_ranks

PAPER = "Anderson and Miller, Algorithmica 6 (1991); 001 (Rehman) section 2.5, Table 2.1"

PARAMETERS = {
    "n": Parameter(4096, "nodes of the list", minimum=1, maximum=2**24),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

END_OF_LIST = 0x7FFFFFFF
COLOURS = 6  # that coin tossing ends with
REGISTERS = 16  # assumption: seven pointers, a node with its neighbours and their colours


def queue(n):
    """Nodes of a thread."""
    return max(1, round(log2(n)))


def tosses(threads):
    """How often coins are tossed until fewer than seven colours are left, of so many different ones."""
    colours, count = max(threads, 2), 0
    while colours > COLOURS:
        colours, count = 2 * (colours - 1).bit_length(), count + 1
    return max(1, count)


def most_rounds(n):
    """Each round at least one node leaves, of those at the tops: flags for as many rounds as there are nodes."""
    return n + 1


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
        **{name: np.zeros(len(tops), dtype=np.int32) for name in ("before", "behind", "colour", "tossed", "chosen")},
        "unfinished": np.zeros(most_rounds(p.n), dtype=np.int32),
    }


def launches(p, memory):
    def launch(kernel, *arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    threads, nodes = len(memory["tops"]), queue(p.n)
    common = (nodes, p.n, threads)
    yield launch("link_back", "successor", "predecessor", p.n, threads=p.n)
    done = 0
    while True:
        arrays = ("successor", "predecessor", "tops", "before", "behind", "unfinished")
        yield launch("meet", *arrays, done, *common, threads=threads)
        if not memory["unfinished"][done]:
            break
        colour, tossed = "colour", "tossed"
        for toss in range(tosses(threads)):
            yield launch("toss", "tops", "behind", colour, tossed, int(toss == 0), *common, threads=threads)
            colour, tossed = tossed, colour
        yield launch("choose", "tops", "before", "behind", colour, "chosen", *common, threads=threads)
        arrays = ("successor", "predecessor", "distance", "left_in", "tops", "chosen")
        yield launch("splice", *arrays, done, *common, threads=threads)
        done += 1
    for round_ in reversed(range(done)):
        arrays = ("predecessor", "distance", "left_in", "tops", "rank")
        yield launch("restore", *arrays, round_, nodes, threads, threads=threads)


def check(p, before, after):
    expect_ranks("rank", after["rank"], before["successor"])
