from math import ceil, log2

from simtmm.kernel import load_kernel

ODD = [
    {"n": 1},
    {"n": 2, "threads": 1},
    {"n": 4, "links": 1},  # two sublists
    {"n": 129, "threads": 128, "seed": 5},
    {"n": 1000, "threads": 33, "links": 1, "seed": 3},  # threads divide nothing, packed after each node
    {"n": 1023, "order": "ordered", "threads": 1024},
    {"n": 5000, "links": 100_000},  # in one launch
]

EVENTS = [{"n": 1}, {"n": 50, "links": 1}, {"n": 4096}, {"n": 777, "threads": 100, "order": "ordered", "seed": 2}]


def events(n, links=0, seed=0, order="random", **_):
    kernel = load_kernel("list-ranking-reid-miller")
    made = kernel.inputs(kernel.resolve({"n": n, "seed": seed, "order": order}))
    mean = max(2, round(log2(n)))
    sublists = max(1, n // mean)
    successor, tails = made["successor"].tolist(), set(made["tails"].tolist()) if sublists > 1 else set()
    lengths, node = [0], 0
    for _ in range(n):
        lengths[-1] += 1
        if node in tails:
            lengths.append(0)
        node = successor[node]
    # Cut and mend: three stores and two loads for a cut, three more; the first sublist has none to look up or to mend.
    count = 6 * sublists - 3 + 4 * (sublists - 1)
    count += 6 * sublists  # place: two loads and their join, operations, two stores
    # Jumps: all load, compare and store; those that are not at the end yet, one fewer by 2^s, load and add.
    for step in range(ceil(log2(sublists))):
        count += 3 * sublists + 2 * (sublists - 2**step)
    count += 5 * n + sublists  # loads and operations twice, a rank; a sublist's sum at its end
    left, walk = lengths, links or mean
    while left:
        count += 2 * 3 * len(left)  # in both walks: two loads, unpacking
        left = [length - walk for length in left if length > walk]
        count += 2 * 3 * len(left)  # where it stands, a place, the sublist there
        walk *= 2
    return count


MISTAKES = [
    ("ST(sublists, j, PAIR(sum, ", "ST(sublists, j, PAIR(links, ", {}),
    ("PAIR(n - (int)(to_the_end >> 32), first)", "PAIR((int)(to_the_end >> 32), first)", {}),
    ("ST(walked, j, PAIR(sum, node));", "ST(walked, j, PAIR(sum, (unsigned)from));", {}),
    ("ST(packed, slot, j);", "ST(packed, slot, t);", {"n": 4000, "links": 3}),
    ("own = ((own >> 32) + (other >> 32)) << 32", "own = (own >> 32) << 32", {}),
    ("if (j == 0 || j >= sublists) return;", "if (j <= 1 || j >= sublists) return;", {}),
]
