"""Bits: logic, shifts, permutations, counts, and fields. Those of the uniform datapath do the same, once a warp."""

from simtmm.cuda.ptx.syntax import Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer_operands import high, is_predicate, low_part, parted
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Number, Operand, Reg


def logic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LOP3: any function of three bits."""
    lifting.only("LUT", "PAND")
    operands = list(instruction.operands)
    flag = operands.pop(0) if is_predicate(operands[0]) else None
    to, a, b, c, table, *rest = lifting.exactly(operands, 5, 6)
    if not isinstance(table, Number):
        raise lifting.refuse()
    found = lifting.value(
        "lop3.b32", "b32", lifting.whole(a), lifting.whole(b), lifting.whole(c), Immediate(lifting.whole_number(table))
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
    lifting.only("LUT")
    *conditions, first, second = instruction.operands
    if len(conditions) != 5 or not isinstance(first, Number) or not isinstance(second, Number):
        raise lifting.refuse()
    index: PtxOperand = Immediate(0)
    for place, source in enumerate(conditions[2:]):
        bit = lifting.value("selp.b32", "b32", Immediate(4 >> place), Immediate(0), _condition(lifting, source))
        index = lifting.value("or.b32", "b32", bit, index)
    found = []
    for table in (first, second):
        row = lifting.value("shr.u32", "b32", Immediate(lifting.whole_number(table)), index)
        one = lifting.value("and.b32", "b32", row, Immediate(1))
        found.append(lifting.value("setp.ne.b32", "pred", one, Immediate(0)))
    for to, condition in zip(conditions[:2], found, strict=True):
        lifting.write_predicate(to, condition)


def _condition(lifting: Lifting, source: Operand) -> Register:
    """A predicate, or the sign of a register."""
    if isinstance(source, Reg) and not source.is_predicate and source.part == "SIGN":
        below = lifting.value("setp.lt.s32", "pred", lifting.bits(source), Immediate(0))
        return lifting.value("not.pred", "pred", below) if source.inverted else below
    return lifting.predicate(source)


def shift(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SHF: two registers, the lower first, as one number of 64 bits that is shifted; a half of that."""
    lifting.only("L", "R", "W", "HI", "U32", "S32", "U64", "S64")
    to, lower, by, upper = instruction.operands
    bits = 64 if instruction.has("U64", "S64") else 32
    signed = instruction.has("S32", "S64")
    amount = lifting.whole(by)
    if instruction.has("W"):
        amount = lifting.value("and.b32", "b32", amount, Immediate(bits - 1))
    else:
        amount = lifting.value("min.u32", "b32", amount, Immediate(bits))
    whole = lifting.value("mov.b64", "b64", Vector((lifting.whole(lower), lifting.whole(upper))))
    if instruction.has("L"):
        moved = lifting.value("shl.b64", "b64", whole, amount)
    else:
        moved = lifting.value("shr.s64" if signed else "shr.u64", "b64", whole, amount)
    lifting.write(to, high(lifting, moved) if instruction.has("HI") else low_part(lifting, moved))


def permute(lifting: Lifting, instruction: MachineInstruction) -> None:
    """PRMT: bytes of two registers, by a selector that stands between them."""
    lifting.only("IDX", "F4E", "B4E", "RC8", "ECL", "ECR", "RC16")
    to, a, selector, b = instruction.operands
    modes = [m.lower() for m in instruction.modifiers if m in ("F4E", "B4E", "RC8", "ECL", "ECR", "RC16")]
    name = ".".join(("prmt.b32", *modes))
    lifting.write(to, lifting.value(name, "b32", lifting.whole(a), lifting.whole(b), lifting.whole(selector)))


def count_bits(lifting: Lifting, instruction: MachineInstruction) -> None:
    """POPC."""
    lifting.only()
    to, source = instruction.operands
    lifting.write(to, lifting.value("popc.b32", "b32", lifting.whole(source)))


def find_bit(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FLO: the place of the highest bit that is set, or differs from the sign; .SH: the shift that brings it up."""
    lifting.only("U32", "SH")
    (to, *flags), sources, _ = parted(instruction)
    (source,) = lifting.exactly(sources, 1)
    if not all(isinstance(flag, Reg) and flag.is_zero for flag in flags):
        raise lifting.refuse("tells by a predicate what is not known")
    kind = "u32" if instruction.has("U32") else "s32"
    name = f"bfind.shiftamt.{kind}" if instruction.has("SH") else f"bfind.{kind}"
    lifting.write(to, lifting.value(name, "b32", lifting.whole(source)))


def reverse(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BREV."""
    lifting.only()
    to, source = instruction.operands
    lifting.write(to, lifting.value("brev.b32", "b32", lifting.whole(source)))


def extend(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SGXT: the lowest bits of a number, its sign or 0 above them."""
    lifting.only("W", "U32")
    to, source, width = instruction.operands
    name = f"szext.{_mode(instruction)}.{'u32' if instruction.has('U32') else 's32'}"
    lifting.write(to, lifting.value(name, "b32", lifting.whole(source), lifting.whole(width)))


def mask(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BMSK: so many bits set from a place on."""
    lifting.only("W")
    to, start, width = instruction.operands
    name = f"bmsk.{_mode(instruction)}.b32"
    lifting.write(to, lifting.value(name, "b32", lifting.whole(start), lifting.whole(width)))


def _mode(instruction: MachineInstruction) -> str:
    return "wrap" if instruction.has("W") else "clamp"


HANDLERS = {
    "LOP3": logic,
    "PLOP3": predicate_logic,
    "SHF": shift,
    "PRMT": permute,
    "POPC": count_bits,
    "FLO": find_bit,
    "BREV": reverse,
    "SGXT": extend,
    "BMSK": mask,
}
HANDLERS |= {f"U{name}": handler for name, handler in HANDLERS.items()}
