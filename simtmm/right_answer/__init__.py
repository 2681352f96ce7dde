"""What a kernel's check says of its answer, and how arrays are compared."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

COMPARED = 1 << 15  # elements at a time
SIDE = 1 << 7  # of a tile of two matrices that lie in memory in different orders

Array = npt.NDArray[Any]


class WrongAnswer(Exception):  # noqa: N818 - it is no error of the program but a finding about a kernel
    """Raised by a kernel's check: what is wrong, in one line.

    element: the first wrong one, as a view of the array that it stands in, where there is one.
    """

    def __init__(self, message: str = "", element: Array | None = None) -> None:
        """message: what is wrong.
        element: the first wrong one, shape (1, ...); None where nobody knows.
        """
        super().__init__(message)
        self.element = element


@dataclass(frozen=True)
class Wrong:
    """What a check found: in one line; and where in this process's memory the first wrong element lies, if known."""

    message: str
    address: int | None = None

    def __str__(self) -> str:
        return self.message


def expect_equal(name: str, got: Array, expected: Array, tolerance: float = 0.0) -> None:
    """Raise WrongAnswer, naming the first element of `got` that is not as expected (to a relative tolerance).

    name: what the array is called.
    got, expected: of one shape, whatever it is.
    tolerance: of each element, relative to what is expected.
    """
    if got.shape != expected.shape:
        raise WrongAnswer(f"{name} has shape {got.shape}, should be {expected.shape}")
    right = _equal(got, expected) if tolerance == 0 else _close(got, expected, tolerance)
    if not np.all(right):
        at = tuple(int(index) for index in np.argwhere(~right)[0])
        where = ", ".join(str(index) for index in at)
        raise WrongAnswer(
            f"{name}[{where}] is {got[at]}, should be {expected[at]} ({np.sum(~right)} elements are wrong)",
            got[tuple(slice(index, index + 1) for index in at)],
        )


def _close(got: Array, expected: Array, tolerance: float) -> Array:
    """Of each element, whether it is as expected; a piece at a time, for what the caches hold."""
    shape, right = got.shape, np.empty(got.size, bool)
    got, expected = got.reshape(-1), expected.reshape(-1)
    for begin in range(0, len(right), COMPARED):
        piece = slice(begin, begin + COMPARED)
        right[piece] = got[piece] == expected[piece]
        if not right[piece].all():
            right[piece] = np.isclose(got[piece], expected[piece], rtol=tolerance, atol=0)
    return right.reshape(shape)


def _equal(got: Array, expected: Array) -> Array:
    """Of each element, whether it is as expected; a tile at a time where one has its columns together in memory."""
    if got.ndim != 2 or got.flags.c_contiguous == expected.flags.c_contiguous:
        whole: Array = got == expected
        return whole
    right = np.empty(got.shape, bool)
    for row in range(0, got.shape[0], SIDE):
        for column in range(0, got.shape[1], SIDE):
            tile = slice(row, row + SIDE), slice(column, column + SIDE)
            right[tile] = got[tile] == expected[tile]
    return right
