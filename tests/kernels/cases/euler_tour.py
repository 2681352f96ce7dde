from tests.kernels.cases import list_ranking_helman_jaja, scan

COMPUTATIONS = ("rooting", "subtree-size", "preorder", "levels")
JUMPING = {"ranking": "wyllie", "scan": "hillis-steele"}

ODD = [
    {"computation": computation, **sizes, **how}
    for computation in COMPUTATIONS
    for how in ({}, JUMPING)
    for sizes in (
        {"n": 2, "threads": 1},
        {"n": 3, "threads": 1024},
        {"n": 4, "tree": "attachment", "seed": 2},
        {"n": 130, "threads": 33, "seed": 1},
        {"n": 1025, "threads": 128, "tree": "attachment"},
    )
]

EVENTS = [
    {"n": n, "computation": computation, **how}
    for n in (2, 100)
    for computation in COMPUTATIONS
    for how in ({}, JUMPING)
]


def events(n, computation, ranking="helman-jaja", **_):
    jumping = ranking == "wyllie"
    arcs = 2 * (n - 1)
    steps = (arcs - 1).bit_length()
    count = 4 * (arcs - 1)  # an incoming arc, all but the last in the lists: two loads, a join, a store
    count += 7 * n + 2  # a vertex: four loads, two joins, a store; the root: a load and a store, to end the tour
    if jumping:  # load, compare, store; an arc d from the end loads and adds until it has jumped over d arcs
        count += sum(3 * arcs + 2 * max(0, arcs - 2**step) for step in range(steps))
    else:
        count += list_ranking_helman_jaja.events(arcs)
    # Directions: two loads, a join, an operation; a vertex but the root: a load, two stores; the root: a store.
    count += 4 * arcs + 3 * (n - 1) + 1
    if computation == "subtree-size":
        count += 6 * (n - 1) + 1  # three loads, a join, an operation, a store; the root: a store
    elif computation != "rooting":
        count += arcs  # a store of its weight
        if jumping:  # the scan: load, join, store; a load and an addition for those with an element 2^step to the left
            count += sum(3 * arcs + 2 * max(0, arcs - 2**step) for step in range(steps))
        else:
            count += scan.events(arcs, 128)
        count += 5 * (n - 1) + 1  # three loads, an operation, a store; the root: a store
    return count


MISTAKES = [
    ("unsigned i = 2 * pair + 1;", "unsigned i = 2 * pair;", JUMPING),
    ("LD_ASYNC(incident, behind - 1)", "LD_ASYNC(incident, first + 1)", JUMPING),
    ("(unsigned)(node >> 32) + (unsigned)", "(unsigned)(node >> 32) - (unsigned)", JUMPING),
    ("bool forward = position < siblings;", "bool forward = position > siblings;", {}),
    ("(retreat - forward + 1) / 2", "(retreat - forward) / 2", {"computation": "subtree-size"}),
    ("forward ? 1 : weight_of_retreat", "forward ? 1 : 0", {"computation": "levels"}),
    ("if (i >= offset) {", "if (i > offset) {", {"computation": "preorder", **JUMPING}),
    ("total += weight;", "total += 1;", {}),
    ("sum_of_weights + own", "sum_of_weights", {"computation": "levels"}),
    ("ST(scanned, i, low + sum);", "ST(scanned, i, low);", {"computation": "preorder"}),
]
