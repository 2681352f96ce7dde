"""Whole numbers: sums, products, comparisons. Those of the uniform datapath do the same, once a warp."""

from collections.abc import Sequence

from simtmm.cuda.ptx.syntax import Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer_operands import (
    high,
    is_signed_operand,
    low_part,
    one_if,
    pair_of,
    parted,
    wide_number,
    widened,
    zero_extended,
)
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Number, Operand, Reg

_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
JOINS = ("AND", "OR", "XOR")


def _carried(lifting: Lifting, total: PtxOperand, predicates: Sequence[Operand]) -> list[Register]:
    """Whether the upper half of a sum is at least 1, 2 and so on."""
    if not predicates:
        return []
    upper = lifting.value("shr.u64", "b64", total, Immediate(32))
    return [lifting.value("setp.ge.u64", "pred", upper, Immediate(n + 1)) for n in range(len(predicates))]


def _write_sum(
    lifting: Lifting, to: Operand, out: Sequence[Operand], total: PtxOperand, carries: Sequence[Operand], constant: int
) -> None:
    """Give a sum with its carries in and a number added, and to predicates what is carried out of it."""
    for carry in carries:
        total = lifting.value("add.s64", "b64", total, one_if(lifting, carry, "b64"))
    total = lifting.value("add.s64", "b64", total, Immediate(constant))
    flags = _carried(lifting, total, out)
    lifting.write(to, low_part(lifting, total))
    for place, flag in zip(out, flags, strict=True):
        lifting.write_predicate(place, flag)


