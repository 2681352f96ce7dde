from simtmm.kernel import load_kernel

VERSIONS = ("packed-64", "packed-32", "stepwise", "restricted")

ODD = [
    {"version": version, **sizes}
    for version in VERSIONS
    for sizes in (
        {"n": 1},
        {"n": 2, "threads": 1},
        {"n": 3, "threads": 1024},
        {"n": 129, "threads": 128, "seed": 5},
        {"n": 1000, "threads": 33},
        {"n": 1024, "threads": 1024},
        {"n": 300, "threads": 64, "order": "ordered"},
    )
] + [{"version": "packed-32", "n": 65536}]  # every value of 16 bits is a node

EVENTS = [
    {"version": version, **sizes}
    for version in VERSIONS
    for sizes in (
        {"n": 1},
        {"n": 100, "threads": 100},
        {"n": 1025, "threads": 100, "seed": 2},
        {"n": 333, "threads": 50, "order": "ordered"},
    )
]


def events(version, n, threads=512, seed=0, order="random"):
    if version == "stepwise":
        steps = max(1, (n - 1).bit_length())
        # All load, test and store. Before step s those at a distance of 2^s or more from the last node are
        # unfinished: they load and add; those at twice that find an unfinished node and raise the flag.
        return sum(3 * n + 2 * max(0, n - 2**s) + max(0, n - 2 * 2**s) for s in range(steps))
    kernel = load_kernel("list-ranking-wyllie-variants")
    nodes = kernel.inputs(kernel.resolve({"version": version, "n": n, "seed": seed, "order": order}))["nodes"].tolist()
    half = 16 if version == "packed-32" else 32
    successor = [node % 2**half for node in nodes]
    last = next(i for i, node in enumerate(nodes) if node >> half == 0)
    blocks = [range(first, min(n, first + threads)) for first in range(0, n, threads)]
    return sum(jumps(block, successor, last, version) for block in blocks)


def jumps(block, successor, last, version):
    """The events of a block whose threads jump together, on what the blocks before it have left."""
    count = 2 * len(block)  # load, compare
    jumping = [i for i in block if i != last]
    while jumping:
        # Load, compare; the restricted version has a barrier before.
        count += (3 if version == "restricted" else 2) * len(jumping)
        jumping = [i for i in jumping if successor[i] != last]
        # Add, barrier, store; the packed ones have another barrier, and load and compare their own node again.
        count += (3 if version == "restricted" else 6) * len(jumping)
        jumped = [successor[successor[i]] for i in jumping]
        for i, far in zip(jumping, jumped, strict=True):
            successor[i] = far
    return count


MISTAKES = [
    ("ST(nodes, i, (node & ~low) + next);", "ST(nodes, i, (node & ~low) + low + 1 + (next & low));", {}),
    ("ST(nodes, i, (node & ~low) + next);", "ST(nodes, i, (node & ~low) + (next & low));", {"version": "packed-32"}),
    ("if (stepping >= n) return;", "if (stepping >= n - 1) return;", {"version": "stepwise"}),
    ("ST(unfinished, step, 1);", "ST(unfinished, step, 0);", {"version": "stepwise"}),
    ("node = (node & RANK) + next;", "node = (node & RANK) | next;", {"version": "stepwise"}),
    ("node = (node & RANK_OF_NODE) + next;", "node = (node & RANK_OF_NODE) | next;", {"version": "restricted"}),
]
