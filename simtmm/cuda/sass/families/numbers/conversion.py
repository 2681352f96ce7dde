"""Conversions between numbers of all kinds, one at a time or packed."""

from simtmm.cuda.ptx.syntax import Immediate
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.numbers.half import half_of, lower_half
from simtmm.cuda.sass.families.numbers.real import ROUNDINGS, rounding
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Operand, Reg

_WHOLE = ("U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64")
_REAL = ("F16", "BF16", "F32", "F64")
_TO_WHOLE = {"FLOOR": "rmi", "CEIL": "rpi", "TRUNC": "rzi", "ROUND": "rni"}
_SMALL = ("E4M3", "E5M2")
_ABOVE = {"": 0, "24": 4, "28": 2}  # bits of each number of I2IP by what is kept of its third operand


def _kind(instruction: MachineInstruction, kinds: tuple[str, ...], usual: str) -> str:
    """The type among these that is named."""
    return next((m for m in instruction.modifiers if m in kinds), usual).lower()


def _bits(kind: str) -> int:
    return int(kind.removeprefix("bf").lstrip("fsu"))


def _given(lifting: Lifting, source: Operand, kind: str) -> PtxOperand:
    """What is converted."""
    if kind in ("f16", "bf16"):
        return half_of(lifting, source)
    if kind == "f32":
        return lifting.real(source)
    if kind == "f64":
        return lifting.double(source)
    if _bits(kind) == 64:
        return lifting.wide(source)
    if _bits(kind) == 32:
        return lifting.whole(source)
    part = getattr(source, "part", "")
    if part:
        if not isinstance(source, (Reg, Constant)) or part[0] != ("B" if _bits(kind) == 8 else "H"):
            raise lifting.refuse()
        if source.negative or source.absolute or source.inverted or not part[1:].isdecimal():
            raise lifting.refuse()
        return lifting.value("shr.u32", "b32", lifting.bits(source), Immediate(int(part[1:]) * _bits(kind)))
    return lifting.whole(source)


def _write(lifting: Lifting, to: Operand, name: str, kind: str, source: PtxOperand) -> None:
    """Convert, and write a register or a pair."""
    if _bits(kind) == 64:
        lifting.write_pair(to, lifting.value(name, "b64", source))
    else:
        lifting.write(to, lifting.value(name, "b32", source))


def from_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """I2F, I2FP."""
    lifting.only(*_WHOLE, *_REAL, *ROUNDINGS)
    to, source = instruction.operands
    kind, given = _kind(instruction, _REAL, "F32"), _kind(instruction, _WHOLE, "S32")
    name = f"cvt.{rounding(instruction)}.{kind}.{given}"
    _write(lifting, to, name, kind, _given(lifting, source, given))


def _whole(lifting: Lifting, instruction: MachineInstruction, source: Operand, kind: str, given: str) -> PtxOperand:
    """A real number as a whole one, held within its range; NaN is 0 with .NTZ, else the highest bit."""
    how = next((name for modifier, name in _TO_WHOLE.items() if instruction.has(modifier)), "rni")
    number = _given(lifting, source, given)
    type_name = "b64" if _bits(kind) == 64 else "b32"
    ftz = ".ftz" if instruction.has("FTZ") and given == "f32" else ""
    found = lifting.value(f"cvt.{how}{ftz}.{kind}.{given}", type_name, number)
    zero = given != "f64" and _bits(kind) != 64  # what PTX gives for NaN
    if zero == instruction.has("NTZ"):
        return found
    if given in ("f16", "bf16"):
        number, given = lifting.value(f"cvt.f32.{given}", "b32", number), "f32"
    is_nan = lifting.value(f"setp.nan.{given}", "pred", number, number)
    instead = Immediate(0 if instruction.has("NTZ") else 1 << (_bits(kind) - 1))
    return lifting.value(f"selp.{type_name}", type_name, instead, found, is_nan)


