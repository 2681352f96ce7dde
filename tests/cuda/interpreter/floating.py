"""Floating-point instructions: operands decoded, an exact result, rounded once."""

import math
from collections.abc import Callable

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter import approximations, arithmetic
from tests.cuda.interpreter.formats import (
    F32,
    F64,
    FORMATS,
    MODES,
    Format,
    Value,
    decode,
    encode,
    flushed,
    is_negative,
    is_special,
    power_of_two,
)
from tests.cuda.interpreter.opcodes import Handler, opcode, sources
from tests.cuda.interpreter.thread import Thread
from tests.cuda.interpreter.types import bits_of

PACKED = {"f16x2": "f16", "bf16x2": "bf16"}
FLOATING: dict[str, Handler] = {}


def mode_of(instruction: Instruction) -> str:
    """The rounding mode, to even where none is named."""
    return next((each for each in instruction.modifiers if each in MODES), "rn")


def each_lane(thread: Thread, instruction: Instruction, function: Callable[..., int]) -> None:
    """Let a function of (format, bits, ...) give the bits of the result, for each part of packed types."""
    kind = instruction.modifiers[-1]
    form = FORMATS[PACKED.get(kind, kind)]
    values = sources(thread, instruction, *[kind] * (len(instruction.operands) - 1))
    mask = (1 << form.bits) - 1
    result = 0
    for shift in range(0, bits_of(kind), form.bits):
        lanes = [value >> shift & mask for value in values]
        if instruction.has("ftz") and form is not F64:
            lanes = [flushed(bits, form) for bits in lanes]
        result |= (function(form, *lanes) & mask) << shift
    thread.write(instruction.operands[0], kind, result)


def finish(instruction: Instruction, value: Value, form: Format) -> int:
    """A result's bits: rounded, flushed, saturated to 0..1 or to what isn't negative.

    A result of f32 is flushed if it was too small before it was rounded.
    """
    approximate = instruction.has("approx") or instruction.has("full")
    if instruction.has("ftz") and form is F32 and not approximate and abs(value) < power_of_two(form.least_exponent):
        value = -0.0 if is_negative(value) else 0.0
    bits = encode(value, form, mode_of(instruction))
    if instruction.has("ftz") and form is not F64:
        bits = flushed(bits, form)
    if instruction.has("sat"):
        number = decode(bits, form)
        bits = 0 if not number > 0 else encode(1.0, form) if number > 1 else bits
    if instruction.has("relu"):
        number = decode(bits, form)
        bits = form.nan if math.isnan(number) else bits if number > 0 else 0
    return bits


def _computed(function: Callable[..., Value], *, signs_zero: bool = False) -> Handler:
    """An instruction whose result is a function of decoded operands (and the mode, if zeros ask for it)."""

    def handler(thread: Thread, instruction: Instruction) -> None:
        def lane(form: Format, *operands: int) -> int:
            values = [decode(bits, form) for bits in operands]
            if signs_zero:
                return finish(instruction, function(*values, mode_of(instruction)), form)
            return finish(instruction, function(*values), form)

        each_lane(thread, instruction, lane)

    return handler


def _subtract(a: Value, b: Value, mode: str) -> Value:
    return arithmetic.add(a, arithmetic.negate(b), mode)


FLOATING["add"] = _computed(arithmetic.add, signs_zero=True)
FLOATING["sub"] = _computed(_subtract, signs_zero=True)
FLOATING["mul"] = _computed(arithmetic.multiply)
FLOATING["mad"] = _computed(arithmetic.fused, signs_zero=True)
opcode("fma")(FLOATING["mad"])
opcode("sqrt")(_computed(arithmetic.square_root))
_RECIPROCALS = {
    "rcp": _computed(approximations.reciprocal),
    "rsqrt": _computed(approximations.reciprocal_root),
}


@opcode("rcp", "rsqrt")
def reciprocal(thread: Thread, instruction: Instruction) -> None:
    """1 / a, 1 / root a; .ftz.f64 knows only upper halves and no subnormal numbers."""
    if instruction.modifiers[-2:] != ("ftz", "f64"):
        _RECIPROCALS[instruction.opcode](thread, instruction)
        return

    def half(bits: int) -> int:
        return flushed(bits >> 32 << 32, F64)

    function = approximations.reciprocal if instruction.opcode == "rcp" else approximations.reciprocal_root
    (bits,) = sources(thread, instruction, "f64")
    result = half(encode(function(decode(half(bits), F64)), F64))
    thread.write(instruction.operands[0], "f64", result)


opcode("ex2")(_computed(approximations.power_of_two))
opcode("lg2")(_computed(approximations.binary_logarithm))
opcode("sin")(_computed(approximations.sine))
opcode("cos")(_computed(approximations.cosine))
opcode("tanh")(_computed(approximations.hyperbolic_tangent))


def divide(thread: Thread, instruction: Instruction) -> None:
    """a / b; .approx.f32 gives 0 for a b above 2^126, and NaN if a is infinite there."""

    def lane(form: Format, a_bits: int, b_bits: int) -> int:
        a, b = decode(a_bits, form), decode(b_bits, form)
        result = arithmetic.divide(a, b)
        if instruction.has("approx") and form is F32 and 2.0**126 < abs(b) < math.inf and not math.isnan(a):
            result = math.nan if is_special(a) else -0.0 if is_negative(a) != is_negative(b) else 0.0
        return finish(instruction, result, form)

    each_lane(thread, instruction, lane)


def change_sign(thread: Thread, instruction: Instruction) -> None:
    """abs and neg touch the sign alone; of f64 not that of a NaN, and other NaNs become the one."""

    def lane(form: Format, bits: int) -> int:
        if math.isnan(decode(bits, form)):
            return bits if form is F64 else form.nan
        top = 1 << (form.bits - 1)
        return bits ^ top if instruction.opcode == "neg" else bits & ~top

    each_lane(thread, instruction, lane)


def extreme(thread: Thread, instruction: Instruction) -> None:
    """min and max of two or three; .xorsign.abs: of magnitudes, with the product's sign."""
    choose = arithmetic.least if instruction.opcode == "min" else arithmetic.greatest

    def lane(form: Format, *operands: int) -> int:
        values = [decode(bits, form) for bits in operands]
        if instruction.has("abs"):
            values = [abs(value) for value in values]
        result = values[0]
        for value in values[1:]:
            result = choose(result, value, instruction.has("NaN"))
        if instruction.has("xorsign") and not math.isnan(result):
            signs = [bits >> (form.bits - 1) for bits in operands]
            result = -result if sum(signs) % 2 else result
        return encode(result, form)

    each_lane(thread, instruction, lane)


FLOATING.update({"div": divide, "abs": change_sign, "neg": change_sign, "min": extreme, "max": extreme})


@opcode("copysign")
def copy_sign(thread: Thread, instruction: Instruction) -> None:
    """The sign of a on the value of b."""

    def lane(form: Format, a: int, b: int) -> int:
        top = 1 << (form.bits - 1)
        return a & top | b & ~top

    each_lane(thread, instruction, lane)
