"""Pairs of real numbers of 16 bits."""

import struct

from simtmm.cuda.ptx.syntax import Immediate, Pair, Register
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.integer import JOINS
from simtmm.cuda.sass.families.numbers.real import COMPARISONS, comparison_of, unsigned, write_extreme
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Number, Operand, Reg

_BRAIN = ("BF16_V2", "BF16")


def _kind(instruction: MachineInstruction) -> str:
    return "bf16x2" if instruction.has(*_BRAIN) else "f16x2"


def sources_of(lifting: Lifting, instruction: MachineInstruction, operands: list[Operand]) -> list[PtxOperand]:
    """Operands as pairs; of two numbers behind one another the upper half comes first."""
    found: list[PtxOperand] = []
    place = 0
    while place < len(operands):
        source = operands[place]
        if isinstance(source, Number):
            other = operands[place + 1] if place + 1 < len(operands) else None
            if not isinstance(other, Number):
                raise lifting.refuse("has a number alone where two are expected")
            bits = next((n.bits for n in (source, other) if n.bits is not None), None)
            high, low = (_half_bits(float(n.value), instruction.has(*_BRAIN)) for n in (source, other))
            found.append(Immediate(high << 16 | low if bits is None else bits))
            place += 2
        else:
            found.append(lifting.packed(source))
            place += 1
    return found


def _half_bits(number: float, brain: bool) -> int:
    if brain:
        return int.from_bytes(struct.pack("<f", number), "little") >> 16
    try:
        return int.from_bytes(struct.pack("<e", number), "little")
    except OverflowError:
        return 0x7C00 if number > 0 else 0xFC00


def half_of(lifting: Lifting, source: Operand) -> PtxOperand:
    """A number of 16 bits in the lower half of a register: that of an operand, or its upper half."""
    if not isinstance(source, (Reg, Constant)):
        raise lifting.refuse("has an operand that is not supported")
    found = lower_half(lifting, source)
    if source.absolute:
        found = lifting.value("and.b32", "b32", found, Immediate(0x7FFF))
    if source.negative:
        found = lifting.value("xor.b32", "b32", found, Immediate(0x8000))
    return found


def lower_half(lifting: Lifting, source: Operand) -> PtxOperand:
    """An operand of which the lower half is wanted, or that half which it names; signs are left."""
    found = lifting.bits(source)
    match getattr(source, "part", ""):
        case "" | "H0" | "H0_H0":
            return found
        case "H1" | "H1_H1":
            return lifting.value("shr.u32", "b32", found, Immediate(16))
        case part:
            raise lifting.refuse(f"takes {part} of an operand, which is not supported")


def arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HADD2, HMUL2, HFMA2; .MMA names the unit that does it."""
    lifting.only(*_BRAIN, "FTZ", "SAT", "RELU", "MMA", "F32")
    to, *operands = instruction.operands
    if instruction.has("F32"):
        _widen(lifting, instruction)
        return
    if any(getattr(source, "part", "") == "F32" for source in operands):
        _narrow(lifting, instruction)
        return
    numbers = sources_of(lifting, instruction, list(operands))
    stem, count = {"HADD2": ("add", 2), "HMUL2": ("mul", 2), "HFMA2": ("fma.rn", 3)}[instruction.opcode]
    if len(numbers) != count or (instruction.has("RELU") and count != 3):
        raise lifting.refuse()
    ways = "".join(f".{m.lower()}" for m in ("FTZ", "SAT", "RELU") if instruction.has(m))
    lifting.write(to, lifting.value(f"{stem}{ways}.{_kind(instruction)}", "b32", *numbers))


def _widen(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HADD2.F32: the sum of two numbers, one of them 0, as 32 bits."""
    to, *operands = instruction.operands
    if instruction.opcode != "HADD2" or instruction.has("FTZ", "RELU", "MMA") or len(operands) != 2:
        raise lifting.refuse()
    if not any(isinstance(source, Reg) and source.is_zero for source in operands):
        raise lifting.refuse("adds two numbers as 32 bits, which is not supported")
    given = "bf16" if instruction.has(*_BRAIN) else "f16"
    numbers = []
    for source in operands:
        if not isinstance(source, (Reg, Constant)) or source.part not in ("H0_H0", "H1_H1", *_whole_zero(source)):
            raise lifting.refuse()
        numbers.append(lifting.value(f"cvt.f32.{given}", "b32", half_of(lifting, source)))
    ways = ".sat" if instruction.has("SAT") else ""
    lifting.write(to, lifting.value(f"add.rn{ways}.f32", "b32", *numbers))


