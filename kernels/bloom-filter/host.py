"""Bloom filters in BLAST: membership of all w-mers of a database in all sub-queries.

A query is split into sub-queries, each with a Bloom vector of m bits and k hash functions of the H3 family of its
own, made on the host. The database is random bases, every second stretch of it taken from the query. `stop` at-miss
is Algorithm 3, which leaves a w-mer at its first bit that is not set; never is the loop unrolled.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, WrongAnswer, expect_equal

PAPER = "000 (Ma) sections 5.2.2 and 5.2.3, Algorithm 3, Eq (5.17), (5.20); 002 (Ma and Chamberlain) section IV"

PARAMETERS = {
    "n": Parameter(1024, "w-mers of the database", minimum=1, maximum=2**20),
    "sub_queries": Parameter(8, "sub-queries, Q_s / n_sub", minimum=1, maximum=1024),
    "sub_query": Parameter(500, "bases of a sub-query, n_sub", minimum=16, maximum=2**20),
    "k": Parameter(6, "hash functions", minimum=1, maximum=32),
    "m": Parameter(8192, "bits of a vector", choices=tuple(2**power for power in range(5, 22))),
    "w": Parameter(11, "bases of a w-mer", minimum=1, maximum=16),
    "stop": Parameter("at-miss", "when hashing of a w-mer stops", choices=("at-miss", "never")),
    "blocks": Parameter(8, "blocks of the grid, B_r; each takes sub-queries in turns", minimum=1, maximum=4096),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

BASES_OF_A_WORD = 16
STRETCH = 40  # bases that the database takes from the query at a time
MOST_BASES = 2**26
REGISTERS = 20  # assumption: indices, a w-mer, an address, pointers


def defines(p):
    return {"BASES": p.w, "FUNCTIONS": p.k, "VECTOR_WORDS": p.m // 32, "STOP_AT_MISS": int(p.stop == "at-miss")}


def algorithm(p):
    return "bloom-filter", {"n": p.n, "k": p.k, "m": p.m, "n_sub": p.sub_query, "Q_s": p.sub_query * p.sub_queries}


def inputs(p):
    if p.sub_queries * p.sub_query > MOST_BASES:
        raise KernelError(f"kernel bloom-filter: sub_queries * sub_query: must be at most {MOST_BASES}")
    queries, database = sequences(p)
    matrices = np.random.default_rng((p.seed, 1)).integers(0, p.m, (p.sub_queries, p.k, 2 * p.w), dtype=np.uint32)
    return {
        "database": packed(database),
        "vectors": np.array([vector(p, query, rows) for query, rows in zip(queries, matrices, strict=True)]),
        "rows": matrices,
        "hits": np.zeros((p.sub_queries, p.n), dtype=np.uint8),
    }


def sequences(p):
    """The sub-queries, a row each, and the database, as bases 0 to 3."""
    random = np.random.default_rng(p.seed)
    queries = random.integers(0, 4, (p.sub_queries, p.sub_query), dtype=np.uint8)
    database = random.integers(0, 4, p.n + p.w - 1, dtype=np.uint8)
    query = queries.ravel()
    for at in range(0, len(database), 2 * STRETCH):
        bases = min(STRETCH, len(database) - at, len(query))
        taken_from = random.integers(0, len(query) - bases, endpoint=True)
        database[at : at + bases] = query[taken_from : taken_from + bases]
    return queries, database


def packed(sequence):
    """Two bits a base, the first one lowest; and a word behind the last, which may be read and does not count."""
    words = -(-len(sequence) // BASES_OF_A_WORD) + 1
    bases = np.zeros(words * BASES_OF_A_WORD, dtype=np.uint32)
    bases[: len(sequence)] = sequence
    shifts = 2 * np.arange(BASES_OF_A_WORD, dtype=np.uint32)
    return np.bitwise_or.reduce(bases.reshape(words, BASES_OF_A_WORD) << shifts, axis=1)


def w_mers(sequence, w):
    """The w-mers as numbers, the first base lowest."""
    return np.lib.stride_tricks.sliding_window_view(sequence.astype(np.int64), w) @ 4 ** np.arange(w)


def vector(p, query, matrix):
    """The Bloom vector of a sub-query, in words of 32 bits."""
    bits = np.zeros(p.m, dtype=bool)
    elements = w_mers(query, p.w)
    for rows in matrix:
        address = np.zeros(len(elements), dtype=np.uint32)
        for bit, row in enumerate(rows):
            address ^= np.where(elements >> bit & 1, row, np.uint32(0))
        bits[address] = True
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def launches(p, memory):
    yield Launch(
        "membership",
        ("database", "vectors", "rows", "hits", p.n, p.sub_queries),
        grid=p.blocks,
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=p.m // 8 + 4 * p.k * 2 * p.w,
    )


def check(p, before, after):
    """Against sets of addresses made anew from the sequences, and against the sets of w-mers themselves."""
    queries, database = sequences(p)
    expected = np.empty_like(after["hits"])
    for at, (query, matrix) in enumerate(zip(queries, before["rows"], strict=True)):
        is_set = addresses(query, matrix, p)
        expected[at] = np.isin(addresses(database, matrix, p), is_set).all(axis=0)
        element = np.isin(w_mers(database, p.w), w_mers(query, p.w))
        if np.any(element & (after["hits"][at] == 0)):
            raise WrongAnswer(f"hits[{at}]: a w-mer of the sub-query is not found, which a Bloom filter never does")
    expect_equal("hits", after["hits"], expected)


def addresses(sequence, matrix, p):
    """Hash functions by w-mers: an address as the product of the w-mer's bits and a matrix of bits, modulo two."""
    bases = np.lib.stride_tricks.sliding_window_view(sequence, p.w)
    bits = np.stack([bases & 1, bases >> 1], axis=2).reshape(len(bases), 2 * p.w).astype(np.float32)
    powers = 2 ** np.arange(p.m.bit_length() - 1)
    return np.array([(bits @ (rows[:, None] // powers % 2).astype(np.float32) % 2) @ powers for rows in matrix])
