"""Floating-point numbers of 8 bits: e4m3, which has no infinities, and e5m2, which is the upper half of an f16."""

from dataclasses import dataclass

from simtmm.cuda.execution.instructions.numbers import half
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Emitter, Value, with_element
from simtmm.cuda.ptx.syntax import Instruction

KINDS = ("e4m3x2", "e5m2x2")


@dataclass(frozen=True)
class _Format:
    """mantissa: bits. bias: of the exponent. most: the bits of the largest number."""

    mantissa: int
    bias: int
    most: int


_FORMATS = {"e4m3": _Format(3, 7, 0x7E), "e5m2": _Format(2, 15, 0x7B)}
_NAN = 0x7F  # what results are, of either kind


def widen_small(emit: Emitter, raw: Value, kind: str) -> Value:
    """Raw numbers of 8 bits as f32, exactly. kind: "e4m3" or "e5m2"."""
    wide = emit.resize(raw, "i16", False)
    halves = with_element(wide.type, "half")
    if kind == "e5m2":
        shifted = emit.binary("shl", wide, emit.constant(8, wide.type))
        return emit.cast("fpext", emit.as_type(shifted, halves), "float")
    # As an f16, whose exponents are 8 less, so that numbers too small to be normal come out right as well.
    size = emit.binary("and", wide, emit.constant(0x7F, wide.type))
    sign = emit.binary("shl", emit.binary("and", wide, emit.constant(0x80, wide.type)), emit.constant(8, wide.type))
    bits = emit.binary("or", emit.binary("shl", size, emit.constant(7, wide.type)), sign)
    small = emit.cast("fpext", emit.as_type(bits, halves), "float")
    value = emit.binary("fmul", small, emit.constant("256.0", small.type))
    nan = emit.compare("icmp eq", size, emit.constant(0x7F, size.type))
    return emit.select(nan, emit.constant("0x7FF8000000000000", value.type), value)


def narrow_small(emit: Emitter, value: Value, kind: str, relu: bool) -> Value:
    """f32 rounded to nearest, ties to even, as raw numbers of 8 bits; what is too large becomes the largest number."""
    form = _FORMATS[kind]
    whole = with_element(value.type, "i32")
    bits = emit.as_type(value, whole)
    size = emit.binary("and", bits, emit.constant(0x7FFFFFFF, whole))
    drop = 23 - form.mantissa
    odd = emit.binary("and", emit.binary("lshr", size, emit.constant(drop, whole)), emit.constant(1, whole))
    bias = emit.binary("add", odd, emit.constant((1 << (drop - 1)) - 1, whole))
    moved = emit.binary("lshr", emit.binary("add", size, bias), emit.constant(drop, whole))
    normal = emit.binary("sub", moved, emit.constant((127 - form.bias) << form.mantissa, whole))
    # Below the normal ones the distance is constant: a sum with a number of that distance rounds to it.
    exponent = 23 + 1 - form.bias - form.mantissa + 127
    large = exponent << 23
    sized = emit.as_type(size, value.type)
    summed = emit.binary("fadd", sized, emit.as_type(emit.constant(large, whole), value.type))
    tiny = emit.binary("sub", emit.as_type(summed, whole), emit.constant(large, whole))
    is_tiny = emit.compare("icmp ult", size, emit.constant((128 - form.bias) << 23, whole))
    found = emit.intrinsic("llvm.umin", whole, emit.select(is_tiny, tiny, normal), emit.constant(form.most, whole))
    sign = emit.binary("and", emit.binary("lshr", bits, emit.constant(24, whole)), emit.constant(0x80, whole))
    signed = emit.binary("or", found, sign)
    if relu:
        signed = emit.select(emit.compare("icmp ne", sign, emit.constant(0, whole)), emit.constant(0, whole), signed)
    nan = emit.compare("fcmp uno", value, value)
    return emit.resize(emit.select(nan, emit.constant(_NAN, whole), signed), "i8", False)


def convert_to_small(context: Context, instruction: Instruction, to: str, given: str) -> None:
    """cvt.rn.satfinite.e4m3x2 and e5m2x2, of two f32, the first of which goes to the upper byte, or of f16x2."""
    emit = context.emit
    if not instruction.has("satfinite"):
        raise context.refuse("without .satfinite is not known")
    operands = instruction.operands
    if given == "f32":
        upper, lower = (context.real(operand, "f32") for operand in operands[1:3])
        values = [lower, upper]
    else:
        values = _pair(emit, half.widened(context, operands[1], given))
    kind = to.removesuffix("x2")
    parts = [emit.resize(narrow_small(emit, value, kind, instruction.has("relu")), "i16", False) for value in values]
    packed = emit.binary("or", parts[0], emit.binary("shl", parts[1], emit.constant(8, parts[1].type)))
    context.write(operands[0], packed)


def convert_from_small(context: Context, instruction: Instruction, to: str, given: str) -> None:
    """cvt.rn.f16x2.e4m3x2 and e5m2x2: nothing else has a form."""
    assert to == "f16x2"
    emit = context.emit
    raw = emit.as_type(context.read(instruction.operands[1], "i16"), "<64 x i8>")
    found = half.narrow(context, widen_small(emit, raw, given.removesuffix("x2")), False)
    if instruction.has("relu"):
        zero = emit.constant(0, found.type)
        found = emit.select(emit.compare("icmp slt", found, zero), zero, found)
    half.store(context, instruction.operands[0], found)


def _pair(emit: Emitter, value: Value) -> list[Value]:
    """The lower and the upper number of each lane."""
    assert value.type.startswith("<64")
    return [emit.shuffle(value, value, range(first, 64, 2)) for first in (0, 1)]
