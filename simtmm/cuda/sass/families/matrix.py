"""Matrices in the registers of a warp: products, and tiles between registers and shared memory."""

import re

from simtmm.cuda.ptx.syntax import Operand as PtxOperand
from simtmm.cuda.ptx.syntax import Register, Vector
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction, Operand, Reg

# Rows, columns and depth, as they are written behind one another.
_SHAPES = {
    "1684": (16, 8, 4),
    "1688": (16, 8, 8),
    "16816": (16, 8, 16),
    "16832": (16, 8, 32),
    "16864": (16, 8, 64),
    "168128": (16, 8, 128),
    "168256": (16, 8, 256),
    "8816": (8, 8, 16),
    "8832": (8, 8, 32),
    "88128": (8, 8, 128),
    "884": (8, 8, 4),
    "8x8x4": (8, 8, 4),
    "16x8x4": (16, 8, 4),
    "16x8x8": (16, 8, 8),
    "16x8x16": (16, 8, 16),
}
_BITS = {"f16": 16, "bf16": 16, "tf32": 32, "s8": 8, "u8": 8, "s4": 4, "u4": 4, "e4m3": 8, "e5m2": 8, "b1": 1,
         "f64": 64, "f32": 32, "s32": 32}  # fmt: skip


def _product(lifting: Lifting, instruction: MachineInstruction, kinds: tuple[str, str, str], how: str = "") -> None:
    """D = A B + C. kinds: of the sum, of A and of B."""
    if len(instruction.operands) != 4:
        raise lifting.refuse()
    shape = next((m for m in instruction.modifiers if m in _SHAPES), None)
    if shape is None:
        raise lifting.refuse("has a shape that is not supported")
    rows, columns, depth = _SHAPES[shape]
    sum_kind, a_kind, b_kind = kinds
    counts = [rows * columns, rows * depth, columns * depth]
    bits = [_BITS[sum_kind], _BITS[a_kind], _BITS[b_kind]]
    registers = [count * each // (32 * 32) for count, each in zip(counts, bits, strict=True)]
    to, a, b, c = instruction.operands
    for operand, layout in ((a, "ROW"), (b, "COL")):
        if not isinstance(operand, Reg) or operand.part not in ("", layout):
            raise lifting.refuse("has a factor of a layout that is not supported")
    sources = [
        Vector(_numbers(lifting, operand, count, sum_kind == "f64"))
        for operand, count in ((a, registers[1]), (b, registers[2]), (c, registers[0]))
    ]
    kind = "b64" if sum_kind == "f64" else "b32"
    found = [lifting.temporary(kind) for _ in range(registers[0] // (2 if sum_kind == "f64" else 1))]
    name = f"mma.sync.here.aligned.m{rows}n{columns}k{depth}.row.col{how}"
    lifting.do(f"{name}.{sum_kind}.{a_kind}.{b_kind}.{sum_kind}", Vector(tuple(found)), *sources)
    _write(lifting, to, found, kind == "b64")


def _numbers(lifting: Lifting, source: Operand, count: int, doubles: bool) -> tuple[PtxOperand, ...]:
    """The registers of a fragment, by pairs if it is of doubles."""
    if not isinstance(source, Reg) or source.negative or source.absolute or source.inverted:
        raise lifting.refuse("has a fragment that is not supported")
    plain = Reg(source.name)
    if not doubles:
        return tuple(lifting.registers_of(plain, count))
    if source.is_zero:
        return tuple(lifting.pair(plain) for _ in range(count // 2))
    return tuple(lifting.pair(Reg(f"R{source.number + 2 * n}")) for n in range(count // 2))


def _write(lifting: Lifting, to: Operand, found: list[Register], doubles: bool) -> None:
    if not isinstance(to, Reg):
        raise lifting.refuse("has a destination that is not a register")
    if to.is_zero:
        return
    for number, each in enumerate(found):
        if doubles:
            lifting.write_pair(Reg(f"R{to.number + 2 * number}"), each)
        else:
            lifting.write(Reg(f"R{to.number + number}"), each)


def of_halves(lifting: Lifting, instruction: MachineInstruction) -> None:
    """HMMA."""
    lifting.only("1684", "1688", "16816", "F32", "F16", "BF16", "TF32")
    factor = "bf16" if instruction.has("BF16") else "tf32" if instruction.has("TF32") else "f16"
    if not instruction.has("F32", "F16") or (instruction.has("F32") and instruction.has("F16")):
        raise lifting.refuse("has a sum of a type that is not supported")
    _product(lifting, instruction, ("f32" if instruction.has("F32") else "f16", factor, factor))


def _factors(lifting: Lifting, instruction: MachineInstruction, known: tuple[str, ...]) -> tuple[str, str]:
    found = [m.lower() for m in instruction.modifiers if m in known]
    if len(found) != 2:
        raise lifting.refuse("has factors of types that are not known")
    return found[0], found[1]


def of_whole(lifting: Lifting, instruction: MachineInstruction) -> None:
    """IMMA."""
    kinds = ("S8", "U8", "S4", "U4")
    lifting.only("8816", "16816", "16832", "8832", "16864", "SAT", *kinds)
    a, b = _factors(lifting, instruction, kinds)
    _product(lifting, instruction, ("s32", a, b), ".satfinite" if instruction.has("SAT") else "")


def of_bytes(lifting: Lifting, instruction: MachineInstruction) -> None:
    """QMMA: real numbers of 8 bits."""
    kinds = ("E4M3", "E5M2")
    lifting.only("16832", "16816", "F32", "F16", *kinds)
    a, b = _factors(lifting, instruction, kinds)
    _product(lifting, instruction, ("f32" if instruction.has("F32") else "f16", a, b))


def of_doubles(lifting: Lifting, instruction: MachineInstruction) -> None:
    """DMMA."""
    lifting.only("884", "8x8x4", "16x8x4", "16x8x8", "16x8x16")
    _product(lifting, instruction, ("f64", "f64", "f64"))


def of_bits(lifting: Lifting, instruction: MachineInstruction) -> None:
    """BMMA."""
    lifting.only("88128", "168128", "168256", "XOR", "AND", "POPC")
    if not instruction.has("POPC") or not instruction.has("XOR", "AND"):
        raise lifting.refuse()
    _product(lifting, instruction, ("s32", "b1", "b1"), ".xor.popc" if instruction.has("XOR") else ".and.popc")


_TILES = re.compile(r"[24]")


def _tiles(lifting: Lifting, instruction: MachineInstruction) -> tuple[int, str]:
    """How many tiles of 8 times 8 halves, and whether they are turned."""
    lifting.only("16", "M88", "MT88", "2", "4")
    if not instruction.has("16") or not instruction.has("M88", "MT88"):
        raise lifting.refuse()
    count = next((int(m) for m in instruction.modifiers if _TILES.fullmatch(m)), 1)
    return count, f".m8n8.x{count}{'.trans' if instruction.has('MT88') else ''}.shared.b16"


def load_tiles(lifting: Lifting, instruction: MachineInstruction) -> None:
    """LDSM."""
    count, name = _tiles(lifting, instruction)
    to, place = instruction.operands
    found = [lifting.temporary("b32") for _ in range(count)]
    lifting.access(f"ldmatrix.sync.here.aligned{name}", Vector(tuple(found)), lifting.short_address(place))
    _write(lifting, to, found, False)


def store_tiles(lifting: Lifting, instruction: MachineInstruction) -> None:
    """STSM."""
    count, name = _tiles(lifting, instruction)
    place, source = instruction.operands
    parts = lifting.registers_of(source, count)
    lifting.access(f"stmatrix.sync.here.aligned{name}", lifting.short_address(place), Vector(tuple(parts)))


def turn_tile(lifting: Lifting, instruction: MachineInstruction) -> None:
    """MOVM."""
    lifting.only("16", "MT88")
    if instruction.modifiers != ("16", "MT88"):
        raise lifting.refuse()
    to, source = instruction.operands
    name = "movmatrix.sync.here.aligned.m8n8.trans.b16"
    lifting.write(to, lifting.value(name, "b32", lifting.bits(source)))


HANDLERS = {
    "HMMA": of_halves,
    "IMMA": of_whole,
    "QMMA": of_bytes,
    "DMMA": of_doubles,
    "BMMA": of_bits,
    "LDSM": load_tiles,
    "STSM": store_tiles,
    "MOVM": turn_tile,
}
