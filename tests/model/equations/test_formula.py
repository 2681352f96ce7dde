"""A published equation as data: its domain, its values, and how it is printed."""

import json

import numpy as np
import pytest

from simtmm.errors import ModelError
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import ceiling, lg, maximum, minimum, sqrt
from simtmm.model.equations.symbols import TINF

A = Symbol("a", "one side", "words")
N = Symbol("n", "a count", "things", minimum=1, whole=True)
MAX = Formula("larger", lambda a, n: {"first": 3 * a, "second": a * n}, (A, N), "made up, Eq (1)")
SUM = Formula("both", lambda a, n: {"first": 3 * a, "second": a * n}, (A, N), "made up, Eq (2)", combine="sum")


# Symbols


@pytest.mark.parametrize(
    ("symbol", "allowed"),
    [
        (Symbol("x", ""), "at least 0"),
        (Symbol("x", "", above=True), "above 0"),
        (Symbol("x", "", maximum=1), "at least 0 and at most 1"),
        (Symbol("x", "", minimum=1, whole=True), "whole and at least 1"),
        (Symbol("x", "", minimum=-np.inf), "a number"),
        (Symbol("x", "", minimum=-np.inf, maximum=2.5), "at most 2.5"),
        (Symbol("x", "", minimum=-np.inf, whole=True), "whole and a number"),
    ],
)
def test_the_domain_in_words(symbol, allowed):
    assert symbol.allowed == allowed


@pytest.mark.parametrize(
    ("symbol", "inside", "outside"),
    [
        (Symbol("x", "it"), [0, 1e300, np.inf], [-1e-300, np.nan]),
        (Symbol("x", "it", above=True), [5e-324], [0, -1]),
        (Symbol("x", "it", minimum=2, maximum=3), [2, 3], [np.nextafter(2, 0), np.nextafter(3, 4)]),
        (Symbol("x", "it", whole=True), [0, 7, 7.0, 2.0**60], [0.5, 7.000001]),
        (Symbol("x", "it", minimum=-np.inf), [-1e300, 0], [np.nan]),
    ],
)
def test_the_domain_ends_exactly_where_it_says(symbol, inside, outside):
    assert symbol.check("model", inside).tolist() == inside
    for value in outside:
        with pytest.raises(ModelError, match=r"^model: x = \S+: must be .+ \(it\)$"):
            symbol.check("model", value)


def test_of_an_array_the_first_wrong_value_is_named():
    with pytest.raises(ModelError, match=r"^model: n = 2.5: must be whole and at least 1 \(a count\)$"):
        N.check("model", [[1, 2], [2.5, -3]])


@pytest.mark.parametrize("value", ["many", [1, [2, 3]], 1j])
def test_what_is_no_number_is_refused_in_one_line(value):
    with pytest.raises(ModelError, match=r"^model: n = .*: must be whole and at least 1$"):
        N.check("model", value)


@pytest.mark.parametrize(
    ("symbol", "printed"),
    [
        (Symbol("n", ""), "n"),
        (Symbol("S_D", ""), "S_D"),
        (Symbol("n_sub", ""), "n_{sub}"),  # else LaTeX puts only the s below the line
        (Symbol("a_b_c", ""), "a_{b_c}"),
        (TINF, "T_\\infty"),
    ],
)
def test_how_a_symbol_is_printed(symbol, printed):
    assert symbol.printed == printed


# Values


def test_terms_and_total_of_numbers():
    evaluated = MAX.evaluate(a=2, n=5)
    assert {name: float(term) for name, term in evaluated.terms.items()} == {"first": 6, "second": 10}
    assert (float(evaluated.total), str(evaluated.bound)) == (10, "second")
    assert float(SUM.evaluate(a=2, n=5).total) == 16


def test_arrays_broadcast():
    evaluated = MAX.evaluate(a=[[1], [2]], n=[1, 4])
    assert evaluated.total.tolist() == [[3, 4], [6, 8]]
    assert evaluated.bound.tolist() == [["first", "second"], ["first", "second"]]


def test_of_equal_terms_the_first_binds():
    assert str(MAX.evaluate(a=1, n=3).bound) == "first"


def test_of_a_sum_the_largest_part_binds():
    assert str(SUM.evaluate(a=1, n=4).bound) == "second"


def test_values_are_those_that_were_checked():
    evaluated = MAX.evaluate(a=2, n=5)
    assert {name: (value.dtype, float(value)) for name, value in evaluated.values.items()} == {
        "a": (np.float64, 2), "n": (np.float64, 5),
    }  # fmt: skip


