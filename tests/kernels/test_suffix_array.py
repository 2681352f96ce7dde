"""The dissertation's example of a suffix array, Fig 4.9, and of a suffix tree, Fig 4.8."""

from simtmm.kernel import load_kernel
from tests.kernels.cases.suffix_array import FIG_4_9


def inputs(name, **parameters):
    kernel = load_kernel(name)
    return kernel.inputs(kernel.resolve({"text": "mississippi", **parameters}))


def test_the_suffixes_of_mississippi_stand_as_in_figure_4_9():
    assert (inputs("suffix-array", n=1)["suffixes"] + 1).tolist() == FIG_4_9


def test_the_suffix_tree_of_mississippi_has_the_nodes_and_leaves_of_figure_4_8():
    arrays = inputs("suffix-tree", n=1)
    edges = arrays["edges"]
    leaves = edges[:, 2] == -1
    # Nodes: the root, i, p, s, issi, si, ssi. Leaves: the eleven suffixes and the terminator alone.
    assert len(arrays["cells"]) == 7 * 5
    assert leaves.sum() == 12
    assert len(edges) == 7 + 12 - 1
    text = arrays["text"].tobytes().translate(bytes.maketrans(bytes(range(5)), b"$imps"))
    assert sorted(text[start : start + length] for start, length in edges[~leaves, :2]) == sorted(
        [b"i", b"p", b"s", b"ssi", b"i", b"si"]
    )
