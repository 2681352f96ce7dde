"""Comparisons and selections."""

from simtmm.cuda.execution.instructions.numbers import half, real
from simtmm.cuda.execution.instructions.numbers.integer import is_signed
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.syntax import Instruction, Operand, Pair
from simtmm.cuda.ptx.types import bits_of, is_type

WHOLE_COMPARISONS = {
    "eq": "eq", "ne": "ne", "lt": "lt", "le": "le", "gt": "gt", "ge": "ge", "lo": "lt", "ls": "le", "hi": "gt",
    "hs": "ge",
}  # fmt: skip
_REAL = {
    "eq": "oeq", "ne": "one", "lt": "olt", "le": "ole", "gt": "ogt", "ge": "oge", "equ": "ueq", "neu": "une",
    "ltu": "ult", "leu": "ule", "gtu": "ugt", "geu": "uge", "num": "ord", "nan": "uno",
}  # fmt: skip
_COMPARISONS = set(WHOLE_COMPARISONS) | set(_REAL)
_COMBINATIONS = ("and", "or", "xor")


def _compared(context: Context, instruction: Instruction, kind: str, a: Operand, b: Operand) -> Value:
    emit = context.emit
    how = next((m for m in instruction.modifiers if m in _COMPARISONS), None)
    if how is None:
        raise context.refuse("compares in a way that is not known")
    if kind in half.KINDS:
        left, right = (half.widened(context, operand, kind) for operand in (a, b))
        return emit.compare(f"fcmp {_REAL[how]}", left, right)
    if kind in ("f32", "f64"):
        left, right = (real.flushed(context, instruction, context.real(operand, kind)) for operand in (a, b))
        return emit.compare(f"fcmp {_REAL[how]}", left, right)
    if how not in WHOLE_COMPARISONS:
        raise context.refuse(f"compares whole numbers by {how}")
    element = f"i{bits_of(kind)}"
    left, right = (context.read(operand, element, is_signed(kind)) for operand in (a, b))
    order = WHOLE_COMPARISONS[how]
    if order not in ("eq", "ne"):
        order = ("s" if is_signed(kind) else "u") + order
    return emit.compare(f"icmp {order}", left, right)


def _combined(context: Context, instruction: Instruction, found: Value) -> Value:
    """What a comparison found, with the predicate that the instruction combines it with, if there is one."""
    how = next((m for m in instruction.modifiers if m in _COMBINATIONS), None)
    if (how is None) != (len(instruction.operands) == 3):
        raise context.refuse("has operands that it does not take")
    return found if how is None else context.emit.binary(how, found, context.predicate(instruction.operands[3]))


def set_predicate(context: Context, instruction: Instruction) -> None:
    """setp: predicates, of two packed numbers each its own, combined with another."""
    kind, emit = context.type_of(), context.emit
    first = instruction.operands[0]
    a, b = instruction.operands[1:3]
    found = _compared(context, instruction, kind, a, b)
    other = emit.invert(found)
    if kind in ("f16x2", "bf16x2"):
        found, other = half.split_lanes(context, found)
    found, other = (_combined(context, instruction, value) for value in (found, other))
    if isinstance(first, Pair):
        context.write(first.first, found)
        context.write(first.second, other)
    else:
        context.write(first, found)


def set_number(context: Context, instruction: Instruction) -> None:
    """set: all bits, or 1.0, where the comparison holds."""
    emit = context.emit
    kinds = [m for m in instruction.modifiers if is_type(m)]
    to, kind = kinds[0], kinds[-1]
    found = _compared(context, instruction, kind, *instruction.operands[1:3])
    if kind in ("f16x2", "bf16x2"):
        low, high = (_combined(context, instruction, part) for part in half.split_lanes(context, found))
        ones = {"f16x2": 0x3C00, "bf16x2": 0x3F80}.get(to, 0xFFFF)
        both = [emit.select(part, emit.constant(ones << shift, "<32 x i64>"), emit.constant(0, "<32 x i64>"))
                for part, shift in ((low, 0), (high, 16))]  # fmt: skip
        context.write(instruction.operands[0], emit.resize(emit.binary("or", *both), "i32", False))
        return
    found = _combined(context, instruction, found)
    true = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(to, -1)
    element = f"i{bits_of(to)}"
    result = emit.select(found, emit.constant(true, lanes(element)), emit.constant(0, lanes(element)))
    context.write(instruction.operands[0], result)


def choose(context: Context, instruction: Instruction) -> None:
    """selp: by a predicate."""
    element = f"i{bits_of(context.type_of())}"
    a, b = (context.read(operand, element) for operand in instruction.operands[1:3])
    context.write(instruction.operands[0], context.emit.select(context.predicate(instruction.operands[3]), a, b))


def choose_by_sign(context: Context, instruction: Instruction) -> None:
    """slct: by whether a number is at least 0."""
    emit = context.emit
    element = f"i{bits_of(context.type_of(-2))}"
    a, b = (context.read(operand, element) for operand in instruction.operands[1:3])
    by = instruction.operands[3]
    if context.type_of() == "f32":
        value = real.flushed(context, instruction, context.real(by, "f32"))
        condition = emit.compare("fcmp oge", value, emit.constant("0.0", value.type))
    else:
        value = context.read(by, "i32")
        condition = emit.compare("icmp sge", value, emit.constant(0, value.type))
    context.write(instruction.operands[0], emit.select(condition, a, b))


def test_property(context: Context, instruction: Instruction) -> None:
    """testp: what kind of floating-point number it is."""
    kind, emit = context.type_of(), context.emit
    width = bits_of(kind)
    mantissa = {32: 23, 64: 52}[width]
    a = context.read(instruction.operands[1], f"i{width}")
    rest = emit.binary("and", a, emit.constant((1 << (width - 1)) - 1, a.type))
    infinity = emit.constant(((1 << (width - 1 - mantissa)) - 1) << mantissa, a.type)
    least = emit.constant(1 << mantissa, a.type)
    zero = emit.constant(0, a.type)
    finite = emit.compare("icmp ult", rest, infinity)
    match next((m for m in instruction.modifiers if not is_type(m)), ""):
        case "finite":
            found = finite
        case "infinite":
            found = emit.compare("icmp eq", rest, infinity)
        case "number":
            found = emit.compare("icmp ule", rest, infinity)
        case "notanumber":
            found = emit.compare("icmp ugt", rest, infinity)
        case "normal":
            large = emit.binary("and", finite, emit.compare("icmp uge", rest, least))
            found = emit.binary("or", large, emit.compare("icmp eq", rest, zero))  # 0 counts as normal
        case "subnormal":
            small = emit.compare("icmp ult", rest, least)
            found = emit.binary("and", small, emit.compare("icmp ne", rest, zero))
        case _:
            raise context.refuse()
    context.write(instruction.operands[0], found)


HANDLERS = {
    "setp": set_predicate,
    "set": set_number,
    "selp": choose,
    "slct": choose_by_sign,
    "testp": test_property,
}
