"""What instructions of PTX give for whole numbers that are known to lie in ranges, and for predicates.

An instruction that is not in instructions.py gives a number of which nothing is known.
"""

from collections.abc import Callable, Mapping

from simtmm.cuda.least.instructions import HANDLERS, Values, opposite
from simtmm.cuda.least.ranges import EITHER, Known, Range, is_one, signed, unsigned, wrapped
from simtmm.cuda.ptx.forms import takes
from simtmm.cuda.ptx.syntax import Address, Immediate, Instruction, Negated, Operand, Pair, Register, Symbol, Vector
from simtmm.cuda.ptx.types import bits_of, is_type


class Evaluation:
    """Computes what instructions give.

    specials: what special registers hold. parameter: a kernel's parameter, of its name, offset, bytes.
    """

    def __init__(self, specials: Mapping[str, Known], parameter: Callable[[str, int, int], Known]) -> None:
        self._specials, self._parameter = specials, parameter

    def of(self, instruction: Instruction, values: Values) -> dict[str, Known]:
        """The values of the registers that it writes, whichever threads take part."""
        target = instruction.operands[0]
        if isinstance(target, Vector):
            return self._parts(instruction, target, values)
        targets = (target.first, target.second) if isinstance(target, Pair) else (target,)
        names = [each.name for each in targets if isinstance(each, Register)]
        handler = HANDLERS.get(instruction.opcode)
        kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
        if handler is None or not kinds or (kinds[-1][0] not in "sub" and kinds[-1] != "pred"):
            return dict.fromkeys(names)
        if not takes(instruction):  # its translation says so
            return dict.fromkeys(names)
        found = handler(self, instruction, kinds, values)
        other = EITHER if isinstance(target, Pair) else None
        return {name: found if name == names[0] else other for name in names}

    def guard(self, guard: Register | Negated, values: Values) -> Range:
        """Whether it holds."""
        if isinstance(guard, Negated):
            return opposite(values.get(guard.register.name) or EITHER)
        return values.get(guard.name) or EITHER

    def operand(self, operand: Operand, values: Values) -> Known:
        """What an operand holds."""
        match operand:
            case Immediate(value, 0):
                return value, value
            case Register(name) if name.startswith("%") and name in self._specials:
                return self._specials[name]
            case Register(name):
                return values.get(name)
            case Negated(register):
                return opposite(values.get(register.name) or EITHER)
            case _:
                return None

    def own(self, operand: Operand, values: Values, bits: int) -> Known:
        """Likewise, as a signed number of so many bits, whatever larger register or literal it stands in."""
        value = self.operand(operand, values)
        return None if value is None else wrapped(value[0], value[1], bits)

    def viewed(self, operand: Operand, values: Values, kind: str) -> Range:
        """As the type of an instruction has it."""
        bits = bits_of(kind)
        value = self.own(operand, values, bits)
        return signed(value, bits) if kind[0] == "s" else unsigned(value, bits)

    def parameter(self, instruction: Instruction, kind: str) -> Known:
        """What is loaded from the parameters of the kernel."""
        source = instruction.operands[1]
        if "param" not in instruction.modifiers or not isinstance(source, Address):
            return None
        if not isinstance(source.base, Symbol):
            return None
        return self._parameter(source.base.name, source.base.offset + source.offset, bits_of(kind) // 8)

    def _parts(self, instruction: Instruction, target: Vector, values: Values) -> dict[str, Known]:
        """What a number is taken apart into: two halves."""
        names = [part.name if isinstance(part, Register) else "" for part in target.parts]
        found: dict[str, Known] = dict.fromkeys(name for name in names if name)
        if instruction.opcode == "mov" and len(names) == 2 and len(instruction.operands) == 2:
            bits = bits_of(instruction.modifiers[-1]) // 2
            value = self.own(instruction.operands[1], values, 2 * bits)
            if value is not None:
                halves = (wrapped(value[0], value[1], bits), (value[0] >> bits, value[1] >> bits))
                # Of numbers with several upper halves the lower one may be any.
                low = halves[0] if value[0] >> bits == value[1] >> bits or is_one(value) else None
                found.update((name, half) for name, half in zip(names, (low, halves[1]), strict=True) if name)
        return found
