"""Interesting and random bits of every type."""

import zlib
from functools import cache

import numpy as np

from simtmm.cuda.ptx.types import bits_of
from tests.cuda.cases.case import PACKED
from tests.cuda.interpreter.formats import FORMATS, Format, encode

_WHOLE = [
    0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 23, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 200, 255, 256, 257, 1000,
    32767, 32768, 65535, 65536, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32,
    (1 << 53) + 1, (1 << 62) + 1, (1 << 63) - 1, 1 << 63,
]  # fmt: skip
_REAL = [
    0.0, 0.25, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0, 3.5, 4.5, 100.0, 126.5, 127.0, 127.5, 128.0, 255.0, 255.5,
    256.0, 448.0, 464.0, 32767.5, 32768.0, 65503.0, 65519.0, 65520.0, 65535.5, 65536.0, 2.0**31 - 0.5, 2.0**31,
    2.0**32 - 0.5, 2.0**32, 2.0**53 - 1, 2.0**63, 2.0**64, 1e10, 1e30, 2.0**-14, 2.0**-24, 2.0**-25, 2.0**-126,
    2.0**-149, 2.0**-150,
]  # fmt: skip
DTYPES = {8: np.uint8, 16: np.uint16, 32: np.uint32, 64: np.uint64}


def dtype_of(kind: str) -> type:
    """The unsigned type that holds an element."""
    return DTYPES[max(8, bits_of(kind))] if kind != "pred" else np.uint32


def values(kind: str, count: int, seed: str) -> np.ndarray:
    """Bits of a type: a half from the list of interesting ones, the rest random; the same for the same seed."""
    random = np.random.default_rng(zlib.crc32(seed.encode()))
    if kind == "pred":
        return random.integers(0, 2, count).astype(np.uint32)
    part = PACKED.get(kind, kind)
    width = bits_of(part)
    found = _numbers(part, width, count, random)
    if part != kind:
        found = found | _numbers(part, width, count, random) << np.uint64(width)
    return found.astype(dtype_of(kind))


def _numbers(kind: str, width: int, count: int, random: np.random.Generator) -> np.ndarray:
    found = random.choice(_interesting(kind, width), count)
    anything = random.integers(0, 1 << 64, count, np.uint64) & np.uint64((1 << width) - 1)
    if kind in FORMATS:  # of similar sizes, so that sums round and cancel
        moderate = random.choice(_moderate(kind), count)
    else:
        moderate = random.integers(0, 40, count).astype(np.uint64)
    which = random.random(count)
    return np.where(which < 0.5, found, np.where(which < 0.75, anything, moderate))


@cache
def _moderate(kind: str) -> np.ndarray:
    random = np.random.default_rng(0)
    drawn = random.normal(size=512) * 2.0 ** random.integers(-4, 8, 512)
    return np.array([encode(float(each), FORMATS[kind]) for each in drawn], np.uint64)


@cache
def _interesting(kind: str, width: int) -> np.ndarray:
    mask = (1 << width) - 1
    if kind not in FORMATS:
        return np.array(sorted({each & mask for value in _WHOLE for each in (value, -value, ~value)}), np.uint64)
    form: Format = FORMATS[kind]
    least_normal = 1 << (form.precision - 1 + form.unused)
    step = 1 << form.unused
    bits = {encode(value, form) for value in _REAL}
    bits |= {step, least_normal - step, least_normal, least_normal + step, form.largest, form.largest - step, form.nan}
    one = encode(1.0, form)
    bits |= {one + step, one - step}
    if not form.finite:
        bits |= {form.infinity << form.unused, (form.infinity << form.unused) | least_normal >> 1}
    return np.array(sorted({each | sign << (form.bits - 1) for each in bits for sign in (0, 1)}), np.uint64)
