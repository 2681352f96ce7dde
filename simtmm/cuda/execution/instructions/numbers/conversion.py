"""cvt: between numbers of all kinds."""

from simtmm.cuda.execution.instructions.numbers import half, real, small_floats
from simtmm.cuda.execution.instructions.numbers.integer import is_signed
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, bits, element_of, lanes
from simtmm.cuda.execution.translation.one_nan import with_one_nan
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.cuda.ptx.types import bits_of, is_type

_TO_WHOLE = {"rni": "roundeven", "rzi": "trunc", "rmi": "floor", "rpi": "ceil"}
_REALS = ("f16", "f32", "f64", "bf16")
_PACKED = ("f16x2", "bf16x2")


def convert(context: Context, instruction: Instruction) -> None:
    """cvt.TO.FROM."""
    kinds = [m for m in instruction.modifiers if is_type(m)]
    if len(kinds) < 2:
        raise context.refuse("converts between types that are not known")
    to, given = kinds[:2]
    if instruction.has("rs"):
        raise context.refuse("rounds by random bits, which is not run here")
    if instruction.has("pack"):
        _pack(context, instruction, to, given)
    elif to in small_floats.KINDS and given in ("f32", "f16x2"):
        small_floats.convert_to_small(context, instruction, to, given)
    elif given in small_floats.KINDS:
        small_floats.convert_from_small(context, instruction, to, given)
    elif to in _PACKED and given == "f32":
        _pack_halves(context, instruction, to)
    elif to == "tf32" and given == "f32":
        _to_tf32(context, instruction)
    elif to in _REALS and given in _REALS:
        _real_to_real(context, instruction, to, given)
    elif to in _REALS and given[0] in "us":
        _whole_to_real(context, instruction, to, given)
    elif to[0] in "us" and given in _REALS:
        _real_to_whole(context, instruction, to, given)
    elif to[0] in "us" and given[0] in "us":
        _whole_to_whole(context, instruction, to, given)
    else:
        raise context.refuse("converts between types that are not known")


def _whole_to_whole(context: Context, instruction: Instruction, to: str, given: str) -> None:
    emit = context.emit
    value = context.read(instruction.operands[1], f"i{bits_of(given)}", is_signed(given))
    if instruction.has("sat"):
        value = _clamped(context, value, is_signed(given), to)
    context.write(instruction.operands[0], emit.resize(value, f"i{bits_of(to)}", is_signed(given)), is_signed(to))


def _clamped(context: Context, value: Value, signed: bool, to: str) -> Value:
    """Within the range of another type."""
    emit, width, wanted = context.emit, bits(value.type), bits_of(to)
    most = (1 << (wanted - is_signed(to))) - 1
    least = -(1 << (wanted - 1)) if is_signed(to) else 0
    if signed:
        if least > -(1 << (width - 1)):
            value = emit.intrinsic("llvm.smax", value.type, value, emit.constant(least, value.type))
        if most < (1 << (width - 1)) - 1:
            value = emit.intrinsic("llvm.smin", value.type, value, emit.constant(most, value.type))
    elif most < (1 << width) - 1:
        value = emit.intrinsic("llvm.umin", value.type, value, emit.constant(most, value.type))
    return value


def _source(context: Context, instruction: Instruction, given: str) -> Value:
    """What is converted, f32 or f64."""
    operand = instruction.operands[1]
    if given in ("f16", "bf16"):
        return half.widen(context, half.raw(context, operand, given), half.is_brain(given))  # .ftz is of f32 alone
    value = real.flushed(context, instruction, context.exact(operand, given))
    return with_one_nan(context.emit, value) if given == "f32" and instruction.has("ftz") else value


def _real_to_whole(context: Context, instruction: Instruction, to: str, given: str) -> None:
    """Rounded, and held within the range; NaN gives 0, or the highest bit where 64 bits are involved."""
    emit = context.emit
    how = next((_TO_WHOLE[m] for m in instruction.modifiers if m in _TO_WHOLE), "trunc")
    value = _source(context, instruction, given)
    value = emit.intrinsic(f"llvm.{how}", value.type, value)
    of = lanes(f"i{max(8, bits_of(to))}")
    name = f"llvm.fpto{to[0]}i.sat.{_short(of)}.{_short(value.type)}"
    found = emit.call(name, of, value)
    if given == "f64" or to in ("s64", "u64"):  # NaN gives the highest bit (PTX ISA, cvt)
        is_nan = emit.compare("fcmp uno", value, value)
        found = emit.select(is_nan, emit.constant(-1 << (bits_of(to) - 1), of), found)
    context.write(instruction.operands[0], found, is_signed(to))


