"""Euler tour of a random tree: construct it, rank it, and root, measure, number or level the tree with it.

n vertices, vertex 0 the root, 2 (n - 1) arcs. The three arrays of the thesis are given: where each vertex's incident
list begins, the incident lists, and the ends of each arc; arc 0 is where the tour begins. Two
launches map each arc to the next of the tour; `ranking` ranks it, by the recursive Helman-JaJa algorithm as in the
thesis, with n / log n sublists, or by pointer jumping (a launch a step, two buffers); and `computation` says what
follows. Preorder numbers and levels take a scan: Blelloch's over segments of 256 elements, as CUDPP's, which the thesis
takes, or Hillis and Steele's, a launch a step. Nothing races. Where the thesis is at odds with itself: its text has the
incoming arc of an edge first in the incident list, but the indices of Algorithms 8 and 9 want the outgoing one first,
as here; and Algorithms 12 and 13 end in the weights instead of their sums.
"""

from itertools import pairwise
from math import ceil, log2

import numpy as np

from simtmm.kernel import Launch, Parameter, expect_equal

PAPER = "001 (Rehman) sections 5.1.2 and 5.2, Algorithms 8 to 13; section 5.3 (random binary trees)"

PARAMETERS = {
    "computation": Parameter(
        "rooting", "what is computed from the tour", choices=("rooting", "subtree-size", "preorder", "levels")
    ),
    "n": Parameter(1024, "vertices of the tree", minimum=2, maximum=2**24),
    "tree": Parameter(
        "binary", "binary by random splits, or each vertex attached to a random one", choices=("binary", "attachment")
    ),
    "ranking": Parameter("helman-jaja", "what ranks the tour", choices=("helman-jaja", "wyllie")),
    "scan": Parameter("blelloch", "what scans the weights", choices=("blelloch", "hillis-steele")),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

ROOT = 0
UNSET = -2
LIMIT = 64  # arcs of the longest list that one thread ranks
SEGMENT = 256  # elements that a block scans, as in kernel.cu
END_OF_LIST = 0x7FFFFFFF
REGISTERS = 14  # assumption: two 64-bit nodes, pointers, an index
RESULT = {"rooting": "parent", "subtree-size": "size", "preorder": "numbers", "levels": "numbers"}


def algorithm(p):
    if p.ranking == "wyllie":  # ranking the arcs is most of it; the rest is a few passes over them
        return "list-ranking", {"n": 2 * (p.n - 1)}
    return "list-ranking-helman-jaja", {"n": 2 * (p.n - 1)}


def steps(arcs):
    """Doublings until all arcs are covered."""
    return (arcs - 1).bit_length()


def iterations(arcs):
    """The length of the list and the interval of splitters in each iteration, and the length that is left."""
    done = []
    while arcs > LIMIT:
        done.append((arcs, max(2, round(log2(arcs)))))
        arcs = ceil(arcs / done[-1][1])
    return done, arcs


def scanned_levels(arcs):
    """Elements at each level of Blelloch's scan: all, then the segments' sums, until they are one segment."""
    sizes = [arcs]
    while sizes[-1] > SEGMENT:
        sizes.append(-(-sizes[-1] // SEGMENT))
    return sizes


def parents(p, random):
    """A random tree, as the parents of vertices 1 to n - 1."""
    chance = random.random(p.n)
    if p.tree == "attachment":
        return (chance[1:] * np.arange(1, p.n)).astype(np.int64)
    parent = np.zeros(p.n, dtype=np.int64)
    open_subtrees = [(0, 0, p.n)]  # parent, first vertex and number of vertices
    while open_subtrees:
        above, vertex, size = open_subtrees.pop()
        parent[vertex] = above
        left = int(chance[vertex] * size)  # 0 to size - 1
        open_subtrees += [
            (vertex, first, count)
            for first, count in ((vertex + 1, left), (vertex + 1 + left, size - 1 - left))
            if count
        ]
    return parent[1:]


def inputs(p):
    random = np.random.default_rng(p.seed)
    label = np.concatenate(([ROOT], 1 + random.permutation(p.n - 1)))  # the tree's shape says nothing of memory
    edge = np.stack((label[parents(p, random)], label[1:]), axis=1)[random.permutation(p.n - 1)]
    first = np.flatnonzero(edge[:, 0] == ROOT)[0]
    edge[[0, first]] = edge[[first, 0]]  # the tour begins with arc 0
    ends = np.empty((2 * len(edge), 2), dtype=np.int32)
    ends[0::2], ends[1::2] = edge, edge[:, ::-1]
    outgoing = np.argsort(ends[:, 0], kind="stable")  # arcs, vertex by vertex
    if p.n > 2 and ends[outgoing[1], 0] == ROOT:  # the tour is cut behind the root's first edge
        outgoing[[0, 1]] = outgoing[[1, 0]]  # and begins with its second, which is arc 0
    start = np.zeros(p.n + 1, dtype=np.int32)
    start[1:] = 2 * np.cumsum(np.bincount(ends[:, 0], minlength=p.n))
    arrays = {
        "start": start,
        "incident": np.stack((outgoing, outgoing ^ 1), axis=1).astype(np.int32).ravel(),
        "ends": ends,
        "parent": np.full(p.n, UNSET, dtype=np.int32),
        "entered_by": np.full(p.n, UNSET, dtype=np.int32),
    }
    arrays |= ranking_arrays(p, len(ends))
    if p.computation in ("preorder", "levels"):
        arrays["weight"] = np.zeros(len(ends), dtype=np.int32)
        sizes = scanned_levels(len(ends)) if p.scan == "blelloch" else [len(ends)]
        arrays |= {f"scanned{level}": np.zeros(size, dtype=np.int32) for level, size in enumerate([*sizes, 1])}
    return arrays | ({} if p.computation == "rooting" else {RESULT[p.computation]: np.full(p.n, UNSET, dtype=np.int32)})


def ranking_arrays(p, arcs):
    if p.ranking == "wyllie":
        return {name: np.zeros(arcs, dtype=np.uint64) for name in ("tour", "jumped")}
    arrays = {"successor0": np.full(arcs, END_OF_LIST, dtype=np.int32), "rank0": np.ones(arcs, dtype=np.int32)}
    done, left = iterations(arcs)
    lengths = [length for length, _ in done] + [left]
    for level, (length, shorter) in enumerate(pairwise(lengths)):
        arrays[f"sublist{level}"] = np.zeros(length, dtype=np.int32)
        arrays[f"successor{level + 1}"] = np.zeros(shorter, dtype=np.int32)
        arrays[f"rank{level + 1}"] = np.zeros(shorter, dtype=np.int32)
    return arrays


def launch(p, kernel, *arguments, threads):
    return Launch(kernel, arguments, -(-threads // p.threads), p.threads, registers_per_thread=REGISTERS)


def launches(p, memory):
    arcs = len(memory["ends"])
    jumping = p.ranking == "wyllie"
    suffix, tour = ("", "tour") if jumping else ("_list", "successor0")
    yield launch(p, f"map_along{suffix}", "incident", tour, arcs, threads=arcs)
    yield launch(p, f"map_around{suffix}", "start", "incident", tour, p.n, threads=p.n)
    if jumping:
        ranked = ("tour", "jumped")[steps(arcs) % 2]
        yield from jumps(p, arcs)
    else:
        ranked = "rank0"
        yield from helman_jaja(p, arcs)
    arrays = (ranked, "ends", "parent", "entered_by")
    if p.computation in ("rooting", "subtree-size"):
        yield launch(p, f"find_parents{suffix}", *arrays, arcs, threads=arcs)
        if p.computation == "subtree-size":
            yield launch(p, f"subtree_sizes{suffix}", ranked, "entered_by", "size", p.n, threads=p.n)
        return
    weight_of_retreat = 0 if p.computation == "preorder" else -1
    yield launch(p, f"find_parents_and_weigh{suffix}", *arrays, "weight", weight_of_retreat, arcs, threads=arcs)
    if p.scan == "blelloch":
        scanned, own = "scanned0", 1
        yield from scan_by_segments(arcs)
    else:
        scanned, own = ("weight", "scanned0")[steps(arcs) % 2], 0
        for step in range(steps(arcs)):
            before, after = ("weight", "scanned0")[:: 1 - 2 * (step % 2)]
            yield launch(p, "scan", before, after, 1 << step, arcs, threads=arcs)
    yield launch(p, f"number{suffix}", ranked, "entered_by", scanned, "numbers", own, arcs, p.n, threads=p.n)


def jumps(p, arcs):
    for step in range(steps(arcs)):
        before, after = ("tour", "jumped")[:: 1 - 2 * (step % 2)]
        yield launch(p, "jump", before, after, arcs, threads=arcs)


def helman_jaja(p, arcs):
    done, left = iterations(arcs)
    lengths = [length for length, _ in done] + [left]
    for level, (_, step) in enumerate(done):
        successor, rank, sublist = f"successor{level}", f"rank{level}", f"sublist{level}"
        sublists, totals, count = f"successor{level + 1}", f"rank{level + 1}", lengths[level + 1]
        yield launch(p, "split", successor, sublists, step, count, threads=count)
        walk = "local_rank" if level == 0 else "local_rank_weighted"
        yield launch(p, walk, successor, rank, sublist, sublists, totals, step, count, threads=count)
    last = len(done)
    yield Launch("rank_sequentially", (f"successor{last}", f"rank{last}"), 1, 1, registers_per_thread=REGISTERS)
    for level in reversed(range(last)):
        arrays = (f"rank{level}", f"sublist{level}", f"rank{level + 1}")
        yield launch(p, "recombine", *arrays, lengths[level], threads=lengths[level])


def scan_by_segments(arcs):
    sizes = scanned_levels(arcs)
    segments = [-(-size // SEGMENT) for size in sizes]
    shape = {"block": SEGMENT // 2, "registers_per_thread": REGISTERS}
    for level, size in enumerate(sizes):
        values = "weight" if level == 0 else f"scanned{level}"
        arrays = (values, f"scanned{level}", f"scanned{level + 1}")
        yield Launch("scan_segments", (*arrays, size), grid=segments[level], shared_memory_bytes=4 * SEGMENT, **shape)
    for level in reversed(range(len(sizes) - 1)):
        arguments = (f"scanned{level}", f"scanned{level + 1}", sizes[level])
        yield Launch("add_sums", arguments, grid=segments[level] - 1, **shape)


def check(p, before, after):
    expected = answers(p.n, before["ends"])
    expect_equal("parent", after["parent"], expected["rooting"])
    name = RESULT[p.computation]
    expect_equal(name, after[name], expected[p.computation])


def answers(n, ends):
    """All four answers, level by level from the root; a vertex's children in the order in which the tour turns."""
    tails, heads = ends.T
    outgoing = np.argsort(tails, kind="stable").astype(np.int32)  # arcs, vertex by vertex
    begin = np.searchsorted(tails[outgoing], np.arange(n + 1))
    place = np.empty(len(ends), dtype=np.int32)
    place[outgoing] = np.arange(len(ends))
    found = {name: np.full(n, value, np.int32) for name, value in (("rooting", -1), ("subtree-size", 1))}
    found |= {name: np.zeros(n, np.int32) for name in ("preorder", "levels")}
    levels = []  # of each level, sibling after sibling: parents and children
    # The root's children are its first, its third and so on, and its second at the end.
    children = heads[outgoing[begin[ROOT] : begin[ROOT + 1]]]
    arcs = outgoing[begin[ROOT] : begin[ROOT + 1]]
    turns = [0, *range(2, len(children)), *range(1, min(2, len(children)))]
    level = [(np.array([ROOT]), children[turn : turn + 1], arcs[turn : turn + 1]) for turn in turns]
    while level:
        levels.append([(above, below) for above, below, _ in level])
        for above, below, _ in level:
            found["rooting"][below], found["levels"][below] = above, len(levels)
        vertices, entered = (np.concatenate([one[part] for one in level]) for part in (1, 2))
        first, degree = begin[vertices], begin[vertices + 1] - begin[vertices]
        back = place[entered ^ 1] - first
        level = []
        for turn in range(1, int(degree.max())):
            has = degree > turn
            arcs = outgoing[first[has] + (back[has] + turn) % degree[has]]
            level.append((vertices[has], heads[arcs], arcs))
    for siblings in reversed(levels):
        for above, below in siblings:
            found["subtree-size"][above] += found["subtree-size"][below]
    number = np.ones(n, dtype=np.int32)  # of a vertex's next child, behind its own
    for siblings in levels:
        for above, below in siblings:
            found["preorder"][below] = number[above]
            number[below] = number[above] + 1
            number[above] += found["subtree-size"][below]
    return found
