"""Floating-point arithmetic of 16 bits: f16 and bf16, one or two in a register.

Each operation is computed in more bits and rounded once to 16. Sums, products and quotients of numbers of p bits that
are rounded to at least 2 p + 2 bits first come out as if they had been rounded once (f32 has 24, f16 11, bf16 8); a
fused product and sum is computed in f64 and rounded to odd on the way.
"""

from typing import Protocol

from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Emitter, Value, count_of, element_of, lanes, with_element
from simtmm.cuda.ptx.syntax import Instruction, Operand, Register

KINDS = ("f16", "f16x2", "bf16", "bf16x2")
_OPERATIONS = {"add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv"}


class Emitting(Protocol):
    """Something with an emitter: a context, or a runtime function while it is generated."""

    @property
    def emit(self) -> Emitter:
        """Takes the lines."""


def is_brain(kind: str) -> bool:
    """Whether the type is bf16."""
    return kind.startswith("bf")


def raw(context: Context, operand: Operand, kind: str) -> Value:
    """An operand as numbers of 16 bits: <32 x i16>, or <64 x i16>, the lower of a pair first."""
    if kind.endswith("x2"):
        return context.emit.as_type(context.read(operand, "i32"), "<64 x i16>")
    if isinstance(operand, Register) or getattr(operand, "float_bits", 0) == 0:
        return context.read(operand, "i16")
    bits = context.read(operand, "i32")
    return context.emit.resize(bits, "i16", False)


def widen(context: Emitting, value: Value, brain: bool) -> Value:
    """Convert 16-bit numbers to f32, exactly."""
    emit = context.emit
    if not brain:
        return emit.cast("fpext", emit.as_type(value, with_element(value.type, "half")), "float")
    wide = emit.cast("zext", value, "i32")
    return emit.as_type(emit.binary("shl", wide, emit.constant(16, wide.type)), with_element(value.type, "float"))


def widened(context: Context, operand: Operand, kind: str) -> Value:
    """An operand as f32, flushed with .ftz."""
    assert context.instruction is not None
    return widen(context, _flushed(context, context.instruction, raw(context, operand, kind), kind), is_brain(kind))


def narrow(context: Emitting, value: Value, brain: bool) -> Value:
    """f32 rounded to nearest, ties to even, as raw numbers of 16 bits; a NaN is 0x7FFF."""
    emit = context.emit
    if not brain:
        nan = emit.compare("fcmp uno", value, value)
        found = emit.as_type(emit.cast("fptrunc", value, "half"), with_element(value.type, "i16"))
        return emit.select(nan, emit.constant(0x7FFF, found.type), found)
    bits = emit.as_type(value, with_element(value.type, "i32"))
    odd = emit.binary("and", emit.binary("lshr", bits, emit.constant(16, bits.type)), emit.constant(1, bits.type))
    moved = emit.binary("add", bits, emit.binary("add", odd, emit.constant(0x7FFF, bits.type)))
    found = emit.cast("trunc", emit.binary("lshr", moved, emit.constant(16, bits.type)), "i16")
    nan = emit.compare("fcmp uno", value, value)
    return emit.select(nan, emit.constant(0x7FFF, found.type), found)


def to_odd(context: Emitting, value: Value) -> Value:
    """Round f64 to f32: a number between two f32 goes to the odd one, so that a second rounding sees it was inexact."""
    emit = context.emit
    near = emit.cast("fptrunc", value, "float")
    back = emit.cast("fpext", near, "double")
    bits = emit.as_type(near, with_element(value.type, "i32"))
    beyond = emit.compare(
        "fcmp ogt", emit.intrinsic("llvm.fabs", value.type, back), emit.intrinsic("llvm.fabs", value.type, value)
    )
    less = emit.binary("sub", bits, emit.constant(1, bits.type))
    toward_zero = emit.select(beyond, less, bits)
    inexact = emit.compare("fcmp one", back, value)
    sticky = emit.binary("or", toward_zero, emit.constant(1, bits.type))
    return emit.as_type(emit.select(inexact, sticky, bits), near.type)


def store(context: Context, operand: Operand, value: Value) -> None:
    """Write raw numbers of 16 bits, or pairs of them."""
    wide = context.emit.as_type(value, lanes("i32")) if count_of(value.type) == 64 else value
    context.write(operand, wide)


def _flushed(context: Context, instruction: Instruction, value: Value, kind: str) -> Value:
    """With .ftz, raw numbers of 16 bits too small to be normal are 0 of their sign."""
    if not instruction.has("ftz"):
        return value
    emit = context.emit
    size = emit.binary("and", value, emit.constant(0x7FFF, value.type))
    small = emit.compare("icmp ult", size, emit.constant(0x0080 if is_brain(kind) else 0x0400, value.type))
    return emit.select(small, emit.binary("and", value, emit.constant(-0x8000, value.type)), value)


