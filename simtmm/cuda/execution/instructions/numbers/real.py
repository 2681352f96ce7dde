"""Floating-point arithmetic in 32 and 64 bits."""

from simtmm.cuda.execution.instructions.numbers.approximate import approximate
from simtmm.cuda.execution.instructions.numbers.flushing import least_flushed
from simtmm.cuda.execution.layout import LANES
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, bits, element_of, lanes, with_element
from simtmm.cuda.ptx.syntax import Instruction, Operand
from simtmm.cuda.ptx.types import bits_of

ROUNDINGS = {"rz": 0, "rn": 1, "rp": 2, "rm": 3}  # as llvm.set.rounding has them
_OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


def rounding_of(instruction: Instruction) -> str:
    """The rounding mode of an instruction; to nearest if it names none."""
    return next((m for m in instruction.modifiers if m in ROUNDINGS), "rn")


def flushed(context: Context, instruction: Instruction, a: Value) -> Value:
    """With .ftz and 32 bits, subnormal numbers as zeros of their sign."""
    if not instruction.has("ftz") or element_of(a.type) != "float":
        return a
    emit = context.emit
    raw = emit.as_type(a, lanes("i32"))
    size = emit.binary("and", raw, emit.constant(0x7FFFFFFF, raw.type))
    small = emit.compare("icmp ult", size, emit.constant(0x00800000, raw.type))
    sign = emit.binary("and", raw, emit.constant(-(1 << 31), raw.type))
    return emit.as_type(emit.select(small, sign, raw), a.type)


def saturated(context: Context, instruction: Instruction, a: Value) -> Value:
    """With .sat, the value clamped to 0 to 1, and NaN as 0."""
    if not instruction.has("sat"):
        return a
    emit = context.emit
    zero, one = emit.constant("0.0", a.type), emit.constant("1.0", a.type)
    above = emit.select(emit.compare("fcmp ogt", a, zero), a, zero)
    return emit.select(emit.compare("fcmp olt", above, one), above, one)


