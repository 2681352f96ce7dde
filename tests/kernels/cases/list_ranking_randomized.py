from simtmm.kernel import load_kernel

ODD = [
    {"n": 1},
    {"n": 2, "threads": 1},
    {"n": 3, "threads": 1024},
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 1000, "threads": 33, "seed": 3},  # threads divide nothing
    {"n": 1023, "order": "ordered"},
]

EVENTS = [{"n": 1}, {"n": 50}, {"n": 600, "threads": 100, "seed": 2}, {"n": 333, "order": "ordered"}]


def heads(seed, node, number):
    x = (node * 0x9E3779B1 + number * 0x85EBCA6B + seed * 0xC2B2AE35) % 2**32
    x = (x ^ x >> 15) * 0x2C1B3C6D % 2**32
    x = (x ^ x >> 12) * 0x297A2D39 % 2**32
    return x >> 31 == 1


def events(n, seed=0, order="random", **_):
    kernel = load_kernel("list-ranking-randomized")
    end, queue = kernel.host.END_OF_LIST, kernel.host.queue(n)
    made = kernel.inputs(kernel.resolve({"n": n, "seed": seed, "order": order}))
    successor = dict(enumerate(made["successor"].tolist()))
    predecessor = {after: node for node, after in successor.items() if after != end}
    queues = [list(range(max(1, first), min(first + queue, n))) for first in range(0, n, queue)]
    count = 3 * n - 1  # links back: a load, a comparison, a store for all but the last
    number, back = 0, 0
    while any(queues):
        tops = {of[0] for of in queues if of}
        tossed = {node for node in tops if heads(seed, node, number)}
        chosen = {node for node in tossed if predecessor[node] not in tossed}
        # All threads load and compare in both launches; tops raise the flag, toss, say whether they leave and look it
        # up; those with heads look at their predecessor.
        count += 2 * 2 * len(queues) + 4 * len(tops) + 4 * len(tossed)
        for node in chosen:
            before, after = predecessor[node], successor[node]
            successor[before] = after
            count += 7  # two loads and a join, operations, three stores
            if after != end:
                predecessor[after] = before
                count += 6  # two loads and a join, an addition, two stores
        # On the way back all threads load and subtract; who has let a node go so far looks at the latest one.
        queues = [of[1:] if of and of[0] in chosen else of for of in queues]
        back += 2 * len(queues)
        back += 2 * sum(len(of) < len(range(max(1, t * queue), min((t + 1) * queue, n))) for t, of in enumerate(queues))
        back += 7 * len(chosen)  # two loads and a join, a load, an addition, two stores
        number += 1
    return count + back + 2 * len(queues)  # a last look at the tops


MISTAKES = [
    ("leaves = top != previous || !heads(seed, previous, round);", "leaves = true;", {}),
    ("ST(distance, next, own + other);", "ST(distance, next, other + 1);", {}),
    ("if (left != round) return;", "if (left > round) return;", {}),
    ("ST(rank, node, before + nodes);", "ST(rank, node, before + 1);", {}),
    ("ST(predecessor, next, previous);", "ST(predecessor, next, node);", {}),
]
