ODD = [
    {"n": 1, "sub_block": 1},  # one thread a block
    {"n": 7, "sub_block": 1},
    {"n": 2, "sub_block": 16},
    {"n": 33, "sub_block": 8, "seed": 1},
    {"n": 50, "sub_block": 7},
    {"n": 40, "sub_block": 32},  # 1024 threads a block
]

EVENTS = [{"n": 24, "sub_block": 8}, {"n": 30, "sub_block": 7}, {"n": 3, "sub_block": 1}]


def events(n, sub_block):
    sub_blocks = -(-n // sub_block)
    # A thread and a sub-block along the row: join, 2 shared stores, 2 barriers; S times 2 shared loads and work.
    along = sub_block**2 * (5 + 3 * sub_block)
    # Each of the two matrices is read once for each of the product's sub-blocks along a row; the product is written.
    return sub_blocks**3 * along + 2 * sub_blocks * n**2 + n**2


MISTAKES = [
    ("sum += x * y", "sum += x + y", {}),
    ("k0 += SUB_BLOCK", "k0 += 2 * SUB_BLOCK", {}),
    ("LDS(right, k * SUB_BLOCK + threadIdx.x)", "LDS(right, threadIdx.x * SUB_BLOCK + k)", {}),
    ("row < n && column < n) ST", "row < n && column + 1 < n) ST", {}),
]
