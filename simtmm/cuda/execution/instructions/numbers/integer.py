"""Integer arithmetic."""

from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, bits, lanes
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.cuda.ptx.types import bits_of

PAIRS = {"u16x2": False, "s16x2": True}


def is_signed(kind: str) -> bool:
    """Whether a type is signed."""
    return kind.startswith("s")


def operands(context: Context, instruction: Instruction, count: int, kind: str) -> list[Value]:
    """The first operands after the destination, as integers of a type."""
    element = f"i{bits_of(kind)}"
    return [context.read(operand, element, is_signed(kind)) for operand in instruction.operands[1 : count + 1]]


def add(context: Context, instruction: Instruction) -> None:
    """add, sub, with carry in and out and saturation."""
    kind, emit = context.type_of(), context.emit
    if kind in PAIRS:
        pairs(context, instruction, kind)
        return
    operation = "sub" if instruction.opcode in ("sub", "subc") else "add"
    a, b = operands(context, instruction, 2, kind)
    if instruction.has("sat"):
        context.write(instruction.operands[0], emit.intrinsic(f"llvm.s{operation}.sat", a.type, a, b))
        return
    total, carry = with_carry(context, operation, a, b, instruction.opcode in ("addc", "subc"))
    if instruction.has("cc"):
        context.set_carry(carry)
    context.write(instruction.operands[0], total)


def with_carry(context: Context, operation: str, a: Value, b: Value, takes: bool) -> tuple[Value, Value]:
    """Sum or difference and the carry out; takes: whether the carry flag goes in.

    A difference is a + ~b + 1, as the machine computes it, so its carry is 1 where nothing is borrowed, and the one
    that it takes stands for that 1. The manual calls the flag a borrow and leaves its sense open; the assembler's code
    does not.
    """
    emit = context.emit
    if not takes:
        total = emit.binary(operation, a, b)
        return total, emit.compare("icmp ult", total, a) if operation == "add" else emit.compare("icmp uge", a, b)
    if context.carry is None:
        raise context.refuse("takes a carry that nothing in front of it gives")
    other = b if operation == "add" else emit.binary("xor", b, emit.constant(-1, b.type))
    first = emit.binary("add", a, other)
    total = emit.binary("add", first, emit.resize(context.carry, f"i{bits(a.type)}", False))
    return total, emit.binary("or", emit.compare("icmp ult", first, a), emit.compare("icmp ult", total, first))


def pairs(context: Context, instruction: Instruction, kind: str) -> None:
    """Two numbers of 16 bits in a register."""
    emit, wide = context.emit, "<64 x i16>"
    a, b = (emit.as_type(value, wide) for value in operands(context, instruction, 2, "b32"))
    if instruction.opcode in ("min", "max"):
        found = emit.intrinsic(f"llvm.{'s' if PAIRS[kind] else 'u'}{instruction.opcode}", wide, a, b)
        if instruction.has("relu"):
            found = emit.intrinsic("llvm.smax", wide, found, emit.constant(0, wide))
    elif instruction.has("sat"):
        found = emit.intrinsic(f"llvm.{'s' if PAIRS[kind] else 'u'}{instruction.opcode}.sat", wide, a, b)
    else:
        found = emit.binary(instruction.opcode, a, b)
    context.write(instruction.operands[0], emit.as_type(found, lanes("i32")))


def multiply(context: Context, instruction: Instruction) -> None:
    """mul and mad: the low half, the high half or all of the product, plus an addend."""
    kind = context.type_of()
    product = _product(context, instruction, kind)
    emit = context.emit
    if instruction.opcode in ("mad", "madc"):
        wide = instruction.has("wide")
        c = context.read(instruction.operands[3], f"i{bits_of(kind) * (2 if wide else 1)}", is_signed(kind))
        if instruction.has("sat"):
            product = emit.intrinsic("llvm.sadd.sat", product.type, product, c)
        else:
            product, carry = with_carry(context, "add", product, c, instruction.opcode == "madc")
            if instruction.has("cc"):
                context.set_carry(carry)
    context.write(instruction.operands[0], product)


def _product(context: Context, instruction: Instruction, kind: str) -> Value:
    emit = context.emit
    a, b = operands(context, instruction, 2, kind)
    width = bits_of(kind)
    if instruction.has("wide"):
        return emit.binary("mul", *(emit.resize(value, f"i{2 * width}", is_signed(kind)) for value in (a, b)))
    if instruction.has("hi"):
        return high_product(context, a, b, is_signed(kind))
    return emit.binary("mul", a, b)


def high_product(context: Context, a: Value, b: Value, signed: bool) -> Value:
    """The upper half of a product."""
    emit, width = context.emit, bits(a.type)
    if width <= 32:
        wide = [emit.resize(value, "i64", signed) for value in (a, b)]
        product = emit.binary("mul", *wide)
        return emit.resize(emit.binary("lshr", product, emit.constant(width, product.type)), f"i{width}", False)
    low = emit.constant(0xFFFFFFFF, a.type)
    half = emit.constant(32, a.type)
    a_low, a_high = emit.binary("and", a, low), emit.binary("lshr", a, half)
    b_low, b_high = emit.binary("and", b, low), emit.binary("lshr", b, half)
    lowest = emit.binary("mul", a_low, b_low)
    first = emit.binary("add", emit.binary("mul", a_high, b_low), emit.binary("lshr", lowest, half))
    second = emit.binary("add", emit.binary("mul", a_low, b_high), emit.binary("and", first, low))
    result = emit.binary("add", emit.binary("mul", a_high, b_high), emit.binary("lshr", first, half))
    result = emit.binary("add", result, emit.binary("lshr", second, half))
    if signed:
        sign = emit.constant(63, a.type)
        for one, other in ((a, b), (b, a)):
            result = emit.binary("sub", result, emit.binary("and", emit.binary("ashr", one, sign), other))
    return result