def test_a_term_that_is_a_plain_number_broadcasts_too():
    evaluated = Formula("flat", lambda a: {"one": 1, "a": a}, (A,), "made up").evaluate(a=[0, 2])
    assert evaluated.total.tolist() == [1, 2]
    assert evaluated.bound.tolist() == ["one", "a"]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        ({"a": 1, "n": 0}, "larger: n = 0: must be whole and at least 1 (a count)"),
        ({"a": -1, "n": 1}, "larger: a = -1: must be at least 0 (one side)"),
        ({"a": 1}, "larger: n: must be given; the symbols are a, n"),
        ({"a": 1, "n": 1, "N": 1}, "larger: N: unknown; known: a, n"),
        ({}, "larger: a: must be given; the symbols are a, n"),
    ],
)
def test_wrong_values_are_refused_by_name(values, line):
    with pytest.raises(ModelError) as caught:
        MAX.evaluate(**values)
    assert str(caught.value) == line


# Predictions


def test_a_prediction_has_the_numbers_the_bound_and_the_source():
    result = MAX.evaluate(a=2, n=5).prediction(clock_hz=1e6, more={"s": 0.5})
    assert (result.model, result.cycles, result.bound, result.source) == ("larger", 10, "second", "made up, Eq (1)")
    assert result.terms == {"first": 6, "second": 10}
    assert result.symbols == {"a": 2, "n": 5, "s": 0.5}
    assert result.seconds == 10 / 1e6
    assert MAX.evaluate(a=2, n=5).prediction(None, source="another").source == "another"


def test_a_prediction_goes_into_json_and_whole_symbols_are_whole():
    result = MAX.evaluate(a=2.5, n=5).prediction(None)
    assert json.loads(json.dumps(result.to_dict()))["symbols"] == {"a": 2.5, "n": 5}
    assert [type(value) for value in result.symbols.values()] == [float, int]


# As a formula


def test_what_is_shown_is_what_is_computed():
    """The expressions, with numbers for their letters, give the terms."""
    formula = Formula(
        "all functions",
        lambda a, n: {
            "one": maximum(a, n, 2) + minimum(a, n) * sqrt(a),
            "two": ceiling(a / n) * lg(n) ** 2,
        },
        (A, N),
        "made up",
    )
    expressions = formula.expressions
    assert list(expressions) == ["one", "two"]
    for a, n in ((2.5, 4), (30.0, 7)):
        terms = formula.evaluate(a=a, n=n).terms
        for name, expression in expressions.items():
            at = {letter: {"a": a, "n": n}[str(letter)] for letter in expression.free_symbols}
            assert float(expression.subs(at)) == pytest.approx(float(terms[name]), rel=1e-14)  # a few roundings


def test_letters_keep_what_is_known_of_them():
    free = Formula("free", lambda x, n: {"all": x * n}, (Symbol("x", "", minimum=-np.inf), N), "made up")
    letters = {str(letter): letter for letter in free.expressions["all"].free_symbols}
    assert (letters["n"].is_integer, letters["n"].is_positive, letters["x"].is_positive) == (True, True, None)


@pytest.mark.parametrize(
    ("terms", "combine", "latex"),
    [
        (lambda a, n: {"only": a / n}, "max", r"T_P = \frac{a}{n}"),
        (lambda a, n: {"x": a, "y": n}, "max", r"T_P = \max\left(a, n\right)"),
        (lambda a, n: {"x": a, "y": n}, "sum", r"T_P = a + n"),
        (lambda a, n: {"x": n * lg(n)}, "max", r"T_P = n \lg{\left(n \right)}"),
        (lambda a, n: {"x": lg(n) ** 2}, "max", r"T_P = \lg^{2}{\left(n \right)}"),
        (lambda a, n: {"x": lg(lg(n))}, "max", r"T_P = \lg{\left(\lg{\left(n \right)} \right)}"),
        (lambda a, n: {"x": a / lg(n)}, "max", r"T_P = \frac{a}{\lg{\left(n \right)}}"),
        (lambda a, n: {"x": ceiling(a / n)}, "max", r"T_P = \left\lceil{\frac{a}{n}}\right\rceil"),
        (lambda a, n: {"x": maximum(a, n)}, "max", r"T_P = \max\left(a, n\right)"),
        (lambda a, n: {"x": 2}, "max", "T_P = 2"),
    ],
)
def test_latex(terms, combine, latex):
    assert Formula("f", terms, (A, N), "made up", combine=combine).latex == latex


def test_latex_has_the_symbols_as_they_are_printed():
    below = Symbol("n_sub", "below the line")
    formula = Formula("f", lambda **letters: {"x": letters["n_sub"] / letters["Tinf"]}, (below, TINF), "made up")
    assert formula.latex == r"T_P = \frac{n_{sub}}{T_\infty}"
