"""Real numbers of 32 bits: sums, products, comparisons, and what is chosen."""

from collections.abc import Sequence

from simtmm.cuda.ptx.syntax import Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer import JOINS, write_joined
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Number, Operand, Reg

ROUNDINGS = {"RZ": "rz", "RM": "rm", "RP": "rp"}
COMPARISONS = (
    "EQ", "NE", "LT", "LE", "GT", "GE", "NUM", "NAN", "EQU", "NEU", "LTU", "LEU", "GTU", "GEU",
)  # fmt: skip


def rounding(instruction: MachineInstruction) -> str:
    """The direction of rounding, as PTX names it."""
    return next((name for modifier, name in ROUNDINGS.items() if instruction.has(modifier)), "rn")


def comparison_of(instruction: MachineInstruction) -> str:
    """The comparison, as PTX names it: with U where it holds for NaN; "" for none."""
    return next((name.lower() for name in COMPARISONS if instruction.has(name)), "")


def _name(instruction: MachineInstruction, stem: str) -> str:
    parts = [stem, rounding(instruction)]
    parts += [name for modifier, name in (("FTZ", "ftz"), ("SAT", "sat")) if instruction.has(modifier)]
    return ".".join((*parts, "f32"))


def arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FADD, FMUL, FFMA."""
    lifting.only(*ROUNDINGS, "FTZ", "SAT")
    to, *sources = instruction.operands
    stem = {"FADD": "add", "FMUL": "mul", "FFMA": "fma"}[instruction.opcode.removeprefix("U")]
    if len(sources) != (3 if stem == "fma" else 2):
        raise lifting.refuse()
    numbers = [lifting.real(source) for source in sources]
    lifting.write(to, lifting.value(_name(instruction, stem), "b32", *numbers))


def pair_arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FADD2, FMUL2, FFMA2: two numbers at once, in a pair of registers each."""
    lifting.only(*ROUNDINGS, "FTZ")
    to, *sources = instruction.operands
    stem = {"FADD2": "add", "FMUL2": "mul", "FFMA2": "fma"}[instruction.opcode]
    if len(sources) != (3 if stem == "fma" else 2):
        raise lifting.refuse()
    numbers = [_two(lifting, source) for source in sources]
    lifting.write_pair(to, lifting.value(_name(instruction, stem) + "x2", "b64", *numbers))


def _two(lifting: Lifting, source: Operand) -> PtxOperand:
    """Two numbers of 32 bits: a pair, the upper one first, or the other way round (LO_HI), or one number for both.

    Signs are of both, and with .NP of the upper one as well.
    """
    if isinstance(source, Number):
        one = lifting.real(source)
        return lifting.value("mov.b64", "b64", Vector((one, one)))
    part = getattr(source, "part", "")
    if not isinstance(source, Reg) or source.inverted or part.removesuffix(".NP") not in _TWO:
        raise lifting.refuse("has an operand that is not supported")
    halves = lifting.registers_of(source, 2 if part.startswith("F32x2") else 1)
    low, high = (halves[0], halves[-1]) if "LO_HI" not in part else (halves[-1], halves[0])
    signs = [source.negative, source.negative != part.endswith(".NP")]
    parts = (
        lifting.real_signs(each, Reg(source.name, negative=negative, absolute=source.absolute))
        for each, negative in zip((low, high), signs, strict=True)
    )
    return lifting.value("mov.b64", "b64", Vector(tuple(parts)))