def _narrow(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HADD2 of 32 bits and -0, before sm_80: cut to 16, for both halves (of which ptxas uses the lower one)."""
    lifting.only()
    to, *operands = instruction.operands
    zero = [source for source in operands if isinstance(source, Reg) and source.is_zero and source.negative]
    given = [source for source in operands if source not in zero]
    if instruction.opcode != "HADD2" or len(zero) != 1 or len(given) != 1:
        raise lifting.refuse()
    found = lifting.value("cvt.rz.f16.f32", "b32", lifting.real(given[0]))
    lifting.write(to, lifting.value("prmt.b32", "b32", found, Immediate(0), Immediate(0x1010)))


def _whole_zero(source: Reg | Constant) -> tuple[str, ...]:
    return ("",) if isinstance(source, Reg) and source.is_zero else ()


def least_or_most(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HMNMX2: the smaller where the condition holds, else the larger; HMNMX3 of three."""
    lifting.only(*_BRAIN, "FTZ", "NAN", "XORSIGN")
    to, *operands, condition = instruction.operands
    if instruction.has("XORSIGN"):
        numbers = []
        for source in operands:
            unsigned(lifting, source)
            part = getattr(source, "part", "")
            numbers.append(lifting.packed(Reg(source.name, part=part) if isinstance(source, Reg) else source))
            if not isinstance(source, Reg):
                raise lifting.refuse()
    else:
        numbers = sources_of(lifting, instruction, operands)
    if len(numbers) != (3 if instruction.opcode.endswith("3") else 2):
        raise lifting.refuse()
    write_extreme(lifting, instruction, to, _kind(instruction), numbers, condition)


def _compared(lifting: Lifting, instruction: MachineInstruction, operands: list[Operand]) -> tuple[Register, Register]:
    """Whether a comparison, joined with a condition, holds for the lower halves and for the upper ones."""
    *compared, joined = operands
    name, way = comparison_of(instruction), next((m.lower() for m in JOINS if instruction.has(m)), "and")
    numbers = sources_of(lifting, instruction, compared)
    if not name or len(numbers) != 2:
        raise lifting.refuse()
    ftz = ".ftz" if instruction.has("FTZ") else ""
    low, high = lifting.temporary("pred"), lifting.temporary("pred")
    lifting.do(f"setp.{name}{ftz}.{_kind(instruction)}", Pair(low, high), *numbers)
    other = lifting.predicate(joined)
    return tuple(lifting.value(f"{way}.pred", "pred", found, other) for found in (low, high))  # type: ignore[return-value]


def compare(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HSETP2: a predicate for each half."""
    lifting.only(*_BRAIN, *COMPARISONS, *JOINS, "FTZ")
    to, second, *operands = instruction.operands
    low, high = _compared(lifting, instruction, operands)
    lifting.write_predicate(to, low)
    lifting.write_predicate(second, high)


def set_numbers(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HSET2: all 16 bits, or 1.0 with .BF, for each half."""
    lifting.only(*_BRAIN, *COMPARISONS, *JOINS, "FTZ", "BF", "BM")
    to, *operands = instruction.operands
    one = 0xFFFF if not instruction.has("BF") else 0x3F80 if instruction.has(*_BRAIN) else 0x3C00
    low, high = _compared(lifting, instruction, operands)
    lower = lifting.value("selp.b32", "b32", Immediate(one), Immediate(0), low)
    upper = lifting.value("selp.b32", "b32", Immediate(one << 16), Immediate(0), high)
    lifting.write(to, lifting.value("or.b32", "b32", upper, lower))


HANDLERS = {
    **dict.fromkeys(("HADD2", "HMUL2", "HFMA2"), arithmetic),
    **dict.fromkeys(("HMNMX2", "VHMNMX", "HMNMX3"), least_or_most),
    "HSETP2": compare,
    "HSET2": set_numbers,
}
