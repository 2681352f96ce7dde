"""Registers that always hold the same number: written once, by a mov of a constant."""

from collections import Counter
from collections.abc import Mapping

from simtmm.cuda.ptx.flow.registers import written
from simtmm.cuda.ptx.syntax import Function, Immediate, Instruction, Register
from simtmm.cuda.ptx.types import bits_of


def constants(function: Function) -> Mapping[str, Immediate]:
    """The registers of a function whose values are known before it runs."""
    instructions = [item for item in function.body or () if isinstance(item, Instruction)]
    writes = Counter(name for instruction in instructions for name in written(instruction))
    found: dict[str, Immediate] = {}
    for instruction in instructions:
        if instruction.opcode != "mov" or instruction.guard is not None or len(instruction.operands) != 2:
            continue
        to, given = instruction.operands
        if not isinstance(to, Register) or not isinstance(given, Immediate) or writes[to.name] != 1:
            continue
        kind = function.registers.get(to.name, "pred")
        if kind != "pred" and given.float_bits in (0, bits_of(kind)):
            found[to.name] = given
    return found