def _short(type_name: str) -> str:
    element = element_of(type_name)
    return "v32" + {"float": "f32", "double": "f64"}.get(element, element)


def _whole_to_real(context: Context, instruction: Instruction, to: str, given: str) -> None:
    value = context.read(instruction.operands[1], f"i{bits_of(given)}", is_signed(given))
    operation = "sitofp" if is_signed(given) else "uitofp"
    rounding = real.rounding_of(instruction)
    if to in ("f16", "bf16"):
        wide = context.emit.cast(operation, _within_53_bits(context, value, is_signed(given)), "double")
        found = _to_half(context, instruction, wide, half.is_brain(to), rounding)
        half.store(context, instruction.operands[0], found)
        return
    element = "float" if to == "f32" else "double"
    result = real.converted(context, operation, value, element, rounding)
    context.write(instruction.operands[0], real.saturated(context, instruction, result))


def _within_53_bits(context: Context, value: Value, signed: bool) -> Value:
    """Whole numbers that f64 holds: of large ones the lowest 12 bits are one, set if any of them is.

    So they lie between the same two numbers of 16 bits, and on the same side of the middle, as before.
    """
    if bits(value.type) <= 32:
        return value
    emit = context.emit
    limit = 1 << 52
    shifted = emit.binary("add", value, emit.constant(limit, value.type)) if signed else value
    small = emit.compare("icmp ult", shifted, emit.constant(2 * limit if signed else limit, value.type))
    low = emit.binary("and", value, emit.constant(0xFFF, value.type))
    some = emit.compare("icmp ne", low, emit.constant(0, value.type))
    mark = emit.select(some, emit.constant(0x800, value.type), emit.constant(0, value.type))
    marked = emit.binary("or", emit.binary("and", value, emit.constant(-0x1000, value.type)), mark)
    return emit.select(small, value, marked)


def _real_to_real(context: Context, instruction: Instruction, to: str, given: str) -> None:
    emit = context.emit
    value = _source(context, instruction, given)
    how = next((_TO_WHOLE[m] for m in instruction.modifiers if m in _TO_WHOLE), None)
    if how is not None:
        value = emit.intrinsic(f"llvm.{how}", value.type, value)
    if to in ("f16", "bf16"):
        rounding = real.rounding_of(instruction)
        found = _to_half(context, instruction, value, half.is_brain(to), rounding)
        half.store(context, instruction.operands[0], found)
        return
    element = "float" if to == "f32" else "double"
    have = element_of(value.type)
    if have == "double" and element == "float":
        value = real.converted(context, "fptrunc", value, "float", real.rounding_of(instruction))
    elif have != element:
        value = emit.cast("fpext", value, element)
    value = real.flushed(context, instruction, value)
    value = real.saturated(context, instruction, value)
    if instruction.has("relu"):
        zero = emit.constant("0.0", value.type)
        value = emit.select(emit.compare("fcmp olt", value, zero), zero, value)
    context.write(instruction.operands[0], value)


def _to_half(context: Context, instruction: Instruction, value: Value, brain: bool, rounding: str) -> Value:
    """f32 or f64 to raw numbers of 16 bits."""
    emit = context.emit
    value = real.saturated(context, instruction, value)
    wide = value
    if element_of(value.type) == "double":
        value = half.to_odd(context, value)
    found = half.narrow(context, value, brain)
    if rounding != "rn":
        found = _directed(context, found, half.widen(context, found, brain), value, rounding)
    if element_of(wide.type) == "double" and not brain:
        found = _kept_nan(context, found, wide)
    if instruction.has("satfinite"):
        most = emit.constant(0x7F7F if brain else 0x7BFF, found.type)
        sign = emit.binary("and", found, emit.constant(-0x8000, found.type))
        size = emit.binary("and", found, emit.constant(0x7FFF, found.type))
        is_nan = emit.compare("fcmp uno", value, value)
        bounded = emit.binary("or", emit.intrinsic("llvm.umin", size.type, size, most), sign)
        found = emit.select(is_nan, found, bounded)
    if instruction.has("relu"):
        positive = emit.compare("icmp sge", found, emit.constant(0, found.type))
        found = emit.select(positive, found, emit.constant(0, found.type))
    return found


