"""A loop's function as Python runs it: slowly, and with all that looks into Python looking on."""

from collections.abc import Callable
from typing import Any

import numpy as np

from simtmm.native.columns import Columns, Named, Rows, named_columns
from simtmm.native.written import parameters_of


def as_python(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself, with what it has as machine code: integers that wrap around, fields and columns by name."""
    columns, names = named_columns(function), parameters_of(function)

    def call(*arguments: Any) -> Any:
        with np.errstate(over="ignore"):
            named = zip(names, arguments, strict=True)
            return function(*(_with_fields(argument, columns.get(name)) for name, argument in named))

    return call


def _with_fields(argument: Any, columns: Columns | Named | None) -> Any:
    if isinstance(argument, tuple):
        of_fields = columns if isinstance(columns, dict) else {}
        names = getattr(argument, "_fields", range(len(argument)))
        return type(argument)(
            *(_with_fields(each, of_fields.get(name)) for name, each in zip(names, argument, strict=True))
        )
    if isinstance(columns, Columns) and isinstance(argument, np.ndarray):
        return Rows(argument, columns)
    is_records = isinstance(argument, np.ndarray) and argument.dtype.names is not None
    return argument.view(np.recarray) if is_records else argument
