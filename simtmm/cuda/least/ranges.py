"""Whole numbers of so many bits of which it is known between which two they lie, both included.

They are stored as signed; None is a number of which nothing is known.
"""

from collections.abc import Callable
from typing import TypeAlias

Range: TypeAlias = tuple[int, int]
Known: TypeAlias = Range | None

NO, YES = (0, 0), (1, 1)
EITHER = (0, 1)


def signed(value: Known, bits: int) -> Range:
    """As a signed number: all numbers if nothing is known."""
    return value if value is not None else (-(1 << bits - 1), (1 << bits - 1) - 1)


def unsigned(value: Known, bits: int) -> Range:
    """As an unsigned number."""
    if value is None or value[0] < 0 <= value[1]:
        return 0, (1 << bits) - 1
    more = 0 if value[0] >= 0 else 1 << bits
    return value[0] + more, value[1] + more


def wrapped(low: int, high: int, bits: int) -> Known:
    """What is left of numbers in so many bits; None where some of them wrap round and others do not."""
    half = 1 << bits - 1
    times = (low + half) >> bits
    return (low - (times << bits), high - (times << bits)) if (high + half) >> bits == times else None


def hull(one: Known, other: Known) -> Known:
    """Either of them."""
    return None if one is None or other is None else (min(one[0], other[0]), max(one[1], other[1]))


def is_one(value: Known) -> bool:
    """Whether it is known which number it is."""
    return value is not None and value[0] == value[1]


def times(one: Range, other: Range) -> Range:
    """The product."""
    ends = [a * b for a in one for b in other]
    return min(ends), max(ends)


def both(one: Known, other: Known, bits: int) -> Known:
    """The bits that are in both numbers."""
    if is_one(one) and is_one(other):
        return wrapped(one[0] & other[0], one[0] & other[0], bits)  # type: ignore[index]
    for value, mask in ((one, other), (other, one)):
        if mask is not None and is_one(mask):
            known, keeps = signed(value, bits), mask[0]
            if keeps < 0 and -keeps & (-keeps - 1) == 0:  # all but the lowest ones
                return known[0] & keeps, known[1] & keeps
            if (
                keeps >= 0
                and keeps & (keeps + 1) == 0
                and known[0] >> keeps.bit_length() == (known[1] >> keeps.bit_length())
            ):  # the lowest ones alone, and the others are the same in all
                return known[0] & keeps, known[1] & keeps
    least = [value[1] for value in (one, other) if value is not None and value[0] >= 0]
    return (0, min(least)) if least else None


def any_bit(one: Known, other: Known, bits: int, function: Callable[[int, int], int]) -> Known:
    """`function`, which is or, or xor, of two numbers."""
    if is_one(one) and is_one(other):
        value = function(one[0], other[0])  # type: ignore[index]
        return wrapped(value, value, bits)
    if one is None or other is None or one[0] < 0 or other[0] < 0:
        return None
    return 0, (1 << max(one[1].bit_length(), other[1].bit_length())) - 1
