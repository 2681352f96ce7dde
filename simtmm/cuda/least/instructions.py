"""What single instructions give, of operands that an Evaluation (values.py) reads."""

import operator
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from simtmm.cuda.least.ranges import (
    EITHER,
    NO,
    YES,
    Known,
    Range,
    any_bit,
    both,
    hull,
    is_one,
    signed,
    times,
    unsigned,
    wrapped,
)  # fmt: skip
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Pair, Vector
from simtmm.cuda.ptx.types import bits_of

if TYPE_CHECKING:
    from simtmm.cuda.least.values import Evaluation

Values: TypeAlias = Mapping[str, Known]
_SIGNED_ORDER = {"lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge}
_UNSIGNED_ORDER = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
_ALL, _A, _B, _C = 0xFF, 0xF0, 0xCC, 0xAA  # what lop3 has for its operands


def opposite(value: Range) -> Range:
    """The other way round, of a predicate."""
    return 1 - value[1], 1 - value[0]


def _mov(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    source, bits = instruction.operands[1], bits_of(kinds[-1])
    if isinstance(source, Vector) and len(source.parts) == 2:
        low, high = (on.own(part, values, bits // 2) for part in source.parts)
        if not is_one(high):
            return None
        lower = unsigned(low, bits // 2)
        return tuple((high[0] << bits // 2) + end for end in lower)  # type: ignore[index, return-value]
    if kinds[-1] == "pred":
        value = on.operand(source, values)
        return None if value is None else (int(value[0] != 0), int(value[1] != 0)) if value[0] >= 0 else YES
    return on.own(source, values, bits)


def _sum(sign: int) -> "Handler":
    def handler(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
        if "sat" in instruction.modifiers or "x2" in kinds[-1]:
            return None
        bits = bits_of(kinds[-1])
        a, b = (signed(on.own(each, values, bits), bits) for each in instruction.operands[1:3])
        return wrapped(a[0] + b[0], a[1] + b[1], bits) if sign > 0 else wrapped(a[0] - b[1], a[1] - b[0], bits)

    return handler


def _product(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    """mul and mad, of their low or all bits."""
    modifiers, kind = instruction.modifiers, kinds[-1]
    if "sat" in modifiers or not {"lo", "wide"} & set(modifiers):
        return None
    low, high = times(*(on.viewed(each, values, kind) for each in instruction.operands[1:3]))
    bits = bits_of(kind) * (2 if "wide" in modifiers else 1)
    if instruction.opcode == "mad":
        product = wrapped(low, high, bits)
        more = on.own(instruction.operands[3], values, bits)
        if product is None or more is None:
            return None
        low, high = product[0] + more[0], product[1] + more[1]
    return wrapped(low, high, bits)


def _extreme(choose: Callable[..., int]) -> "Handler":
    def handler(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
        if len(instruction.operands) != 3 or "relu" in instruction.modifiers or "x2" in kinds[-1]:
            return None
        a, b = (on.viewed(each, values, kinds[-1]) for each in instruction.operands[1:3])
        return wrapped(choose(a[0], b[0]), choose(a[1], b[1]), bits_of(kinds[-1]))

    return handler


def _neg(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    bits = bits_of(kinds[-1])
    value = signed(on.own(instruction.operands[1], values, bits), bits)
    return wrapped(-value[1], -value[0], bits)


def _abs(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    bits = bits_of(kinds[-1])
    low, high = signed(on.own(instruction.operands[1], values, bits), bits)
    return wrapped(max(low, -high, 0), max(-low, high), bits)


def _shl(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    bits, by = bits_of(kinds[-1]), on.viewed(instruction.operands[2], values, "u32")
    value = on.own(instruction.operands[1], values, bits)
    if not is_one(by) or by[0] >= bits or value is None:
        return NO if by[0] >= bits else None
    return wrapped(value[0] << by[0], value[1] << by[0], bits)


def _shr(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    kind, by = kinds[-1], on.viewed(instruction.operands[2], values, "u32")
    low, high = on.viewed(instruction.operands[1], values, kind)
    least, most = (min(each, bits_of(kind)) for each in by)
    ends = [end >> each for end in (low, high) for each in (least, most)]
    return wrapped(min(ends), max(ends), bits_of(kind))


def _bits(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    """and, or, xor, of numbers and of predicates."""
    bits = 2 if kinds[-1] == "pred" else bits_of(kinds[-1])
    a, b = (on.own(each, values, bits) for each in instruction.operands[1:3])
    if kinds[-1] == "pred":
        a, b = a or EITHER, b or EITHER
        if instruction.opcode == "and":
            return a[0] & b[0], a[1] & b[1]
        if instruction.opcode == "or":
            return a[0] | b[0], a[1] | b[1]
        return (a[0] ^ b[0],) * 2 if is_one(a) and is_one(b) else EITHER
    if instruction.opcode == "and":
        return both(a, b, bits)
    return any_bit(a, b, bits, operator.or_ if instruction.opcode == "or" else operator.xor)


def _not_bits(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    if kinds[-1] == "pred":
        return opposite(on.operand(instruction.operands[1], values) or EITHER)
    value = on.own(instruction.operands[1], values, bits_of(kinds[-1]))
    return None if value is None else (~value[1], ~value[0])


def _lop3(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    bits = bits_of(kinds[-1])
    table = instruction.operands[4]
    if isinstance(instruction.operands[0], Pair) or not isinstance(table, Immediate):
        return None
    inputs = [on.own(each, values, bits) for each in instruction.operands[1:4]]
    chosen = table.value & _ALL
    left: list[tuple[int, Known]] = []
    for pattern, value in zip((_A, _B, _C), inputs, strict=True):
        if value in ((0, 0), (-1, -1)):  # the half of the table where it is that stands for all of it
            half = chosen & (pattern if value == (-1, -1) else _ALL ^ pattern)
            by = (pattern & -pattern).bit_length() - 1
            chosen = half | (half >> by if value == (-1, -1) else half << by) & _ALL
        else:
            left.append((pattern, value))
    for number, (one, value) in enumerate(left):
        if chosen == one:
            return value
        for other, beside in left[number + 1 :]:
            if chosen == one & other:
                return both(value, beside, bits)
            if chosen in (one | other, one ^ other):
                return any_bit(value, beside, bits, operator.or_ if chosen == one | other else operator.xor)
    return {0: (0, 0), _ALL: (-1, -1)}.get(chosen)


def _cvt(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    if len(kinds) != 2 or kinds[0][0] not in "sub" or "sat" in instruction.modifiers:
        return None
    low, high = on.viewed(instruction.operands[1], values, kinds[1])
    return wrapped(low, high, bits_of(kinds[0]))


def _quotient(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    """div and rem of numbers that are not below 0."""
    a, b = (on.viewed(each, values, kinds[-1]) for each in instruction.operands[1:3])
    if a[0] < 0 or b[0] < 1:
        return None
    if instruction.opcode == "div":
        return wrapped(a[0] // b[1], a[1] // b[0], bits_of(kinds[-1]))
    if is_one(b) and a[0] // b[0] == a[1] // b[0]:
        return wrapped(a[0] % b[0], a[1] % b[0], bits_of(kinds[-1]))
    return wrapped(0, min(a[1], b[1] - 1), bits_of(kinds[-1]))


def _selp(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    bits = bits_of(kinds[-1])
    a, b = (on.own(each, values, bits) for each in instruction.operands[1:3])
    chosen = on.operand(instruction.operands[3], values)
    return a if chosen == YES else b if chosen == NO else hull(a, b)


def _setp(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    if len(kinds) != 1:
        return EITHER
    name, kind = instruction.modifiers[0], kinds[0]
    kind = f"u{kind[1:]}" if name in _UNSIGNED_ORDER else kind
    a, b = (on.viewed(each, values, kind) for each in instruction.operands[1:3])
    found = _compared(_UNSIGNED_ORDER.get(name, name), a, b)
    if len(instruction.operands) < 4:
        return found
    with_ = on.operand(instruction.operands[3], values) or EITHER
    if "and" in instruction.modifiers:
        return found[0] & with_[0], found[1] & with_[1]
    if "or" in instruction.modifiers:
        return found[0] | with_[0], found[1] | with_[1]
    return EITHER


def _compared(name: str, a: Range, b: Range) -> Range:
    if name in ("eq", "ne"):
        apart = a[1] < b[0] or b[1] < a[0]
        same = is_one(a) and a == b
        found = NO if apart else YES if same else EITHER
        return found if name == "eq" else opposite(found)
    order = _SIGNED_ORDER.get(name)
    if order is None:
        return EITHER
    surely = order(a[1], b[0]) if name in ("lt", "le") else order(a[0], b[1])
    maybe = order(a[0], b[1]) if name in ("lt", "le") else order(a[1], b[0])
    return int(surely), int(maybe)


def _ld(on: "Evaluation", instruction: Instruction, kinds: list[str], values: Values) -> Known:
    return on.parameter(instruction, kinds[-1])


Handler: TypeAlias = "Callable[[Evaluation, Instruction, list[str], Values], Known]"
HANDLERS: dict[str, Handler] = {
    "mov": _mov, "add": _sum(1), "sub": _sum(-1), "mul": _product, "mad": _product, "min": _extreme(min),
    "max": _extreme(max), "neg": _neg, "abs": _abs, "shl": _shl, "shr": _shr, "and": _bits, "or": _bits, "xor": _bits,
    "not": _not_bits, "lop3": _lop3, "cvt": _cvt, "div": _quotient, "rem": _quotient, "selp": _selp, "setp": _setp,
    "ld": _ld,
}  # fmt: skip
