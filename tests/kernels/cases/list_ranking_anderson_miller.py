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


def tossed(chain_colours):
    """The colours of a chain after a toss, by its definition."""
    new = []
    for mine, theirs in zip(chain_colours, [*chain_colours[1:], chain_colours[-1] ^ 1], strict=True):
        differing = mine ^ theirs
        bit = (differing & -differing).bit_length() - 1
        new.append(2 * bit + (mine >> bit & 1))
    return new


def chains(tops, successor):
    """Tops that are neighbours in the list, chain by chain, in its order."""
    follows = {successor[node] for node in tops} & tops
    found = []
    for first in sorted(tops - follows):
        chain = [first]
        while successor[chain[-1]] in tops:
            chain.append(successor[chain[-1]])
        found.append(chain)
    return found


def events(n, seed=0, order="random", **_):
    kernel = load_kernel("list-ranking-anderson-miller")
    end, queue = kernel.host.END_OF_LIST, kernel.host.queue(n)
    made = kernel.inputs(kernel.resolve({"n": n, "seed": seed, "order": order}))
    successor = dict(enumerate(made["successor"].tolist()))
    predecessor = {after: node for node, after in successor.items() if after != end}
    queues = [list(range(max(1, first), min(first + queue, n))) for first in range(0, n, queue)]
    threads = len(queues)
    tosses, colours = 0, max(threads, 2)
    while colours > 6:
        tosses, colours = tosses + 1, 2 * (colours - 1).bit_length()
    tosses = max(1, tosses)
    count, back = 3 * n - 1, 0
    while any(queues):
        tops = {of[0] for of in queues if of}
        count += (3 + tosses) * 2 * threads  # all threads load their top and compare
        # meet: a flag, 2 loads and a join, work, a top, 2 stores, work; the top of whoever is behind
        count += 9 * len(tops) + sum(successor[node] != end for node in tops)
        chosen = set()
        for chain in chains(tops, successor):
            colour = [node // queue for node in chain]
            for toss in range(tosses):
                count += 3 * len(chain) + (2 * len(chain) - 1 if toss else 0)  # a load, work, a store; colours
                colour = tossed(colour)
            count += 6 * len(chain) + 2 * (len(chain) - 1)  # 3 loads and a join, work, a store; neighbours' colours
            padded = [colour[0] + 1, *colour, colour[-1] + 1]
            chosen |= {node for at, node in enumerate(chain, 1) if padded[at - 1] > padded[at] < padded[at + 1]}
        count += len(tops)  # splice: whether it leaves
        for node in chosen:
            before, after = predecessor[node], successor[node]
            successor[before] = after
            count += 7  # two loads and a join, operations, three stores
            if after != end:
                predecessor[after] = before
                count += 6  # two loads and a join, an addition, two stores
        queues = [of[1:] if of and of[0] in chosen else of for of in queues]
        back += 2 * threads
        back += 2 * sum(len(of) < len(range(max(1, t * queue), min((t + 1) * queue, n))) for t, of in enumerate(queues))
        back += 7 * len(chosen)  # two loads and a join, a load, an addition, two stores
    return count + back + 2 * threads  # a last look at the tops


MISTAKES = [
    ("least = least && mine < theirs;", "", {"n": 600}),
    ("ST(distance, next, own + other);", "ST(distance, next, other + 1);", {}),
    ("if (left != round) return;", "if (left > round) return;", {}),
    ("ST(rank, node, before + nodes);", "ST(rank, node, before + 1);", {}),
    ("ST(predecessor, next, previous);", "ST(predecessor, next, node);", {}),
]
