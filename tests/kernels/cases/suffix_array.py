from types import SimpleNamespace

from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "k": 1, "m": 1, "threads": 1},
    {"n": 7, "k": 2, "m": 3, "threads": 1024},
    {"n": 5, "k": 9, "m": 4, "letters": 2, "threads": 2},  # queries longer than the text
    {"n": 33, "k": 5, "m": 500, "threads": 32, "letters_per_load": 1, "seed": 3},
    {"n": 100, "k": 13, "m": 257, "letters": 2, "present": 1.0, "letters_per_load": 8},
    {"n": 64, "k": 16, "m": 1000, "letters": 26, "present": 0.0},
    {"n": 40, "k": 2, "text": "mississippi"},  # Fig 4.9; its query "si" is among them
]

EVENTS = [
    {"n": 60, "k": 6, "m": 300},
    {"n": 21, "k": 11, "m": 64, "letters": 2, "letters_per_load": 8},
    {"n": 30, "k": 2, "m": 1000, "letters_per_load": 1},
    {"n": 16, "k": 2, "text": "mississippi"},
]

FIG_4_9 = [11, 8, 5, 2, 1, 10, 9, 7, 4, 6, 3]  # counted from 1; printed with 4 for 5 and 8 for 9


def events(letters_per_load=4, **parameters):
    kernel = load_kernel("suffix-array")
    p = {**kernel.resolve(parameters), "letters_per_load": letters_per_load}
    text, queries = kernel.host.strings(SimpleNamespace(**p))
    if text == b"mississippi":
        suffixes = [text[start - 1 :] for start in FIG_4_9]
        starts = [start - 1 for start in FIG_4_9]
    else:
        suffixes = sorted(text[start:] for start in range(len(text)))
        starts = [len(text) - len(suffix) for suffix in suffixes]

    def comparison(start, suffix, query):
        words = 0
        for first in range(0, len(query), letters_per_load):
            # Of the query and of the text, from two words where the suffix does not start with a word; join, work.
            words += 5 if start % letters_per_load else 4
            piece = slice(first, first + letters_per_load)
            if suffix[piece] != query[piece]:
                break
        return words

    count = 0
    for query in queries:
        k = len(query)
        low = 0
        for goes_up in (lambda s: s[:k] < query, lambda s: s[:k] <= query):  # noqa: B023 - called within the round
            high = len(text)
            while low < high:
                middle = (low + high) // 2
                count += 2 + comparison(starts[middle], suffixes[middle], query)  # the suffix's start, work
                low, high = (middle + 1, high) if goes_up(suffixes[middle]) else (low, middle)
            count += 1  # the bound
    return count


MISTAKES = [
    ("order < side", "order <= side", {}),
    ("piece < mine", "piece > mine", {}),
    ("letter += LETTERS", "letter += 2 * LETTERS", {"letters": 2}),
    ("next >> (BITS - shift)", "next >> shift", {}),
    ("max(0, letter + LETTERS - k)", "0", {"k": 6}),
]
