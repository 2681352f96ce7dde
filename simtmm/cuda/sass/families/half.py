"""Pairs of real numbers of 16 bits."""

import struct

from simtmm.cuda.ptx.syntax import Immediate
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Number, Operand


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
            high, low = (_half_bits(float(n.value), instruction.has("BF16_V2", "BF16")) for n in (source, other))
            found.append(Immediate(high << 16 | low))
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


def arithmetic(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HADD2, HMUL2, HFMA2."""
    to, *operands = instruction.operands
    if instruction.has("F32", "FMZ"):
        raise lifting.refuse()
    numbers = sources_of(lifting, instruction, list(operands))
    stem, count = {"HADD2": ("add", 2), "HMUL2": ("mul", 2), "HFMA2": ("fma.rn", 3)}[instruction.opcode]
    if len(numbers) != count:
        raise lifting.refuse()
    kind = "bf16x2" if instruction.has("BF16_V2", "BF16") else "f16x2"
    ways = "".join(
        f".{name}" for modifier, name in (("FTZ", "ftz"), ("SAT", "sat"), ("RELU", "relu")) if instruction.has(modifier)
    )
    lifting.write(to, lifting.value(f"{stem}{ways}.{kind}", "b32", *numbers))


HANDLERS = dict.fromkeys(("HADD2", "HMUL2", "HFMA2"), arithmetic)
