"""Functions of this part of Python whose text another part of simtmm wrote, to be compiled and never run as Python."""

import ast
import inspect
from collections.abc import Mapping
from typing import Any

from simtmm.python_text import parsed


class Written:
    """Such a function.

    name: what it is called. module: what messages name instead of a module. source: its text, one `def`. names:
    what the text may call and name, beside its arguments.
    """

    def __init__(self, name: str, module: str, source: str, names: Mapping[str, Any]) -> None:
        self.__name__, self.__module__, self.__globals__ = name, module, dict(names)
        self.__doc__ = None
        self.source = source


def first_line(function: Any) -> int:
    """The line of its source file in which a function begins; of what was written, 1."""
    return 1 if isinstance(function, Written) else function.__code__.co_firstlineno


def parameters_of(function: Any) -> tuple[str, ...]:
    """The names of a function's parameters."""
    if not isinstance(function, Written):
        return tuple(inspect.signature(function).parameters)
    (definition,) = parsed(function.source).body
    assert isinstance(definition, ast.FunctionDef)
    return tuple(argument.arg for argument in definition.args.args)
