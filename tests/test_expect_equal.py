"""Answers are compared a piece at a time, and told as if all of them were compared at once."""

import numpy as np
import pytest

from simtmm.kernel import COMPARED, WrongAnswer, expect_equal


@pytest.mark.parametrize("tolerance", [0.0, 1e-9])
@pytest.mark.parametrize("shape", [(COMPARED + 3,), (3, COMPARED)])
def test_the_first_wrong_element_is_named_whichever_piece_it_lies_in(shape, tolerance):
    got, expected = np.ones((2, *shape))
    expect_equal("a", got, expected, tolerance)
    got.reshape(-1)[-2:] = np.nan, 1 + 1e-6
    place = ", ".join(str(index) for index in np.unravel_index(got.size - 2, shape))
    with pytest.raises(WrongAnswer, match=rf"a\[{place}\] is nan, should be 1.0 \(2 elements are wrong\)"):
        expect_equal("a", got, expected, tolerance)
