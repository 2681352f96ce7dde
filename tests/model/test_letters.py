"""A function that takes letters takes each of them alone, among numbers, and then says what it says of numbers."""

import inspect

import pytest
import sympy

from simtmm.errors import ModelError
from tests.model.test_whole import LAUNCH, SIZES, functions


def of_letters():
    """The functions of numbers that take letters in their places, with the letters."""
    found = {}
    for name, function in functions().items():
        letters = {each: sympy.Symbol(each, positive=True) for each in inspect.signature(function).parameters}
        try:
            if isinstance(function(**letters), sympy.Expr):
                found[name] = letters
        except ModelError:  # it takes numbers alone
            continue
    return found


@pytest.mark.parametrize(("name", "letters"), of_letters().items())
def test_each_letter_alone_gives_what_numbers_give(name, letters):
    function = functions()[name]
    numbers = {each: LAUNCH.get(each, SIZES[place % len(SIZES)]) for place, each in enumerate(letters)}
    expected = float(function(**numbers))
    found = {each: sympy.sympify(function(**(numbers | {each: letters[each]}))) for each in letters}
    assert {each: float(value.subs(letters[each], numbers[each])) for each, value in found.items()} == pytest.approx(
        dict.fromkeys(letters, expected), rel=1e-9
    )


def test_most_functions_take_letters():
    assert len(of_letters()) > 25
