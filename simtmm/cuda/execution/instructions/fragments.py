"""Matrices that the lanes of a warp hold together: which register of which lane has which element.

Every fragment of mma, and of wmma as we lay it out, is made of tiles of 8 rows. A row of a tile is held by 4 lanes that
follow each other, each with the elements of one register: so one register of all lanes, read as one vector, is a tile
row by row (PTX ISA, "Matrix Fragments for mma"). The second operand of a product is held transposed. The tiles of a
fragment are numbered down its columns. Accumulators of 32 and 64 bits have two elements a lane, in two registers.
wmma leaves its layout open: ours is that of mma, which is what machines since sm_80 do as well.
"""

from dataclasses import dataclass

from simtmm.cuda.execution.emit import Emitter, Value, with_element
from simtmm.cuda.execution.instructions import half
from simtmm.cuda.execution.instructions.small_floats import widen_small
from simtmm.cuda.execution.layout import ALIGN, LANES
from simtmm.cuda.ptx.types import bits_of

TILE_ROWS = 8
ACCUMULATORS = ("f16", "f32", "f64", "s32")
WHOLE = ("s8", "u8", "s4", "u4", "b1", "s32")
WORDS = "b1"  # single bits, which are multiplied a word at a time


@dataclass(frozen=True)
class Fragment:
    """A matrix of a product, as the lanes hold it.

    rows, columns: of the matrix as it is held, so n and k for the second operand. kind: the type of its elements.
    accumulator: whether it is summed up in.
    """

    rows: int
    columns: int
    kind: str
    accumulator: bool = False

    @property
    def register_bits(self) -> int:
        """Of each register: 64 for f64."""
        return max(32, bits_of(self.kind))

    @property
    def register_bytes(self) -> int:
        """Of one register of all lanes."""
        return self.register_bits // 8 * LANES

    @property
    def packed(self) -> int:
        """Elements in a register."""
        return 1 if self.kind == "tf32" else self.register_bits // bits_of(self.kind)

    @property
    def registers_of_tile(self) -> int:
        """Two where an accumulator has an element a register."""
        return 2 if self.accumulator and self.packed == 1 else 1

    @property
    def tile_columns(self) -> int:
        """Of the matrix, in a tile."""
        return 4 * self.packed * self.registers_of_tile

    @property
    def row_tiles(self) -> int:
        """Tiles one below the other."""
        return self.rows // TILE_ROWS

    @property
    def column_tiles(self) -> int:
        """Tiles beside each other."""
        return self.columns // self.tile_columns

    @property
    def registers(self) -> int:
        """That hold the matrix once."""
        return self.row_tiles * self.column_tiles * self.registers_of_tile

    @property
    def computed(self) -> str:
        """What products and sums are computed in: whole numbers of 32 bits, or double precision.

        Products of all floating-point types but f64 are exact in it, and sums nearly so: they are rounded once to the
        accumulator's type. A tensor core keeps fewer bits, so its last bit may differ.
        """
        return "i32" if self.kind in WHOLE else "double"

    @property
    def computed_columns(self) -> int:
        """Numbers in a row as they are computed with: of single bits, words."""
        return self.columns // 32 if self.kind == WORDS else self.columns

    @property
    def computed_tile_columns(self) -> int:
        """The same of a tile."""
        return self.tile_columns // 32 if self.kind == WORDS else self.tile_columns

    def register(self, row_tile: int, column_tile: int) -> int:
        """The first register of a tile."""
        return (column_tile * self.row_tiles + row_tile) * self.registers_of_tile


@dataclass(frozen=True)
class Writing:
    """Stands for a context where a function of the runtime is written: it has an emitter, and no instruction."""

    emit: Emitter


def load_tile(emit: Emitter, fragment: Fragment, pointer: str, register: int) -> Value:
    """A tile row by row, in the type it is computed in. pointer: at the registers, one behind the other."""
    kind = fragment.kind
    size, whole = fragment.register_bytes, f"<{size_in(fragment)} x i{bits_of(kind)}>"
    at = emit.at(pointer, size * register)
    if fragment.accumulator and fragment.packed == 1:
        element = f"i{fragment.register_bits}"
        first, second = (emit.load(f"<{LANES} x {element}>", emit.at(at, size * n), ALIGN) for n in (0, 1))
        pairs = emit.shuffle(first, second, [n // 2 + LANES * (n % 2) for n in range(2 * LANES)])
        return _computed(emit, pairs, kind)
    if kind in ("s4", "u4"):
        return _nibbles(emit, emit.load(f"<{4 * LANES} x i8>", at, ALIGN), kind)
    if kind in (WORDS, "tf32"):
        whole = f"<{LANES} x i32>"
    return _computed(emit, emit.load(whole, at, ALIGN), kind)


def size_in(fragment: Fragment) -> int:
    """Elements of a register of all lanes."""
    return LANES * fragment.packed


def _computed(emit: Emitter, raw: Value, kind: str) -> Value:
    """Raw elements in the type they are computed in."""
    match kind:
        case "s8" | "u8":
            return emit.resize(raw, "i32", kind == "s8")
        case "s32" | "b1":
            return raw
        case "f64":
            return emit.as_type(raw, with_element(raw.type, "double"))
        case "f32":
            return emit.cast("fpext", emit.as_type(raw, with_element(raw.type, "float")), "double")
        case "tf32":  # the lowest 13 bits of the mantissa are not looked at
            cut = emit.binary("and", raw, emit.constant(-0x2000, raw.type))
            return emit.cast("fpext", emit.as_type(cut, with_element(raw.type, "float")), "double")
        case "e4m3" | "e5m2":
            return emit.cast("fpext", widen_small(emit, raw, kind), "double")
    return emit.cast("fpext", half.widen(Writing(emit), raw, half.is_brain(kind)), "double")


def _nibbles(emit: Emitter, raw: Value, kind: str) -> Value:
    """Numbers of 4 bits, the lower of a byte first."""
    down = "ashr" if kind == "s4" else "lshr"
    four = emit.constant(4, raw.type)
    low = emit.binary(down, emit.binary("shl", raw, four), four)
    high = emit.binary(down, raw, four)
    count = 4 * LANES
    both = emit.shuffle(low, high, [n // 2 + count * (n % 2) for n in range(2 * count)])
    return emit.resize(both, "i32", kind == "s4")


def store_tile(emit: Emitter, fragment: Fragment, pointer: str, register: int, tile: Value) -> None:
    """The other way, of an accumulator: rounded to nearest, once; a NaN has all bits set but the sign."""
    size = fragment.register_bytes
    at = emit.at(pointer, size * register)
    match fragment.kind:
        case "f16":
            context = Writing(emit)
            emit.store(half.narrow(context, half.to_odd(context, tile), False), at, ALIGN)
            return
        case "f32":
            near = emit.cast("fptrunc", tile, "float")
            raw = emit.as_type(near, with_element(near.type, "i32"))
            raw = emit.select(emit.compare("fcmp uno", near, near), emit.constant(0x7FFFFFFF, raw.type), raw)
        case "f64":
            raw = emit.as_type(tile, with_element(tile.type, "i64"))
        case _:
            raw = tile
    for n in (0, 1):
        emit.store(emit.shuffle(raw, raw, range(n, 2 * LANES, 2)), emit.at(at, size * n), ALIGN)
