from itertools import pairwise

from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "threads": 1, "blocks": 1, "w": 1, "k": 1, "m": 1, "references": 1},  # every word is a positive
    {"n": 7, "threads": 1, "blocks": 3, "w": 31, "length": 31},  # one word a read
    {"n": 33, "threads": 33, "blocks": 5, "references": 5, "m": 4099, "length": 77, "seed": 2},
    {"n": 3, "threads": 1024, "blocks": 8, "length": 390, "reference": 64},  # blocks without a read
    {"n": 50, "threads": 64, "stop": "never", "k": 3, "w": 16, "threshold": 0},
    {"n": 20, "threshold": 100, "references": 3},
]

EVENTS = [
    {"n": 20, "threads": 32, "blocks": 3, "length": 60, "w": 21, "k": 5, "m": 3000, "references": 3, "stop": stop}
    for stop in ("at-miss", "never")
] + [{"n": 9, "threads": 5, "blocks": 2, "length": 45, "w": 30, "k": 2, "m": 500, "references": 1, "stop": "at-miss"}]


def events(n, threads, length, w, k, m, references, stop, **others):
    """A sequential run that counts."""
    kernel = load_kernel("facs")
    sizes = {"n": n, "threads": threads, "length": length, "w": w, "k": k, "m": m, "references": references}
    arrays = kernel.inputs(kernel.resolve(sizes | {"stop": stop} | others))
    bases = [int(word) >> 2 * base & 3 for word in arrays["bases"] for base in range(32)]
    starts = arrays["starts"].tolist()
    # A read: scores set to zero; in the end a load, work and a store for each reference, work and a store for the
    # class. A thread of it: two asyncs, a join and work for the read's place, three barriers.
    count = n * (references + 3 * references + 2 + 7 * threads)
    for start, end in pairwise(starts):
        for first in range(start, end - w + 1):
            x = sum(base << 2 * place for place, base in enumerate(bases[first : first + w]))
            for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
                x = (x ^ x >> 33) * factor % 2**64
            x ^= x >> 33
            count += 5  # two asyncs, a join, the work of unpacking, the work of hashing
            for vector in arrays["vectors"]:
                places = [(x % 2**32 + function * (x >> 32 | 1)) % 2**32 * m >> 32 for function in range(k)]
                ones = [int(vector[place // 32]) >> place % 32 & 1 for place in places]
                if stop == "never":
                    count += k + 3  # the asyncs, a join, the work on the places and on the bits
                else:
                    count += 3 * (ones.index(0) + 1 if 0 in ones else k)  # work, a load, work
                count += all(ones)  # the update of the score
    return count


MISTAKES = [
    ("function * step", "step", {}),
    ("address / 32);  // one after another", "address / 33);", {}),
    ("ones &= words", "ones |= words", {"stop": "never"}),
    ("(hash >> 32) | 1u", "(hash >> 31) | 1u", {}),
    ("next - first - BASES + 1", "next - first - BASES", {}),
    ("score > most", "score >= most", {"threshold": 0}),  # novel reads have as many, none, of both
    (">= threshold * words", "> threshold * words", {"threshold": 100}),
    ("SYNC();  // all scores are there", "", {}),
]