def _kept_nan(context: Context, found: Value, given: Value) -> Value:
    """f16 of f64: a NaN keeps its sign and the highest bits of its payload."""
    emit = context.emit
    raw = emit.as_type(given, lanes("i64"))
    sign = emit.binary("and", emit.binary("lshr", raw, emit.constant(48, raw.type)), emit.constant(0x8000, raw.type))
    payload = emit.binary("and", emit.binary("lshr", raw, emit.constant(42, raw.type)), emit.constant(0x3FF, raw.type))
    nan = emit.binary("or", emit.binary("or", sign, payload), emit.constant(0x7E00, raw.type))
    return emit.select(emit.compare("fcmp uno", given, given), emit.resize(nan, "i16", False), found)


def _directed(context: Context, found: Value, back: Value, value: Value, rounding: str) -> Value:
    """The neighbour in a direction of rounding where the nearest lies on the other side.

    found: raw numbers of 16 bits, the nearest to `value`. back: the same as f32.
    """
    emit = context.emit
    one = emit.constant(1, found.type)
    smaller, larger = emit.binary("sub", found, one), emit.binary("add", found, one)
    if rounding == "rz":
        sizes = [emit.intrinsic("llvm.fabs", each.type, each) for each in (back, value)]
        return emit.select(emit.compare("fcmp ogt", *sizes), smaller, found)
    negative = emit.compare("icmp slt", found, emit.constant(0, found.type))
    if rounding == "rm":
        wrong, next_one = emit.compare("fcmp ogt", back, value), emit.select(negative, larger, smaller)
    else:
        wrong, next_one = emit.compare("fcmp olt", back, value), emit.select(negative, smaller, larger)
    return emit.select(wrong, next_one, found)


def _pack_halves(context: Context, instruction: Instruction, to: str) -> None:
    """Two f32: the first goes to the upper half."""
    emit = context.emit
    rounding = real.rounding_of(instruction)
    upper, lower = (
        emit.resize(
            _to_half(context, instruction, context.real(operand, "f32"), half.is_brain(to), rounding), "i32", False
        )
        for operand in instruction.operands[1:3]
    )
    packed = emit.binary("or", emit.binary("shl", upper, emit.constant(16, upper.type)), lower)
    context.write(instruction.operands[0], packed)


def _to_tf32(context: Context, instruction: Instruction) -> None:
    """f32 with the lowest 13 bits of the mantissa rounded off: ties away from 0 (.rna), or to even.

    Of a NaN .rna cuts these bits off, even where that leaves infinity; the others give the one NaN without them.
    """
    emit = context.emit
    value = context.read(instruction.operands[1], "i32")
    half_of_last = emit.constant(0x1000, value.type)
    if instruction.has("rn"):
        odd = emit.binary(
            "and", emit.binary("lshr", value, emit.constant(13, value.type)), emit.constant(1, value.type)
        )
        half_of_last = emit.binary("add", odd, emit.constant(0x0FFF, value.type))
    elif instruction.has("rz"):
        half_of_last = emit.constant(0, value.type)
    size = emit.binary("and", value, emit.constant(0x7FFFFFFF, value.type))
    finite = emit.compare("icmp ult", size, emit.constant(0x7F800000, value.type))
    moved = emit.binary("and", emit.binary("add", value, half_of_last), emit.constant(-0x2000, value.type))
    is_nan = emit.compare("icmp ugt", size, emit.constant(0x7F800000, value.type))
    cut = emit.binary("and", value, emit.constant(-0x2000, value.type))
    nan = cut if instruction.has("rna") else emit.constant(0x7FFFE000, value.type)
    found = emit.select(finite, moved, emit.select(is_nan, nan, value))
    if instruction.has("relu"):
        positive = emit.compare("icmp sge", value, emit.constant(0, value.type))
        found = emit.select(emit.binary("or", positive, is_nan), found, emit.constant(0, value.type))
    context.write(instruction.operands[0], found)


def _pack(context: Context, instruction: Instruction, to: str, given: str) -> None:
    """cvt.pack: two numbers, held within a narrower type, above the lower bits of a third."""
    if len(instruction.operands) < 3:
        raise context.refuse("has operands that it does not take")
    emit = context.emit
    width = bits_of(to)
    a, b = (context.read(operand, "i32") for operand in instruction.operands[1:3])
    mask = emit.constant((1 << width) - 1, a.type)
    high, low = (emit.binary("and", _clamped(context, value, is_signed(given), to), mask) for value in (a, b))
    result = emit.binary("or", emit.binary("shl", high, emit.constant(width, high.type)), low)
    if len(instruction.operands) > 3:
        third = context.read(instruction.operands[3], "i32")
        result = emit.binary("or", emit.binary("shl", third, emit.constant(2 * width, third.type)), result)
    context.write(instruction.operands[0], result)


HANDLERS = {"cvt": convert}
