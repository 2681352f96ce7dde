"""Errors that the PTX ISA (8.7, section 9.7.3 and 9.7.4) states for approximate instructions, by instruction."""

from dataclasses import replace

from tests.cuda.cases.case import Bound

_ISA = "PTX ISA, "

# Relative errors over all positive finite numbers; div.full 2 ulp; div.approx 2 ulp for divisors in 2^-126 .. 2^126;
# sin and cos over -2 pi .. 2 pi.
SINGLE = {
    "rcp.approx": Bound(relative=2.0**-23, source=_ISA + "rcp: 1 ulp"),
    "sqrt.approx": Bound(relative=2.0**-23, source=_ISA + "sqrt: maximum relative error 2^-23"),
    "rsqrt.approx": Bound(relative=2.0**-22.9, source=_ISA + "rsqrt: maximum relative error 2^-22.9"),
    "ex2.approx": Bound(relative=2.0**-22, source=_ISA + "ex2: maximum relative error 2^-22"),
    "lg2.approx": Bound(relative=2.0**-22, source=_ISA + "lg2: maximum relative error 2^-22 outside of (0.5, 2)"),
    "sin.approx": Bound(absolute=2.0**-20.5, source=_ISA + "sin: maximum absolute error 2^-20.5"),
    "cos.approx": Bound(absolute=2.0**-20.5, source=_ISA + "cos: maximum absolute error 2^-20.5"),
    "div.full": Bound(ulps=2, source=_ISA + "div: 2 ulp"),
    "div.approx": Bound(ulps=2, source=_ISA + "div: 2 ulp"),
}
LOGARITHM = replace(SINGLE["lg2.approx"], absolute=2.0**-22, source=_ISA + "lg2: absolute error 2^-22 within (0.5, 2)")
TANH = Bound(relative=2.0**-11, source=_ISA + "tanh: maximum relative error 2^-11")
DOUBLE = {
    "rcp.approx.ftz.f64": Bound(relative=2.0**-20, source=_ISA + "rcp: the upper 20 bits of the fraction"),
    "rsqrt.approx.f64": Bound(relative=2.0**-22.9, source=_ISA + "rsqrt: as .f32, in software"),
    "rsqrt.approx.ftz.f64": Bound(relative=2.0**-20, source=_ISA + "rsqrt: the upper 20 bits of the fraction"),
}
_HALF_EX2 = Bound(relative=2.0**-9.9, source=_ISA + "ex2: maximum relative error 2^-9.9")
_BF16_EX2 = Bound(relative=2.0**-7, source=_ISA + "ex2: maximum relative error 2^-7")
_HALF_TANH = Bound(absolute=2.0**-10.987, source=_ISA + "tanh: maximum absolute error 2^-10.987")
_BF16_TANH = Bound(absolute=2.0**-8, source=_ISA + "tanh: maximum absolute error 2^-8")
HALF = {
    "ex2.approx.f16": _HALF_EX2, "ex2.approx.f16x2": _HALF_EX2, "ex2.approx.ftz.bf16": _BF16_EX2,
    "ex2.approx.ftz.bf16x2": _BF16_EX2, "tanh.approx.f16": _HALF_TANH, "tanh.approx.f16x2": _HALF_TANH,
    "tanh.approx.bf16": _BF16_TANH, "tanh.approx.bf16x2": _BF16_TANH,
}  # fmt: skip


def flushing(bound: Bound) -> Bound:
    """The bound of an instruction with .ftz: one of two results near the least normal number may be flushed."""
    return replace(bound, absolute=bound.absolute + 2.0**-126)
