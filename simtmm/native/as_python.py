"""A loop's function as Python runs it: slowly, and with all that looks into Python looking on."""

from collections.abc import Callable
from typing import Any

import numpy as np


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, with what it has as machine code: integers that wrap around, fields of records by name."""

    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*map(_with_fields, arguments))

    return call


def _with_fields(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return type(argument)(*map(_with_fields, argument))
    is_records = isinstance(argument, np.ndarray) and argument.dtype.names is not None
    return argument.view(np.recarray) if is_records else argument