def multiply_24(context: Context, instruction: Instruction) -> None:
    """mul24 and mad24: products of the lower 24 bits."""
    kind, emit = context.type_of(), context.emit
    wide = []
    for value in operands(context, instruction, 2, kind):
        up = emit.binary("shl", value, emit.constant(8, value.type))
        down = emit.binary("ashr" if is_signed(kind) else "lshr", up, emit.constant(8, value.type))
        wide.append(emit.resize(down, "i64", is_signed(kind)))
    product = emit.binary("mul", *wide)
    if instruction.has("hi"):
        product = emit.binary("ashr", product, emit.constant(16, product.type))
    result = emit.resize(product, "i32", False)
    if instruction.opcode == "mad24":
        c = context.read(instruction.operands[3], "i32")
        saturates = instruction.has("sat")
        result = emit.intrinsic("llvm.sadd.sat", c.type, result, c) if saturates else emit.binary("add", result, c)
    context.write(instruction.operands[0], result)


def difference(context: Context, instruction: Instruction) -> None:
    """sad: c + |a - b|."""
    kind, emit = context.type_of(), context.emit
    a, b = operands(context, instruction, 2, kind)
    c = context.read(instruction.operands[3], f"i{bits_of(kind)}")
    less = emit.compare(f"icmp {'s' if is_signed(kind) else 'u'}lt", a, b)
    gap = emit.select(less, emit.binary("sub", b, a), emit.binary("sub", a, b))
    context.write(instruction.operands[0], emit.binary("add", c, gap))


def divide(context: Context, instruction: Instruction) -> None:
    """div and rem of integers. By 0 they give all bits set and the dividend, as GPUs do."""
    kind, emit = context.type_of(), context.emit
    a, b = operands(context, instruction, 2, kind)
    signed, width = is_signed(kind), bits_of(kind)
    zero = emit.constant(0, a.type)
    by_zero = emit.compare("icmp eq", b, zero)
    divisor = emit.select(by_zero, emit.constant(1, a.type), b)
    if signed:  # the least number by -1 has no quotient that fits: by 1 it is itself
        least = emit.constant(-(1 << (width - 1)), a.type)
        over = emit.binary(
            "and", emit.compare("icmp eq", a, least), emit.compare("icmp eq", b, emit.constant(-1, a.type))
        )
        divisor = emit.select(over, emit.constant(1, a.type), divisor)
    quotient = _quotient(context, a, divisor, signed)
    if instruction.opcode == "div":
        context.write(instruction.operands[0], emit.select(by_zero, emit.constant(-1, a.type), quotient))
        return
    rest = emit.binary("sub", a, emit.binary("mul", quotient, divisor))
    context.write(instruction.operands[0], emit.select(by_zero, a, rest))


def _quotient(context: Context, a: Value, b: Value, signed: bool) -> Value:
    """By double precision where that is exact: no quotient of 32 bits rounds up to the next whole number."""
    emit = context.emit
    width = bits(a.type)
    if width > 32:
        return emit.binary("sdiv" if signed else "udiv", a, b)
    to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptosi")
    wide = [emit.cast(to, value, "double") for value in (a, b)]
    found = emit.cast(back, emit.binary("fdiv", *wide), "i64" if not signed else "i32")
    return emit.resize(found, f"i{width}", signed)


def absolute(context: Context, instruction: Instruction) -> None:
    """abs of integers."""
    (a,) = operands(context, instruction, 1, context.type_of())
    context.write(
        instruction.operands[0], context.emit.intrinsic("llvm.abs", a.type, a, context.emit.constant("false", "i1"))
    )


def negative(context: Context, instruction: Instruction) -> None:
    """neg of integers."""
    (a,) = operands(context, instruction, 1, context.type_of())
    context.write(instruction.operands[0], context.emit.binary("sub", context.emit.constant(0, a.type), a))


def extreme(context: Context, instruction: Instruction) -> None:
    """min and max of integers."""
    kind, emit = context.type_of(), context.emit
    if kind in PAIRS:
        pairs(context, instruction, kind)
        return
    a, b = operands(context, instruction, 2, kind)
    found = emit.intrinsic(f"llvm.{'s' if is_signed(kind) else 'u'}{instruction.opcode}", a.type, a, b)
    if instruction.has("relu"):
        found = emit.intrinsic("llvm.smax", a.type, found, emit.constant(0, a.type))
    context.write(instruction.operands[0], found)


HANDLERS = {
    "addc": add,
    "subc": add,
    "madc": multiply,
    "mul24": multiply_24,
    "mad24": multiply_24,
    "sad": difference,
}
