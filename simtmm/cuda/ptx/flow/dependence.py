"""The memory that decides a kernel's path: the data that its addresses and branches depend on, and what it writes.

Where nothing that decides is written by anybody, a block does the same whatever other blocks have done, and whether
they have run at all. Data flows from loads through registers, shared and local memory, whatever the order of
instructions.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from simtmm.cuda.ptx.flow.registers import guards, read, reads_clocks, written
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Address, Group, Instruction, Module, Operand, Pair, Symbol, Vector

Origins: TypeAlias = frozenset[str | int]
"""What a value may come of: names of parameters and of variables whose address was taken, and numbers of the loads
whose data went into it."""

Pointers: TypeAlias = frozenset[str]
"""Names of parameters and variables, one of which is the pointer that an access goes by; numbers may be among them."""

_NOTHING: Origins = frozenset()
_COMPARING = {"setp", "set", "selp", "slct", "min", "max"}
_OWN = {"shared", "local", "param"}  # spaces of a block alone
_COMMON = {"global", "const"}


@dataclass(frozen=True)
class Dependence:
    """What a kernel's way depends on.

    decides: of each load whose data decides, by what it goes; empty where that is not known. writes: of each access
    that writes, likewise. unknown: why nothing is known, in words; empty where it can.
    """

    decides: tuple[Pointers, ...] = ()
    writes: tuple[Pointers, ...] = ()
    unknown: str = ""


def dependence(module: Module, entry: str, comparisons: bool = False) -> Dependence:
    """That of a kernel. comparisons: whether what is compared decides as well, where it may stand for a branch of the
    source that the compiler has turned into a choice of values.

    entry: the kernel, as PTX has it.
    """
    body = [item for item in module.functions[entry].body or () if isinstance(item, Instruction)]
    for instruction in body:
        if instruction.opcode == "call":
            return Dependence(unknown=f"it calls a function: {instruction.text}")
        if reads_clocks(instruction):
            return Dependence(unknown=f"it looks at the time: {instruction.text}")
    flow = _Flow(body)
    while flow.goes_on():
        pass
    decisive: Origins = _NOTHING
    for instruction in body:
        decisive |= flow.decisive(instruction)
        if comparisons and instruction.opcode in _COMPARING:
            decisive |= flow.of_registers(read(instruction))
    loads = sorted(each for each in decisive if isinstance(each, int))
    writing = [each for each in body if _writes(each) and not _is_own(each)]
    return Dependence(
        tuple(dict.fromkeys(flow.pointers(body[number]) for number in loads)),
        tuple(dict.fromkeys(flow.pointers(each) for each in writing)),
    )


class _Flow:
    """What registers, and memory of a block's own, may come of, so far."""

    def __init__(self, body: Sequence[Instruction]) -> None:
        self._body = body
        self._registers: dict[str, Origins] = {}
        self._own: Origins = _NOTHING  # shared and local memory, all of it together

    def goes_on(self) -> bool:
        """Follow all instructions once; whether anything was new."""
        is_new = False
        for number, instruction in enumerate(self._body):
            value = self._value(number, instruction)
            for name in written(instruction):
                before = self._registers.get(name, _NOTHING)
                is_new = is_new or not value <= before
                self._registers[name] = before | value
            if _writes(instruction) and not _is_common(instruction):
                is_new = is_new or not value <= self._own
                self._own |= value
        return is_new

    def _value(self, number: int, instruction: Instruction) -> Origins:
        """What it makes may come of: all that it reads; of a load, what it loads, and what its address depends on."""
        came = self.of_registers(read(instruction)) | self._symbols(instruction.operands)
        if not row_of(instruction.opcode).memory or "param" in _spaces(instruction):
            return came
        loaded: Origins = _NOTHING if _is_common(instruction) else self._own
        if not _is_own(instruction) and instruction.opcode != "st":
            loaded |= {number}
        data = frozenset(each for each in came if isinstance(each, int))
        return loaded | (came if _writes(instruction) else data)

    def decisive(self, instruction: Instruction) -> Origins:
        """What decides where it goes: its addresses, its condition, and whether it takes part where that shows."""
        found: Origins = _NOTHING
        row = row_of(instruction.opcode)
        if row.memory:
            found |= self.of_registers(name for address in _addresses(instruction) for name in _registers(address))
        if row.is_barrier or instruction.opcode in ("bra", "brx"):
            found |= self.of_registers(read(instruction))
        elif row.memory or not written(instruction):
            found |= self.of_registers(guards(instruction))
        return found

    def pointers(self, instruction: Instruction) -> Pointers:
        """By what an access goes, one of these; empty where that is not known."""
        if row_of(instruction.opcode).is_of_texture:
            return frozenset()
        came: Origins = _NOTHING
        for address in _addresses(instruction):
            came |= self.of_registers(_registers(address)) | self._symbols([address])
        return frozenset(each for each in came if isinstance(each, str))

    def of_registers(self, names: Iterable[str]) -> Origins:
        """What any of some registers may come of."""
        return frozenset().union(*(self._registers.get(name, _NOTHING) for name in names))

    def _symbols(self, operands: Iterable[Operand]) -> Origins:
        found: Origins = _NOTHING
        for operand in operands:
            match operand:
                case Address(Symbol(name)) | Symbol(name):
                    found |= {name}
                case Vector(parts) | Group(parts):
                    found |= self._symbols(parts)
        return found


def _writes(instruction: Instruction) -> bool:
    return row_of(instruction.opcode).memory in ("writes", "updates")


def _registers(address: Address) -> tuple[str, ...]:
    """The registers in it."""
    return read(Instruction("prefetch", (), (address,), None, 0, None, ""))


def _addresses(instruction: Instruction) -> list[Address]:
    found = []
    for operand in instruction.operands:
        each = (operand.first, operand.second) if isinstance(operand, Pair) else (operand,)
        found += [part for part in each if isinstance(part, Address)]
    return found


def _spaces(instruction: Instruction) -> set[str]:
    return {modifier.split("::")[0] for modifier in instruction.modifiers}


def _is_own(instruction: Instruction) -> bool:
    """Whether it goes to memory of a block alone."""
    if instruction.opcode in ("ldmatrix", "stmatrix", "mbarrier", "wgmma"):
        return True
    spaces = _spaces(instruction)
    return bool(spaces & _OWN) and not spaces & _COMMON


def _is_common(instruction: Instruction) -> bool:
    """Whether it goes to memory of all blocks alone; a generic address may lead to either."""
    spaces = _spaces(instruction)
    return bool(spaces & _COMMON) and not spaces & _OWN
