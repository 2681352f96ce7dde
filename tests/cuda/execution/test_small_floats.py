"""Numbers of 8 bits, by their definition: sign, exponent and mantissa."""

import math

import numpy as np
import pytest

from tests.cuda.execution.kernels import Array, apply

FORMATS = {"e4m3": (3, 7), "e5m2": (2, 15)}  # bits of the mantissa, bias of the exponent


def value(code: int, kind: str) -> float:
    """What a code stands for."""
    mantissa, bias = FORMATS[kind]
    sign = -1.0 if code & 0x80 else 1.0
    exponent, fraction = (code & 0x7F) >> mantissa, code & ((1 << mantissa) - 1)
    if kind == "e4m3" and code & 0x7F == 0x7F:
        return math.nan
    if kind == "e5m2" and exponent == 31:
        return math.nan if fraction else sign * math.inf
    if exponent == 0:
        return sign * fraction * 2.0 ** (1 - bias - mantissa)
    return sign * (1 + fraction / (1 << mantissa)) * 2.0 ** (exponent - bias)


FINITE = {kind: [code for code in range(128) if math.isfinite(value(code, kind))] for kind in FORMATS}


def nearest(number: float, kind: str) -> int:
    """The code of the nearest number, of two as near the even one; the largest for what is beyond."""
    if math.isnan(number):
        return 0x7F
    codes = FINITE[kind]
    size = min(abs(number), value(codes[-1], kind))
    return min(codes, key=lambda code: (abs(value(code, kind) - size), code & 1)) | (
        0x80 if math.copysign(1, number) < 0 else 0
    )


def inputs(kind: str) -> Array:
    """All numbers of a kind, those half way between two, their neighbours, and what is out of range."""
    exact = np.array([value(code, kind) for code in FINITE[kind]], np.float32)
    middle = (exact[1:] + exact[:-1]) / 2
    least = np.float32(exact[1])
    some = np.concatenate([
        exact, middle, np.nextafter(middle, np.float32(np.inf)), np.nextafter(middle, np.float32(0)),
        np.array([1e9, np.inf, np.nan, least / 2, least / 4, 1e-40, 0.0], np.float32),
    ])  # fmt: skip
    return np.concatenate([some, -some]).astype(np.float32)


@pytest.mark.parametrize("kind", list(FORMATS))
def test_f32_are_rounded_to_the_nearest(kind: str) -> None:
    a = inputs(kind)[:1024]
    b = a[::-1].copy()
    text = f".reg .b16 %h; cvt.rn.satfinite.{kind}x2.f32 %h, %i0, %i1; cvt.u32.u16 %o0, %h;"
    text += f"cvt.rn.satfinite.relu.{kind}x2.f32 %h, %i0, %i1; cvt.u32.u16 %o1, %h;"
    found, positive = apply(text, [a, b], [np.uint32, np.uint32])
    high, low = ([nearest(float(x), kind) for x in side] for side in (a, b))
    assert found.tolist() == [h << 8 | low_ for h, low_ in zip(high, low, strict=True)]
    kept = [[0 if code & 0x80 else code for code in codes] for codes in (high, low)]
    assert positive.tolist() == [h << 8 | low_ for h, low_ in zip(*kept, strict=True)]


@pytest.mark.parametrize("kind", list(FORMATS))
def test_all_numbers_of_8_bits_are_exact_as_f16_and_come_back(kind: str) -> None:
    codes = np.arange(256, dtype=np.uint32)
    pairs = codes | (codes[::-1] << 8)
    text = f".reg .b16 %h; cvt.u16.u32 %h, %i0; cvt.rn.f16x2.{kind}x2 %o0, %h;"
    text += f"cvt.rn.satfinite.{kind}x2.f16x2 %h, %o0; cvt.u32.u16 %o1, %h;"
    halves, back = apply(text, [pairs], [np.uint32, np.uint32])
    expected = np.array([value(int(code), kind) for code in codes])
    low = (halves & 0xFFFF).astype(np.uint16).view(np.float16)
    assert np.array_equal(low.astype(float), expected, equal_nan=True)
    assert np.array_equal(
        (halves >> 16).astype(np.uint16).view(np.float16).astype(float), expected[::-1], equal_nan=True
    )
    assert (back & 0xFF).tolist() == [nearest(number, kind) for number in expected]
