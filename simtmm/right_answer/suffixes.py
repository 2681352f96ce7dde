"""The suffixes of a text, sorted and as a tree, for kernels that look for queries in them: of ten million letters, too.

A text is bytes. One suffix that begins another comes before it.
"""

import numpy as np
import numpy.typing as npt

NONE = -1  # a cell without an edge, an edge without a node below
WIDEST = 1 << 62  # of numbers into which letters are packed

Integers = npt.NDArray[np.int64]


def suffix_array(text: bytes) -> npt.NDArray[np.uint32]:
    """The starts of the suffixes in lexicographical order, by prefix doubling.

    text: at least one letter.
    """
    packed, width = _packed(np.frombuffer(text, dtype=np.uint8))
    rank = _ranks(packed)[0]
    while True:
        behind = np.zeros_like(rank)  # the end of the text comes before every letter
        behind[:-width] = rank[width:] + 1
        rank, order = _ranks(rank * (int(rank.max()) + 2) + behind)
        if rank.max() == len(rank) - 1:
            return order.astype(np.uint32)
        width *= 2


def _packed(letters: npt.NDArray[np.uint8]) -> tuple[Integers, int]:
    """Of each suffix its first letters in one number, by which it is ranked as by them; and how many these are."""
    number = np.unique(letters, return_inverse=True)[1].astype(np.int64) + 1  # 0: behind the end
    base, width = int(number.max()) + 1, 1
    found = number
    while base ** (2 * width) < WIDEST:
        behind = np.zeros_like(found)
        behind[:-width] = found[width:]
        found = found * base**width + behind
        width *= 2
    return found, width


def _ranks(values: Integers) -> tuple[Integers, Integers]:
    """The rank of each value, equal for equal ones, and the order of values."""
    order = np.argsort(values, kind="stable")
    rank = np.empty_like(values)
    rank[order] = np.concatenate([[0], np.cumsum(np.diff(values[order]) > 0)])
    return rank, order


def _common_letters(text: npt.NDArray[np.uint8], order: Integers) -> Integers:
    """How many letters each suffix but the last has in common with the next one in order."""
    common = np.zeros(len(order) - 1, dtype=np.int64)
    going = np.arange(len(order) - 1)
    depth = 0
    while len(going):
        first, second = order[going] + depth, order[going + 1] + depth
        inside = (first < len(text)) & (second < len(text))
        going, first, second = going[inside], first[inside], second[inside]
        going = going[text[first] == text[second]]
        common[going] += 1
        depth += 1
    return common


def suffix_tree(text: bytes, letters: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Cells and edges of the suffix tree of a text of small numbers that ends with its only 0.

    text: numbers below `letters`. letters: cells of a node. Returned: int32[nodes * letters], of each node a cell for
    each letter, the number of its edge or NONE, the root's first; and int32[edges, 4], where an edge's letters begin in
    the text, how many they are, where the cells of the node below begin or NONE, and 0. The edges of a node follow one
    another, by the first suffix below them; below an edge that comes later lies what comes earlier.
    """
    numbers = np.frombuffer(text, dtype=np.uint8)
    order = suffix_array(text).astype(np.int64)
    parents, depths, firsts = _nodes(order, _common_letters(numbers, order))
    return _laid_out(numbers, letters, parents, depths, firsts)


def _nodes(order: Integers, common: Integers) -> tuple[Integers, Integers, Integers]:
    """Of each node of a suffix tree its parent, its depth in letters and the first suffix below: leaves in order, then
    inner nodes, the root as the last.
    """
    leaves = len(order)
    starts, shared = order.tolist(), [*common.tolist(), 0]
    parents, depths, firsts = [0] * leaves, [leaves - start for start in starts], starts[:]
    path: list[int] = []  # inner nodes from the root to the one under way
    at: list[int] = []  # their depths
    for leaf in range(leaves):
        before = shared[leaf - 1] if leaf else 0
        here = shared[leaf]
        depth = max(before, here)
        if not path or at[-1] < depth:
            path.append(len(parents))
            at.append(depth)
            parents.append(-1)
            depths.append(depth)
            firsts.append(starts[leaf])
        own = path[-1]
        parents[leaf] = own
        firsts[own] = min(firsts[own], starts[leaf])
        while at[-1] > here:
            closed = path.pop()
            at.pop()
            if not path or at[-1] < here:
                path.append(len(parents))
                at.append(here)
                parents.append(-1)
                depths.append(here)
                firsts.append(firsts[closed])
            parents[closed] = path[-1]
            firsts[path[-1]] = min(firsts[path[-1]], firsts[closed])
    return np.array(parents), np.array(depths), np.array(firsts)


def _laid_out(
    numbers: npt.NDArray[np.uint8], letters: int, parents: Integers, depths: Integers, firsts: Integers
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Cells and edges of such nodes."""
    leaves, nodes = len(numbers), len(parents)
    root = int(np.flatnonzero(parents == -1)[0])
    children = np.flatnonzero(parents >= 0)
    children = children[np.lexsort((firsts[children], parents[children]))]  # those of a node together, by first suffix
    ends = np.searchsorted(parents[children], np.arange(nodes), side="right").tolist()
    begins = np.searchsorted(parents[children], np.arange(nodes), side="left").tolist()
    of = children.tolist()
    cells_of, first_edge = [0] * nodes, [0] * nodes
    cells, edges, waiting = 1, 0, [root]
    while waiting:
        node = waiting.pop()
        first_edge[node] = edges
        edges += ends[node] - begins[node]
        for child in of[begins[node] : ends[node]]:
            if child >= leaves:
                cells_of[child] = cells * letters
                cells += 1
                waiting.append(child)
    above, at = parents[children], np.array(cells_of)
    edge = np.array(first_edge)[above] + np.arange(len(children)) - np.array(begins)[above]
    begin = firsts[children] + depths[above]
    table = np.zeros((edges, 4), dtype=np.int32)
    table[edge, 0] = begin
    table[edge, 1] = depths[children] - depths[above]
    table[edge, 2] = np.where(children < leaves, NONE, at[children])
    found = np.full(cells * letters, NONE, dtype=np.int32)
    found[at[above] + numbers[begin]] = edge
    return found, table
