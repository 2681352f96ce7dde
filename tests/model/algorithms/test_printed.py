"""The reader of printed entries reads them right: the other tests rest on it."""

import pytest

from tests.model.algorithms.printed import parse, same, same_pieces


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n lg n", 16 * 4),
        ("n lg^2 n", 16 * 16),
        ("n k lg m / C", 16 * 5 * 3 / 2),
        ("(n/C) lg(n/Z)", 8 * 2),
        ("lg^2(n/Z)", 4),
        ("n^3 lg n L / (sqrt(Z) C T P)", 16**3 * 4 * 7 / (2 * 2 * 3 * 6)),
        ("Z^(3/2) C / Q", 8 * 2 / 9),
        ("max(n, k)", 16),
    ],
)
def test_an_entry_means_what_it_says(text, value):
    numbers = {"n": 16, "k": 5, "m": 8, "C": 2, "Z": 4, "L": 7, "T": 3, "P": 6, "Q": 9}
    expression = parse(text)
    assert float(expression.subs({letter: numbers[str(letter)] for letter in expression.free_symbols})) == value


def test_entries_that_differ_are_not_the_same():
    assert same(parse("n lg n / P"), "lg n n / P")
    assert not same(parse("n lg n / P"), "n lg n")
    assert not same(parse("n lg n"), "n lg m")
    assert same_pieces(parse("max(n, k)") * parse("L"), "max(k L, n L)")
    assert not same_pieces(parse("max(n, k)") * parse("L"), "max(k L, m L)")
