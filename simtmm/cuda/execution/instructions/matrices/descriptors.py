"""Matrices in shared memory that wgmma reads by a descriptor: where each 16 bytes of them lie.

PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory Layout": a descriptor holds, in units of 16 bytes, where the
matrix begins (bits 0 to 13), the leading (16 to 29) and the stride (32 to 45) byte offset; the base offset of the
swizzle (49 to 51) and the swizzle (62 to 63). A matrix is made of core matrices of 8 rows of 16 bytes; a row runs along
K, or across it where the matrix is transposed.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import ALIGN, BAD_DESCRIPTOR, LANES
from simtmm.cuda.execution.runtime.accesses import mover_function
from simtmm.cuda.execution.translation.emit import Emitter, Value, lanes

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

CHUNK = 16  # bytes that stay together however a matrix is swizzled
K_BYTES = 32  # of a row along K of what one instruction multiplies, of every type
K_OF_TURNED = 16  # numbers along K of a transposed matrix, whose types have 16 bits
_START, _LEADING, _STRIDE, _BASE, _SWIZZLE = 0, 16, 32, 49, 62  # bits of the descriptor
_FIELD = (1 << 14) - 1
_I64 = lanes("i64")


@dataclass(frozen=True)
class SharedMatrix:
    """A factor of a product in shared memory.

    rows: along M or N, of what a warp reads. turned: whether the rows of its core matrices run along M or N.
    k_bytes: of a row along K.
    """

    rows: int
    turned: bool
    k_bytes: int = K_BYTES

    @property
    def chunks(self) -> int:
        """Pieces of 16 bytes."""
        return self.rows * self.k_bytes // CHUNK

    def place(self, chunk: int) -> tuple[int, int]:
        """Of a piece in the order in which they are read: its group of 8 numbers or row along M or N, and along K."""
        if self.turned:
            return chunk % (self.rows // 8), chunk // (self.rows // 8)
        return divmod(chunk, self.k_bytes // CHUNK)


def reader_function(program: "Program", matrix: SharedMatrix) -> str:
    """The name of i1(launch, block, warp, access, descriptor, first, raw): whether an address is wrong.

    first: of the rows, a multiple of 8. raw: takes the bytes: row by row of k_bytes along K, or of a transposed matrix
    row by row along M or N.
    """
    wide = f".{matrix.k_bytes}" if matrix.k_bytes != K_BYTES else ""
    name = f"wgmma.read.{matrix.rows}{wide}{'.turned' if matrix.turned else ''}"
    program.helper(name, lambda: _function(program, name, matrix))
    return name


def _function(program: "Program", name: str, matrix: SharedMatrix) -> str:
    emit = Emitter(program.declared)
    mover = mover_function(program, "load", CHUNK)
    emit.label("entry")
    emit.do(f"%addresses = alloca [{LANES} x i64], align {ALIGN}")
    emit.do(f"%hosts = alloca [{LANES} x i64], align {ALIGN}")
    layout = _Layout(emit, matrix)
    if matrix.k_bytes > K_BYTES and not matrix.turned:
        emit.do(f"br {layout.is_narrow}, label %narrow, label %wide.enough")
        emit.label("narrow")
        access, lane = Value("%access", "i32"), Value("0", "i32")
        emit.call(
            "fault",
            "void",
            Value("%launch", "ptr"),
            Value(str(BAD_DESCRIPTOR), "i32"),
            access,
            lane,
            Value("%descriptor", "i64"),
        )
        emit.do("br label %failed")
        emit.label("wide.enough")
    for first in range(0, matrix.chunks, LANES):
        count = min(LANES, matrix.chunks - first)
        emit.store(layout.addresses(range(first, first + LANES)), "%addresses", ALIGN)
        mask = Value(str((1 << count) - 1 if count < LANES else -1), "i32")
        pointers = [Value(each, "ptr") for each in ("%launch", "%block", "%warp")]
        wrong = emit.call(
            "resolve.shared", "i1", *pointers, Value("%access", "i32"), mask, Value(str(CHUNK), "i64"),
            Value("false", "i1"), Value("%addresses", "ptr"), Value("%hosts", "ptr"),
        )  # fmt: skip
        label = emit.name("right")[1:]
        emit.do(f"br {wrong}, label %failed, label %{label}")
        emit.label(label)
        to = Value(emit.at("%raw", first * CHUNK), "ptr")
        emit.call(mover, "void", mask, Value("%hosts", "ptr"), to)
    emit.do("ret i1 false")
    emit.label("failed")
    emit.do("ret i1 true")
    body = "\n".join(emit.lines)
    head = "ptr %launch, ptr %block, ptr %warp, i32 %access, i64 %descriptor, i64 %first, ptr %raw"
    return f'define internal i1 @"{name}"({head}) noinline {{\n{body}\n}}\n'


class _Layout:
    """The fields of a descriptor, and what follows of them for every piece."""

    def __init__(self, emit: Emitter, matrix: SharedMatrix) -> None:
        self._emit, self._matrix = emit, matrix
        one, zero = _number(1), _number(0)
        mode = self._field(_SWIZZLE, 3)
        self._is_plain = emit.compare("icmp eq", mode, zero)
        self.is_narrow = emit.compare("icmp eq", mode, _number(3))  # a pattern of 32 bytes
        # The pieces that are side by side in a row of the swizzle's pattern, 1, 2, 4 or 8, and their logarithm
        self._shift = emit.binary("and", emit.binary("sub", _number(4), mode), _number(3))
        self._wide = emit.binary("shl", one, self._shift)
        self._leading = emit.binary("shl", self._field(_LEADING, _FIELD), _number(4))
        self._stride = emit.binary("shl", self._field(_STRIDE, _FIELD), _number(4))
        self._start = emit.binary("shl", self._field(_START, _FIELD), _number(4))
        self._base = self._field(_BASE, 7)
        self._eights = emit.binary("lshr", Value("%first", "i64"), _number(3))

    def _field(self, bit: int, mask: int) -> Value:
        moved = self._emit.binary("lshr", Value("%descriptor", "i64"), _number(bit))
        return self._emit.binary("and", moved, _number(mask))

    def addresses(self, chunks: range) -> Value:
        """Of some pieces, one a lane; beyond the last one, anything."""
        emit = self._emit
        places = [self._matrix.place(chunk % self._matrix.chunks) for chunk in chunks]
        offsets = self._turned(places) if self._matrix.turned else self._along_k(places)
        plain = emit.binary("add", offsets, emit.splat(self._start))
        phase = emit.binary("sub", emit.binary("lshr", plain, _everywhere(7)), emit.splat(self._base))
        less = emit.binary("sub", self._wide, _number(1))
        moved = emit.binary("shl", emit.binary("and", phase, emit.splat(less)), _everywhere(4))
        return emit.binary("xor", plain, moved)

    def _along_k(self, places: list[tuple[int, int]]) -> Value:
        """Row r, piece h of it: r div 8 strides, r mod 8 rows of the pattern, h pieces or leading offsets."""
        emit = self._emit
        row_bytes = emit.binary("shl", _number(CHUNK), self._shift)
        aside = emit.select(self._is_plain, self._leading, _number(CHUNK))
        eights = emit.binary("add", _vector([row // 8 for row, _ in places]), emit.splat(self._eights))
        return self._sum(
            (eights, self._stride),
            (_vector([row % 8 for row, _ in places]), row_bytes),
            (_vector([half for _, half in places]), aside),
        )

    def _turned(self, places: list[tuple[int, int]]) -> Value:
        """Group g of 8 numbers along M or N, k along K: the pattern's row k mod 8 has `wide` groups side by side."""
        emit = self._emit
        groups = emit.binary("add", _vector([group for group, _ in places]), emit.splat(self._eights))
        less = emit.splat(emit.binary("sub", self._wide, _number(1)))
        row_bytes = emit.binary("shl", _number(CHUNK), self._shift)
        return self._sum(
            (emit.binary("and", groups, less), _number(CHUNK)),
            (
                emit.binary("lshr", groups, emit.splat(self._shift)),
                emit.select(self._is_plain, self._stride, self._leading),
            ),
            (_vector([k % 8 for _, k in places]), row_bytes),
            (_vector([k // 8 for _, k in places]), emit.select(self._is_plain, self._leading, self._stride)),
        )

    def _sum(self, *terms: tuple[Value, Value]) -> Value:
        """Of vectors times numbers."""
        emit = self._emit
        products = [emit.binary("mul", counts, emit.splat(each)) for counts, each in terms]
        total = products[0]
        for each in products[1:]:
            total = emit.binary("add", total, each)
        return total


def _number(value: int) -> Value:
    return Value(str(value), "i64")


def _everywhere(value: int) -> Value:
    return Value(f"splat (i64 {value})", _I64)


def _vector(values: list[int]) -> Value:
    return Value(f"<{', '.join(f'i64 {value}' for value in values)}>", _I64)
