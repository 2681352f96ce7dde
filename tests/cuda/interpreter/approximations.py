"""What the approximate functions approximate, to 300 bits."""

import math
from fractions import Fraction

import mpmath

from tests.cuda.interpreter.arithmetic import divide, square_root
from tests.cuda.interpreter.formats import Value

_CONTEXT = mpmath.mp.clone()
_CONTEXT.prec = 300


def _exact(result) -> Value:
    """An mpmath number as a fraction."""
    sign, mantissa, exponent, _ = result._mpf_
    return Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent or 0.0


def reciprocal(a: float) -> Value:
    """1 / a."""
    return divide(1.0, a)


def reciprocal_root(a: float) -> Value:
    """1 / sqrt(a); -0 gives minus infinity."""
    return divide(1.0, square_root(a))


def power_of_two(a: float) -> Value:
    """2^a; beyond all formats it is an infinity or zero."""
    if math.isnan(a):
        return a
    if abs(a) > 5000:
        return math.inf if a > 0 else 0.0
    return _exact(_CONTEXT.power(2, _CONTEXT.mpf(a)))


def binary_logarithm(a: float) -> Value:
    """log2(a)."""
    if math.isnan(a) or a < 0:
        return math.nan
    if a == 0 or math.isinf(a):
        return -math.inf if a == 0 else a
    return _exact(_CONTEXT.log(_CONTEXT.mpf(a), 2))


def sine(a: float) -> Value:
    """sin(a), a in radians."""
    if not math.isfinite(a):
        return math.nan
    return a if a == 0 else _exact(_CONTEXT.sin(_CONTEXT.mpf(a)))


def cosine(a: float) -> Value:
    """cos(a), a in radians."""
    return _exact(_CONTEXT.cos(_CONTEXT.mpf(a))) if math.isfinite(a) else math.nan


def hyperbolic_tangent(a: float) -> Value:
    """tanh(a)."""
    if math.isnan(a) or a == 0:
        return a
    return math.copysign(1.0, a) if abs(a) > 200 else _exact(_CONTEXT.tanh(_CONTEXT.mpf(a)))
