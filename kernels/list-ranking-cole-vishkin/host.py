"""List ranking by deterministic coin tossing (Cole and Vishkin; Anderson and Miller): linear work on an EREW PRAM.

In a round the nodes of the list are coloured by deterministic coin tossing, a few times over until six colours are
left, then with three; nodes whose colour is less than both neighbours' leave the list, one in four at least, but for
the ends; and the others are packed by a scan over stretches of lg n nodes. Once n / lg n nodes are left they are ranked
by pointer jumping. Then the others come back round by round, each behind the predecessor that it had. No two threads
meet at a word.
"""

from math import log2

import numpy as np

from simtmm.kernel import Launch, Parameter
from simtmm.right_answer.linked_list import drawn_list, expect_ranks

PAPER = (
    "Cole and Vishkin, Information and Control 70 (1986); Anderson and Miller, Algorithmica 6 (1991); 001 (Rehman) "
    "section 2.5, Table 2.1"
)

PARAMETERS = {
    "n": Parameter(2048, "nodes of the list", minimum=1, maximum=2**24),
    "order": Parameter("random", "how the list lies in memory", choices=("random", "ordered")),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

NOBODY = -1
FEWEST = 8  # nodes among which one is sure to leave
COLOURS = 6  # that coin tossing ends with: three bits tell eight positions, of which it keeps three
REGISTERS = 14  # assumption: five pointers, a node with its neighbours and their colours


def stretch(n):
    """Nodes that a thread counts and packs."""
    return max(1, round(log2(n)))


def tosses(n):
    """How often coins are tossed until fewer than seven colours are left, of n different ones."""
    colours, count = max(n, 2), 0
    while colours > COLOURS:
        colours, count = 2 * (colours - 1).bit_length(), count + 1
    return max(1, count)


def inputs(p):
    _, successor = drawn_list(np.random.default_rng(p.seed), p.n, p.order, NOBODY)
    distance = np.ones(p.n, dtype=np.int32)
    distance[0] = 0  # the head
    nothing = {name: np.zeros(p.n, dtype=np.int32) for name in ("leaves", "colour", "tossed", "packed", "left", "rank")}
    sums = {name: np.zeros(-(-p.n // stretch(p.n)), dtype=np.int32) for name in ("sums", "scanned")}
    return {
        "successor": successor,
        "predecessor": np.full(p.n, NOBODY, dtype=np.int32),
        "distance": distance,
        "active": np.arange(p.n, dtype=np.int32),
        "jumped": np.zeros(p.n, dtype=np.int32),
        "farther": np.zeros(p.n, dtype=np.int32),
        "staying": np.zeros(1, dtype=np.int32),
        **nothing,
        **sums,
    }


def launches(p, memory):
    def launch(kernel, *arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    yield launch("link_back", "successor", "predecessor", p.n, threads=p.n)
    active, packed, count, gone = "active", "packed", p.n, 0
    rounds = []  # of each, where its nodes begin among those that left, and how many they are
    while count > max(FEWEST, p.n // stretch(p.n)):
        colour, tossed = "colour", "tossed"
        for toss in range(tosses(p.n)):
            yield launch("toss", active, "successor", tossed, colour, int(toss == 0), count, threads=count)
            colour, tossed = tossed, colour
        colour = tossed  # the one that was written last
        for which in range(COLOURS - 1, 2, -1):
            links = (active, "successor", "predecessor")
            yield launch("reduce_colours", *links, colour, which, count, threads=count)
        yield launch("choose", active, "successor", "predecessor", colour, "leaves", count, threads=count)
        yield launch("splice", active, "leaves", "successor", "predecessor", "distance", count, threads=count)
        stretches = -(-count // stretch(p.n))
        yield launch("count_staying", active, "leaves", "sums", stretch(p.n), count, threads=stretches)
        sums, scanned = "sums", "scanned"
        for step in range((stretches - 1).bit_length()):
            yield launch("scan_step", sums, scanned, 1 << step, stretches, threads=stretches)
            sums, scanned = scanned, sums
        arrays = (active, "leaves", sums, packed, "left", "staying")
        yield launch("pack", *arrays, gone, stretch(p.n), count, threads=stretches)
        staying = int(memory["staying"][0])
        rounds.append((gone, count - staying))
        gone += count - staying
        active, packed, count = packed, active, staying
    now, next_ = ("predecessor", "distance"), ("jumped", "farther")
    for _ in range(count.bit_length()):
        yield launch("jump", active, *now, *next_, count, threads=count)
        now, next_ = next_, now
    yield launch("settle", active, now[1], "rank", count, threads=count)
    for begin, left in reversed(rounds):
        if left:
            yield launch("restore", "left", "predecessor", "distance", "rank", begin, left, threads=left)


def check(p, before, after):
    expect_ranks("rank", after["rank"], before["successor"])
