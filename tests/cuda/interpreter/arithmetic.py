"""Arithmetic on exact values, before anything is rounded. mode decides the sign of a zero that is a difference."""

import math
from fractions import Fraction

from tests.cuda.interpreter.formats import Value, is_negative, is_special


def add(a: Value, b: Value, mode: str = "rn") -> Value:
    """a + b."""
    if is_special(a):
        return a + (b if is_special(b) else 0.0)
    if is_special(b):
        return b
    exact = Fraction(a) + Fraction(b)
    if exact:
        return exact
    if a == 0 and is_negative(a) == is_negative(b):
        return a
    return -0.0 if mode == "rm" else 0.0


def negate(a: Value) -> Value:
    """-a."""
    return -a


def multiply(a: Value, b: Value) -> Value:
    """a times b."""
    if any(isinstance(each, float) and math.isnan(each) for each in (a, b)):
        return math.nan
    negative = is_negative(a) != is_negative(b)
    if is_special(a) or is_special(b):
        return math.nan if 0 in (a, b) else -math.inf if negative else math.inf
    return Fraction(a) * Fraction(b) or (-0.0 if negative else 0.0)


def fused(a: Value, b: Value, c: Value, mode: str = "rn") -> Value:
    """a times b plus c, rounded by nothing in between."""
    return add(multiply(a, b), c, mode)


def divide(a: Value, b: Value) -> Value:
    """a over b."""
    if any(isinstance(each, float) and math.isnan(each) for each in (a, b)):
        return math.nan
    negative = is_negative(a) != is_negative(b)
    if is_special(a) or b == 0:
        if is_special(b) or a == 0:
            return math.nan
        return -math.inf if negative else math.inf
    if is_special(b) or a == 0:
        return -0.0 if negative else 0.0
    return Fraction(a) / Fraction(b)


def square_root(a: Value) -> Value:
    """The root of a: exact, or off by less than 2^-300 of it, on the right side of every number of every format."""
    if a == 0 or (isinstance(a, float) and math.isnan(a)):
        return a
    if is_negative(a):
        return math.nan
    if is_special(a):
        return a
    scaled = Fraction(a) * 4**1400
    root = math.isqrt(scaled.numerator // scaled.denominator)
    exact = scaled.denominator == 1 and root * root == scaled.numerator
    # Roots of numbers of a format that are not exact are no ties: half a step more keeps them off both neighbours.
    return Fraction(root if exact else 2 * root + 1, 1 if exact else 2) / 2**1400


def least(a: float, b: float, propagate: bool = False) -> float:
    """The smaller; -0 is below +0, and a NaN loses unless it is to be propagated."""
    if math.isnan(a) or math.isnan(b):
        return math.nan if propagate or (math.isnan(a) and math.isnan(b)) else b if math.isnan(a) else a
    if a == b:
        return a if is_negative(a) else b
    return min(a, b)


def greatest(a: float, b: float, propagate: bool = False) -> float:
    """The larger, by the same rules."""
    return -least(-a, -b, propagate)
