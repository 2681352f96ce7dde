"""Comparisons and selections."""

import math
import operator

from simtmm.cuda.ptx.syntax import Instruction, Pair
from tests.cuda.interpreter.floating import PACKED
from tests.cuda.interpreter.formats import F64, FORMATS, decode, flushed, is_subnormal
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread, whole
from tests.cuda.interpreter.types import bits_of

_ORDERED = {
    "eq": operator.eq, "ne": operator.ne, "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge,
}  # fmt: skip
_UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_COMBINED = {"and": operator.and_, "or": operator.or_, "xor": operator.xor}


def compare(name: str, a: float, b: float) -> bool:
    """What a comparison says of two numbers; with a NaN all but the unordered ones (and nan) say no."""
    unordered = math.isnan(a) or math.isnan(b)
    if name in ("num", "nan"):
        return unordered == (name == "nan")
    if name not in _ORDERED and name not in _UNSIGNED:
        return unordered or _ORDERED[name[:2]](a, b)
    return not unordered and bool(_ORDERED[_UNSIGNED.get(name, name)](a, b))


def _compared(thread: Thread, instruction: Instruction) -> list[bool]:
    """The comparison of the last type's operands, a value for each part of packed types; not combined yet."""
    kind = instruction.modifiers[-1]
    part = PACKED.get(kind, kind)
    width = bits_of(part)
    a, b = (thread.read(operand, kind) for operand in instruction.operands[1:3])
    return [
        compare(instruction.modifiers[0], *(_number(instruction, each >> shift, part) for each in (a, b)))
        for shift in range(0, bits_of(kind), width)
    ]


def _number(instruction: Instruction, bits: int, kind: str) -> float:
    if kind not in FORMATS:
        return whole(bits, kind)
    form = FORMATS[kind]
    bits &= (1 << form.bits) - 1
    if instruction.has("ftz") and form is not F64:
        bits = flushed(bits, form)
    return decode(bits, form)


def _combined(thread: Thread, instruction: Instruction, value: bool) -> int:
    """The comparison's value together with the predicate behind it, if there is one."""
    name = next((each for each in instruction.modifiers if each in _COMBINED), None)
    if name is None:
        return int(value)
    return int(_COMBINED[name](int(value), thread.read(instruction.operands[3], "pred")))


@opcode("setp")
def set_predicate(thread: Thread, instruction: Instruction) -> None:
    """p|q: the comparison and its opposite; of packed types the two parts."""
    values = _compared(thread, instruction)
    target = instruction.operands[0]
    if not isinstance(target, Pair):
        thread.write(target, "pred", _combined(thread, instruction, values[0]))
        return
    second = values[1] if len(values) == 2 else not values[0]
    results = [_combined(thread, instruction, value) for value in (values[0], second)]
    thread.write(target.first, "pred", results[0])
    thread.write(target.second, "pred", results[1])


@opcode("set")
def set_value(thread: Thread, instruction: Instruction) -> None:
    """All ones, or 1.0, where the comparison holds."""
    to = instruction.modifiers[-2]
    form = FORMATS.get(PACKED.get(to, to))
    values = _compared(thread, instruction)
    width = bits_of(to) // len(values)
    one = (1 << width) - 1
    if form is not None:
        one = ((1 << (form.exponent_bits - 1)) - 1) << (form.precision - 1)
    result = 0
    for at, value in enumerate(values):
        result |= one * _combined(thread, instruction, value) << at * width
    thread.write(instruction.operands[0], to, result)


@opcode("selp")
def select(thread: Thread, instruction: Instruction) -> None:
    """a where the predicate holds, else b."""
    kind = instruction.modifiers[-1]
    target, a, b, predicate = instruction.operands
    thread.write(target, kind, thread.read(a if thread.read(predicate, "pred") else b, kind))


@opcode("slct")
def select_by_sign(thread: Thread, instruction: Instruction) -> None:
    """a where c is at least zero (-0 is), else b, which it is for a NaN."""
    kind, by = instruction.modifiers[-2:]
    target, a, b, c = instruction.operands
    chosen = a if _number(instruction, thread.read(c, by), by) >= 0 else b
    thread.write(target, kind, thread.read(chosen, kind))


@opcode("testp")
def test_property(thread: Thread, instruction: Instruction) -> None:
    """What sort of number it is; zeros are normal."""
    name, kind = instruction.modifiers
    form = FORMATS[kind]
    bits = thread.read(instruction.operands[1], kind)
    value = decode(bits, form)
    found = {
        "finite": math.isfinite(value),
        "infinite": math.isinf(value),
        "number": not math.isnan(value),
        "notanumber": math.isnan(value),
        "normal": math.isfinite(value) and not is_subnormal(bits, form),
        "subnormal": is_subnormal(bits, form),
    }[name]
    thread.write(instruction.operands[0], "pred", int(found))
