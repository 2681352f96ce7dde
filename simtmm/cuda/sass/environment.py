"""Loads of a launch's environment (%envreg0 to 15) from Blackwell on: before clusters' places, by the cluster's size.

ptxas writes c[0x0][R+0x250], where R is SR_CgaSize times -0xa0. A block that is no cluster's finds there what the other
registers of the environment have at places of their own, so that its size counts as 0 here.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from simtmm.cuda.sass.syntax import Constant, Listing, MachineInstruction, Number, Operand, Reg, Word

ENVIRONMENT = range(0x250, 0x290)
_BYTES_BEFORE = -0xA0  # for each block of a cluster
_SIZE = "SR_CgaSize"
_READS, _PRODUCTS, _LOADS = ("CS2R", "S2R", "S2UR"), ("IMAD", "UIMAD"), ("LDC", "ULDC", "LDCU")
_MOVES = ("MOV", "UMOV", "R2UR")
_MOST_WRITTEN = 8  # registers in a row that an instruction writes


def with_plain_environment(listing: Listing) -> Listing:
    """The machine code with these loads at their places for blocks without a cluster.

    Where a register with the size, or with what is made of it, is used for anything else, or comes from elsewhere,
    nothing changes.
    """
    found = _Found()
    for item in listing.items:
        if not isinstance(item, MachineInstruction) or item.opcode in ("BRA", "BRX", "JMP", "CALL", "RET", "EXIT"):
            found.forget()
        else:
            found.look_at(item)
    if not found.changed or found.is_used_otherwise:
        return listing
    items = tuple(
        found.changed.get(item.address, item) if isinstance(item, MachineInstruction) else item
        for item in listing.items
    )
    return replace(listing, items=items)


class _Found:
    """What registers hold of the size along a stretch of code, and what becomes of instructions."""

    def __init__(self) -> None:
        self.changed: dict[int, MachineInstruction] = {}
        self.is_used_otherwise = False
        self._sizes: set[str] = set()
        self._behind: set[str] = set()

    def forget(self) -> None:
        """Begin another stretch of code."""
        self._sizes, self._behind = set(), set()

    def look_at(self, instruction: MachineInstruction) -> None:
        """Take in one instruction."""
        operands = list(instruction.operands)
        to = operands[0] if operands and isinstance(operands[0], Reg) else None
        sources = operands if to is None else operands[1:]
        if to is not None and instruction.opcode in _READS and sources == [Word(_SIZE)]:
            self._write(to)
            self._sizes.add(to.name)
            self.changed[instruction.address] = replace(instruction, operands=(to, Word("SRZ")))
            return
        if to is not None and self._is_product(instruction, sources):
            self._write(to)
            self._behind.add(to.name)
            return
        if to is not None and instruction.opcode in _MOVES and _is_one_of(sources, self._behind):
            self._write(to)
            self._behind.add(to.name)
            return
        self._look_at_load(instruction, sources)
        if to is not None:
            self._write(to)

    def _is_product(self, instruction: MachineInstruction, sources: list[Operand]) -> bool:
        size, *others = sources or (None,)
        return (
            instruction.opcode in _PRODUCTS
            and isinstance(size, Reg)
            and size.name in self._sizes
            and len(others) == 2
            and others[0] == Number(_BYTES_BEFORE)
            and isinstance(others[1], Reg)
            and others[1].is_zero
        )

    def _look_at_load(self, instruction: MachineInstruction, sources: list[Operand]) -> None:
        source = sources[0] if len(sources) == 1 else None
        if (
            instruction.opcode in _LOADS
            and isinstance(source, Constant)
            and source.register is not None
            and source.register.name in self._behind
            and _is_of_environment(source)
        ):
            plain = replace(source, register=None)
            self.changed[instruction.address] = replace(instruction, operands=(instruction.operands[0], plain))
        elif any(name in self._sizes | self._behind for name in _read(sources)) or _is_of_environment(source):
            self.is_used_otherwise = True

    def _write(self, to: Reg) -> None:
        kind = re.sub(r"\d+$", "", to.name)
        written = {f"{kind}{number}" for number in range(to.number, to.number + _MOST_WRITTEN)}
        self._sizes -= written
        self._behind -= written


def _is_of_environment(source: Operand | None) -> bool:
    """Whether it may be of the environment: a place there, behind a register."""
    is_indexed = isinstance(source, Constant) and source.register is not None and source.bank == 0
    return is_indexed and isinstance(source, Constant) and source.offset in ENVIRONMENT


def _is_one_of(sources: list[Operand], names: set[str]) -> bool:
    """Whether a register of these is all that is read."""
    return len(sources) == 1 and isinstance(sources[0], Reg) and sources[0].name in names


def _read(sources: Iterable[Operand]) -> Iterable[str]:
    """The names of registers in operands."""
    for each in sources:
        registers = getattr(each, "registers", ())
        one = each if isinstance(each, Reg) else getattr(each, "register", None)
        for register in (*registers, one):
            if isinstance(register, Reg):
                yield register.name
