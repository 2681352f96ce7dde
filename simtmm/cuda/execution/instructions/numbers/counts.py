"""Bit counts, and dot products of bytes."""

from simtmm.cuda.execution.instructions.numbers.integer import is_signed, operands
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.cuda.ptx.types import bits_of


def count_bits(context: Context, instruction: Instruction) -> None:
    """popc and clz: a number of 32 bits whatever they count in."""
    (a,) = operands(context, instruction, 1, context.type_of())
    emit = context.emit
    if instruction.opcode == "popc":
        found = emit.intrinsic("llvm.ctpop", a.type, a)
    else:
        found = emit.intrinsic("llvm.ctlz", a.type, a, emit.constant("false", "i1"))
    context.write(instruction.operands[0], emit.resize(found, "i32", False))


def find_highest(context: Context, instruction: Instruction) -> None:
    """bfind: the highest bit that differs from the sign, all bits set where there is none."""
    kind, emit = context.type_of(), context.emit
    (a,) = operands(context, instruction, 1, kind)
    width = bits_of(kind)
    if is_signed(kind):
        a = emit.binary("xor", a, emit.binary("ashr", a, emit.constant(width - 1, a.type)))
    zeros = emit.resize(emit.intrinsic("llvm.ctlz", a.type, a, emit.constant("false", "i1")), "i32", False)
    place = emit.binary("sub", emit.constant(width - 1, zeros.type), zeros)
    if instruction.has("shiftamt"):
        place = emit.select(emit.compare("icmp eq", a, emit.constant(0, a.type)), emit.constant(-1, zeros.type), zeros)
    context.write(instruction.operands[0], place)


def dot_product(context: Context, instruction: Instruction) -> None:
    """dp4a and dp2a: products of bytes, summed up."""
    first, second = context.type_of(-2), context.type_of(-1)
    emit = context.emit
    a, b, c = (context.read(operand, "i32") for operand in instruction.operands[1:4])
    four = instruction.opcode == "dp4a"
    upper = instruction.has("hi")
    total = c
    for place in range(4 if four else 2):
        shift_b = 8 * (place + (2 if upper and not four else 0))
        one = _field(context, a, 8 * place if four else 16 * place, 8 if four else 16, is_signed(first))
        other = _field(context, b, shift_b, 8, is_signed(second))
        total = emit.binary("add", total, emit.binary("mul", one, other))
    context.write(instruction.operands[0], total)


def _field(context: Context, a: Value, start: int, width: int, signed: bool) -> Value:
    emit = context.emit
    up = emit.binary("shl", a, emit.constant(32 - start - width, a.type))
    return emit.binary("ashr" if signed else "lshr", up, emit.constant(32 - width, a.type))


HANDLERS = {
    "popc": count_bits,
    "clz": count_bits,
    "bfind": find_highest,
    "dp4a": dot_product,
    "dp2a": dot_product,
}
