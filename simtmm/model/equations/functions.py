"""The functions that equations need, over numbers, NumPy arrays and SymPy expressions alike.

An equation is written once. With numbers or arrays it gives values, with symbols the formula (see formula.py). Only
what NumPy's operators do not already do alike stands here.
"""

import sys
from typing import Any

import numpy as np

Value = Any  # a number, an array of numbers, or a SymPy expression


def is_symbolic(*values: Value) -> bool:
    """Whether any of the values is a SymPy expression; does not import SymPy."""
    sympy = sys.modules.get("sympy")
    return sympy is not None and any(isinstance(value, sympy.Basic) for value in values)


def _either(symbolic: str, numeric: Any, *values: Value) -> Value:
    if is_symbolic(*values):
        import sympy

        return getattr(sympy, symbolic)(*values)
    return numeric(*values)


def ceiling(x: Value) -> Value:
    """The least whole number that is not below x."""
    return _either("ceiling", np.ceil, x)


def floor(x: Value) -> Value:
    """The largest whole number that is not above x."""
    return _either("floor", np.floor, x)


def sqrt(x: Value) -> Value:
    """The square root."""
    return _either("sqrt", np.sqrt, x)


def lg(x: Value) -> Value:
    """The logarithm to base 2, as the papers' lg."""
    if is_symbolic(x):
        import sympy

        return sympy.log(x, 2)
    return np.log2(x)


def maximum(*values: Value) -> Value:
    """The largest of the values."""
    if is_symbolic(*values):
        import sympy

        return sympy.Max(*values)
    largest = values[0]
    for value in values[1:]:
        largest = np.maximum(largest, value)
    return largest


def minimum(*values: Value) -> Value:
    """The least of the values."""
    if is_symbolic(*values):
        import sympy

        return sympy.Min(*values)
    least = values[0]
    for value in values[1:]:
        least = np.minimum(least, value)
    return least
