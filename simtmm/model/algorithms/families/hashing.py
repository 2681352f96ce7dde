"""Hashing: the micro-benchmark, Bloom filters in BLAST, and FACS.

Chapter 5 of the dissertation gives their work, as f_app, and says where tables and vectors lie; M follows from that
here, and each thread waits for memory at least once. Caches, which that chapter has and the TMM has not, are left out.
"""

from simtmm.model.algorithms.algorithm import Algorithm, Form, Need
from simtmm.model.equations.formula import Symbol

HASH_FUNCTIONS = Symbol("k", "hash functions", "functions", minimum=1)
BITS_OF_A_WORD = 32

HASHING = Algorithm(
    name="hashing",
    title="Random accesses to a hash table",
    symbols=(
        Symbol("n", "accesses", "accesses", minimum=1),
        Symbol("m", "working set: size of the table", "words", minimum=1),
    ),
    forms={
        "global": Form(
            work=lambda n: n,
            span=lambda: 1,
            memory=lambda n: n,
            threads=lambda n: n,
            chain=lambda: 1,
            source="000 (Ma), section 5.2.1, Eq (5.15), Fig 5.1(b); M derived here: no two accesses in a chunk",
        ),
        "local": Form(
            work=lambda n: n,
            span=lambda: 1,
            memory=lambda n, C: n / C,
            threads=lambda n: n,
            chain=lambda: 1,
            needs=(Need("m", "at most", lambda Z: Z, "Z"),),
            source="000 (Ma), section 5.2.1, Eq (5.15), Fig 5.1(a); M derived here: the pointers, in chunks",
        ),
    },
)

BLOOM_FILTER = Algorithm(
    name="bloom-filter",
    title="Bloom filters in BLAST",
    symbols=(
        Symbol("n", "w-mers of the database", "w-mers", minimum=1),
        HASH_FUNCTIONS,
        Symbol("Q_s", "length of the query", "characters", minimum=1),
        Symbol("n_sub", "length of a sub-query", "characters", minimum=1),
        Symbol("m", "size of a Bloom vector", "bits", minimum=1),
    ),
    forms={
        "local": Form(
            work=lambda n, k, Q_s, n_sub: k * (Q_s / n_sub) * n,  # Eq. (5.20)
            span=lambda k: k,
            memory=lambda n, Q_s, n_sub, C: Q_s / n_sub * n / C,
            threads=lambda n, Q_s, n_sub: Q_s / n_sub * n,
            chain=lambda: 1,
            needs=(Need("m", "at most", lambda Z: BITS_OF_A_WORD * Z, "32 Z bits"),),
            source="000 (Ma), section 5.2.3, Eq (5.20); M derived here: w-mers in chunks, vectors in shared memory",
        ),
    },
)

FACS = Algorithm(
    name="facs",
    title="DNA classification: FACS",
    symbols=(
        Symbol("n", "w-mers of all sequences", "w-mers", minimum=1),
        HASH_FUNCTIONS,
        Symbol("m", "size of a Bloom vector", "bits", minimum=1),
    ),
    forms={
        "global": Form(
            work=lambda n, k: k * n,
            span=lambda k: k,
            memory=lambda n, k: k * n,
            threads=lambda n: n,
            source="000 (Ma), section 5.2.5, a thread for each w-mer; M derived here: the vectors are in global memory",
        ),
    },
)
