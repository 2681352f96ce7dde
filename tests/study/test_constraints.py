"""Constraints: what is understood, and that nothing else is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import StudyError
from simtmm.study.design.constraints import constraint

VALUES = {"threads": 64, "memory.latency": 400.0, "scheduling.scheduler": "fifo", "n": 1024}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("threads <= 64", True),
        ("threads < 64", False),
        ("memory.latency * threads == 25600", True),
        ("32 <= threads <= 64 and n % threads == 0", True),
        ("threads > 64 or not n // 1000 == 0", True),
        ("scheduling.scheduler == 'fifo'", True),
        ("scheduling.scheduler != 'fifo'", False),
        ("-threads + +1 < 0", True),
        ("log2(n) == 10 and sqrt(threads) == 8", True),
        ("min(threads, n) == 64 and max(threads, n, 3) == 1024", True),
        ("ceil(n / 1000) == 2 and floor(n / 1000) == 1", True),
        ("threads > 0 > -1 > -2", True),
        ("threads > 0 > 1", False),
    ],
)
def test_a_constraint_holds_or_not(text, expected):
    assert constraint(text).holds(VALUES) is expected


@given(st.integers(-50, 50), st.integers(-50, 50), st.integers(1, 9))
def test_arithmetic_is_pythons(a, b, c):
    text = "a + b * 2 - a / c < b // c + a % c"
    assert constraint(text).holds({"a": a, "b": b, "c": c}) == (a + b * 2 - a / c < b // c + a % c)


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os').system('true')",
        "threads.__class__",
        "n ** n",
        "[1][0]",
        "(lambda: 1)()",
        "open('x')",
        "min(*n)",
        "min(n, default=1)",
        "n if n else 1",
        "n in n",
        "f'{n}'",
        "(x := 1)",
        "{1: 2}",
        "b'x'",
        "None",
    ],
)
def test_nothing_else_is_understood(text):
    with pytest.raises(StudyError, match=r"are allowed|has no value"):  # an attribute is a key that is not there
        constraint(text).holds(VALUES)


@pytest.mark.parametrize("text", ["", "threads <", "a b", "(" * 500])
def test_what_is_no_expression_is_refused(text):
    with pytest.raises(StudyError, match="is not an expression"):
        constraint(text)


def test_a_name_without_a_value_is_named_with_the_nearest():
    with pytest.raises(StudyError, match=r"memory\.latencyy: has no value; did you mean 'memory\.latency'"):
        constraint("memory.latencyy > 3").holds(VALUES)


@pytest.mark.parametrize("text", ["n / 0 > 1", "scheduling.scheduler < 3", "sqrt(-n) > 0"])
def test_what_cannot_be_computed_is_said(text):
    with pytest.raises(StudyError, match="can't be computed"):
        constraint(text).holds(VALUES)


@pytest.mark.parametrize("text", ["'x' * 9999999999 == 'y'", "'x' + 'y' == 'xy'", "'%999999999d' % n == ''"])
def test_texts_are_compared_and_not_computed_with(text):
    """One of ten gigabytes was, until memory ended."""
    with pytest.raises(StudyError, match=r"'(x|%999999999d)': must be a number to compute with"):
        constraint(text).holds(VALUES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("+".join(["1"] * 300) + " > 0", "must be nested at most 200 deep"),
        ("not " * 300 + "n", "must be nested at most 200 deep"),
        ("-" * 3000 + "n", "nested at most 200 deep|is not an expression"),
        ("+".join(["1"] * 100_000), "must have at most 10000 characters"),
        ("[" + "-" * 150 + "1]", "are allowed"),
        (".".join("a" * 150), "has no value"),
        (".".join("a" * 4000), "has no value|is not an expression"),
    ],
)
def test_what_is_long_or_deep_is_refused(text, message):
    with pytest.raises(StudyError, match=message):
        constraint(text).holds(VALUES)


def test_a_sum_of_a_hundred_is_understood():
    assert constraint("+".join(["n"] * 100) + " == 102400").holds(VALUES)


def test_the_names_of_a_constraint_are_those_of_values():
    text = "min(threads, memory.latency) * 2 < n or not (machine == 'gtx280') or -T > 1"
    assert constraint(text).names == {"threads", "memory.latency", "n", "machine", "T"}
