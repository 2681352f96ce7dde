"""Exact rounding, against NumPy's, and in the directions that NumPy hasn't."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cuda.interpreter import arithmetic
from tests.cuda.interpreter.formats import BF16, E4M3, E5M2, F16, F32, F64, FORMATS, decode, encode
from tests.examples import examples

reals = st.floats(allow_nan=False)
singles = st.floats(allow_nan=False, width=32)
NUMPY = {"f16": (np.float16, np.uint16), "f32": (np.float32, np.uint32), "f64": (np.float64, np.uint64)}


def numpy_bits(value, name):
    real, whole = NUMPY[name]
    with np.errstate(all="ignore"):
        return int(np.array([value], real).view(whole)[0])


@pytest.mark.parametrize("name", NUMPY)
@examples(200)
@given(value=reals)
def test_rounding_to_even_is_that_of_numpy(name, value):
    assert encode(value, FORMATS[name]) == numpy_bits(value, name)


@pytest.mark.parametrize("form", [F16, BF16, E5M2, E4M3], ids=lambda form: form.name)
def test_every_number_of_a_short_format_stays_itself(form):
    for bits in range(1 << form.bits):
        value = decode(bits, form)
        for mode in ("rn", "rz", "rm", "rp"):
            assert math.isnan(value) or encode(value, form, mode) == bits


@examples(200)
@given(a=singles, b=singles)
def test_sums_and_products_are_those_of_numpy(a, b):
    with np.errstate(all="ignore"):
        total, product = np.float32(a) + np.float32(b), np.float32(a) * np.float32(b)
    for value, right in ((arithmetic.add(a, b), total), (arithmetic.multiply(a, b), product)):
        found = encode(value, F32)
        assert found == numpy_bits(right, "f32") or (math.isnan(decode(found, F32)) and math.isnan(right))


@examples(200)
@given(a=reals, b=reals)
def test_quotients_and_roots_are_those_of_numpy(a, b):
    with np.errstate(all="ignore"):
        quotient, root = np.float64(a) / np.float64(b), np.sqrt(np.float64(a))
    for value, right in ((arithmetic.divide(a, b), quotient), (arithmetic.square_root(a), root)):
        found = encode(value, F64)
        assert found == numpy_bits(right, "f64") or (math.isnan(decode(found, F64)) and math.isnan(right))


@examples(200)
@given(a=singles.filter(math.isfinite), b=singles.filter(math.isfinite), c=singles.filter(math.isfinite))
def test_directed_modes_enclose_what_is_exact(a, b, c):
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    value = arithmetic.fused(a, b, c)
    below, above = (decode(encode(value, F32, mode), F32) for mode in ("rm", "rp"))
    assert below <= exact <= above
    nearest = decode(encode(value, F32, "rn"), F32)
    assert nearest in (below, above)
    zero = decode(encode(value, F32, "rz"), F32)
    assert zero == (above if exact < 0 else below)