def to_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """F2I."""
    lifting.only(*_WHOLE, *_REAL, *_TO_WHOLE, "FTZ", "NTZ")
    to, source = instruction.operands
    kind, given = _kind(instruction, _WHOLE, "S32"), _kind(instruction, _REAL, "F32")
    found = _whole(lifting, instruction, source, kind, given)
    if _bits(kind) == 64:
        lifting.write_pair(to, found)
    else:
        lifting.write(to, found)


def to_bytes(lifting: Lifting, instruction: MachineInstruction) -> None:
    """F2IP: two real numbers as bytes, under the lower half of a third operand."""
    lifting.only("U8", "S8", "F32", *_TO_WHOLE, "FTZ", "NTZ")
    to, a, b, above = instruction.operands
    kind = _kind(instruction, ("U8", "S8"), "")
    if not kind:
        raise lifting.refuse()
    upper, lower = (_whole(lifting, instruction, source, kind, "f32") for source in (a, b))
    both = lifting.value("prmt.b32", "b32", lower, upper, Immediate(0x0040))
    lifting.write(to, lifting.value("prmt.b32", "b32", both, lifting.whole(above), Immediate(0x5410)))


def between_real(lifting: Lifting, instruction: MachineInstruction) -> None:
    """F2F."""
    lifting.only(*_REAL, *ROUNDINGS, "FTZ", "SAT")
    to, source = instruction.operands
    kinds = [m.lower() for m in instruction.modifiers if m in _REAL]
    if len(kinds) != 2 or kinds[0] == kinds[1]:
        raise lifting.refuse()
    kind, given = kinds
    how = f".{rounding(instruction)}" if _bits(kind) < _bits(given) else ""
    how += "".join(f".{m.lower()}" for m in ("FTZ", "SAT") if instruction.has(m))
    _write(lifting, to, f"cvt{how}.{kind}.{given}", kind, _given(lifting, source, given))


def round_to_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """FRND: to a whole number, of the same format."""
    lifting.only(*_REAL, *_TO_WHOLE, "FTZ")
    to, source = instruction.operands
    kind = _kind(instruction, _REAL, "F32")
    how = next((name for modifier, name in _TO_WHOLE.items() if instruction.has(modifier)), "rni")
    ftz = ".ftz" if instruction.has("FTZ") and kind == "f32" else ""
    if kind == "bf16":  # as one of 32 bits, of which the upper half has all bits
        wide = lifting.value("cvt.f32.bf16", "b32", _given(lifting, source, kind))
        lifting.write(to, lifting.value("cvt.rn.bf16.f32", "b32", lifting.value(f"cvt.{how}.f32.f32", "b32", wide)))
        return
    _write(lifting, to, f"cvt.{how}{ftz}.{kind}.{kind}", kind, _given(lifting, source, kind))


def between_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """I2I: held within the range of fewer bits."""
    lifting.only("S32", "SAT", "U8", "S8", "U16", "S16")
    to, source = instruction.operands
    kinds = [m.lower() for m in instruction.modifiers if m in _WHOLE]
    if len(kinds) != 2 or kinds[1] != "s32" or not instruction.has("SAT"):
        raise lifting.refuse()
    lifting.write(to, lifting.value(f"cvt.sat.{kinds[0]}.s32", "b32", lifting.whole(source)))


def pack_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """I2IP: two whole numbers, held within the range of fewer bits, under the lower bits of a third operand."""
    small = ("U16", "S16", "U8", "S8", "U4", "S4", "U2", "S2")
    lifting.only(*small, "S32", "SAT")
    to, a, b, above = instruction.operands
    kind = _kind(instruction, small, "")
    if not kind or not instruction.has("SAT") or not isinstance(above, Reg):
        raise lifting.refuse()
    numbers = [lifting.whole(a), lifting.whole(b)]
    if _bits(kind) == 16:
        if not above.is_zero:
            raise lifting.refuse()
        lifting.write(to, lifting.value(f"cvt.pack.sat.{kind}.s32", "b32", *numbers))
        return
    if _ABOVE.get(above.part) != (_bits(kind) if _bits(kind) < 8 else 0):
        raise lifting.refuse()
    lifting.write(to, lifting.value(f"cvt.pack.sat.{kind}.s32.b32", "b32", *numbers, lifting.bits(above)))


