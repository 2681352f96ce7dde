"""Linked lists that kernels rank: how they lie in memory, and what their ranks are."""

from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from simtmm.right_answer import expect_equal

Indices = npt.NDArray[np.int64]
Links = npt.NDArray[np.int32]


def drawn_list(
    random: np.random.Generator, n: int, order: Literal["random", "ordered"], end: int
) -> tuple[Indices, Links]:
    """A list of n nodes that begins at node 0: its nodes along the list, int64[n], and each one's successor, int32[n].

    random: draws where nodes lie, if `order` is "random"; else they lie in memory in the list's order.
    end: what the last node has for a successor.
    """
    nodes = np.arange(n)
    if order == "random":
        nodes[1:] = 1 + random.permutation(n - 1)
    successor = np.full(n, end, dtype=np.int32)
    successor[nodes[:-1]] = nodes[1:]
    return nodes, successor


def expect_ranks(name: str, got: npt.NDArray[Any], successor: npt.NDArray[Any]) -> None:
    """Raise WrongAnswer unless each node has its rank: how many nodes come before it in the list from node 0 on.

    name: what the array is called. got: shape (n,), the ranks. successor: shape (n,), of each node the next one.
    """
    behind = successor.tolist()
    expected = np.empty(len(behind), dtype=got.dtype)
    node = 0
    for rank in range(len(behind)):
        expected[node] = rank
        node = behind[node]
    expect_equal(name, got, expected)
