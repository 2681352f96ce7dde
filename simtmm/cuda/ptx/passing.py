"""Arguments and results of functions that are registers or numbers, as variables of .param space.

`call (r, s), f, (x, 3)` becomes stores of x and 3 to variables, the call of a function that takes and returns
variables, and loads of r and s; results of several registers stand one behind the other in one variable.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from simtmm.cuda.ptx.syntax import (
    Address,
    Function,
    Group,
    Immediate,
    Instruction,
    Label,
    Module,
    Operand,
    Prototype,
    Register,
    Sink,
    Symbol,
    Variable,
)
from simtmm.errors import PtxError

Signature = Callable[[str], Prototype | None]  # of a function by its name
_RETURNED = "returned@"  # no name in PTX has an @
_SIZES = (1, 2, 4, 8, 16)


@dataclass(frozen=True)
class Call:
    """The parts of a call: what is called, a name or a register, and its list of targets or its prototype, if any."""

    returns: tuple[Operand, ...]
    target: Operand
    passed: tuple[Operand, ...]
    kind: str


def call_of(instruction: Instruction) -> Call:
    """The parts of a call. Raises PtxError."""
    operands = list(instruction.operands)
    first = operands.pop(0) if operands and isinstance(operands[0], Group) and len(operands) > 1 else None
    target = operands.pop(0) if operands and isinstance(operands[0], Symbol | Register) else None
    last = operands.pop(0) if operands and isinstance(operands[0], Group) else None
    kind = operands.pop(0) if operands and isinstance(operands[0], Symbol) else None
    if target is None or operands:
        raise PtxError(
            f"PTX line {instruction.line}: `{instruction.text}` must be call (results), function, (arguments)"
        )
    returns = first.parts if isinstance(first, Group) else ()
    passed = last.parts if isinstance(last, Group) else ()
    return Call(returns, target, passed, kind.name if isinstance(kind, Symbol) else "")


def signatures(function: Function, instruction: Instruction, signature: Signature) -> list[Prototype]:
    """What a call may be to: the function that it names, its prototype, or the functions of its list."""
    call = call_of(instruction)
    if isinstance(call.target, Symbol):
        names = [call.target.name]
    elif call.kind in function.prototypes:
        return [function.prototypes[call.kind]]
    else:
        names = list(function.tables.get(call.kind, ()))
    return [found for name in names if (found := signature(name)) is not None]


def prototype_of(module: Module, name: str) -> Prototype | None:
    """What a function of a name takes and returns."""
    function = module.functions.get(name)
    return Prototype(function.returns, function.parameters) if function is not None else None


def sizes(returns: Sequence[Variable], parameters: Sequence[Variable]) -> tuple[int, ...]:
    """The bytes of results and arguments, as with_variables leaves them: of two functions that are alike the same."""
    joined, _ = _joined(returns, _RETURNED)
    return (*(each.size for each in joined), -1, *(each.size for each in parameters))


def with_variables(function: Function, signature: Signature) -> Function:
    """The same function without registers among its arguments and results, and those of the functions that it calls.

    Raises PtxError.
    """
    passes = any(variable.space == "reg" for variable in (*function.parameters, *function.returns))
    body = function.body or ()
    calls = [item for item in body if isinstance(item, Instruction) and item.opcode == "call"]
    if not passes and all(map(_passes_variables, calls)):
        return function
    try:
        return _Rewriter(function, signature).function()
    except PtxError as error:
        where = "" if str(error).startswith("PTX line") else f"PTX line {function.line}: function {function.name}: "
        raise PtxError(f"{where}{error}") from None


def _passes_variables(instruction: Instruction) -> bool:
    call = call_of(instruction)
    return all(isinstance(each, Symbol | Sink) for each in (*call.returns, *call.passed))


class _Rewriter:
    def __init__(self, function: Function, signature: Signature) -> None:
        self._function, self._signature = function, signature
        self._variables = list(function.variables)
        self._own = {each.name for each in (*function.variables, *function.parameters, *function.returns)}
        self._returned, self._offsets = _joined(function.returns, _RETURNED)

    def function(self) -> Function:
        """The function anew."""
        function = self._function
        body: list[Instruction | Label] = []
        first = next((item for item in function.body or () if isinstance(item, Instruction)), None)
        taken = [each for each in function.parameters if each.space == "reg"]
        if function.body and first is not None:  # in front of labels, which may be jumped to
            begins = replace(first, guard=None, start=function.body[0].start, end=function.body[0].start)
            body += [_load(begins, Register(each.name), _variable(each), 0, each.size) for each in taken]
        for item in function.body or ():
            if not isinstance(item, Instruction):
                body.append(item)
            elif item.opcode == "ret" and self._offsets:
                body += [*self._stored(item), item]
            elif item.opcode == "call" and not _passes_variables(item):
                body += self._call(item)
            else:
                body.append(item)
        return replace(
            function,
            parameters=tuple(map(_variable, function.parameters)),
            returns=self._returned,
            variables=tuple(self._variables),
            body=tuple(body) if function.body is not None else None,
        )

    def _stored(self, at: Instruction) -> Iterator[Instruction]:
        """What is returned, stored where the caller finds it."""
        for variable, offset in zip(self._function.returns, self._offsets, strict=True):
            yield _store(at, self._returned[0], offset, variable.size, Register(variable.name))

    def _call(self, instruction: Instruction) -> Iterator[Instruction]:
        call = call_of(instruction)
        found = signatures(self._function, instruction, self._signature)
        if not found:
            raise PtxError(f"PTX line {instruction.line}: `{instruction.text}` calls an undeclared function")
        given, taken = found[0].returns, found[0].parameters
        if len(call.passed) != len(taken) or len(call.returns) not in (0, len(given)):
            raise PtxError(
                f"PTX line {instruction.line}: `{instruction.text}` has {len(call.passed)} arguments and "
                f"{len(call.returns)} results, of {len(taken)} and {len(given)}"
            )
        passed: list[Operand] = []
        for operand, variable in zip(call.passed, taken, strict=True):
            if isinstance(operand, Symbol) and operand.name in self._own:
                passed.append(operand)
                continue
            if not isinstance(operand, Register | Immediate | Symbol) or variable.size not in _SIZES:
                raise PtxError(
                    f"PTX line {instruction.line}: `{instruction.text}` passes an argument of an unknown form"
                )
            place = self._temporary(_variable(variable))
            yield _store(replace(instruction, end=instruction.start), place, 0, variable.size, operand)
            passed.append(Symbol(place.name))
        joined, offsets = _joined(given, f"result@{len(self._variables)}")
        returns: tuple[Operand, ...] = call.returns
        if any(isinstance(each, Register) for each in returns):
            self._variables += joined
            returns = (Symbol(joined[0].name),)
        operands = (*((Group(returns),) if returns else ()), call.target, Group(tuple(passed)))
        yield replace(instruction, operands=(*operands, *((Symbol(call.kind),) if call.kind else ())))
        if returns == call.returns:
            return
        behind = replace(instruction, start=instruction.end)
        for operand, variable, offset in zip(call.returns, given, offsets or (0,), strict=True):
            if isinstance(operand, Register):
                yield _load(behind, operand, joined[0], offset, variable.size)
            elif not isinstance(operand, Sink):
                raise PtxError(f"PTX line {instruction.line}: `{instruction.text}` returns to registers and variables")

    def _temporary(self, like: Variable) -> Variable:
        made = replace(like, name=f"argument@{len(self._variables)}")
        self._variables.append(made)
        return made


def _variable(variable: Variable) -> Variable:
    """A register as a variable of its size; any other operand unchanged."""
    if variable.space != "reg":
        return variable
    if variable.type == "pred":
        raise PtxError(f"argument or result {variable.name} is a predicate: must be a number")
    return replace(variable, name=f"{variable.name}@", space="param")


def _joined(returned: Sequence[Variable], name: str) -> tuple[tuple[Variable, ...], tuple[int, ...]]:
    """The one variable that stands for results in registers, and where each stands in it; others unchanged."""
    if not returned or any(each.space != "reg" for each in returned):
        if len(returned) > 1:
            raise PtxError(f"result {returned[1].name}: each of several results must be a register")
        return tuple(returned), ()
    align = max(each.size for each in map(_variable, returned))
    end, offsets = 0, []
    for variable in returned:
        end = -(-end // variable.size) * variable.size
        offsets.append(end)
        end += variable.size
    return (Variable(name, "param", "b8", align, -(-end // align) * align),), tuple(offsets)


def _store(at: Instruction, place: Variable, offset: int, size: int, operand: Operand) -> Instruction:
    return replace(
        at, opcode="st", modifiers=("param", f"b{8 * size}"), operands=(Address(Symbol(place.name), offset), operand)
    )


def _load(at: Instruction, to: Register, place: Variable, offset: int, size: int) -> Instruction:
    return replace(
        at, opcode="ld", modifiers=("param", f"b{8 * size}"), operands=(to, Address(Symbol(place.name), offset))
    )
