from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "sub_queries": 1, "blocks": 1, "threads": 1, "m": 32, "k": 1, "w": 1},
    {"n": 100, "threads": 33, "sub_queries": 3, "blocks": 2, "w": 16, "sub_query": 16},  # one w-mer a sub-query
    {"n": 77, "threads": 1, "sub_queries": 2, "blocks": 5, "w": 7, "k": 3, "m": 256},  # blocks without a sub-query
    {"n": 1000, "threads": 1024, "sub_queries": 1, "blocks": 1, "m": 4096, "seed": 4},
    {"n": 300, "threads": 96, "stop": "never", "sub_queries": 5, "blocks": 2, "sub_query": 101, "m": 512},
    {"n": 200, "m": 64, "k": 2},  # vectors all of ones: every w-mer is a positive
]

EVENTS = [
    {"n": 90, "threads": 32, "sub_queries": 3, "blocks": 2, "sub_query": 60, "m": 512, "k": 4, "w": 9, "stop": stop}
    for stop in ("at-miss", "never")
] + [{"n": 41, "threads": 7, "sub_queries": 2, "blocks": 2, "sub_query": 50, "m": 1024, "k": 3, "w": 16}]


def events(**parameters):
    """A sequential run of Algorithm 3 that counts."""
    kernel = load_kernel("bloom-filter")
    p = kernel.resolve(parameters)
    arrays = kernel.inputs(p)
    database = [int(word) >> 2 * base & 3 for word in arrays["database"] for base in range(16)]
    n, k, bits = p["n"], p["k"], 2 * p["w"]
    # A sub-query: its vector and its rows, a load and a store a word each; two barriers a thread.
    count = p["sub_queries"] * (2 * (p["m"] // 32 + k * bits) + 2 * p["threads"])
    for vector, rows in zip(arrays["vectors"], arrays["rows"], strict=True):
        for first in range(n):
            x = sum(base << 2 * place for place, base in enumerate(database[first : first + p["w"]]))
            count += 4  # two asyncs, a join, the work of unpacking
            hit = True
            for function in range(k):
                address = 0
                for bit in range(bits):
                    address ^= int(rows[function, bit]) * (x >> bit & 1)
                count += bits + 3  # the rows, the work on them; a word of the vector, the work on it
                hit = hit and bool(int(vector[address // 32]) >> address % 32 & 1)
                if not hit and p["stop"] == "at-miss":
                    break
            count += hit  # the store
    return count


MISTAKES = [
    ("address ^= row", "address |= row", {}),
    ("x >> bit & 1u", "x >> (bit + 1) & 1u", {}),
    ("2 * (base % 16)", "(base % 16)", {}),
    ("(word >> address % 32 & 1u) != 0", "(word >> address % 31 & 1u) != 0", {}),
    ("SYNC();  // nobody needs the vector any more", "", {"blocks": 2}),
    ("function * BITS + bit", "bit", {}),
    ("if (member) ST", "if (member && i) ST", {"k": 2, "m": 64}),  # all ones: w-mer 0 is a positive
]
