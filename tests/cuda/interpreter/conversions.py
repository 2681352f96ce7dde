"""cvt: from every type to every other."""

import math
from fractions import Fraction

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.formats import (
    E4M3,
    F32,
    FORMATS,
    Format,
    Value,
    decode,
    encode,
    flushed,
    is_negative,
    is_special,
    rounded,
)
from tests.cuda.interpreter.opcodes import clamped, opcode, sources
from tests.cuda.interpreter.thread import Thread, whole
from tests.cuda.interpreter.types import bits_of, is_type

_PAIRS = {"f16x2": "f16", "bf16x2": "bf16", "e4m3x2": "e4m3", "e5m2x2": "e5m2"}
_TO_WHOLE = {"rni": "rn", "rzi": "rz", "rmi": "rm", "rpi": "rp"}


@opcode("cvt")
def convert(thread: Thread, instruction: Instruction) -> None:
    """One number, two to a pair, or a pair to a pair."""
    if instruction.has("pack"):
        _pack(thread, instruction)
        return
    to, kind = instruction.modifiers[-2:]
    target = instruction.operands[0]
    if to in _PAIRS and kind in _PAIRS:
        (value,) = sources(thread, instruction, kind)
        width = bits_of(kind) // 2
        halves = [value >> width, value & ((1 << width) - 1)]
        kind = _PAIRS[kind]
    elif to in _PAIRS:
        halves = sources(thread, instruction, kind, kind)
    else:
        (value,) = sources(thread, instruction, kind)
        thread.write(target, "b32" if to == "tf32" else to, _converted(instruction, value, kind, to))
        return
    part = _PAIRS[to]
    upper, lower = (_converted(instruction, value, kind, part) for value in halves)
    width = FORMATS[part].bits
    thread.write(target, f"b{2 * width}", upper << width | lower)


def _converted(instruction: Instruction, bits: int, kind: str, to: str) -> int:
    if kind not in FORMATS and to not in FORMATS:
        number = whole(bits, kind)
        return clamped(number, to) if instruction.has("sat") else number
    if kind not in FORMATS:
        number = whole(bits, kind)
        return _real(instruction, Fraction(number) if number else 0.0, FORMATS[to])
    source = FORMATS[kind]
    if instruction.has("ftz") and source is F32:
        bits = flushed(bits, source)
    value = decode(bits, source)
    if to in FORMATS and math.isnan(value) and (kept := _nan(instruction, bits, kind, to)) is not None:
        return kept
    if to in FORMATS:
        return _real(instruction, value, FORMATS[to])
    return _to_integer(instruction, value, kind, to)


_KEPT = {("f64", "f16"), ("f64", "f32"), ("f32", "f64"), ("f16", "f64"), ("bf16", "f32")}


def _nan(instruction: Instruction, bits: int, kind: str, to: str) -> int | None:
    """A NaN that keeps its sign and the upper part of its payload, as an H100 does it; None for the one NaN."""
    if (kind, to) == ("f32", "tf32") and instruction.has("rna"):
        return bits & ~0x1FFF
    if (kind, to) not in _KEPT or instruction.has("sat"):
        return None
    source, form = FORMATS[kind], FORMATS[to]
    if kind == "f32" and instruction.has("ftz"):
        bits = source.nan
    payload = bits & ((1 << source.precision - 1) - 1)
    moved = payload << form.precision >> source.precision | 1 << form.precision - 2
    return bits >> source.bits - 1 << form.bits - 1 | form.infinity | moved


def _to_integer(instruction: Instruction, value: float, kind: str, to: str) -> int:
    """The nearest of the type; what NaN gives depends on the sizes."""
    if math.isnan(value):
        return 1 << (bits_of(to) - 1) if kind == "f64" or to in ("s64", "u64") else 0
    if math.isinf(value):
        return clamped(-(1 << 70) if value < 0 else 1 << 70, to)
    return clamped(int(_to_whole(value, _rounding(instruction))), to)


def _rounding(instruction: Instruction) -> str | None:
    """The mode of rounding to a whole number, if there is one."""
    return next((_TO_WHOLE[each] for each in instruction.modifiers if each in _TO_WHOLE), None)


def _to_whole(value: float, mode: str | None) -> Fraction:
    if mode is None:
        raise ValueError("a conversion to whole numbers names no rounding")
    return rounded(abs(Fraction(value)), mode, value < 0) * Fraction(-1 if value < 0 else 1)


def _real(instruction: Instruction, value: Value, form: Format) -> int:
    """A value in a format, by the instruction's modifiers."""
    if isinstance(value, float) and not is_special(value) and _rounding(instruction):
        value = _to_whole(value, _rounding(instruction)) or math.copysign(0.0, value)
    mode = next((each for each in instruction.modifiers if each in ("rn", "rz", "rm", "rp", "rna")), "rn")
    bits = encode(value, form, mode)
    if instruction.has("ftz") and form is F32:
        bits = flushed(bits, form)
    number = decode(bits, form)
    if instruction.has("satfinite") and not (isinstance(value, float) and math.isnan(value)):
        overflown = math.isnan(number) or math.isinf(number)
        bits = int(is_negative(value)) << (form.bits - 1) | form.largest if overflown else bits
        number = decode(bits, form)
    elif form is E4M3 and is_special(value):
        bits = form.nan
    if instruction.has("sat"):
        bits = 0 if not number > 0 else encode(1.0, form) if number > 1 else bits
    if instruction.has("relu") and not math.isnan(number) and not number > 0:
        bits = 0
    return bits


def _pack(thread: Thread, instruction: Instruction) -> None:
    """Two whole numbers, saturated, a above b; narrow ones push the bits of c up."""
    kinds = [each for each in instruction.modifiers if is_type(each)]
    to, kind = kinds[:2]
    width = bits_of(to)
    values = sources(thread, instruction, kind, kind, *kinds[2:])
    a, b = (clamped(whole(each, kind), to) & ((1 << width) - 1) for each in values[:2])
    result = a << width | b
    if len(values) == 3:
        result |= values[2] << 2 * width
    thread.write(instruction.operands[0], "b32", result)
