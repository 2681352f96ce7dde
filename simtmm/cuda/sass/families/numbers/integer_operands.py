"""Operands of instructions on whole numbers, as PTX takes them: halves, pairs, predicates, signs."""

from simtmm.cuda.ptx.syntax import Immediate, Register
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Number, Operand, Reg


def parted(instruction: MachineInstruction) -> tuple[list[Operand], list[Operand], list[Operand]]:
    """Operands as results (a register, then predicates), sources, and predicates that are read at the end."""
    operands = list(instruction.operands)
    first = 1
    if is_predicate(operands[0]) and len(operands) > 1 and not is_predicate(operands[1]):
        first = 2  # a predicate, then the register
    while first < len(operands) and is_predicate(operands[first]):
        first += 1
    last = len(operands)
    while last > first and is_predicate(operands[last - 1]):
        last -= 1
    return operands[:first], operands[first:last], operands[last:]


def is_predicate(operand: Operand) -> bool:
    """Whether it is one."""
    return isinstance(operand, Reg) and operand.is_predicate


def is_signed_operand(source: Operand) -> bool:
    """Whether - or | | is done to it."""
    return isinstance(source, (Reg, Constant)) and (source.negative or source.absolute)


def zero_extended(lifting: Lifting, source: Operand) -> tuple[PtxOperand, int]:
    """An operand of a sum that may carry, of 64 bits, and what is added for its sign: -a is ~a + 1."""
    found = lifting.bits(source)
    negative = (isinstance(source, Reg) and source.negative) or getattr(source, "negative", False)
    inverted = getattr(source, "inverted", False)
    if negative or inverted:
        found = lifting.value("not.b32", "b32", found)
    if isinstance(found, Immediate):
        return Immediate(found.value & 0xFFFFFFFF), int(negative)
    return lifting.value("cvt.u64.u32", "b64", found), int(negative)


def low_part(lifting: Lifting, wide: PtxOperand) -> Register:
    """The lower 32 of 64 bits."""
    return lifting.value("cvt.u32.u64", "b32", wide)


def high(lifting: Lifting, wide: PtxOperand) -> Register:
    """The upper 32 of 64 bits."""
    return lifting.value("cvt.u32.u64", "b32", lifting.value("shr.u64", "b64", wide, Immediate(32)))


def one_if(lifting: Lifting, predicate: Operand, kind: str) -> PtxOperand:
    """1 where a predicate holds and 0 elsewhere, of a PTX type `kind` of 32 bits; a number where that is known."""
    if isinstance(predicate, Reg) and predicate.is_zero:
        return Immediate(0 if predicate.inverted else 1)
    return lifting.value(f"selp.{kind}", kind, Immediate(1), Immediate(0), lifting.predicate(predicate))


def widened(lifting: Lifting, source: Operand) -> Register:
    """A number with its sign, of 64 bits; - is done there, so that the least number has its opposite."""
    found = lifting.value("cvt.s64.s32", "b64", lifting.bits(source))
    if isinstance(source, (Reg, Constant)):
        if source.absolute or source.inverted:
            raise lifting.refuse()
        if source.negative:
            found = lifting.value("neg.s64", "b64", found)
    return found


def wide_number(lifting: Lifting, source: Number) -> Immediate:
    """A number as one of 64 bits; those that need the upper 32 are written in full."""
    return Immediate(lifting.whole_number(source) & (1 << 64) - 1)


def pair_of(lifting: Lifting, source: Operand) -> PtxOperand:
    """A source of 64 bits: a number, or a pair of registers."""
    return wide_number(lifting, source) if isinstance(source, Number) else lifting.wide(source)
