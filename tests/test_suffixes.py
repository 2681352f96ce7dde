"""Suffix arrays and suffix trees are those of their plain definitions, in the same order of nodes and edges."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.right_answer.suffixes import NONE, suffix_array, suffix_tree
from tests.examples import examples


def texts(letters):
    return st.lists(st.integers(1, letters), min_size=1, max_size=60).map(bytes)


def plain_tree(text, letters):
    """From the root down: the suffixes below a node part by their next letter, and an edge is as long as they agree."""
    cells, edges = [NONE] * letters, []
    below = [(0, 0, range(len(text)))]  # where a node's cells begin, its depth, the suffixes below it
    while below:
        node, depth, suffixes = below.pop()
        by_letter = {}
        for suffix in suffixes:
            by_letter.setdefault(text[suffix + depth], []).append(suffix)
        for letter, group in by_letter.items():
            first, end = group[0], depth + 1
            cells[node + letter] = len(edges)
            if len(group) == 1:
                edges.append([first + depth, len(text) - first - depth, NONE, 0])
                continue
            while len({text[suffix + end] for suffix in group}) == 1:
                end += 1
            edges.append([first + depth, end - depth, len(cells), 0])
            below.append((len(cells), end, group))
            cells += [NONE] * letters
    return cells, edges


@examples(200)
@given(st.sampled_from([1, 2, 4, 250]).flatmap(texts))
def test_suffixes_stand_in_lexicographical_order(text):
    assert suffix_array(text).tolist() == sorted(range(len(text)), key=lambda start: text[start:])


@examples(200)
@given(st.sampled_from([1, 2, 4, 26]).flatmap(texts))
def test_a_tree_has_the_cells_and_edges_of_its_definition(text):
    cells, edges = suffix_tree(text + b"\0", 27)
    assert (cells.tolist(), edges.tolist()) == plain_tree(text + b"\0", 27)


@pytest.mark.parametrize("text", [b"\1" * 300, b"\1\2" * 100, bytes(range(1, 27)) * 20], ids=["one", "two", "26"])
def test_long_repeats_are_parted(text):
    assert suffix_array(text).tolist() == sorted(range(len(text)), key=lambda start: text[start:])
    cells, edges = suffix_tree(text + b"\0", 27)
    assert (cells.tolist(), edges.tolist()) == plain_tree(text + b"\0", 27)


def test_a_random_text_of_many_letters_is_too():
    text = bytes(np.random.default_rng(3).integers(1, 5, 5000).astype(np.uint8).tolist())
    cells, edges = suffix_tree(text + b"\0", 5)
    assert (cells.tolist(), edges.tolist()) == plain_tree(text + b"\0", 5)
