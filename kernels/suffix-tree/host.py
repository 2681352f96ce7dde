"""String matching in a suffix tree of cells and edges, a thread a query.

Each node has a cell for each letter of the alphabet, the end of the text among them; a cell has the number of its
edge's EdgeInfo: where the edge's letters begin in the text, how many they are, and where the cells of the node below
begin. A thread follows its query from the root and says where an occurrence begins. The queries are laid out letter by
letter, so that threads at the same letter of theirs read neighbours. Some are cut from the text, the others are random.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, WrongAnswer
from simtmm.right_answer.suffixes import NONE, suffix_tree

PAPER = "000 (Ma) section 4.2.1, Fig 4.8, Eq (4.28) and (4.29)"

PARAMETERS = {
    "n": Parameter(1024, "queries", minimum=1, maximum=2**22),
    "k": Parameter(16, "letters of a query", minimum=1, maximum=256),
    "m": Parameter(4096, "letters of the text, if it is random", minimum=1, maximum=2**24),
    "text": Parameter("random", "the text", choices=("random", "mississippi")),
    "letters": Parameter(4, "letters of the alphabet, if the text is random", minimum=2, maximum=26),
    "present": Parameter(0.5, "share of the queries that are cut from the text", minimum=0.0, maximum=1.0),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 18  # assumption: an EdgeInfo, the place in query and tree, addresses


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


def algorithm(p):
    return "suffix-tree", {"n": p.n, "k": p.k, "m": p.m if p.text == "random" else len(p.text)}


def inputs(p):
    text, queries = strings(p)
    alphabet = sorted(set(text))
    number = bytes(alphabet.index(letter) + 1 if letter in alphabet else 0 for letter in range(256))
    numbered = text.translate(number) + b"\0"
    cells, edges = suffix_tree(numbered, len(alphabet) + 1)
    by_query = np.frombuffer(b"".join(queries).translate(number), dtype=np.uint8).reshape(p.n, p.k)
    return {
        "cells": cells,
        "edges": edges,
        "text": np.frombuffer(numbered, dtype=np.uint8),
        "queries": np.ascontiguousarray(by_query.T),
        "found": np.zeros(p.n, dtype=np.int32),
    }


def launches(p, memory):
    yield Launch(
        "match",
        ("cells", "edges", "text", "queries", p.n, p.k, "found"),
        grid=-(-p.n // p.threads),
        block=p.threads,
        registers_per_thread=REGISTERS,
    )


def check(p, before, after):
    text, queries = strings(p)
    wanted = set(queries)
    pieces = wanted.intersection(text[start : start + p.k] for start in range(len(text) - p.k + 1))
    for i, (query, at) in enumerate(zip(queries, after["found"].tolist(), strict=True)):
        right = at >= 0 and text[at : at + p.k] == query if query in pieces else at == NONE
        if not right:
            really = text.find(query)
            raise WrongAnswer(f"found[{i}] is {at}; {query.decode()} is {f'at {really}' if really >= 0 else 'nowhere'}")