def arithmetic(context: Context, instruction: Instruction) -> None:
    """add, sub, mul, div, fma."""
    kind, emit = context.type_of(), context.emit
    count = 3 if instruction.opcode in ("fma", "mad") else 2
    given = instruction.operands[1 : count + 1]
    if kind == "f32x2":
        pairs = [split(context, operand) for operand in given]
        halves = [_computed(context, instruction, [pair[half] for pair in pairs]) for half in (0, 1)]
        both = emit.shuffle(halves[0], halves[1], [n // 2 + LANES * (n % 2) for n in range(2 * LANES)])
        context.write(instruction.operands[0], emit.as_type(both, lanes("i64")))
        return
    result = _computed(context, instruction, [context.real(operand, kind) for operand in given])
    context.write(instruction.operands[0], emit.as_type(result, lanes(f"i{bits_of(kind)}")))


def split(context: Context, operand: Operand) -> tuple[Value, Value]:
    """The two f32 of a register of 64 bits, the lower one first."""
    both = context.emit.as_type(context.read(operand, "i64"), f"<{2 * LANES} x float>")
    low, high = (context.emit.shuffle(both, both, range(first, 2 * LANES, 2)) for first in (0, 1))
    return low, high


def _computed(context: Context, instruction: Instruction, given: list[Value]) -> Value:
    values = [flushed(context, instruction, value) for value in given]
    operation = "fma" if len(values) == 3 else _OPERATIONS[instruction.opcode]
    result = rounded(context, operation, values, rounding_of(instruction))
    if instruction.has("ftz") and operation in ("fmul", "fma", "fdiv"):
        result = least_flushed(context, operation, result, values)
    if instruction.opcode == "div" and instruction.has("approx"):
        result = _by_huge(context, result, *values)
    return saturated(context, instruction, flushed(context, instruction, result))


def _by_huge(context: Context, quotient: Value, a: Value, b: Value) -> Value:
    """div.approx is a * (1/b): beyond 2^126 the reciprocal is 0 (PTX ISA, div), so of infinity it makes NaN."""
    emit = context.emit
    size = emit.intrinsic("llvm.fabs", b.type, b)
    beyond = emit.compare("fcmp ogt", size, emit.constant(f"0x{(1023 + 126) << 52:016X}", b.type))
    finite = emit.compare("fcmp olt", size, emit.constant("0x7FF0000000000000", b.type))
    zero = emit.intrinsic("llvm.copysign", b.type, emit.constant("0.0", b.type), b)
    return emit.select(emit.binary("and", beyond, finite), emit.binary("fmul", a, zero), quotient)


def rounded(context: Context, operation: str, values: list[Value], rounding: str) -> Value:
    """An operation ("fadd", "fma", "sqrt" ...) in a rounding mode."""
    emit, of = context.emit, values[0].type
    if rounding == "rn":
        if operation in ("fma", "sqrt"):
            return emit.intrinsic(f"llvm.{operation}", of, *values)
        return emit.binary(operation, *values)
    return _directed(context, operation, values, of, rounding, "")


def _directed(context: Context, operation: str, values: list[Value], to: str, rounding: str, extra: str) -> Value:
    """By a function of its own, which sets the processor's direction and sets it back."""
    mangled = ".".join([_short(to), *([_short(values[0].type)] if values[0].type != to else [])])
    name = f"directed.{operation}.{rounding}.{mangled}"
    intrinsic = f"llvm.experimental.constrained.{operation}.{mangled}"
    metadata = ', metadata !"round.dynamic", metadata !"fpexcept.ignore"'
    types = ", ".join(value.type for value in values)
    arguments = ", ".join(f"{value.type} %a{n}" for n, value in enumerate(values))

    def make() -> str:
        context.code.program.declared["llvm.set.rounding"] = "declare void @llvm.set.rounding(i32)"
        context.code.program.declared[intrinsic] = f"declare {to} @{intrinsic}({types}, metadata, metadata)"
        return f"""
define internal {to} @{name}({arguments}) noinline strictfp {{
  call void @llvm.set.rounding(i32 {ROUNDINGS[rounding]}) strictfp
  %r = call {to} @{intrinsic}({arguments}{metadata}) strictfp
  call void @llvm.set.rounding(i32 1) strictfp
  ret {to} %r
}}
"""

    context.code.program.helper(name, make)
    return context.emit.call(name, to, *values)


def converted(context: Context, operation: str, a: Value, element: str, rounding: str) -> Value:
    """A conversion ("sitofp", "fptrunc" ...) in a rounding mode."""
    if rounding == "rn":
        return context.emit.cast(operation, a, element)
    return _directed(context, operation, [a], lanes(element), rounding, "")


def _short(type_name: str) -> str:
    return f"v32{ {'float': 'f32', 'double': 'f64'}.get(element_of(type_name), element_of(type_name)) }".replace(
        " ", ""
    )


def sign(context: Context, instruction: Instruction) -> None:
    """abs and neg. A NaN of f64 keeps its sign."""
    kind, emit = context.type_of(), context.emit
    value = flushed(context, instruction, context.real(instruction.operands[1], kind))
    if instruction.opcode == "abs":
        result = emit.intrinsic("llvm.fabs", value.type, value)
    else:
        result = emit.value(f"fneg {value}", value.type)
    if kind == "f64":
        result = emit.select(emit.compare("fcmp uno", value, value), value, result)
    context.write(instruction.operands[0], result)


def copy_sign(context: Context, instruction: Instruction) -> None:
    """copysign: the magnitude of the second operand with the sign of the first."""
    kind = context.type_of()
    a, b = (context.exact(operand, kind) for operand in instruction.operands[1:3])
    context.write(instruction.operands[0], context.emit.intrinsic("llvm.copysign", a.type, b, a))


def extreme(context: Context, instruction: Instruction) -> None:
    """min and max: with one NaN operand they give the number, or NaN with .NaN; -0 is less than 0."""
    kind, emit = context.type_of(), context.emit
    values = [flushed(context, instruction, context.real(o, kind)) for o in instruction.operands[1:]]
    result = values[0]
    for value in values[1:]:
        result = least_or_most(context, instruction, result, value)
    context.write(instruction.operands[0], emit.as_type(result, lanes(f"i{bits_of(kind)}")))


def least_or_most(context: Context, instruction: Instruction, a: Value, b: Value) -> Value:
    """One of two by min or max, with .NaN and .xorsign."""
    emit = context.emit
    word = instruction.opcode + ("imum" if instruction.has("NaN") else "imumnum")
    if not instruction.has("xorsign"):
        return emit.intrinsic(f"llvm.{word}", a.type, a, b)
    whole = with_element(a.type, f"i{bits(a.type)}")
    signs = emit.binary("xor", emit.as_type(a, whole), emit.as_type(b, whole))
    found = emit.intrinsic(f"llvm.{word}", a.type, *(emit.intrinsic("llvm.fabs", a.type, value) for value in (a, b)))
    return emit.intrinsic("llvm.copysign", a.type, found, emit.as_type(signs, a.type))


def function(context: Context, instruction: Instruction) -> None:
    """sqrt and rcp with a rounding mode, and all approximate functions."""
    kind = context.type_of()
    if instruction.has("approx") or instruction.opcode in ("ex2", "lg2", "sin", "cos", "tanh", "rsqrt"):
        from simtmm.cuda.execution.instructions.numbers import half

        if kind in half.KINDS:
            half.function(context, instruction)
            return
        if kind == "f64" and instruction.has("ftz"):
            _by_upper_halves(context, instruction)
            return
        value = flushed(context, instruction, context.real(instruction.operands[1], kind))
        result = flushed(context, instruction, approximate(context, instruction.opcode, value))
        context.write(instruction.operands[0], result)
        return
    value = flushed(context, instruction, context.real(instruction.operands[1], kind))
    if instruction.opcode == "sqrt":
        result = rounded(context, "sqrt", [value], rounding_of(instruction))
    else:
        values = [context.emit.constant("1.0", value.type), value]
        result = rounded(context, "fdiv", values, rounding_of(instruction))
        if instruction.has("ftz"):
            result = least_flushed(context, "fdiv", result, values)
    context.write(instruction.operands[0], flushed(context, instruction, result))


def _by_upper_halves(context: Context, instruction: Instruction) -> None:
    """rcp and rsqrt.approx.ftz.f64: of the upper half of the operand the upper half of the result, toward 0."""
    emit = context.emit
    given = _normal_half(context, context.real(instruction.operands[1], "f64"))
    found = approximate(context, instruction.opcode, given)
    raw = emit.as_type(_normal_half(context, found), lanes("i64"))
    nan = emit.constant(0x7FFFFFFF << 32, raw.type)
    context.write(instruction.operands[0], emit.select(emit.compare("fcmp uno", found, found), nan, raw))


def _normal_half(context: Context, a: Value) -> Value:
    """f64 without the lower half; numbers too small to be normal are 0, of their sign."""
    emit = context.emit
    raw = emit.as_type(a, lanes("i64"))
    small = emit.compare(
        "fcmp olt", emit.intrinsic("llvm.fabs", a.type, a), emit.constant("0x0010000000000000", a.type)
    )
    kept = [emit.binary("and", raw, emit.constant(-(1 << lowest), raw.type)) for lowest in (63, 32)]
    return emit.as_type(emit.select(small, *kept), a.type)


HANDLERS = {
    "copysign": copy_sign,
    **dict.fromkeys(("sqrt", "rcp", "rsqrt", "ex2", "lg2", "sin", "cos", "tanh"), function),
}
