from itertools import pairwise
from math import log2

from tests.kernels.cases.recount import inputs_of

ODD = [
    {"n": 1, "threads": 1},
    {"n": 2, "threads": 1024},
    {"n": 9, "threads": 3},
    {"n": 10, "order": "ordered", "threads": 4},
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 1000, "threads": 33, "seed": 7},
    {"n": 1025, "order": "ordered"},
]

EVENTS = [{"n": 1}, {"n": 8}, {"n": 60, "seed": 3}, {"n": 500, "threads": 64}, {"n": 300, "order": "ordered"}]


def coloured(order, tosses):
    """Three colours of the nodes of a list, by its definition: a dict; and the events of tossing and reducing."""
    after = dict(pairwise(order))
    before = {following: node for node, following in after.items()}
    colour, events = {node: node for node in order}, 0
    for toss in range(tosses):
        events += sum(4 + (toss > 0) * (1 + (node in after)) for node in order)  # 2 loads, work, a store; 2 colours
        new = {}
        for node in order:
            other = colour[after[node]] if node in after else colour[node] ^ 1
            differing = colour[node] ^ other
            bit = (differing & -differing).bit_length() - 1
            new[node] = 2 * bit + (colour[node] >> bit & 1)
        colour = new
    for which in (5, 4, 3):
        for node in order:
            events += 3  # 2 loads, work
            if colour[node] == which:
                near = [colour[other[node]] for other in (before, after) if node in other]
                events += 5 + len(near)  # 2 asyncs, a join, work, a store; the neighbours' colours
                colour[node] = min({0, 1, 2} - set(near))
    return colour, events


def events(n, **others):
    successor = inputs_of("list-ranking-cole-vishkin", {"n": n, **others})["successor"].tolist()
    order = [0]
    while successor[order[-1]] >= 0:
        order.append(successor[order[-1]])
    stretch = max(1, round(log2(n)))
    tosses, colours = 0, n
    while colours > 6:
        tosses, colours = tosses + 1, 2 * (colours - 1).bit_length()
    count = 2 * n + n - 1  # a load and work; a store to a successor
    while len(order) > max(8, n // stretch):
        size = len(order)
        colour, coloring = coloured(order, max(1, tosses))
        count += coloring
        count += 6 * size + 5 * (size - 2)  # choose; of a node with both neighbours 3 asyncs, a join, work
        leaves = {v for u, v, w in zip(order, order[1:], order[2:], strict=False) if colour[u] > colour[v] < colour[w]}
        count += 3 * size + 9 * len(leaves)  # splice
        stretches = -(-size // stretch)
        count += 3 * size + stretches  # count_staying
        count += sum(2 * stretches + 2 * max(0, stretches - 2**step) for step in range((stretches - 1).bit_length()))
        count += 4 * size + (stretches - 1) + 1  # pack
        count += 7 * len(leaves)  # restore
        order = [node for node in order if node not in leaves]
    left = len(order)
    for step in range(left.bit_length()):
        # A load, 2 asyncs, a join, work, 2 stores; while it has a predecessor left 2 asyncs, a join, work.
        reached = 0 if step == 0 else 2**step - 1
        count += 7 * left + 4 * max(0, left - 1 - reached)
    return count + 3 * left


MISTAKES = [
    ("goes = mine < one && mine < other;", "goes = mine < one || mine < other;", {"n": 300}),
    ("ST(distance, next, theirs + mine);", "ST(distance, next, theirs);", {"n": 300}),
    ("LD(left, begin + t)", "LD(left, begin)", {"n": 300}),
    ("mine += theirs;", "mine += 1;", {"n": 300}),
]
