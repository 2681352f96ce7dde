"""A kernel whose local variables lie elsewhere, to find values that depend on their addresses."""

from collections.abc import Iterable
from dataclasses import replace

from simtmm.cuda.disagreement.rewritten import Rewritten
from simtmm.cuda.ptx.syntax import Function, Module, Variable

_PADDING = Variable("__padding", "local", "b8", 16, 48)  # moves what follows, by no power of two


def has_local_variables(module: Module, names: Iterable[str]) -> bool:
    """Whether any of these functions has a variable in local memory."""
    return any(variable.space == "local" for name in names for variable in module.functions[name].variables)


def moved(module: Module) -> Module:
    """The module with all local variables farther from the beginning of their function's frame."""
    return replace(module, functions=Rewritten(module.functions, _padded))


def _padded(function: Function) -> Function:
    if not any(variable.space == "local" for variable in function.variables):
        return function
    return replace(function, variables=(_PADDING, *function.variables))
