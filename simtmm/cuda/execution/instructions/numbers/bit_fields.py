"""Bit fields: extract, insert, create and count them."""

from simtmm.cuda.execution.instructions.numbers.integer import is_signed, operands
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.syntax import Instruction, Operand
from simtmm.cuda.ptx.types import bits_of


def extract(context: Context, instruction: Instruction) -> None:
    """bfe: a field of bits; beyond the number stands its sign, or 0."""
    kind, emit = context.type_of(), context.emit
    width = bits_of(kind)
    (a,) = operands(context, instruction, 1, kind)
    element = f"i{width}"
    start, length = (_count(context, operand, element) for operand in instruction.operands[2:4])
    top = emit.constant(width - 1, a.type)
    # Shifts stay below the width: from a start beyond the number on, all is sign.
    signed = is_signed(kind)
    far = emit.compare("icmp ugt", start, top)
    near = emit.intrinsic("llvm.umin", a.type, start, top)
    shifted = emit.binary("ashr" if signed else "lshr", a, near)
    sign = emit.binary("ashr", a, top) if signed else emit.constant(0, a.type)
    shifted = emit.select(far, sign, shifted)
    whole = emit.compare("icmp ugt", length, top)
    spare = emit.binary("sub", emit.constant(width, a.type), length)
    spare = emit.intrinsic("llvm.umin", a.type, spare, top)
    narrow = emit.binary("ashr" if signed else "lshr", emit.binary("shl", shifted, spare), spare)
    found = emit.select(whole, shifted, narrow)
    empty = emit.compare("icmp eq", length, emit.constant(0, a.type))
    context.write(instruction.operands[0], emit.select(empty, emit.constant(0, a.type), found))


def _count(context: Context, operand: Operand, element: str) -> Value:
    """A start or a length. The manual allows 0 to 255: of more a GPU takes 8 bits, of fields in 64 bits all 32."""
    emit = context.emit
    value = context.read(operand, "i32")
    if element == "i64":
        return emit.resize(value, element, False)
    return emit.resize(emit.binary("and", value, emit.constant(255, value.type)), element, False)


def insert(context: Context, instruction: Instruction) -> None:
    """bfi: a field of bits put into a number."""
    kind, emit = context.type_of(), context.emit
    width = bits_of(kind)
    a, b = operands(context, instruction, 2, kind)
    element = f"i{width}"
    start, length = (_count(context, operand, element) for operand in instruction.operands[3:5])
    top = emit.constant(width - 1, a.type)
    far = emit.compare("icmp ugt", start, top)
    near = emit.intrinsic("llvm.umin", a.type, start, top)
    ones = _ones(context, length, width)
    field = emit.select(far, emit.constant(0, a.type), emit.binary("shl", ones, near))
    moved = emit.binary("and", emit.binary("shl", a, near), field)
    context.write(instruction.operands[0], emit.binary("or", moved, emit.binary("and", b, emit.invert(field))))


def _ones(context: Context, length: Value, width: int) -> Value:
    """So many bits set, all from `width` on."""
    emit = context.emit
    top = emit.constant(width - 1, length.type)
    some = emit.binary(
        "sub",
        emit.binary("shl", emit.constant(1, length.type), emit.intrinsic("llvm.umin", length.type, length, top)),
        emit.constant(1, length.type),
    )
    return emit.select(emit.compare("icmp ugt", length, top), emit.constant(-1, length.type), some)


def bit_mask(context: Context, instruction: Instruction) -> None:
    """bmsk: so many bits set from a place on."""
    emit = context.emit
    start, length = operands(context, instruction, 2, "b32")
    if instruction.has("wrap"):
        start, length = (emit.binary("and", value, emit.constant(31, value.type)) for value in (start, length))
    top = emit.constant(31, start.type)
    far = emit.compare("icmp ugt", start, top)
    near = emit.intrinsic("llvm.umin", start.type, start, top)
    found = emit.binary("shl", _ones(context, length, 32), near)
    context.write(instruction.operands[0], emit.select(far, emit.constant(0, found.type), found))


def extend(context: Context, instruction: Instruction) -> None:
    """szext: the lowest bits of a number, its sign or 0 above them."""
    kind, emit = context.type_of(), context.emit
    a, width = operands(context, instruction, 2, "b32")
    if instruction.has("wrap"):
        width = emit.binary("and", width, emit.constant(31, width.type))
    beyond = emit.compare("icmp ugt", width, emit.constant(31, width.type))
    empty = emit.compare("icmp eq", width, emit.constant(0, width.type))
    spare = emit.binary("and", emit.binary("sub", emit.constant(32, width.type), width), emit.constant(31, width.type))
    found = emit.binary("ashr" if is_signed(kind) else "lshr", emit.binary("shl", a, spare), spare)
    found = emit.select(beyond, a, found)
    context.write(instruction.operands[0], emit.select(empty, emit.constant(0, a.type), found))


def nth_set(context: Context, instruction: Instruction) -> None:
    """fns: the place of the n-th set bit from a place on, up or down; all bits set where there is none."""
    emit = context.emit
    mask, base, offset = operands(context, instruction, 3, "b32")
    result = emit.constant(-1, mask.type)
    zero = emit.constant(0, mask.type)
    up = emit.compare("icmp sgt", offset, zero)
    down = emit.compare("icmp slt", offset, zero)
    for place in range(32):
        here = emit.constant(place, mask.type)
        bit = emit.binary("and", mask, emit.constant(_signed(1 << place), mask.type))
        is_set = emit.compare("icmp ne", bit, zero)
        at_least = emit.binary("and", mask, emit.constant(_signed((1 << (place + 1)) - 1), mask.type))
        low = emit.binary("shl", emit.constant(-1, mask.type), emit.binary("and", base, emit.constant(31, base.type)))
        above = emit.intrinsic("llvm.ctpop", mask.type, emit.binary("and", at_least, low))
        at_most = emit.binary("and", mask, emit.constant(_signed(0xFFFFFFFF & ~((1 << place) - 1)), mask.type))
        high = emit.binary(
            "lshr",
            emit.constant(-1, mask.type),
            emit.binary("sub", emit.constant(31, base.type), emit.binary("and", base, emit.constant(31, base.type))),
        )
        below = emit.intrinsic("llvm.ctpop", mask.type, emit.binary("and", at_most, high))
        rises = emit.binary(
            "and", up, emit.binary("and", emit.compare("icmp eq", above, offset), emit.compare("icmp uge", here, base))
        )
        is_nth = emit.compare("icmp eq", below, emit.binary("sub", zero, offset))
        falls = emit.binary("and", down, emit.binary("and", is_nth, emit.compare("icmp ule", here, base)))
        same = emit.binary("and", emit.compare("icmp eq", offset, zero), emit.compare("icmp eq", here, base))
        found = emit.binary("and", is_set, emit.binary("or", same, emit.binary("or", rises, falls)))
        result = emit.select(found, here, result)
    context.write(instruction.operands[0], result)


def _signed(number: int) -> int:
    number &= 0xFFFFFFFF
    return number - (1 << 32) if number >> 31 else number


HANDLERS = {
    "bfe": extract,
    "bfi": insert,
    "bmsk": bit_mask,
    "szext": extend,
    "fns": nth_set,
}
