"""Whole numbers: sums, products, shifts, logic, comparisons. Those of the uniform datapath do the same, once a warp."""

from collections.abc import Sequence

from simtmm.cuda.ptx.syntax import Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Number, Operand, Reg

_COMPARISONS = ("EQ", "NE", "LT", "LE", "GT", "GE")


def parted(instruction: MachineInstruction) -> tuple[list[Operand], list[Operand], list[Operand]]:
    """Operands as results (a register, then predicates), sources, and predicates that are read at the end."""
    operands = list(instruction.operands)
    first = 1
    if _is_predicate(operands[0]) and len(operands) > 1 and not _is_predicate(operands[1]):
        first = 2  # a predicate, then the register
    while first < len(operands) and _is_predicate(operands[first]):
        first += 1
    last = len(operands)
    while last > first and _is_predicate(operands[last - 1]):
        last -= 1
    return operands[:first], operands[first:last], operands[last:]


def _is_predicate(operand: Operand) -> bool:
    return isinstance(operand, Reg) and operand.is_predicate


def _zero_extended(lifting: Lifting, source: Operand) -> tuple[PtxOperand, int]:
    """An operand of a sum that may carry, of 64 bits, and what is added for its sign: -a is ~a + 1."""
    found = lifting.bits(source)
    negative = (isinstance(source, Reg) and source.negative) or getattr(source, "negative", False)
    inverted = getattr(source, "inverted", False)
    if negative or inverted:
        found = lifting.value("not.b32", "b32", found)
    if isinstance(found, Immediate):
        return Immediate(found.value & 0xFFFFFFFF), int(negative)
    return lifting.value("cvt.u64.u32", "b64", found), int(negative)


def _carried(lifting: Lifting, total: PtxOperand, predicates: Sequence[Operand]) -> list[Register]:
    """Whether the upper half of a sum is at least 1, 2 and so on."""
    if not predicates:
        return []
    upper = lifting.value("shr.u64", "b64", total, Immediate(32))
    return [lifting.value("setp.ge.u64", "pred", upper, Immediate(n + 1)) for n in range(len(predicates))]


def _low(lifting: Lifting, wide: PtxOperand) -> Register:
    return lifting.value("cvt.u32.u64", "b32", wide)


def _high(lifting: Lifting, wide: PtxOperand) -> Register:
    return lifting.value("cvt.u32.u64", "b32", lifting.value("shr.u64", "b64", wide, Immediate(32)))


def _one_if(lifting: Lifting, predicate: Operand, kind: str) -> PtxOperand:
    if isinstance(predicate, Reg) and predicate.is_zero:
        return Immediate(0 if predicate.inverted else 1)
    return lifting.value(f"selp.{kind}", kind, Immediate(1), Immediate(0), lifting.predicate(predicate))


