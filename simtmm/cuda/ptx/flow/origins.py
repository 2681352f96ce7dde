"""The origin of an address: the parameters and variables of its pointers, followed back through registers."""

from collections.abc import Iterator
from dataclasses import dataclass

from simtmm.cuda.ptx.flow.registers import written
from simtmm.cuda.ptx.syntax import (
    Address,
    Function,
    Group,
    Instruction,
    Module,
    Operand,
    Pair,
    Register,
    Symbol,
    Vector,
)


@dataclass(frozen=True)
class Origin:
    """A pointer that an address may be made from: a variable, or what a kernel's parameter holds.

    name: of either; empty for what is not followed, such as a pointer that was loaded. offset: of the pointer in the
    parameter [bytes]; None for a variable.
    """

    name: str
    offset: int | None = None


UNKNOWN = Origin("")
_ROUND = Origin("", -1)  # of a register that is made from itself, in a loop: as of whatever else it is made from
_MOST = 200  # registers that are followed
_Found = frozenset[Origin]
_NOTHING: _Found = frozenset()
_SAME = {"mov", "cvta", "cvt", "selp", "min", "max"}  # each operand may be the pointer
_SUMS = {"add", "addc", "sub", "subc", "or", "and", "xor"}  # one is, the others are distances
_NUMBERS = {"mul", "mul24", "shl", "shr", "div", "rem", "popc", "clz", "bfind", "bfe", "setp", "set", "neg", "not",
            "abs", "sad", "brev", "cnot", "vote", "match", "activemask"}  # fmt: skip


def origins(module: Module, function: str, instruction: Instruction) -> _Found:
    """Of the address that an instruction accesses memory by. Where it holds UNKNOWN, there may be others."""
    addresses = [part for operand in instruction.operands for part in _parts(operand) if isinstance(part, Address)]
    if not addresses:
        return frozenset({UNKNOWN})
    return _Walk(module).of(function, addresses[0].base) - {_ROUND}


def _parts(operand: Operand) -> Iterator[Operand]:
    if isinstance(operand, Pair):
        yield from (operand.first, operand.second)
    else:
        yield operand


class _Walk:
    """Backward through what writes each register, whatever the order; a function's parameters come from all calls."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._writers: dict[str, dict[str, list[Instruction]]] = {}
        self._known: dict[tuple[str, str], _Found] = {}

    def of(self, function: str, operand: Operand) -> _Found:
        """Where an operand of a function's instruction may come from."""
        match operand:
            case Symbol(name):
                return frozenset({Origin(name)})
            case Vector(parts) | Group(parts):
                return self._sum(function, parts)
            case Register(name):
                if (function, name) not in self._known:
                    if len(self._known) > _MOST:
                        return frozenset({UNKNOWN})
                    self._known[function, name] = frozenset({_ROUND})
                    writers = self._writers_of(function).get(name, [])  # of a special register none
                    found = frozenset().union(*(self._value(function, each) for each in writers))
                    self._known[function, name] = found
                return self._known[function, name]
        return _NOTHING

    def _sum(self, function: str, operands: tuple[Operand, ...]) -> _Found:
        """Of several operands the one that is a pointer; what is not known beside one that is, is a distance."""
        found = frozenset().union(*(self.of(function, each) for each in operands))
        return found - {UNKNOWN} or found

    def _value(self, function: str, instruction: Instruction) -> _Found:
        opcode, operands = instruction.opcode, instruction.operands[1:]
        if opcode in _NUMBERS:
            return _NOTHING
        if opcode in _SAME:
            return frozenset().union(*(self.of(function, each) for each in operands))
        if opcode in _SUMS:
            return self._sum(function, operands)
        if opcode in ("mad", "madc", "fma", "mad24"):
            return self.of(function, operands[-1])
        if opcode == "ld" and instruction.has("param"):
            (address,) = operands
            if isinstance(address, Address) and isinstance(address.base, Symbol):
                return self._parameter(function, address.base.name, address.base.offset + address.offset)
        if opcode == "ld" and instruction.has("b8", "u8", "s8", "b16", "u16", "s16", "b32", "u32", "s32"):
            return _NOTHING
        return frozenset({UNKNOWN})

    def _parameter(self, function: str, name: str, offset: int) -> _Found:
        """Of a kernel's parameter itself; of a function's whatever its callers pass."""
        known = self._module.functions[function]
        if known.entry:
            return frozenset({Origin(name, offset)})
        numbers = [number for number, each in enumerate(known.parameters) if each.name == name]
        if not numbers:
            return frozenset({UNKNOWN})  # what a call gave back
        found: set[Origin] = set()
        for caller in self._module.functions.values():
            for call in (item for item in caller.body or () if isinstance(item, Instruction) and item.opcode == "call"):
                if not any(operand == Symbol(function) for operand in call.operands):
                    continue
                passed = [operand.parts for operand in call.operands if isinstance(operand, Group)][-1:]
                argument = passed[0][numbers[0]] if passed and numbers[0] < len(passed[0]) else None
                found |= self._passed(caller, argument, offset)
        return frozenset(found) or frozenset({UNKNOWN})

    def _passed(self, caller: Function, argument: Operand | None, offset: int) -> _Found:
        if not isinstance(argument, Symbol):
            return frozenset({UNKNOWN})
        stores = [
            item for item in caller.body or ()
            if isinstance(item, Instruction) and item.opcode == "st" and item.has("param")
            and item.operands[0] in (Address(argument, offset), Address(Symbol(argument.name, offset)))
        ]  # fmt: skip
        return frozenset().union(*(self.of(caller.name, each.operands[-1]) for each in stores)) or frozenset({UNKNOWN})

    def _writers_of(self, function: str) -> dict[str, list[Instruction]]:
        if function not in self._writers:
            found: dict[str, list[Instruction]] = {}
            body = [item for item in self._module.functions[function].body or () if isinstance(item, Instruction)]
            for instruction in body:
                for name in written(instruction):
                    found.setdefault(name, []).append(instruction)
            self._writers[function] = found
        return self._writers[function]