def pack_real(lifting: Lifting, instruction: MachineInstruction) -> None:
    """F2FP: two numbers as two of 16 or 8 bits (_AB), or one (_B), or from 8 bits (UNPACK_B); C may stand above."""
    lifting.only(
        "F16", "BF16", "TF32", "F32", *_SMALL, "RELU", "SATFINITE", "RZ", "PACK_AB", "PACK_B", "MERGE_C", "UNPACK_B",
        "PACK_AB_MERGE_C", "UNPACK_B_MERGE_C",
    )  # fmt: skip
    to, *sources = instruction.operands
    kinds = [m.lower() for m in instruction.modifiers if m in ("F16", "BF16", "TF32", "F32", *_SMALL)]
    if not kinds or kinds in (["f16"], ["bf16"]):  # of sm_80
        kinds = [*(kinds or ["f16"]), "f32"]
    hows = [m for m in instruction.modifiers if m.startswith(("PACK", "UNPACK", "MERGE"))]
    if len(hows) != 1 or len(kinds) != 2:
        raise lifting.refuse("has unsupported operands")
    (how,), (kind, given) = hows, kinds
    ways = "".join(f".{m.lower()}" for m in ("SATFINITE", "RELU") if instruction.has(m))
    ways = f"{rounding(instruction)}{ways}"
    merged = sources.pop() if how.endswith("MERGE_C") else None
    match how:
        case "PACK_AB" | "PACK_AB_MERGE_C" if given == "f32" and len(sources) == 2:
            name = f"cvt.{ways}.{kind}x2.f32"
            numbers = [lifting.real(source) for source in sources]
        case "PACK_B" | "MERGE_C" if given == "f32" and len(sources) == 1:
            name = f"cvt.{ways}.{kind}.f32"
            numbers = [lifting.real(sources[0])]
        case "UNPACK_B" if given in ("e4m3", "e5m2") and kind == "f16" and len(sources) == 1:
            name = f"cvt.{ways}.f16x2.{given}x2"
            numbers = [half_of(lifting, sources[0])]
        case "UNPACK_B_MERGE_C" if given == "f16" and len(sources) == 1:
            name = f"cvt.{ways}.{kind}x2.f16x2"
            numbers = [lifting.packed(sources[0])]
        case _:
            raise lifting.refuse()
    if (how == "PACK_B") != (kind == "tf32") or (kind in _SMALL_NAMES) != (how.endswith("B_MERGE_C")):
        raise lifting.refuse()
    if kind in _SMALL_NAMES and not instruction.has("SATFINITE"):
        raise lifting.refuse()
    found = lifting.value(name, "b32", *numbers)
    if merged is not None and not (isinstance(merged, Reg) and merged.is_zero):
        found = lifting.value("prmt.b32", "b32", found, lower_half(lifting, merged), Immediate(0x5410))
    lifting.write(to, found)


_SMALL_NAMES = tuple(name.lower() for name in _SMALL)
HANDLERS = {
    **dict.fromkeys(("I2F", "I2FP", "UI2F", "UI2FP"), from_whole),
    **dict.fromkeys(("F2I", "UF2I"), to_whole),
    "F2IP": to_bytes,
    "F2F": between_real,
    **dict.fromkeys(("FRND", "UFRND"), round_to_whole),
    "I2I": between_whole,
    "I2IP": pack_whole,
    **dict.fromkeys(("F2FP", "UF2FP"), pack_real),
}
