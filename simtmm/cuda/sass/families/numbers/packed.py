"""Whole numbers of which a register may hold several, and the least and the most of them."""

from simtmm.cuda.ptx.syntax import Immediate, Register
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer import add
from simtmm.cuda.sass.families.numbers.integer_operands import is_predicate, is_signed_operand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Operand, Reg

_PAIRS = ("U16x2", "S16x2")
_TYPES = {"U32": "u32", "S32": "s32", "U64": "u64", "S64": "s64", "U16x2": "u16x2", "S16x2": "s16x2"}


def add_lanes(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VIADD: of 32 bits, of two halves (.16x2), or of four bytes, of which one may be taken off."""
    to, *sources = instruction.operands
    if instruction.has("16x2"):
        lifting.only("16x2")
        lifting.write(to, _sum_of_halves(lifting, *sources))
    elif instruction.has("U8x4"):
        lifting.only("U8x4")
        a, b = sources
        if is_signed_operand(a) or not isinstance(b, Reg) or b.absolute or b.inverted:
            raise lifting.refuse()
        name = "sub" if b.negative else "add"
        lifting.write(to, _of_bytes(lifting, name, lifting.bits(a), lifting.bits(b), Immediate(0)))
    else:
        add(lifting, instruction)


def _sum_of_halves(lifting: Lifting, a: Operand, b: Operand) -> PtxOperand:
    """Of two registers, half by half; one of them may be taken off."""
    if isinstance(a, Reg) and a.negative:
        a, b = b, a
    if is_signed_operand(a) or any(getattr(b, name, False) for name in ("absolute", "inverted")):
        raise lifting.refuse()
    name = "sub.u16x2" if is_signed_operand(b) else "add.u16x2"
    return lifting.value(name, "b32", lifting.whole(a), lifting.bits(b))


def _of_bytes(lifting: Lifting, name: str, *numbers: PtxOperand, ending: str = "") -> PtxOperand:
    """What an instruction gives of each of four bytes; it takes registers alone."""
    given = (number if isinstance(number, Register) else lifting.copy(number) for number in numbers)
    return lifting.value(f"v{name}4.u32.u32.u32{ending}", "b32", *given)


def _least_and_most(lifting: Lifting, instruction: MachineInstruction, sources: list[Operand]) -> list[PtxOperand]:
    """The least and the most of some numbers."""
    if instruction.has("U8x4"):
        if len(sources) != 2 or instruction.has("RELU") or any(map(is_signed_operand, sources)):
            raise lifting.refuse()
        numbers = [lifting.whole(source) for source in sources]
        return [_of_bytes(lifting, name, *numbers, Immediate(0)) for name in ("min", "max")]
    kind = next((name for modifier, name in _TYPES.items() if instruction.has(modifier)), "s32")
    packed = kind.endswith("x2")
    if (instruction.has("RELU") and kind[0] != "s") or (packed and any(map(is_signed_operand, sources))):
        raise lifting.refuse()
    relu = ".relu" if instruction.has("RELU") else ""
    wide = kind.endswith("64")
    numbers = [lifting.wide(source) if wide else lifting.whole(source) for source in sources]
    found: list[PtxOperand] = []
    for name in ("min", "max"):
        total = numbers[0]
        for number in numbers[1:]:
            total = lifting.value(f"{name}{relu}.{kind}", "b64" if wide else "b32", total, number)
        found.append(total)
    return found


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IMNMX, VIMNMX, VIMNMX3: the smaller where the condition holds, else the larger.

    Of halves, predicates tell whether the first operand's lower half was taken (or is as large), and its upper half.
    """
    lifting.only(*_TYPES, "U8x4", "RELU")
    operands = list(instruction.operands)
    place = next((n for n, operand in enumerate(operands) if not is_predicate(operand)), 0)
    if sum(not is_predicate(operand) for operand in operands[place + 1 :]) < 2:
        raise lifting.refuse("has unsupported operands")
    to = operands.pop(place)
    given = [operands.pop(0) for _ in range(place)]
    while is_predicate(operands[0]):
        given.append(operands.pop(0))
    sources = operands
    conditions: list[Operand] = []
    while is_predicate(sources[-1]):
        conditions.insert(0, sources.pop())
    if len(sources) != (3 if instruction.opcode.endswith("3") else 2) or not conditions:
        raise lifting.refuse()
    if not all(_is(condition, inverted=True) for condition in conditions[1:]):
        raise lifting.refuse()
    least, most = _least_and_most(lifting, instruction, sources)
    wide = instruction.has("U64", "S64")
    kind = "b64" if wide else "b32"
    found = lifting.value(f"selp.{kind}", kind, least, most, lifting.predicate(conditions[0]))
    flags: list[PtxOperand] = []
    if not all(_is(predicate, inverted=False) for predicate in given):
        if not instruction.has(*_PAIRS) or instruction.has("RELU") or len(given) != 2 or len(sources) != 2:
            raise lifting.refuse()
        differs = lifting.value("xor.b32", "b32", found, lifting.whole(sources[0]))
        for half in (0xFFFF, 0xFFFF0000):
            part = lifting.value("and.b32", "b32", differs, Immediate(half))
            flags.append(lifting.value("setp.eq.b32", "pred", part, Immediate(0)))
    if wide:
        lifting.write_pair(to, found)
    else:
        lifting.write(to, found)
    for predicate, flag in zip(given if flags else (), flags, strict=True):
        lifting.write_predicate(predicate, flag)


def _is(operand: Operand, inverted: bool) -> bool:
    """Whether a predicate is PT, or !PT."""
    return isinstance(operand, Reg) and operand.is_predicate and operand.is_zero and operand.inverted == inverted


def sum_and_extreme(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VIADDMNMX: a + b, and the smaller of that and c where the condition holds, else the larger."""
    lifting.only("U32", "S32", *_PAIRS, "RELU")
    to, a, b, c, condition = instruction.operands
    kind = next((m.lower() for m in instruction.modifiers if m != "RELU"), "s32")
    relu = ".relu" if instruction.has("RELU") else ""
    if (relu and kind[0] == "u") or (kind.endswith("x2") and is_signed_operand(c)):
        raise lifting.refuse()
    if kind.endswith("x2"):
        total = _sum_of_halves(lifting, a, b)
    else:
        total = lifting.value("add.s32", "b32", lifting.whole(a), lifting.whole(b))
    bound = lifting.whole(c)
    least, most = (lifting.value(f"{name}{relu}.{kind}", "b32", total, bound) for name in ("min", "max"))
    lifting.write(to, lifting.value("selp.b32", "b32", least, most, lifting.predicate(condition)))


def differences_of_bytes(lifting: Lifting, instruction: MachineInstruction) -> None:
    """VABSDIFF4: |a - b| of each byte; with .ACC their sum and c."""
    lifting.only("U8", "ACC")
    to, a, b, c = instruction.operands
    if not instruction.has("U8") or any(map(is_signed_operand, (a, b, c))):
        raise lifting.refuse()
    numbers = [lifting.whole(source) for source in (a, b, c)]
    lifting.write(to, _of_bytes(lifting, "absdiff", *numbers, ending=".add" if instruction.has("ACC") else ""))


def dot_product(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IDP: products of bytes with bytes (.4A), or with the halves of a register (.2A), summed up."""
    lifting.only("4A", "2A", "LO", "HI", "U8", "S8", "U16", "S16")
    to, a, b, c = instruction.operands
    first, second = lifting.exactly(
        [f"{m[0].lower()}32" for m in instruction.modifiers if m in ("U8", "S8", "U16", "S16")], 2
    )
    half = next((f".{m.lower()}" for m in ("LO", "HI") if instruction.has(m)), "")
    name = f"dp{'4a' if instruction.has('4A') else f'2a{half}'}.{first}.{second}"
    lifting.write(to, lifting.value(name, "b32", lifting.whole(a), lifting.whole(b), lifting.whole(c)))


HANDLERS = {
    "VIADD": add_lanes,
    **dict.fromkeys(("IMNMX", "VIMNMX", "VIMNMX3"), least_or_most),
    "VIADDMNMX": sum_and_extreme,
    "VABSDIFF4": differences_of_bytes,
    "IDP": dot_product,
}
HANDLERS |= {f"U{name}": handler for name, handler in HANDLERS.items()}
