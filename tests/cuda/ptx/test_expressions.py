"""Constant expressions: drawn ones give what Python gives of the same, with C's precedence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.cuda.ptx.reading.expressions import whole_constant
from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import tokens
from simtmm.errors import PtxError
from tests.examples import examples

# Of C, the weakest first; each with what it gives of two numbers.
LEVELS = [
    {"||": lambda a, b: int(bool(a) or bool(b))},
    {"&&": lambda a, b: int(bool(a) and bool(b))},
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {"<": lambda a, b: int(a < b), "<=": lambda a, b: int(a <= b), ">": lambda a, b: int(a > b),
     ">=": lambda a, b: int(a >= b)},
    {"<<": lambda a, b: a << b, ">>": lambda a, b: a >> b},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)},
]  # fmt: skip
OPERATORS = {name: (level, of) for level, row in enumerate(LEVELS) for name, of in row.items()}
MOST = 1 << 40  # what is larger would soon go beyond 64 bits


def value_of(text):
    return whole_constant(TokenStream(tokens(f"{text};")))


@st.composite
def expressions(draw, depth=3):
    """The text of an expression, its level, and what it comes to."""
    if not depth or draw(st.integers(0, 3)) == 0:
        number = draw(st.integers(0, 9))
        sign = draw(st.sampled_from(["", "-", "!"]))
        return f"{sign}{number}", len(LEVELS), {"": number, "-": -number, "!": int(not number)}[sign]
    name = draw(st.sampled_from(sorted(OPERATORS)))
    level, of = OPERATORS[name]
    left, right = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    if name in ("<<", ">>"):
        right = str(draw(st.integers(0, 5))), len(LEVELS), None
        right = (*right[:2], int(right[0]))
    if name == "/" and not right[2]:
        right = "7", len(LEVELS), 7
    found = of(left[2], right[2])
    if abs(found) >= MOST:
        return "5", len(LEVELS), 5
    # Operators of a level belong together from the left.
    one = left[0] if left[1] >= level else f"({left[0]})"
    other = right[0] if right[1] > level else f"({right[0]})"
    return f"{one} {name} {other}", level, found


@examples(200)
@given(expression=expressions())
def test_operators_bind_and_compute_as_in_c(expression):
    text, _, expected = expression
    assert value_of(text) == expected & (1 << 64) - 1 or value_of(text) == expected


@pytest.mark.parametrize("name", sorted(OPERATORS))
def test_each_operator_is_known(name):
    for a, b in ((6, 3), (3, 6), (4, 4)):
        assert value_of(f"{a} {name} {b}") == OPERATORS[name][1](a, b)


def test_what_has_no_sign_divides_and_compares_as_such():
    assert value_of("7 % 4") == 3
    assert value_of("~0 > 1") == 1
    assert value_of("-1 < 1") == 1
    assert value_of("(.u64) -1 < 1") == 0
    assert value_of("1 ? 2 : 3") == 2
    assert value_of("0 ? 2 : 1 ? 4 : 5") == 4


@pytest.mark.parametrize("number", [1, 7])
def test_an_expression_and_parentheses_within_it_have_at_most_eight_levels(number):
    assert value_of("(" * number + "5" + ")" * number) == 5
    with pytest.raises(PtxError, match="operands may be nested 8 deep"):
        value_of("(" * (number + 7) + "5" + ")" * (number + 7))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-1 < 1", 1), ("-1 < 1U", 0), ("-1U > 1", 1), ("-1 == 0xFFFFFFFFFFFFFFFFU", 1), ("-2 >= 3U", 1),
        ("-1.5 < 1.0", 1), ("-1.5 > -2.5", 1), ("-0.5 == 0.0", 0),
    ],
)  # fmt: skip
def test_numbers_are_compared_as_unsigned_ones_where_one_of_them_is_and_real_ones_with_their_sign(text, expected):
    assert value_of(text) == expected
