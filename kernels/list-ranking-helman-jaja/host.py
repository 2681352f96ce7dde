"""List ranking by the recursive Helman-JaJa algorithm: split, rank locally, recombine.

Splitters begin sublists, a thread walks a sublist, the list of sublists is ranked by the same three phases, and so on
until one thread can rank it. The head is node 0, which is always a splitter: were it elsewhere, no thread would walk
the nodes before the first splitter. So the other p - 1 splitters of a random list are random cuts of it, and the
sublists are geometric with mean n / p. As in the thesis the rule n/(2 log^2 n) is that of the first iteration only. A
random list whose splitters are equidistant (order = equidistant, section 4.4.2) has sublists of m nodes each in the
first iteration. On an ordered list the splitters of the first iteration can be drawn at random (order = drawn-splitters
or shuffled-splitters, likewise). What the thesis leaves open: the list of at most `limit` nodes is ranked by a single
thread, the last of its three ways; and whether threads take random splitters in the order in which they lie.
"""

from math import ceil, log2

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal
from simtmm.right_answer.linked_list import expect_ranks

PAPER = "001 (Rehman) sections 4.2, 4.2.1 and 4.3, Algorithm 7; Table 4.1; section 6.3"

PARAMETERS = {
    "n": Parameter(4096, "nodes of the list", minimum=1, maximum=2**26),
    "splitters": Parameter(
        "n/log n", "how many sublists, in the first iteration", choices=("n/log n", "n/(2 log^2 n)")
    ),
    "order": Parameter(
        "random",
        "how the list lies in memory; equidistant: at random, with splitters at equal distances along the list; "
        "drawn-splitters: ordered, splitters anywhere, threads take them as they lie; shuffled-splitters: in any order",
        choices=("random", "ordered", "equidistant", "drawn-splitters", "shuffled-splitters"),
    ),
    "limit": Parameter(64, "nodes of the longest list that one thread ranks", minimum=1, maximum=65536),
    "threads": Parameter(512, "threads of a block", minimum=1, maximum=1024),
    "phases": Parameter("all", "all of them, or the first split and local ranking", choices=("all", "local-ranking")),
}

END_OF_LIST = 0x7FFFFFFF
ANYWHERE = ("drawn-splitters", "shuffled-splitters")
REGISTERS = 12  # assumption: pointers, four numbers of the walk, the thread's index


def interval(n, splitters):
    """Nodes of memory from a splitter to the next, n / p; at least 2, so that every iteration shortens the list."""
    return max(2, round(log2(n) if splitters == "n/log n" else 2 * log2(n) ** 2))


def iterations(p):
    """The length of the list and the interval of splitters in each iteration, and the length that is left."""
    length, done = p.n, []
    while length > p.limit:
        done.append((length, interval(length, "n/log n" if done else p.splitters)))
        length = ceil(length / done[-1][1])
    return done, length


def algorithm(p):
    if p.phases != "all":
        return None  # only a part of it
    return "list-ranking-helman-jaja", {"n": p.n}


def inputs(p):
    order = np.arange(p.n)
    if p.order == "random":
        order[1:] = 1 + np.random.default_rng(p.seed).permutation(p.n - 1)
    elif p.order == "equidistant":
        order = equidistant(p)
    successor = np.full(p.n, END_OF_LIST, dtype=np.int32)
    successor[order[:-1]] = order[1:]
    arrays = {"successor0": successor, "rank0": np.ones(p.n, dtype=np.int32)}
    done, left = iterations(p)
    for level, (length, _) in enumerate(done):
        shorter = done[level + 1][0] if level + 1 < len(done) else left
        arrays[f"sublist{level}"] = np.zeros(length, dtype=np.int32)
        arrays[f"successor{level + 1}"] = np.zeros(shorter, dtype=np.int32)
        arrays[f"rank{level + 1}"] = np.zeros(shorter, dtype=np.int32)
    if done and p.order in ANYWHERE:
        arrays["splitters"] = drawn_splitters(p)
    return arrays


def drawn_splitters(p):
    """The head, and as many other nodes as there are at regular intervals."""
    random = np.random.default_rng(p.seed)
    count = len(range(0, p.n, interval(p.n, p.splitters)))
    others = 1 + random.choice(p.n - 1, count - 1, replace=False)
    if p.order == "drawn-splitters":
        others.sort()
    return np.concatenate(([0], others)).astype(np.int32)


def equidistant(p):
    """The nodes along a list whose every m-th one is a splitter of the first iteration, all else at random."""
    random = np.random.default_rng(p.seed)
    places = np.arange(0, p.n, interval(p.n, p.splitters))  # of splitters, in memory and along the list
    order = np.empty(p.n, dtype=np.int64)
    order[places] = np.concatenate((places[:1], random.permutation(places[1:])))
    others = np.setdiff1d(np.arange(p.n), places)
    order[others] = random.permutation(others)
    return order


def launches(p, memory):
    done, _ = iterations(p)

    def launch(kernel, arguments, threads):
        return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)

    for level, (_, step) in enumerate(done):
        successor, rank, sublist = f"successor{level}", f"rank{level}", f"sublist{level}"
        sublists, totals = f"successor{level + 1}", f"rank{level + 1}"
        count = len(memory[sublists])
        if level == 0 and p.order in ANYWHERE:
            yield launch("split_anywhere", (successor, "splitters", sublists, count), count)
            arrays = (successor, "splitters", rank, sublist, sublists, totals)
            yield launch("local_rank_anywhere", (*arrays, count), count)
        else:
            yield launch("split", (successor, sublists, step, count), count)
            walk = "local_rank" if level == 0 else "local_rank_weighted"
            yield launch(walk, (successor, rank, sublist, sublists, totals, step, count), count)
        if p.phases == "local-ranking":
            return
    last = len(done)
    yield Launch("rank_sequentially", (f"successor{last}", f"rank{last}"), 1, 1, registers_per_thread=REGISTERS)
    for level in reversed(range(last)):
        arguments = (f"rank{level}", f"sublist{level}", f"rank{level + 1}", done[level][0])
        yield launch("recombine", arguments, done[level][0])


def check(p, before, after):
    done, _ = iterations(p)
    if p.phases == "local-ranking" and done:
        regular = np.arange(0, p.n, done[0][1])
        check_local_ranks(before.get("splitters", regular), before["successor0"], after)
        return
    expect_ranks("rank", after["rank0"], before["successor0"])


def check_local_ranks(splitters, successor, after):
    """A splitter is first in its sublist; every other node follows its predecessor, and is in the same sublist."""
    rank, sublist = after["rank0"], after["sublist0"]
    follows = successor != END_OF_LIST
    follows[follows] = ~np.isin(successor[follows], splitters)
    expect_equal("rank", rank[splitters], np.zeros(len(splitters), dtype=np.int32))
    expect_equal("rank", rank[successor[follows]], rank[follows] + np.int32(1))
    expect_equal("sublist", sublist[splitters], np.arange(len(splitters), dtype=np.int32))
    expect_equal("sublist", sublist[successor[follows]], sublist[follows])
    expect_equal("rank1", after["rank1"], np.bincount(sublist, minlength=len(splitters)).astype(np.int32))
