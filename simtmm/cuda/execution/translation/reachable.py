"""Which functions of a module a kernel may reach."""

from collections.abc import Sequence
from functools import partial

from simtmm.cuda.ptx.passing import prototype_of, with_variables
from simtmm.cuda.ptx.syntax import Function, Group, Instruction, Module, Symbol


def mentioned_by(function: Function) -> set[str]:
    """Names that a function's instructions mention."""
    found: set[str] = set()

    def take(operand: object) -> None:
        if isinstance(operand, Symbol):
            found.add(operand.name)
        for inner in ("base", "rest", "parts"):
            value = getattr(operand, inner, ())
            for part in value if isinstance(value, tuple) else (value,):
                take(part)

    for item in function.body or ():
        if isinstance(item, Instruction):
            for operand in item.operands:
                take(operand)
    return found


def _calls_by_pointer(function: Function) -> bool:
    """Whether a function calls what a register names."""
    return any(
        isinstance(item, Instruction) and item.opcode == "call" and not any(isinstance(o, Symbol) for o in _named(item))
        for item in function.body or ()
    )


def _named(call: Instruction) -> Sequence[object]:
    """The operand of a call that names the function: the first that is no group."""
    return [operand for operand in call.operands if not isinstance(operand, Group)][:1]


def _pointed_to(module: Module) -> set[str]:
    """Functions that a pointer may lead to: those whose addresses variables hold, and those that code takes."""
    found = {pointer.symbol.name for variable in module.variables.values() for pointer in variable.pointers}
    for name in module.functions:
        for item in module.functions[name].body or ():
            if isinstance(item, Instruction) and item.opcode in ("mov", "cvta", "st", "selp"):
                found |= {operand.name for operand in item.operands if isinstance(operand, Symbol)}
    return {name for name in found if name in module.functions and not module.functions[name].entry}


def reachable(module: Module, entry: str) -> list[Function]:
    """The kernel, and the functions with a body that it mentions, and those that these mention, or that pointers in
    variables lead to.
    """
    found: dict[str, Function] = {}
    pending = [entry]
    while pending:
        name = pending.pop(0)
        if name in found:
            continue
        function = with_variables(module.functions[name], partial(prototype_of, module))
        if function.body is None:
            continue
        found[name] = function
        mentioned = mentioned_by(function)
        for variable in module.variables.values():
            if variable.name in mentioned:
                mentioned |= {pointer.symbol.name for pointer in variable.pointers}
        if _calls_by_pointer(function):
            mentioned |= _pointed_to(module)
        pending += sorted(other for other in mentioned if other in module.functions and other != name)
    return list(found.values())
