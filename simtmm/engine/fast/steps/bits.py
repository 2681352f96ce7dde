"""Sets of slots or places as words of bits, the lowest free one first."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined, trailing_zeros


@inlined
def take(s, g, which):
    """The lowest free number of a group's row of bits, which is taken by this."""
    index = 0
    while s.bits[g, which, index] == 0:
        index += 1
    bit = trailing_zeros(s.bits[g, which, index])
    s.bits[g, which, index] &= s.bits[g, which, index] - np.uint64(1)
    return (index << 6) + bit


@inlined
def give_back(s, g, which, number):
    """The number is free again."""
    s.bits[g, which, number >> 6] |= np.uint64(1) << np.uint64(number & 63)
