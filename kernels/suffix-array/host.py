"""String matching by binary search over a suffix array, a thread a query.

The suffixes of a text stand sorted; a thread finds the first that begins with its query and the one behind the last.
Suffix and query are compared `letters_per_load` letters at a time, as far as they agree. The queries are laid out word
by word, so that threads at the same word of theirs read neighbours. Some are cut from the text, the others are random.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, WrongAnswer
from simtmm.right_answer.suffixes import suffix_array

PAPER = "000 (Ma) section 4.2.2, Fig 4.9, Eq (4.30)"

PARAMETERS = {
    "n": Parameter(1024, "queries", minimum=1, maximum=2**22),
    "k": Parameter(16, "letters of a query", minimum=1, maximum=256),
    "m": Parameter(4096, "letters of the text, if it is random", minimum=1, maximum=2**24),
    "text": Parameter("random", "the text", choices=("random", "mississippi")),
    "letters": Parameter(4, "letters of the alphabet, if the text is random", minimum=2, maximum=26),
    "present": Parameter(0.5, "share of the queries that are cut from the text", minimum=0.0, maximum=1.0),
    "letters_per_load": Parameter(4, "letters of the text or of a query in a load", choices=(1, 4, 8)),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 24  # assumption: the bounds, two words of text and one of the query, addresses


def strings(p):
    """The text and the queries, as bytes."""
    random = np.random.default_rng(p.seed)
    if p.text == "random":
        text = (ord("a") + random.integers(p.letters, size=p.m)).astype(np.uint8)
    else:
        text = np.frombuffer(p.text.encode(), dtype=np.uint8)
    queries = random.choice(np.unique(text), (p.n, p.k))
    if len(text) >= p.k:
        cut = np.flatnonzero(random.random(p.n) < p.present)
        starts = random.integers(len(text) - p.k, size=len(cut), endpoint=True)
        queries[cut] = np.lib.stride_tricks.sliding_window_view(text, p.k)[starts]
    return text.tobytes(), [query.tobytes() for query in queries]


def words(letters, p):
    """Rows of bytes as rows of words, the first letter in the highest bits, zeros behind the last."""
    wide = np.zeros((len(letters), -(-letters.shape[1] // p.letters_per_load) * p.letters_per_load), dtype=np.uint8)
    wide[:, : letters.shape[1]] = letters
    return wide.view(f">u{p.letters_per_load}").astype(f"u{p.letters_per_load}")


def defines(p):
    return {"LETTERS": p.letters_per_load}


def algorithm(p):
    return "suffix-array", {"n": p.n, "k": p.k, "m": p.m if p.text == "random" else len(p.text)}


def inputs(p):
    text, queries = strings(p)
    behind = np.zeros(2 * p.letters_per_load, dtype=np.uint8)  # a comparison may look a word beyond the text's last
    letters = np.concatenate([np.frombuffer(text, dtype=np.uint8), behind])
    return {
        "text": words(letters[None, :], p)[0],
        "suffixes": suffix_array(text),
        "queries": np.ascontiguousarray(words(np.array([list(query) for query in queries], dtype=np.uint8), p).T),
        "bounds": np.zeros((2, p.n), dtype=np.uint32),
    }


def launches(p, memory):
    yield Launch(
        "match",
        ("text", "suffixes", len(memory["suffixes"]), "queries", p.n, p.k, "bounds"),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    text, queries = strings(p)
    occurrences = {query: [] for query in queries}
    for start in range(len(text) - p.k + 1):
        if (piece := text[start : start + p.k]) in occurrences:
            occurrences[piece].append(start)
    for i, query in enumerate(queries):
        low, high = after["bounds"][:, i]
        found = sorted(before["suffixes"][low:high].tolist())
        if found != occurrences[query]:
            raise WrongAnswer(f"query {i}, {query.decode()}, is found at {found}, is at {occurrences[query]}")
