"""Sets of slots or places as words of bits, the lowest free one first."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined


@inlined
def lowest_bit(word):
    """The number of the lowest set bit."""
    low = word & (~word + np.uint64(1))
    number = 0
    if low & np.uint64(0xFFFFFFFF00000000):
        number += 32
    if low & np.uint64(0xFFFF0000FFFF0000):
        number += 16
    if low & np.uint64(0xFF00FF00FF00FF00):
        number += 8
    if low & np.uint64(0xF0F0F0F0F0F0F0F0):
        number += 4
    if low & np.uint64(0xCCCCCCCCCCCCCCCC):
        number += 2
    if low & np.uint64(0xAAAAAAAAAAAAAAAA):
        number += 1
    return number


@inlined
def take(s, g, which):
    """The lowest free number of a group's row of bits, which is taken by this."""
    index = 0
    while s.bits[g, which, index] == 0:
        index += 1
    bit = lowest_bit(s.bits[g, which, index])
    s.bits[g, which, index] &= s.bits[g, which, index] - np.uint64(1)
    return (index << 6) + bit


@inlined
def give_back(s, g, which, number):
    """The number is free again."""
    s.bits[g, which, number >> 6] |= np.uint64(1) << np.uint64(number & 63)
