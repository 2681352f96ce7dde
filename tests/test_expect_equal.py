"""Answers are compared a piece at a time, and told as if all of them were compared at once."""

import numpy as np
import pytest

from simtmm.right_answer import COMPARED, SIDE, WrongAnswer, expect_equal


@pytest.mark.parametrize("tolerance", [0.0, 1e-9])
@pytest.mark.parametrize("shape", [(COMPARED + 3,), (3, COMPARED)])
def test_the_first_wrong_element_is_named_whichever_piece_it_lies_in(shape, tolerance):
    got, expected = np.ones((2, *shape))
    expect_equal("a", got, expected, tolerance)
    got.reshape(-1)[-2:] = np.nan, 1 + 1e-6
    place = ", ".join(str(index) for index in np.unravel_index(got.size - 2, shape))
    with pytest.raises(WrongAnswer, match=rf"a\[{place}\] is nan, should be 1.0 \(2 elements are wrong\)"):
        expect_equal("a", got, expected, tolerance)


@pytest.mark.parametrize("tolerance", [0.0, 1e-9])
@pytest.mark.parametrize("shape", [(1, 1), (SIDE, SIDE), (SIDE + 1, 3 * SIDE - 1), (5, 2 * SIDE)])
def test_a_transpose_is_compared_tile_by_tile(shape, tolerance):
    expected = np.arange(np.prod(shape), dtype=float).reshape(shape[::-1]).T
    got = np.ascontiguousarray(expected)
    expect_equal("a", got, expected, tolerance)
    for place in ((0, 0), (shape[0] - 1, shape[1] - 1), (shape[0] - 1, 0)):
        wrong = got.copy()
        wrong[place] += 1
        with pytest.raises(WrongAnswer, match=rf"a\[{place[0]}, {place[1]}\] is .* \(1 elements are wrong\)"):
            expect_equal("a", wrong, expected, tolerance)


def test_pieces_with_and_without_differences_are_told_as_one():
    expected = np.ones(3 * COMPARED)
    got = expected.copy()
    got[COMPARED + 5] += 1e-12
    expect_equal("a", got, expected, 1e-9)
    with pytest.raises(WrongAnswer, match=rf"a\[{COMPARED + 5}\] is .* \(1 elements are wrong\)"):
        expect_equal("a", got, expected, 1e-13)
    got[-1], expected[-1] = np.inf, np.inf
    expect_equal("a", got, expected, 1e-9)
    got[-1] = expected[-1] = np.nan
    with pytest.raises(WrongAnswer, match=r"is nan, should be nan"):
        expect_equal("a", got, expected, 1e-9)
