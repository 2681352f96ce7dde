"""FACS: DNA reads classified by Bloom filters in global memory.

Each reference sequence has a vector of m bits, made on the host. A read belongs to the reference that holds most of
its w-mers, if that are `threshold` per cent at least, else it is novel. Reads are half to full `length`; every second
one comes from a reference, with one base in a hundred drawn anew, the others are random. A block takes a read, a
thread a w-mer of it. The papers do not say which hash functions they use: here two halves of 64 mixed bits make all.
"""

import numpy as np

from simtmm.errors import KernelError
from simtmm.kernel import Launch, Parameter, WrongAnswer, expect_equal

PAPER = "000 (Ma) section 5.2.5, Eq (5.27), (5.28); 002 (Ma and Chamberlain) section V"

PARAMETERS = {
    "n": Parameter(64, "reads", minimum=1, maximum=2**20),
    "length": Parameter(100, "bases of the longest read", minimum=31, maximum=1024),
    "w": Parameter(21, "bases of a w-mer", minimum=1, maximum=31),
    "references": Parameter(2, "reference sequences, each with its vector", minimum=1, maximum=64),
    "reference": Parameter(1000, "bases of a reference", minimum=31, maximum=2**22),
    "k": Parameter(6, "hash functions", minimum=1, maximum=32),
    "m": Parameter(65536, "bits of a vector", minimum=1, maximum=2**30),
    "threshold": Parameter(50, "per cent of a read's w-mers that a reference must hold", minimum=0, maximum=100),
    "stop": Parameter("at-miss", "when hashing of a w-mer stops", choices=("at-miss", "never")),
    "blocks": Parameter(32, "blocks of the grid; each takes reads in turns", minimum=1, maximum=4096),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

NOVEL = -1
BASES_OF_A_WORD = 32
DRAWN_ANEW = 0.01
MOST_BITS = 2**31
REGISTERS = 32  # assumption: 64-bit words, hashes and pointers


def defines(p):
    stops = int(p.stop == "at-miss")
    return {"BASES": p.w, "FUNCTIONS": p.k, "REFERENCES": p.references, "STOP_AT_MISS": stops}


def algorithm(p):
    # a w-mer for each of its places in a read, were all reads of the greatest length, and for each reference
    return "facs", {"n": p.n * (p.length - p.w + 1) * p.references, "k": p.k, "m": p.m}


def inputs(p):
    if p.references * p.m > MOST_BITS:
        raise KernelError(f"kernel facs: references * m: must be at most {MOST_BITS}")
    references, reads, starts = sequences(p)
    is_set = np.array([bits(p, reference) for reference in references])
    return {
        "bases": packed(reads),
        "starts": starts,
        "vectors": np.packbits(is_set, axis=1, bitorder="little").view("<u4").astype(np.uint32),
        "scores": np.zeros((p.n, p.references), dtype=np.int32),
        "classes": np.full(p.n, NOVEL - 1, dtype=np.int32),
    }


def sequences(p):
    """The references, a row each; the reads, one behind the other; where each begins, and the last one ends."""
    random = np.random.default_rng(p.seed)
    references = random.integers(0, 4, (p.references, p.reference), dtype=np.uint8)
    lengths = random.integers(max(p.w, p.length // 2), p.length, p.n, endpoint=True)
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.uint32)
    reads = random.integers(0, 4, starts[-1], dtype=np.uint8)
    kept = random.random(len(reads)) >= DRAWN_ANEW
    for start, length in zip(starts[::2].tolist(), lengths[::2].tolist(), strict=False):
        length = min(length, p.reference)
        taken_from = random.integers(0, p.reference - length, endpoint=True)
        piece = references[random.integers(p.references), taken_from : taken_from + length]
        np.copyto(reads[start : start + length], piece, where=kept[start : start + length])
    return references, reads, starts


def packed(sequence):
    """Two bits a base, the first one lowest; and a word behind the last, which may be read and does not count."""
    words = -(-len(sequence) // BASES_OF_A_WORD) + 1
    bases = np.zeros(words * BASES_OF_A_WORD, dtype=np.uint64)
    bases[: len(sequence)] = sequence
    shifts = 2 * np.arange(BASES_OF_A_WORD, dtype=np.uint64)
    return np.bitwise_or.reduce(bases.reshape(words, BASES_OF_A_WORD) << shifts, axis=1)


def w_mers(sequence, w):
    """The w-mers as numbers, the first base lowest."""
    return np.lib.stride_tricks.sliding_window_view(sequence.astype(np.uint64), w) @ np.uint64(4) ** np.arange(
        w, dtype=np.uint64
    )


def addresses(p, elements):
    """The addresses in the vector of w-mers, by hash function."""
    for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
        elements = (elements ^ elements >> np.uint64(33)) * np.uint64(factor)
    elements ^= elements >> np.uint64(33)
    low, high = elements.astype(np.uint32), (elements >> np.uint64(32)).astype(np.uint32) | np.uint32(1)
    for function in range(p.k):
        yield (low + np.uint32(function) * high).astype(np.uint64) * np.uint64(p.m) >> np.uint64(32)


def bits(p, reference):
    """The Bloom vector of a reference, a bool a bit, in whole words."""
    is_set = np.zeros(-(-p.m // 32) * 32, dtype=bool)
    for address in addresses(p, w_mers(reference, p.w)):
        is_set[address] = True
    return is_set


def launches(p, memory):
    yield Launch(
        "classify",
        ("bases", "starts", "vectors", "scores", "classes", p.n, -(-p.m // 32), p.m, p.threshold),
        grid=p.blocks,
        block=p.threads,
        registers_per_thread=REGISTERS,
        shared_memory_bytes=4 * p.references,
    )


def check(p, before, after):
    """Against vectors made anew, as sets of addresses, and against the sets of w-mers themselves."""
    references, reads, starts = sequences(p)
    elements = w_mers(reads, p.w)
    read = np.repeat(np.arange(p.n), np.diff(starts))[: len(elements)]
    within = np.arange(len(elements)) + p.w <= starts[read + 1]  # the others reach into the next read
    scores = np.empty((p.n, p.references), dtype=np.int32)
    for at, reference in enumerate(references):
        members = w_mers(reference, p.w)
        is_set = np.unique(np.concatenate(list(addresses(p, members))))
        positive = np.logical_and.reduce([np.isin(address, is_set) for address in addresses(p, elements)])
        scores[:, at] = np.bincount(read, positive & within, minlength=p.n)
        if np.any(after["scores"][:, at] < np.bincount(read, np.isin(elements, members) & within, minlength=p.n)):
            raise WrongAnswer(f"scores: a w-mer of reference {at} is not found, which a Bloom filter never does")
    expect_equal("scores", after["scores"], scores)
    words = np.diff(starts.astype(np.int64)) - p.w + 1
    enough = 100 * scores.max(axis=1) >= p.threshold * words
    expect_equal("classes", after["classes"], np.where(enough, scores.argmax(axis=1), NOVEL))
