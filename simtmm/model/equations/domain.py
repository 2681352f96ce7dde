"""Refuses values outside the domain of an equation that is no time, as formula.py does for those that are.

A function keeps its own signature, so an equation still reads as one.
"""

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec

from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value, is_symbolic

Letters = ParamSpec("Letters")


def checked(
    name: str, *symbols: Symbol, numbers_only: bool = False
) -> Callable[[Callable[Letters, Value]], Callable[Letters, Value]]:
    """A decorator: every argument is checked against the symbol of its name, and arrives as an array of float64.

    name: of the equation, for the errors. SymPy expressions pass unchecked and numbers beside them unchanged, unless
    `numbers_only`: an equation that gives truth values has no closed form. The function raises ModelError, the symbol
    named.
    """
    domain = {symbol.name: symbol for symbol in symbols}

    def wrap(function: Callable[Letters, Value]) -> Callable[Letters, Value]:
        signature = inspect.signature(function)
        by_letter: Callable[..., Value] = function  # mypy can't know that all parameters may be given by name
        if list(signature.parameters) != list(domain):
            raise TypeError(f"{name}: parameters {list(signature.parameters)}, symbols {list(domain)}")

        @functools.wraps(function)
        def equation(*args: Letters.args, **values: Letters.kwargs) -> Value:
            given = signature.bind(*args, **values).arguments
            symbolic = not numbers_only and is_symbolic(*given.values())
            for letter, value in given.items():
                if not (symbolic and is_symbolic(value)):
                    numbers = domain[letter].check(name, value)
                    given[letter] = value if symbolic else numbers  # beside symbols, 2 is exact and 2.0 is not
            return by_letter(**given)

        return equation

    return wrap
