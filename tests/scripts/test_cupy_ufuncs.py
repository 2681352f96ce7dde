"""Each function that CuPy has as a kernel of its own gives what NumPy's does, of each type that it takes.

The functions of a type are built as one kernel of many outputs.
"""

import itertools

import numpy as np
import pytest

import simtmm.scripts.cupy as cp
from simtmm.scripts.cupy.ufuncs import ANY, COMPLEX, EXPRESSIONS, FLOATS, REDUCTIONS, WHOLE, loop_types, statement
from simtmm.scripts.options import options
from tests.cuda.compilers.conftest import needs_nvrtc

pytestmark = [needs_nvrtc, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

# A few units in the last place, as CUDA's functions have them; halves are worked with as floats
ROUNDING = {"e": 2e-3, "f": 2e-6, "d": 1e-14, "F": 2e-6, "D": 1e-14}


def values(char):
    if char in COMPLEX:
        return np.array([0, 1, -1, 0.5 + 2j, -3 - 0.25j, 2j], char)
    if char in FLOATS:
        return np.array([0.0, -0.0, 0.25, -0.5, 1, -1, 2.5, -3.5, 7.75, np.inf, -np.inf, np.nan], char)
    if char == "?":
        return np.array([False, True])
    of = np.iinfo(char)
    given = [0, 1, 2, 3, 7, 8, 100, -1, -2, -7, -8, -100, of.max, of.min + 1]
    return np.array([each for each in given if of.min <= each <= of.max], char)


def is_defined(name, one, other):
    """Where C++ defines what a function gives, and CuPy's means the same as NumPy's."""
    if name in ("left_shift", "right_shift"):
        bits = 8 * one.dtype.itemsize
        return (other >= 0) & (other < bits) & (one >= 0)
    if name == "floor_divide" and one.dtype.char in FLOATS:
        return np.isfinite(one) & np.isfinite(other) & (other != 0)
    if name == "remainder":
        return other != 0
    if name == "divide" and one.dtype.char in COMPLEX:
        return other != 0
    return np.ones(len(one), bool)


def functions(char):
    """Those of a type: the name, NumPy's function, the type of its result, and the statement in CUDA."""
    for name in EXPRESSIONS:
        ufunc = getattr(np, name)
        loop = loop_types(ufunc, [np.dtype(char)] * ufunc.nin)
        if loop is not None and {each.char for each in loop[:-1]} == {char}:
            text = statement(name, loop, ["x", "y"][: ufunc.nin], f"z_{name}")
            if text is not None:
                yield name, ufunc, loop[-1], text


def same(found, wanted, name):
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
    rounding = ROUNDING.get(wanted.dtype.char, 0)
    np.testing.assert_allclose(found, wanted, rtol=rounding, atol=rounding, err_msg=name)


@pytest.mark.parametrize("char", [*ANY, *COMPLEX])
def test_each_function_of_a_type_is_numpy_s(char):
    found = list(functions(char))
    outs = ", ".join(f"{of.name} z_{name}" for name, _, of, _ in found)
    kernel = cp.ElementwiseKernel("T x, T y", outs, " ".join(text for *_, text in found), "all_of_them")
    one, other = map(np.array, zip(*itertools.product(values(char), values(char)), strict=True))
    results = kernel(cp.asarray(one), cp.asarray(other))
    for (name, ufunc, _, _), result in zip(found, results, strict=True):
        kept = is_defined(name, one, other)
        same(result.get()[kept], ufunc(*(one[kept], other[kept])[: ufunc.nin]), name)


def test_each_function_is_one_of_some_type():
    tried = {name for char in [*ANY, *COMPLEX] for name, *_ in functions(char)}
    assert tried == {*EXPRESSIONS}


@pytest.mark.parametrize("char", ["?", "b", "H", "i", "Q", "e", "f", "d"])
@pytest.mark.parametrize("name", ["sum", "prod", "max", "min"])
def test_each_reduction_of_a_type_is_numpy_s(name, char):
    x = (np.arange(24) % 5 + (0 if char in "?HQ" else -1)).reshape(4, 6).astype(char)
    with options(elementwise=True):
        for axis in (None, 0, 1):
            found = getattr(cp.asarray(x), name)(axis=axis)
            same(found.get(), np.asarray(getattr(x, name)(axis=axis)), name)
    assert {"sum", "prod", "max", "min"} <= {*REDUCTIONS}
    assert char in ANY
    assert {*WHOLE} < {*ANY}
