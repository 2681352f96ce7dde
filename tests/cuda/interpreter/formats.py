"""Floating-point formats, decoded exactly and rounded exactly.

A value is a Fraction that is not zero, or a Python float: every number of every format here is a float64 exactly, and
floats alone have infinities, NaNs and the sign of zero.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TypeAlias

Value: TypeAlias = Fraction | float

MODES = ("rn", "rz", "rm", "rp", "rna")


@dataclass(frozen=True)
class Format:
    """A binary format. unused: bits below the fraction that stay zero, which tf32 has. finite: it has no infinities."""

    name: str
    precision: int
    exponent_bits: int
    unused: int = 0
    finite: bool = False

    @property
    def bits(self) -> int:
        """Of a number as it is stored."""
        return self.precision + self.exponent_bits + self.unused

    @property
    def least_exponent(self) -> int:
        """Of a normal number."""
        return 2 - (1 << (self.exponent_bits - 1))

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        return self.infinity - 1 << self.unused if not self.finite else 0x7E

    @property
    def infinity(self) -> int:
        """The bits of infinity, without those that are unused."""
        return ((1 << self.exponent_bits) - 1) << (self.precision - 1)

    @property
    def nan(self) -> int:
        """The bits of the NaN that arithmetic gives."""
        return ((1 << (self.bits - 1)) - 1) >> self.unused << self.unused


F16 = Format("f16", 11, 5)
BF16 = Format("bf16", 8, 8)
TF32 = Format("tf32", 11, 8, unused=13)
F32 = Format("f32", 24, 8)
F64 = Format("f64", 53, 11)
E4M3 = Format("e4m3", 4, 4, finite=True)
E5M2 = Format("e5m2", 3, 5)
FORMATS = {each.name: each for each in (F16, BF16, TF32, F32, F64, E4M3, E5M2)}


def decode(bits: int, form: Format) -> float:
    """The number that bits stand for."""
    bits = (bits & ((1 << form.bits) - 1)) >> form.unused
    width = form.precision - 1
    fraction = bits & ((1 << width) - 1)
    exponent = (bits >> width) & ((1 << form.exponent_bits) - 1)
    sign = -1.0 if bits >> (width + form.exponent_bits) else 1.0
    if form.finite and bits & 0x7F == 0x7F:
        return math.nan
    if exponent == (1 << form.exponent_bits) - 1 and not form.finite:
        return math.nan if fraction else sign * math.inf
    if exponent:
        fraction |= 1 << width
    return sign * math.ldexp(fraction, max(exponent, 1) - 1 + form.least_exponent - width)


def encode(value: Value, form: Format, mode: str = "rn") -> int:
    """The bits of a value, rounded to even ("rn"), away from zero on ties ("rna"), or towards zero, minus, plus."""
    if isinstance(value, float) and math.isnan(value):
        return form.nan
    negative = is_negative(value)
    sign = int(negative) << (form.bits - 1)
    if isinstance(value, float) and math.isinf(value):
        return sign | (form.nan if form.finite else form.infinity << form.unused)
    if value == 0:
        return sign
    magnitude = abs(Fraction(value))
    width = form.precision - 1
    exponent = max(exponent_of(magnitude), form.least_exponent)
    steps = rounded(magnitude / power_of_two(exponent - width), mode, negative)
    # Exponent and fraction side by side: a carry out of the fraction is the next exponent.
    bits = ((exponent - form.least_exponent) << width) + steps << form.unused
    if bits > form.largest:
        outwards = mode in ("rn", "rna") or mode == ("rm" if negative else "rp")
        bits = form.largest if not outwards else form.nan if form.finite else form.infinity << form.unused
    return sign | bits


def rounded(magnitude: Fraction, mode: str, negative: bool = False) -> int:
    """A magnitude as a whole number; the mode is that of the number whose sign it is."""
    whole, rest = divmod(magnitude.numerator, magnitude.denominator)
    twice = 2 * rest
    match mode:
        case "rn":
            up = twice > magnitude.denominator or (twice == magnitude.denominator and whole % 2 == 1)
        case "rna":
            up = twice >= magnitude.denominator
        case "rz":
            up = False
        case "rm":
            up = negative and rest > 0
        case "rp":
            up = not negative and rest > 0
        case _:
            raise ValueError(f"rounding mode {mode} is not known")
    return whole + up


def exponent_of(magnitude: Fraction) -> int:
    """The e of 2^e <= magnitude < 2^(e+1)."""
    top, bottom = magnitude.numerator, magnitude.denominator
    estimate = top.bit_length() - bottom.bit_length()
    return estimate if bottom << max(estimate, 0) <= top << max(-estimate, 0) else estimate - 1


@cache
def power_of_two(exponent: int) -> Fraction:
    """2^exponent."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def is_negative(value: Value) -> bool:
    """Whether the sign is minus, of zeros as well."""
    return math.copysign(1.0, value) < 0 if isinstance(value, float) else value < 0


def is_special(value: Value) -> bool:
    """Whether it is an infinity or NaN."""
    return isinstance(value, float) and not math.isfinite(value)


def is_subnormal(bits: int, form: Format) -> bool:
    """Whether bits are those of a subnormal number, which zero is not."""
    fraction = bits >> form.unused & ((1 << (form.precision - 1)) - 1)
    exponent = bits >> (form.precision - 1 + form.unused) & ((1 << form.exponent_bits) - 1)
    return exponent == 0 and fraction != 0


def flushed(bits: int, form: Format) -> int:
    """The bits, or a zero of their sign for a subnormal number."""
    return bits & 1 << (form.bits - 1) if is_subnormal(bits, form) else bits
