"""Matrices that the lanes of a warp hold together: which register of which lane has which element.

Every fragment of mma, and of wmma as we lay it out, is made of tiles of 8 rows. A row of a tile is held by 4 lanes that
follow each other, each with the elements of one register: so one register of all lanes, read as one vector, is a tile
row by row (PTX ISA, "Matrix Fragments for mma"). The second operand of a product is held transposed. The tiles of a
fragment are numbered down its columns. Accumulators of 32 and 64 bits have two elements a lane, in two registers.
wmma leaves its layout open: ours is that of mma, which is what machines since sm_80 do as well.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.numbers import half
from simtmm.cuda.execution.instructions.numbers.small_floats import widen_small
from simtmm.cuda.execution.layout import LANES
from simtmm.cuda.execution.translation.emit import Emitter, Value, count_of, with_element
from simtmm.cuda.ptx.types import bits_of

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

TILE_ROWS = 8
ROW_ALIGN = 16  # bytes, of what four lanes have in a register
ACCUMULATORS = ("f16", "f32", "f64", "s32")
EIGHT_BITS = ("e4m3", "e5m2")
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
        """How many elements a register packs."""
        return 1 if self.kind == "tf32" else self.register_bits // bits_of(self.kind)

    @property
    def registers_of_tile(self) -> int:
        """How many registers hold a tile: two if an accumulator has one element in each register."""
        return 2 if self.accumulator and self.packed == 1 else 1

    @property
    def tile_columns(self) -> int:
        """How many of the matrix's columns a tile has."""
        return 4 * self.packed * self.registers_of_tile

    @property
    def row_tiles(self) -> int:
        """The number of tiles in a column."""
        return self.rows // TILE_ROWS

    @property
    def column_tiles(self) -> int:
        """The number of tiles in a row."""
        return self.columns // self.tile_columns

    @property
    def registers(self) -> int:
        """How many registers hold the whole matrix once."""
        return self.row_tiles * self.column_tiles * self.registers_of_tile

    @property
    def computed(self) -> str:
        """The type in which products and sums are computed."""
        return "i32" if self.kind in WHOLE else "double" if self.kind == "f64" else "float"

    @property
    def computed_bytes(self) -> int:
        """The size of a number in that type [bytes]."""
        return 8 if self.computed == "double" else 4

    @property
    def computed_columns(self) -> int:
        """How many numbers of that type a row has; for single bits, words."""
        return self.columns // 32 if self.kind == WORDS else self.columns

    @property
    def computed_tile_columns(self) -> int:
        """How many numbers of that type a row of a tile has."""
        return self.tile_columns // 32 if self.kind == WORDS else self.tile_columns

    def register(self, row_tile: int, column_tile: int) -> int:
        """The first register of a tile."""
        return (column_tile * self.row_tiles + row_tile) * self.registers_of_tile


@dataclass(frozen=True)
class Writing:
    """Stands for a context where a function of the runtime is written: it has an emitter, and no instruction."""

    emit: Emitter