_TWO = ("F32", "F32x2.HI_LO", "F32x2.LO_HI")


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FMNMX, FMNMX3: the smaller where the condition holds, else the larger."""
    lifting.only("FTZ", "NAN", "XORSIGN")
    to, *sources, condition = instruction.operands
    if len(sources) != (3 if instruction.opcode.endswith("3") else 2):
        raise lifting.refuse()
    if instruction.has("XORSIGN"):
        numbers = [unsigned(lifting, source) for source in sources]
    else:
        numbers = [lifting.real(source) for source in sources]
    write_extreme(lifting, instruction, to, "f32", numbers, condition)


def write_extreme(
    lifting: Lifting,
    instruction: MachineInstruction,
    to: Operand,
    kind: str,
    numbers: Sequence[PtxOperand],
    condition: Operand,
) -> None:
    """Give the smaller of numbers of a kind where the condition holds, else the larger, as the modifiers say."""
    ways = "".join(
        f".{name}"
        for modifier, name in (("FTZ", "ftz"), ("NAN", "NaN"), ("XORSIGN", "xorsign.abs"))
        if instruction.has(modifier)
    )
    least, most = (lifting.value(f"{name}{ways}.{kind}", "b32", *numbers) for name in ("min", "max"))
    lifting.write(to, lifting.value("selp.b32", "b32", least, most, lifting.predicate(condition)))


def unsigned(lifting: Lifting, source: Operand) -> PtxOperand:
    """An operand of min or max with .XORSIGN: its size is compared, and its sign goes into the result's."""
    if not isinstance(source, (Reg, Constant)) or not source.absolute or source.negative:
        raise lifting.refuse("has an operand that is not supported")
    return lifting.bits(source)


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FSETP."""
    lifting.only(*COMPARISONS, *JOINS, "FTZ")
    to, contrary, a, b, joined = instruction.operands
    write_joined(lifting, instruction, _compared(lifting, instruction, a, b), to, contrary, joined)


def _compared(lifting: Lifting, instruction: MachineInstruction, a: Operand, b: Operand) -> Register:
    name = comparison_of(instruction)
    if not name:
        raise lifting.refuse()
    ftz = ".ftz" if instruction.has("FTZ") else ""
    return lifting.value(f"setp.{name}{ftz}.f32", "pred", lifting.real(a), lifting.real(b))


def set_number(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FSET: all bits, or 1.0 with .BF, where a comparison holds."""
    lifting.only(*COMPARISONS, *JOINS, "FTZ", "BF")
    to, a, b, joined = instruction.operands
    way = next((m.lower() for m in JOINS if instruction.has(m)), "and")
    found = _compared(lifting, instruction, a, b)
    found = lifting.value(f"{way}.pred", "pred", found, lifting.predicate(joined))
    one = Immediate(0x3F800000 if instruction.has("BF") else 0xFFFFFFFF)
    lifting.write(to, lifting.value("selp.b32", "b32", one, Immediate(0), found))


def choose(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FSEL: one of two."""
    lifting.only()
    to, a, b, condition = instruction.operands
    left, right = lifting.real(a), lifting.real(b)
    lifting.write(to, lifting.value("selp.b32", "b32", left, right, lifting.predicate(condition)))


def check_division(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FCHK: whether a quotient takes the long way, since the short one would leave the range of normal numbers.

    Where exactly the machine draws the line is not known. It is drawn here where the short way's products and rests
    are sure to be normal numbers: exponents (as they are written) of the dividend of 32 at least, of the divisor 2 to
    252, and those of the quotient far from both ends. Beyond, the long way gives the same, whatever the numbers.
    """
    lifting.only()
    to, a, b = instruction.operands
    dividend, divisor = (
        lifting.value("bfe.u32", "b32", lifting.real(source), Immediate(23), Immediate(8)) for source in (a, b)
    )
    quotient = lifting.value("sub.s32", "b32", dividend, divisor)
    far: PtxOperand = lifting.predicate(Reg("PT", inverted=True))
    for exponent, least, most in ((dividend, 32, 254), (divisor, 2, 252), (quotient, -120, 120)):
        above = lifting.value("sub.s32", "b32", exponent, Immediate(least))
        outside = lifting.value("setp.gt.u32", "pred", above, Immediate(most - least))
        far = lifting.value("or.pred", "pred", far, outside)
    lifting.write_predicate(to, far)


HANDLERS = {
    **dict.fromkeys(("FADD", "FMUL", "FFMA", "UFADD", "UFMUL", "UFFMA"), arithmetic),
    **dict.fromkeys(("FADD2", "FMUL2", "FFMA2"), pair_arithmetic),
    **dict.fromkeys(("FMNMX", "FMNMX3", "UFMNMX"), least_or_most),
    **dict.fromkeys(("FSETP", "UFSETP"), compare),
    **dict.fromkeys(("FSET", "UFSET"), set_number),
    **dict.fromkeys(("FSEL", "UFSEL"), choose),
    "FCHK": check_division,
}
