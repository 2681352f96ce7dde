"""The decorator that refuses values outside an equation's domain."""

import inspect

import numpy as np
import pytest
import sympy

from simtmm.errors import ModelError
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Symbol

X = Symbol("x", "a length", minimum=0)
N = Symbol("n", "a count", minimum=1, whole=True)


@checked("product", X, N)
def product(x, n):
    """What it is."""
    return x * n


@checked("same", X, numbers_only=True)
def same(x):
    return x


def test_arguments_arrive_as_arrays_by_place_or_name():
    assert same(1).dtype == np.float64
    assert product([1, 2], n=3).tolist() == [3, 6]


def test_the_function_stays_what_it_was():
    assert product.__doc__ == "What it is."
    assert list(inspect.signature(product).parameters) == ["x", "n"]


def test_symbols_pass_and_numbers_beside_them_are_checked():
    x = sympy.Symbol("x")
    assert product(x, 2) == 2 * x  # and not 2.0 * x
    with pytest.raises(ModelError, match=r"^product: n = 0: must be whole and at least 1 \(a count\)$"):
        product(x, 0)


def test_symbols_are_refused_where_only_numbers_make_sense():
    with pytest.raises(ModelError, match=r"^same: x = x: must be at least 0$"):
        same(sympy.Symbol("x"))


def test_an_equation_without_a_symbol_for_each_parameter_is_a_bug():
    with pytest.raises(TypeError, match=r"^wrong: parameters \['x'\], symbols \['n'\]$"):
        checked("wrong", N)(lambda x: x)