def _fused(context: Context, a: Value, b: Value, c: Value) -> Value:
    """a b + c of f32 that hold numbers of 16 bits, as f32 that may be rounded to them.

    The product is exact in f64. The sum may not be: then it is rounded to odd, by the error of Knuth's sum.
    """
    emit = context.emit
    x, y, z = (emit.cast("fpext", value, "double") for value in (a, b, c))
    product = emit.binary("fmul", x, y)
    total = emit.binary("fadd", product, z)
    virtual = emit.binary("fsub", total, product)
    rest = emit.binary("fsub", product, emit.binary("fsub", total, virtual))
    error = emit.binary("fadd", rest, emit.binary("fsub", z, virtual))
    raw = emit.as_type(total, with_element(total.type, "i64"))
    # An odd number stands: the exact sum is next to it. An even one gives way to its neighbour on the error's side.
    zero = emit.constant("0.0", total.type)
    inexact = emit.compare("fcmp one", error, zero)
    odd = emit.binary("and", raw, emit.constant(1, raw.type))
    even = emit.compare("icmp eq", odd, emit.constant(0, raw.type))
    inward = emit.binary("xor", *(emit.compare("fcmp ogt", each, zero) for each in (error, total)))
    step = emit.select(inward, emit.constant(-1, raw.type), emit.constant(1, raw.type))
    moved = emit.select(emit.binary("and", inexact, even), emit.binary("add", raw, step), raw)
    return to_odd(context, emit.as_type(moved, total.type))


def arithmetic(context: Context, instruction: Instruction) -> None:
    """add, sub, mul, fma, neg, abs, min, max."""
    kind, emit = context.type_of(), context.emit
    brain = is_brain(kind)
    opcode = instruction.opcode
    if opcode in ("neg", "abs"):
        value = _flushed(context, instruction, raw(context, instruction.operands[1], kind), kind)
        mask = emit.constant(0x7FFF if opcode == "abs" else -0x8000, value.type)
        found = emit.binary("and" if opcode == "abs" else "xor", value, mask)
        size = emit.binary("and", value, emit.constant(0x7FFF, value.type))
        nan = emit.compare("icmp ugt", size, emit.constant(0x7F80 if brain else 0x7C00, value.type))
        store(context, instruction.operands[0], emit.select(nan, emit.constant(0x7FFF, value.type), found))
        return
    values = [widened(context, operand, kind) for operand in instruction.operands[1:]]
    if opcode in ("min", "max"):
        from simtmm.cuda.execution.instructions.numbers.real import least_or_most

        result = values[0]
        for value in values[1:]:
            result = least_or_most(context, instruction, result, value)
    elif opcode in ("fma", "mad"):
        result = _fused(context, values[0], values[1], values[2])
    else:
        result = emit.binary(_OPERATIONS[opcode], *values)
    if instruction.has("sat"):
        from simtmm.cuda.execution.instructions.numbers.real import saturated

        result = saturated(context, instruction, result)
    found = _flushed(context, instruction, narrow(context, result, brain), kind)
    if instruction.has("relu"):
        positive = emit.compare("icmp sge", found, emit.constant(0, found.type))
        is_nan = emit.compare("fcmp uno", result, result)
        kept = emit.binary("or", positive, is_nan)
        found = emit.select(kept, found, emit.constant(0, found.type))
    store(context, instruction.operands[0], found)


def function(context: Context, instruction: Instruction) -> None:
    """ex2, tanh and others: computed in f32, rounded to 16 bits."""
    from simtmm.cuda.execution.instructions.numbers.approximate import approximate

    kind, emit = context.type_of(), context.emit
    value = _flushed(context, instruction, raw(context, instruction.operands[1], kind), kind)
    if count_of(value.type) == 64:
        parts = [emit.shuffle(value, value, range(first, 64, 2)) for first in (0, 1)]
    else:
        parts = [value]
    brain, opcode = is_brain(kind), instruction.opcode
    exact = [approximate(context, opcode, widen(context, part, brain)) for part in parts]
    results = [_flushed(context, instruction, narrow(context, value, brain), kind) for value in exact]
    if len(results) == 2:
        order = [n // 2 + 32 * (n % 2) for n in range(64)]
        store(context, instruction.operands[0], emit.shuffle(results[0], results[1], order))
    else:
        store(context, instruction.operands[0], results[0])


def split_lanes(context: Context, found: Value) -> tuple[Value, Value]:
    """A condition on pairs, split into one for the lower and one for the upper number of each lane."""
    emit = context.emit
    assert element_of(found.type) == "i1"
    low, high = (emit.shuffle(found, found, range(first, 64, 2)) for first in (0, 1))
    return low, high
