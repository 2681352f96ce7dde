from types import SimpleNamespace

from simtmm.kernel import load_kernel

ODD = [
    {"n": 1, "k": 1, "m": 1, "threads": 1},
    {"n": 7, "k": 2, "m": 3, "threads": 1024},
    {"n": 5, "k": 9, "m": 4, "letters": 2, "threads": 2},  # queries longer than the text
    {"n": 33, "k": 5, "m": 500, "threads": 32, "seed": 3},
    {"n": 100, "k": 13, "m": 257, "letters": 2, "present": 1.0},
    {"n": 64, "k": 16, "m": 1000, "letters": 26, "present": 0.0},
    {"n": 40, "k": 4, "text": "mississippi"},  # Fig 4.8
]

EVENTS = [
    {"n": 60, "k": 6, "m": 300},
    {"n": 21, "k": 11, "m": 64, "letters": 2},
    {"n": 20, "k": 3, "text": "mississippi"},
]


def events(**parameters):
    kernel = load_kernel("suffix-tree")
    text, queries = kernel.host.strings(SimpleNamespace(**kernel.resolve(parameters)))
    text += b"$"

    def branches(prefix):
        """Whether the tree has a node at the end of this prefix: two letters or more follow it in the text."""
        behind = {text[at + len(prefix)] for at in range(len(text) - len(prefix)) if text.startswith(prefix, at)}
        return len(behind) > 1 or not prefix

    count = 0
    for query in queries:
        k = len(query)
        matched = max(length for length in range(k + 1) if query[:length] in text)
        nodes = [depth for depth in range(min(matched + 1, k)) if branches(query[:depth])]
        for depth, below in zip(nodes, [*nodes[1:], k], strict=True):
            count += 3  # letter, cell, work
            if matched > depth:
                # EdgeInfo, work; then the letters behind the first, up to the one that differs: 2 asyncs, join, work
                count += 2 + 4 * (min(matched + 1, below) - depth - 1)
        count += 1  # the answer
    return count


MISTAKES = [
    ("if (mine != its) break;", "if (mine > its) break;", {}),
    ("at = edge.start + step - k", "at = edge.start - k", {}),
    ("matched += step", "matched += 1", {}),
    ("min(edge.length, k - matched)", "1", {"letters": 2}),
]
