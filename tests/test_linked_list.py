"""Lists that kernels rank: where their nodes lie, and what their ranks are."""

import numpy as np
import pytest

from simtmm.right_answer import WrongAnswer
from simtmm.right_answer.linked_list import drawn_list, expect_ranks

END = 99


def walked(successor):
    node, nodes = 0, []
    while node != END:
        nodes.append(node)
        node = int(successor[node])
    return nodes


@pytest.mark.parametrize("order", ["random", "ordered"])
def test_a_drawn_list_goes_through_all_nodes_from_the_first_on(order):
    nodes, successor = drawn_list(np.random.default_rng(3), 50, order, END)
    assert walked(successor) == nodes.tolist()
    assert sorted(nodes.tolist()) == list(range(50))
    assert (nodes.tolist() == list(range(50))) == (order == "ordered")
    assert (nodes.dtype, successor.dtype) == (np.int64, np.int32)


def test_a_list_of_one_node_is_its_own_end():
    nodes, successor = drawn_list(np.random.default_rng(3), 1, "random", END)
    assert (nodes.tolist(), successor.tolist()) == ([0], [END])


def test_ranks_count_the_nodes_before():
    successor = np.array([2, END, 1], np.int32)
    expect_ranks("rank", np.array([0, 2, 1], np.int32), successor)
    with pytest.raises(WrongAnswer, match=r"^rank\[1\] is 1, should be 2 \(2 elements are wrong\)$"):
        expect_ranks("rank", np.array([0, 1, 2], np.int32), successor)