def add(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IADD3, IADD, VIADD: a sum of two or three, with carries; .64 of pairs."""
    if instruction.has("64"):
        _add_wide(lifting, instruction)
        return
    lifting.only("X", "S32", "U32", "ISAT")
    (to, *out), sources, carries = parted(instruction)
    lifting.exactly(sources, 1, 2, 3)
    if bool(carries) != instruction.has("X"):
        raise lifting.refuse()
    if instruction.has("ISAT"):
        if out or carries or len(sources) != 2 or instruction.has("U32"):
            raise lifting.refuse()
        left, right = (widened(lifting, source) for source in sources)
        total64: PtxOperand = lifting.value("add.s64", "b64", left, right)
        lifting.write(to, lifting.value("cvt.sat.s32.s64", "b32", total64))
        return
    if not out and not carries:
        total = lifting.whole(sources[0])
        for source in sources[1:]:
            total = lifting.value("add.s32", "b32", total, lifting.whole(source))
        lifting.write(to, total)
        return
    constant = 0
    total64 = Immediate(0)
    for source in sources:
        part, more = zero_extended(lifting, source)
        constant += more
        total64 = lifting.value("add.s64", "b64", part, total64)
    _write_sum(lifting, to, out, total64, carries, constant)


def _add_wide(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IADD.64: of pairs, with a carry in and out; of a difference the carry is that of a + ~b + 1."""
    lifting.only("64", "X")
    (to, *given), sources, carries = parted(instruction)
    lifting.exactly(sources, 2, 3)
    out = [predicate for predicate in given if predicate not in (Reg("PT"), Reg("UPT"))]
    if bool(carries) != instruction.has("X") or len(carries) > 1 or len(out) > 1 or (out and len(sources) > 2):
        raise lifting.refuse()
    total: PtxOperand = Immediate(0)
    over: PtxOperand | None = None
    parts: list[PtxOperand] = []
    for source in sources:
        if isinstance(source, Number):
            parts.append(wide_number(lifting, source))
            continue
        found = lifting.pair(source)
        if isinstance(source, (Reg, Constant)) and (source.negative or source.inverted):
            found = lifting.value("not.b64", "b64", found)
            parts += [Immediate(1)] if source.negative else []
        parts.append(found)
    parts += [one_if(lifting, carry, "b64") for carry in carries]
    for part in parts:
        more = lifting.value("add.s64", "b64", total, part)
        carried = lifting.value("setp.lt.u64", "pred", more, part)
        over = carried if over is None else lifting.value("or.pred", "pred", over, carried)
        total = more
    lifting.write_pair(to, total)
    for place in out:
        assert over is not None
        lifting.write_predicate(place, over)


def multiply_add(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IMAD: a product and a sum; of 64 bits with .WIDE, the upper half with .HI."""
    lifting.only("U32", "WIDE", "HI", "X", "IADD", "MOV", "SHL")
    (to, *out), sources, carries = parted(instruction)
    a, b, c = lifting.exactly(sources, 3)
    if bool(carries) != instruction.has("X") or len(out) > 1:
        raise lifting.refuse()
    if instruction.has("WIDE", "HI"):
        _multiply_wide(lifting, instruction, to, out, [a, b, c], carries)
        return
    if out:
        raise lifting.refuse()
    found: PtxOperand
    if (isinstance(a, Reg) and a.is_zero) or (isinstance(b, Reg) and b.is_zero):
        found = lifting.whole(c)
    elif isinstance(b, Number) and b.value == 1:
        found = lifting.value("add.s32", "b32", lifting.whole(a), lifting.whole(c))
    else:
        found = lifting.value("mad.lo.s32", "b32", lifting.whole(a), lifting.whole(b), lifting.whole(c))
    for carry in carries:
        found = lifting.value("add.s32", "b32", found, one_if(lifting, carry, "b32"))
    lifting.write(to, found)


def _multiply_wide(
    lifting: Lifting,
    instruction: MachineInstruction,
    to: Operand,
    out: list[Operand],
    sources: list[Operand],
    carries: list[Operand],
) -> None:
    """A product of 64 bits and a pair; the carry is that of their sum."""
    a, b, c = sources
    if is_signed_operand(a) or is_signed_operand(b):
        raise lifting.refuse("negates what it multiplies, which is not supported")
    if is_signed_operand(c) and (out or carries or instruction.has("HI")):
        raise lifting.refuse("carries from a difference, which is not supported")
    if isinstance(c, Number) and not (isinstance(c.value, int) and 0 <= c.value < 1 << 31):
        raise lifting.refuse("adds a number of which the upper half is not known")
    signed = "u32" if instruction.has("U32") else "s32"
    product = lifting.value(f"mul.wide.{signed}", "b64", lifting.whole(a), lifting.whole(b))
    total = lifting.value("add.s64", "b64", product, lifting.wide(c))
    flag = lifting.value("setp.lt.u64", "pred", total, product)
    for carry in carries:
        more = lifting.value("add.s64", "b64", total, one_if(lifting, carry, "b64"))
        over = lifting.value("setp.lt.u64", "pred", more, total)
        flag = lifting.value("or.pred", "pred", flag, over)
        total = more
    if instruction.has("HI"):
        lifting.write(to, high(lifting, total))
    else:
        lifting.write_pair(to, total)
    for place in out:
        lifting.write_predicate(place, flag)


def load_address(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LEA: a shifted by a number, and b; with .HI the upper half of that."""
    lifting.only("HI", "X", "SX32")
    (to, *out), sources, carries = parted(instruction)
    shift = lifting.exactly(sources, 4 if instruction.has("HI") and not instruction.has("SX32") else 3)[-1]
    if not isinstance(shift, Number):
        raise lifting.refuse("shifts by something other than a number")
    negated = bool(out) and is_signed_operand(sources[0])  # then -a is that of what is shifted: ~(a << n) + 1
    if bool(carries) != instruction.has("X") or (carries and is_signed_operand(sources[0])):
        raise lifting.refuse()
    if negated and (instruction.has("HI") or not isinstance(sources[0], Reg) or sources[0].absolute):
        raise lifting.refuse()
    by = lifting.whole_number(shift)
    a, b = sources[0], sources[1]
    if instruction.has("HI"):
        low = lifting.whole(a)
        if instruction.has("SX32"):
            upper: PtxOperand = lifting.value("shr.s32", "b32", low, Immediate(31))
        else:
            upper = lifting.whole(sources[2])
        whole = lifting.value("mov.b64", "b64", Vector((low, upper)))
        part: PtxOperand = high(lifting, lifting.value("shl.b64", "b64", whole, Immediate(by)))
    else:
        shifted = lifting.bits(a) if negated else lifting.whole(a)
        part = lifting.value("shl.b32", "b32", shifted, Immediate(by))
        part = lifting.value("not.b32", "b32", part) if negated else part
    if not out and not carries:
        lifting.write(to, lifting.value("add.s32", "b32", part, lifting.whole(b)))
        return
    other, constant = zero_extended(lifting, b)
    constant += negated
    total: PtxOperand = lifting.value("add.s64", "b64", lifting.value("cvt.u64.u32", "b64", part), other)
    _write_sum(lifting, to, out, total, carries, constant)


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ISETP: a comparison, joined with a condition, and its contrary; .EX of the upper halves of 64 bits."""
    lifting.only(*_COMPARISONS, *JOINS, "U32", "EX", "T", "F", "S64", "U64")
    to, contrary, a, b, joined, *lower = instruction.operands
    comparison = next((m for m in instruction.modifiers if m in _COMPARISONS), None)
    if comparison is None:
        if not instruction.has("T", "F"):
            raise lifting.refuse()
        found = lifting.value("mov.pred", "pred", Immediate(int(instruction.has("T"))))
    elif instruction.has("S64", "U64"):
        if instruction.has("EX", "U32"):
            raise lifting.refuse()
        pairs = (lifting.wide(source) for source in (a, b))
        found = lifting.value(f"setp.{comparison.lower()}.{'u64' if instruction.has('U64') else 's64'}", "pred", *pairs)
    else:
        found = _compared(lifting, instruction, comparison, a, b, lower)
    write_joined(lifting, instruction, found, to, contrary, joined)


def _compared(
    lifting: Lifting, instruction: MachineInstruction, comparison: str, a: Operand, b: Operand, lower: list[Operand]
) -> Register:
    """Of 32 bits, or of 64 where a predicate has what the lower halves gave."""
    kind = "u32" if instruction.has("U32") else "s32"
    left, right = lifting.whole(a), lifting.whole(b)
    found = lifting.value(f"setp.{comparison.lower()}.{kind}", "pred", left, right)
    if not instruction.has("EX"):
        if lower:
            raise lifting.refuse()
        return found
    below = lifting.predicate(lower[0] if lower else Reg("PT"))  # nvdisasm leaves out PT at the end
    if comparison in ("EQ", "NE"):
        return lifting.value("and.pred" if comparison == "EQ" else "or.pred", "pred", found, below)
    same = lifting.value("setp.eq.b32", "pred", left, right)
    strict = lifting.value(f"setp.{comparison[0].lower()}t.{kind}", "pred", left, right)
    return lifting.value("or.pred", "pred", strict, lifting.value("and.pred", "pred", same, below))


def write_joined(
    lifting: Lifting, instruction: MachineInstruction, found: Register, to: Operand, contrary: Operand, joined: Operand
) -> None:
    """A comparison and its contrary, each joined with a condition (.AND, .OR, .XOR)."""
    way = next((m for m in JOINS if instruction.has(m)), "AND").lower()
    other = lifting.predicate(joined)
    first = lifting.value(f"{way}.pred", "pred", found, other)
    second = None
    if not (isinstance(contrary, Reg) and contrary.is_zero):
        second = lifting.value(f"{way}.pred", "pred", lifting.value("not.pred", "pred", found), other)
    lifting.write_predicate(to, first)
    if second is not None:
        lifting.write_predicate(contrary, second)


def choose(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SEL: one of two; .64 of pairs."""
    lifting.only("64")
    to, a, b, condition = instruction.operands
    if instruction.has("64"):
        pairs = [pair_of(lifting, source) for source in (a, b)]
        lifting.write_pair(to, lifting.value("selp.b64", "b64", *pairs, lifting.predicate(condition)))
        return
    lifting.write(
        to, lifting.value("selp.b32", "b32", lifting.whole(a), lifting.whole(b), lifting.predicate(condition))
    )


def move(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MOV; .64 of pairs."""
    lifting.only("64")
    to, source, *mask = instruction.operands
    if mask and not (isinstance(mask[0], Number) and mask[0].value == 0xF):
        raise lifting.refuse("moves some bytes of a register, which is not supported")
    if instruction.has("64"):
        lifting.write_pair(to, lifting.copy(pair_of(lifting, source), "b64"))
        return
    lifting.write(to, lifting.copy(lifting.whole(source)))


def absolute(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IABS."""
    lifting.only()
    to, source = instruction.operands
    lifting.write(to, lifting.value("abs.s32", "b32", lifting.whole(source)))


def absolute_difference(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VABSDIFF: c + |a - b|."""
    lifting.only("U32")
    to, a, b, c = instruction.operands
    name = "sad.u32" if instruction.has("U32") else "sad.s32"
    lifting.write(to, lifting.value(name, "b32", lifting.whole(a), lifting.whole(b), lifting.whole(c)))


HANDLERS = {
    "IADD3": add,
    "IADD": add,
    "IMAD": multiply_add,
    "LEA": load_address,
    "ISETP": compare,
    "SEL": choose,
    "MOV": move,
    "IABS": absolute,
    "VABSDIFF": absolute_difference,
}
HANDLERS |= {f"U{name}": handler for name, handler in HANDLERS.items()}
