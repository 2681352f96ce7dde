ODD = [
    {"n": 2, "sub_block": 1, "threads": 1},
    {"n": 3, "sub_block": 16, "threads": 64},  # one sub-block, mostly padding
    {"n": 33, "sub_block": 8, "threads": 64, "seed": 1},  # sub_block does not divide n
    {"n": 20, "sub_block": 5, "threads": 7},  # threads do not divide sub_block^2
    {"n": 12, "sub_block": 4, "threads": 33},  # threads without an element
    {"n": 17, "sub_block": 8, "threads": 64, "degree": 0.0},  # no edges
    {"n": 16, "sub_block": 8, "threads": 16, "degree": 16.0},  # all edges
    {"n": 20, "sub_block": 5, "threads": 7, "loads": "one-by-one"},
    {"n": 33, "sub_block": 8, "threads": 64, "squarings": 1},
    {"n": 33, "sub_block": 8, "threads": 64, "squarings": 2, "degree": 1.0},
    {"n": 9, "sub_block": 4, "threads": 16, "squarings": 9},  # more than it takes
    {"n": 33, "sub_block": 8, "threads": 64, "squarings": 1, "computed": 3},
    {"n": 30, "sub_block": 8, "threads": 7, "squarings": 1, "computed": 4},  # all of a row, padding among it
]

EVENTS = [
    {"n": 24, "sub_block": 8, "threads": 64},
    {"n": 30, "sub_block": 4, "threads": 7},
    {"n": 24, "sub_block": 8, "threads": 64, "squarings": 2},
    {"n": 30, "sub_block": 4, "threads": 7, "loads": "one-by-one"},
    {"n": 24, "sub_block": 8, "threads": 64, "squarings": 1, "computed": 2},
]


def events(n, sub_block, threads, squarings=0, loads="together", computed=0):
    sub_blocks = -(-n // sub_block)
    steps = squarings or max(1, (n - 2).bit_length())
    elements = sub_block**2
    # An element and a sub-block along the row: 2 asyncs, 2 shared stores; S times 2 shared loads and 1 work event.
    along = elements * (4 + 3 * sub_block) + 3 * threads  # a thread: 1 join, 2 barriers
    if loads == "one-by-one":
        along += 2 * elements  # a join behind each async
    return steps * (computed or sub_blocks**2) * (sub_blocks * along + elements)


MISTAKES = [
    ("through < shortest[e] ?", "through > shortest[e] ?", {}),
    ("through += LDS", "through -= LDS", {}),
    ("k0 += SUB_BLOCK", "k0 += 2 * SUB_BLOCK", {}),
    ("k0 += SUB_BLOCK", "k0 += 2 * SUB_BLOCK", {"squarings": 1}),
    ("k0 += SUB_BLOCK", "k0 += 2 * SUB_BLOCK", {"squarings": 1, "computed": 1}),
]
