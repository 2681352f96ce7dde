"""Textures: TEX, TLD and TLD4, by coordinates and by whole numbers, and one channel of four texels. Surfaces: SULD and
SUST, as bytes.

Of a texture a layer comes first, then the coordinates; behind these the handle, where it is in a register, and a level.
Of a surface a layer comes last. Machine code reads textures of one dimension by coordinates as it reads those of two.
"""

from collections.abc import Sequence

from simtmm.cuda.execution.layout import TEXTURE_HANDLE
from simtmm.cuda.ptx.syntax import Address, Immediate, Register, Vector
from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.sass.families.memory import type_and_count
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import Constant, MachineInstruction, Memory, Number, Operand, Reg, Word

_PLACES = {
    "1D": ("1d", (0,)), "2D": ("2d", (0, 1)), "3D": ("3d", (0, 1, 2, 2)),
    "ARRAY_1D": ("a1d", (0, 1)), "ARRAY_2D": ("a2d", (0, 1, 2, 2)),
    "1D_ARRAY": ("a1d", (1, 0)), "2D_ARRAY": ("a2d", (2, 0, 1, 1)),  # of surfaces
}  # fmt: skip
"""Shapes as PTX has them, and which of the numbers a place in PTX has."""
_PAIR = 2  # registers
_CHANNELS = "RGBA"


def fetch(lifting: Lifting, instruction: MachineInstruction) -> None:
    """TEX, TLD, TLD4."""
    four = instruction.opcode == "TLD4"
    lifting.only("SCR", "B", *(_CHANNELS if four else ("LL", "LZ")))
    upper, lower = (_plain(lifting, each) for each in instruction.operands[:2])
    rest = list(instruction.operands[2:])
    mask = lifting.whole_number(rest.pop()) if isinstance(rest[-1], Number) else 0b1111
    dimensions = rest.pop()
    if not isinstance(dimensions, Word) or dimensions.text not in _PLACES or not 0 < mask < 1 << 4:
        raise lifting.refuse()
    shape, order = _PLACES[dimensions.text]
    handle, sources = _handle(lifting, rest)
    if handle is None and not instruction.has("B"):
        raise lifting.refuse("names no texture")
    given = _numbers(lifting, instruction, sources, max(order) + 1, handle is None)
    place = Vector(tuple(given[number] for number in order))
    parts = tuple(lifting.temporary("b32") for _ in range(4))
    lifting.access(
        _name(instruction, shape, handle is None),
        Vector(parts),
        Address(_object(lifting, given[max(order) + 1] if handle is None else handle), 0, (place,)),
    )
    wanted = [part for number, part in enumerate(parts) if mask >> number & 1]
    lifting.write_registers(lower, wanted[:_PAIR])
    lifting.write_registers(upper, wanted[_PAIR:])


def surface(lifting: Lifting, instruction: MachineInstruction) -> None:
    """SULD, SUST."""
    sizes, modes = ("U8", "U16", "64", "128"), ("TRAP", "IGN")
    lifting.only("D", "BA", "STRONG", "WEAK", "CTA", "SM", "GPU", "SYS", *sizes, *modes, *_PLACES)
    dimensions = next((each for each in instruction.modifiers if each in _PLACES), "")
    first, second, *rest = instruction.operands
    to, place = (first, second) if instruction.opcode == "SULD" else (second, first)
    to = _plain(lifting, to)
    handle, sources = _handle(lifting, rest)
    if not instruction.has("BA") or not dimensions or not isinstance(place, Memory):
        raise lifting.refuse()
    if len(place.registers) != 1 or place.offset or len(sources) != (handle is None):
        raise lifting.refuse()
    shape, order = _PLACES[dimensions]
    given = lifting.registers_of(_plain(lifting, place.registers[0]), max(order) + 1)
    object_ = _object(lifting, lifting.bits(sources[0]) if handle is None else handle)
    address = Address(object_, 0, (Vector(tuple(given[number] for number in order)),))
    kind, count = type_and_count(instruction)
    mode = "trap" if instruction.has("TRAP") else "zero" if instruction.has("IGN") else "clamp"
    name = f"b.{shape}{f'.v{count}' if count > 1 else ''}.b{kind[1:]}.{mode}"
    if instruction.opcode == "SUST":
        lifting.access(f"sust.{name}", address, Vector(tuple(lifting.registers_of(to, count))))
        return
    parts = tuple(lifting.temporary("b32") for _ in range(count))
    lifting.access(f"suld.{name}", Vector(parts), address)
    lifting.write_registers(to, parts)


def _handle(lifting: Lifting, operands: Sequence[Operand]) -> tuple[PtxOperand | None, list[Reg]]:
    """The lower half of the texture's handle, None where it stands in the registers; and the registers that are given.

    operands: behind what is written, but for shape and mask. A parameter is given by its bank and word, what is in a
    uniform register by that.
    """
    sources = [_plain(lifting, each) for each in operands if isinstance(each, Reg) and not each.name.startswith("U")]
    match list(operands[len(sources) :]):
        case []:
            return None, sources
        case [Number(0), Number(int(word))]:
            return lifting.bits(Constant(0, 4 * word)), sources
        case [Reg() as uniform] | [Reg() as uniform, Number(0)]:
            return lifting.bits(_plain(lifting, uniform, "UR")), sources
        case _:
            raise lifting.refuse()


def _plain(lifting: Lifting, operand: Operand, prefix: str = "R") -> Reg:
    """A register of numbers, to which nothing is done. prefix: of its name."""
    if not isinstance(operand, Reg) or operand != Reg(operand.name) or not operand.name.startswith(prefix):
        raise lifting.refuse("has an operand that is not supported")
    return operand


def _numbers(
    lifting: Lifting, instruction: MachineInstruction, sources: Sequence[Reg], place: int, has_handle: bool
) -> list[PtxOperand]:
    """The numbers of the place, so many, and what is given behind them.

    sources: one register or two, each the first of some. With .SCR two in the first, or one of two in all; else all of
    the place.
    """
    total = place + has_handle + instruction.has("LL")
    first = place
    if instruction.has("SCR"):
        first = 1 if total <= _PAIR else _PAIR
        if total > 2 * _PAIR:
            raise lifting.refuse()
    counts = [first, total - first] if total > first else [first]
    if len(sources) != len(counts):
        raise lifting.refuse()
    return [each for source, count in zip(sources, counts, strict=True) for each in lifting.registers_of(source, count)]


def _name(instruction: MachineInstruction, shape: str, is_bindless: bool) -> str:
    """The fetch as PTX has it. is_bindless: whether it names its texture by a register, which .B says."""
    modifiers = list(instruction.modifiers)
    if is_bindless:
        modifiers.remove("B")
    if instruction.opcode == "TLD4":
        channel = next((each for each in _CHANNELS if each in modifiers), _CHANNELS[0])
        return f"tld4.{channel.lower()}.{shape}.v4.f32.f32"
    if instruction.opcode == "TLD":
        return f"tex.{shape}.v4.f32.s32"
    return f"tex.{'flat' if shape == '2d' else shape}.v4.f32.f32"


def _object(lifting: Lifting, lower: PtxOperand) -> Register:
    """The texture object whose handle has this lower half, which is all that the machine looks at."""
    wide = lifting.value("cvt.u64.u32", "b64", lower)
    return lifting.value("or.b64", "b64", wide, Immediate(TEXTURE_HANDLE))


HANDLERS = {**dict.fromkeys(("TEX", "TLD", "TLD4"), fetch), **dict.fromkeys(("SULD", "SUST"), surface)}