def add(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IADD3: a sum of three, with carries."""
    (to, *out), sources, carries = parted(instruction)
    if not out and not carries:
        total = lifting.whole(sources[0])
        for source in sources[1:]:
            total = lifting.value("add.s32", "b32", total, lifting.whole(source))
        lifting.write(to, total)
        return
    constant = 0
    total64: PtxOperand = Immediate(0)
    for source in sources:
        part, more = _zero_extended(lifting, source)
        constant += more
        total64 = lifting.value("add.s64", "b64", part, total64)
    for carry in carries if instruction.has("X") else []:
        total64 = lifting.value("add.s64", "b64", total64, _one_if(lifting, carry, "b64"))
    total64 = lifting.value("add.s64", "b64", total64, Immediate(constant))
    flags = _carried(lifting, total64, out)
    lifting.write(to, _low(lifting, total64))
    for place, flag in zip(out, flags, strict=True):
        lifting.write_predicate(place, flag)


def multiply_add(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IMAD: a product and a sum; of 64 bits with .WIDE, the upper half with .HI."""
    (to, *out), (a, b, c), carries = parted(instruction)
    signed = "s32" if not instruction.has("U32") else "u32"
    if instruction.has("WIDE", "HI"):
        product = lifting.value(f"mul.wide.{signed}", "b64", lifting.whole(a), lifting.whole(b))
        added = lifting.wide(c)
        total = lifting.value("add.s64", "b64", product, added)
        flag = lifting.value("setp.lt.u64", "pred", total, product)
        if instruction.has("X"):
            for carry in carries:
                more = lifting.value("add.s64", "b64", total, _one_if(lifting, carry, "b64"))
                over = lifting.value("setp.lt.u64", "pred", more, total)
                flag = lifting.value("or.pred", "pred", flag, over)
                total = more
        if instruction.has("HI"):
            lifting.write(to, _high(lifting, total))
        else:
            lifting.write_pair(to, total)
        for place in out:
            lifting.write_predicate(place, flag)
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
    for carry in carries if instruction.has("X") else []:
        found = lifting.value("add.s32", "b32", found, _one_if(lifting, carry, "b32"))
    lifting.write(to, found)


def load_address(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LEA: a shifted by a number, and b; with .HI the upper half of that."""
    (to, *out), sources, carries = parted(instruction)
    shift = sources[-1]
    if not isinstance(shift, Number):
        raise lifting.refuse("shifts by what is no number")
    by = int(shift.value)
    a, b = sources[0], sources[1]
    if instruction.has("HI"):
        low = lifting.whole(a)
        if instruction.has("SX32"):
            upper: PtxOperand = lifting.value("shr.s32", "b32", low, Immediate(31))
        else:
            upper = lifting.whole(sources[2])
        whole = lifting.value("mov.b64", "b64", Vector((low, upper)))
        part: PtxOperand = _high(lifting, lifting.value("shl.b64", "b64", whole, Immediate(by)))
    else:
        part = lifting.value("shl.b32", "b32", lifting.whole(a), Immediate(by))
    if not out and not carries:
        lifting.write(to, lifting.value("add.s32", "b32", part, lifting.whole(b)))
        return
    other, constant = _zero_extended(lifting, b)
    total: PtxOperand = lifting.value("add.s64", "b64", lifting.value("cvt.u64.u32", "b64", part), other)
    for carry in carries if instruction.has("X") else []:
        total = lifting.value("add.s64", "b64", total, _one_if(lifting, carry, "b64"))
    total = lifting.value("add.s64", "b64", total, Immediate(constant))
    flags = _carried(lifting, total, out)
    lifting.write(to, _low(lifting, total))
    for place, flag in zip(out, flags, strict=True):
        lifting.write_predicate(place, flag)


def logic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LOP3: any function of three bits."""
    operands = list(instruction.operands)
    flag = operands.pop(0) if _is_predicate(operands[0]) else None
    to, a, b, c, table, *rest = operands
    if not isinstance(table, Number):
        raise lifting.refuse()
    found = lifting.value(
        "lop3.b32", "b32", lifting.whole(a), lifting.whole(b), lifting.whole(c), Immediate(int(table.value))
    )
    if flag is not None:
        some = lifting.value("setp.ne.b32", "pred", found, Immediate(0))
        if rest:
            way = "and" if instruction.has("PAND") else "or"
            some = lifting.value(f"{way}.pred", "pred", some, lifting.predicate(rest[0]))
        lifting.write(to, found)
        lifting.write_predicate(flag, some)
        return
    lifting.write(to, found)


def predicate_logic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """PLOP3: two functions of three conditions."""
    *conditions, first, second = instruction.operands
    if len(conditions) != 5 or not isinstance(first, Number) or not isinstance(second, Number):
        raise lifting.refuse()
    index: PtxOperand = Immediate(0)
    for place, source in enumerate(conditions[2:]):
        bit = lifting.value("selp.b32", "b32", Immediate(4 >> place), Immediate(0), lifting.predicate(source))
        index = lifting.value("or.b32", "b32", bit, index)
    found = []
    for table in (first, second):
        row = lifting.value("shr.u32", "b32", Immediate(int(table.value)), index)
        one = lifting.value("and.b32", "b32", row, Immediate(1))
        found.append(lifting.value("setp.ne.b32", "pred", one, Immediate(0)))
    for to, condition in zip(conditions[:2], found, strict=True):
        lifting.write_predicate(to, condition)


def shift(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SHF: two registers, the lower first, as one number of 64 bits that is shifted; a half of that."""
    to, low, by, high = instruction.operands
    bits = 64 if instruction.has("U64", "S64") else 32
    signed = instruction.has("S32", "S64")
    amount = lifting.whole(by)
    if instruction.has("W"):
        amount = lifting.value("and.b32", "b32", amount, Immediate(bits - 1))
    else:
        amount = lifting.value("min.u32", "b32", amount, Immediate(bits))
    whole = lifting.value("mov.b64", "b64", Vector((lifting.whole(low), lifting.whole(high))))
    if instruction.has("L"):
        moved = lifting.value("shl.b64", "b64", whole, amount)
    else:
        moved = lifting.value("shr.s64" if signed else "shr.u64", "b64", whole, amount)
    lifting.write(to, _high(lifting, moved) if instruction.has("HI") else _low(lifting, moved))


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """ISETP: a comparison, joined with a condition, and its contrary; .EX of the upper halves of 64 bits."""
    to, contrary, a, b, joined, *lower = instruction.operands
    comparison = next((m for m in instruction.modifiers if m in _COMPARISONS), None)
    kind = "u32" if instruction.has("U32") else "s32"
    if comparison is None:
        if not instruction.has("T", "F"):
            raise lifting.refuse()
        found = lifting.value("mov.pred", "pred", Immediate(int(instruction.has("T"))))
    else:
        left, right = lifting.whole(a), lifting.whole(b)
        found = lifting.value(f"setp.{comparison.lower()}.{kind}", "pred", left, right)
        if instruction.has("EX"):
            below = lifting.predicate(lower[0])
            same = lifting.value("setp.eq.b32", "pred", left, right)
            if comparison in ("EQ", "NE"):
                found = lifting.value("and.pred" if comparison == "EQ" else "or.pred", "pred", found, below)
            else:
                strict = lifting.value(f"setp.{comparison[0].lower()}t.{kind}", "pred", left, right)
                found = lifting.value("or.pred", "pred", strict, lifting.value("and.pred", "pred", same, below))
    write_joined(lifting, instruction, found, to, contrary, joined)


def write_joined(
    lifting: Lifting, instruction: MachineInstruction, found: Register, to: Operand, contrary: Operand, joined: Operand
) -> None:
    """A comparison and its contrary, each joined with a condition (.AND, .OR, .XOR)."""
    way = next((m for m in ("AND", "OR", "XOR") if instruction.has(m)), "AND").lower()
    other = lifting.predicate(joined)
    first = lifting.value(f"{way}.pred", "pred", found, other)
    second = None
    if not (isinstance(contrary, Reg) and contrary.is_zero):
        second = lifting.value(f"{way}.pred", "pred", lifting.value("not.pred", "pred", found), other)
    lifting.write_predicate(to, first)
    if second is not None:
        lifting.write_predicate(contrary, second)


def choose(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SEL: one of two."""
    to, a, b, condition = instruction.operands
    lifting.write(
        to, lifting.value("selp.b32", "b32", lifting.whole(a), lifting.whole(b), lifting.predicate(condition))
    )


def move(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MOV."""
    to, source, *mask = instruction.operands
    if mask and not (isinstance(mask[0], Number) and mask[0].value == 0xF):
        raise lifting.refuse("moves some bytes of a register, which is not known")
    lifting.write(to, lifting.copy(lifting.whole(source)))


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IMNMX, VIMNMX: the smaller of two where the condition holds, else the larger."""
    to, a, b, condition = (*instruction.operands[:3], instruction.operands[-1])
    kind = "u32" if instruction.has("U32") else "s32"
    left, right = lifting.whole(a), lifting.whole(b)
    least = lifting.value(f"min.{kind}", "b32", left, right)
    most = lifting.value(f"max.{kind}", "b32", left, right)
    lifting.write(to, lifting.value("selp.b32", "b32", least, most, lifting.predicate(condition)))


def permute(lifting: Lifting, instruction: MachineInstruction) -> None:
    """PRMT: bytes of two registers, by a selector that stands between them."""
    to, a, selector, b = instruction.operands
    modes = [m.lower() for m in instruction.modifiers if m in ("F4E", "B4E", "RC8", "ECL", "ECR", "RC16")]
    name = ".".join(("prmt.b32", *modes))
    lifting.write(to, lifting.value(name, "b32", lifting.whole(a), lifting.whole(b), lifting.whole(selector)))


def absolute(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IABS."""
    to, source = instruction.operands
    lifting.write(to, lifting.value("abs.s32", "b32", lifting.whole(source)))


def count_bits(lifting: Lifting, instruction: MachineInstruction) -> None:
    """POPC."""
    to, source = instruction.operands
    lifting.write(to, lifting.value("popc.b32", "b32", lifting.whole(source)))


def find_bit(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FLO: the place of the highest bit that is set, or differs from the sign; .SH: the shift that brings it up."""
    (to, *flags), (source,), _ = parted(instruction)
    kind = "u32" if instruction.has("U32") else "s32"
    name = f"bfind.shiftamt.{kind}" if instruction.has("SH") else f"bfind.{kind}"
    found = lifting.value(name, "b32", lifting.whole(source))
    some = lifting.value("setp.ne.b32", "pred", found, Immediate(0xFFFFFFFF))
    lifting.write(to, found)
    for flag in flags:
        lifting.write_predicate(flag, some)


def reverse(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BREV."""
    to, source = instruction.operands
    lifting.write(to, lifting.value("brev.b32", "b32", lifting.whole(source)))


HANDLERS = {
    "IADD3": add,
    "VIADD": add,
    "IADD": add,
    "IMAD": multiply_add,
    "LEA": load_address,
    "LOP3": logic,
    "PLOP3": predicate_logic,
    "SHF": shift,
    "ISETP": compare,
    "SEL": choose,
    "MOV": move,
    "IMNMX": least_or_most,
    "VIMNMX": least_or_most,
    "PRMT": permute,
    "IABS": absolute,
    "POPC": count_bits,
    "FLO": find_bit,
    "BREV": reverse,
}
HANDLERS |= {f"U{name}": handler for name, handler in HANDLERS.items()}
