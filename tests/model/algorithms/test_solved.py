"""Which boundaries SymPy is asked to solve for, and which of its answers is taken."""

import pytest
import sympy

from simtmm.model.algorithms.regimes import _is_mixed, _is_near, _number, _solutions

X, A = sympy.Symbol("x", positive=True), sympy.Symbol("a", positive=True)


@pytest.mark.parametrize(
    ("expression", "is_mixed"),
    [
        (X**3 + A, False),
        (sympy.log(A) + X, False),
        (sympy.log(X) / A, False),
        (sympy.log(X) + sympy.log(X * A), False),  # log x twice, and log a
        (sympy.log(X**2) - 3 * sympy.log(X), False),
        (2**X - A, False),
        (sympy.log(X) + X, True),
        (sympy.log(A * X) * X, True),
        (2**X - X, True),
        (sympy.exp(X) - A * X, True),
        (2**X - 3**X, True),
        (sympy.log(X) - 2**X, True),
        (sympy.log(X + 1) - sympy.log(X), True),
    ],
)
def test_a_letter_in_a_logarithm_or_an_exponent_and_elsewhere_is_mixed(expression, is_mixed):
    assert _is_mixed(expression, X) is is_mixed
    assert not _is_mixed(expression, sympy.Symbol("b"))


@pytest.mark.parametrize(
    ("ratio", "expected"),
    [
        (X / A, {A}),
        (X**2 / A, {sympy.sqrt(A)}),
        (A * X / X**3, {sympy.sqrt(A)}),
        (sympy.log(X) / A, {sympy.exp(A)}),
        (sympy.log(X) / X, set()),  # is not tried
        ((X**5 + X) / A, set()),  # has no solution in roots
    ],
)
def test_a_ratio_is_solved_for_one(ratio, expected):
    assert set(_solutions(ratio, X)) == expected


def test_a_solution_is_taken_where_it_is_the_number_that_was_found():
    assert _number(A**2 + X, {"a": 3.0, "x": 0.5}) == 9.5
    assert _number(sympy.sqrt(-A), {"a": 4.0}) == 2j
    assert _is_near(A, {"a": 100.0}, 100.0 * (1 + 0.9e-9))  # relative, of the number
    assert not _is_near(A, {"a": 100.0}, 100.0 * (1 + 1.1e-9))
    assert not _is_near(A, {"a": 100.0}, 100.0 * (1 - 1.1e-9))
    assert not _is_near(-A, {"a": 100.0}, 100.0)
    assert not _is_near(sympy.I * A, {"a": 100.0}, 100.0)
    assert not _is_near(sympy.zoo, {}, 100.0)