def load_row(emit: Emitter, fragment: Fragment, pointer: str) -> Value:
    """A row of a tile, in the type it is computed in. pointer: at its first lane's part of the tile's register."""
    kind = fragment.kind
    lanes = LANES // TILE_ROWS
    if fragment.registers_of_tile == 2:
        of = f"<{lanes} x i{fragment.register_bits}>"
        first, second = (emit.load(of, emit.at(pointer, n * fragment.register_bytes), ROW_ALIGN) for n in (0, 1))
        both = emit.shuffle(first, second, [n // 2 + lanes * (n % 2) for n in range(2 * lanes)])
        return computed(emit, both, kind)
    if kind in ("s4", "u4"):
        return _nibbles(emit, emit.load(f"<{4 * lanes} x i8>", pointer, ROW_ALIGN), kind)
    of = f"<{lanes} x i32>" if kind in (WORDS, "tf32") else f"<{lanes * fragment.packed} x i{bits_of(kind)}>"
    return computed(emit, emit.load(of, pointer, ROW_ALIGN), kind)


def computed(emit: Emitter, raw: Value, kind: str) -> Value:
    """Raw elements in the type that they are computed in."""
    match kind:
        case "s8" | "u8":
            return emit.resize(raw, "i32", kind == "s8")
        case "s32" | "b1":
            return raw
        case "f64":
            return emit.as_type(raw, with_element(raw.type, "double"))
        case "f32":
            return emit.as_type(raw, with_element(raw.type, "float"))
        case "tf32":  # the lowest 13 bits of the mantissa are not looked at
            cut = emit.binary("and", raw, emit.constant(-0x2000, raw.type))
            return emit.as_type(cut, with_element(raw.type, "float"))
        case "e4m3" | "e5m2":
            return widen_small(emit, raw, kind)
    return half.widen(Writing(emit), raw, half.is_brain(kind))


def _nibbles(emit: Emitter, raw: Value, kind: str) -> Value:
    """Numbers of 4 bits, the lower of a byte first."""
    down = "ashr" if kind == "s4" else "lshr"
    four = emit.constant(4, raw.type)
    low = emit.binary(down, emit.binary("shl", raw, four), four)
    high = emit.binary(down, raw, four)
    count = count_of(raw.type)
    both = emit.shuffle(low, high, [n // 2 + count * (n % 2) for n in range(2 * count)])
    return emit.resize(both, "i32", kind == "s4")


def store_row(emit: Emitter, fragment: Fragment, pointer: str, row: Value) -> None:
    """Store a row of an accumulator's tile: rounded to nearest, once; a NaN has all bits set but the sign."""
    match fragment.kind:
        case "f16":
            emit.store(half.narrow(Writing(emit), row, False), pointer, ROW_ALIGN)
            return
        case "f32":
            raw = emit.as_type(row, with_element(row.type, "i32"))
            raw = emit.select(emit.compare("fcmp uno", row, row), emit.constant(0x7FFFFFFF, raw.type), raw)
        case "f64":
            raw = emit.as_type(row, with_element(row.type, "i64"))
        case _:
            raw = row
    for n in (0, 1):
        part = emit.shuffle(raw, raw, range(n, count_of(raw.type), 2))
        emit.store(part, emit.at(pointer, fragment.register_bytes * n), ROW_ALIGN)


def tile_function(program: "Program", fragment: Fragment, what: str) -> str:
    """The name of void(registers, matrix, stride), which moves a tile row by row: "load", "turned" or "store"."""
    name = f"tile.{what}.{fragment.kind}{'.sum' if fragment.accumulator else ''}"
    program.helper(name, lambda: _tile_function(program.declared, name, fragment, what))
    return name


def _tile_function(declared: dict[str, str], name: str, fragment: Fragment, what: str) -> str:
    """A loop over the rows; turned: the matrix has the tile's rows as columns."""
    emit = Emitter(declared)
    of = f"<{fragment.computed_tile_columns} x {fragment.computed}>"
    emit.label("entry")
    emit.do("br label %rows")
    emit.label("rows")
    emit.do("%n = phi i64 [ 0, %entry ], [ %n.next, %rows ]")
    emit.do(f"%held = mul i64 %n, {fragment.register_bytes // TILE_ROWS}")
    emit.do("%row = getelementptr i8, ptr %registers, i64 %held")
    emit.do(f"%far = mul i64 %n, {fragment.computed_bytes if what == 'turned' else '%stride'}")
    emit.do("%at = getelementptr i8, ptr %matrix, i64 %far")
    if what == "store":
        store_row(emit, fragment, "%row", emit.load(of, "%at", 4))
    elif what == "load":
        emit.store(load_row(emit, fragment, "%row"), "%at", 4)
    else:
        value = load_row(emit, fragment, "%row")
        place = "%at"
        for k in range(fragment.computed_tile_columns):
            emit.store(emit.value(f"extractelement {value}, i32 {k}", fragment.computed), place, 4)
            place = emit.at(place, Value("%stride", "i64"))
    emit.do("%n.next = add i64 %n, 1")
    emit.do(f"%more = icmp ult i64 %n.next, {TILE_ROWS}")
    emit.do("br i1 %more, label %rows, label %end")
    emit.label("end")
    emit.do("ret void")
    body = "\n".join(emit.lines)
    return f'define internal void @"{name}"(ptr %registers, ptr %matrix, i64 %stride) noinline {{\n{body}\n}}\n'
