"""Factors of which half of the numbers are zero: stored without them, beside metadata that says where the others go.

PTX ISA, "Sparse matrix storage": of four numbers in a row (of 4 bits: of four pairs) two are stored, and 4 bits hold
the place of each, the first in the lower two; of two numbers of tf32 one is stored, and 4 bits are 4 for the first, 14
for the second. A register of a lane has 32 of these bits. A warp's 16 rows take 16, 32 or 64 bits each:

- 16: of the four lanes that hold rows r and r + 8, the one that the selector names has both, r in the lower half;
- 32: the two lanes that the selector names have both, the first of them the first half of each row;
- 64: the first lane has the first half of row r, the second that of row r + 8, the others the second halves.

CUTLASS's layouts of metadata for wgmma (ELayout_64x16, _64x32 and _64x64) are the same.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import BAD_METADATA
from simtmm.cuda.ptx.types import bits_of

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

ROWS = 16  # of a warp, whatever multiplies them
INDEX_BITS = 4  # of what is said of a group of numbers
PAIR_ENDS = (0b0100, 0b1110)  # of tf32: what says that the first is stored, or the second


@dataclass(frozen=True)
class Sparse:
    """How a factor is stored. kind: of its numbers. depth: K. ordered: whether places must rise, or only differ."""

    kind: str
    depth: int
    ordered: bool

    @property
    def stored(self) -> int:
        """Numbers of a group that are stored."""
        return 1 if self.kind == "tf32" else 4 if bits_of(self.kind) == 4 else 2

    @property
    def group(self) -> int:
        """Numbers of a group."""
        return 2 * self.stored

    @property
    def row_bits(self) -> int:
        """Bits of metadata of a row."""
        return self.depth // self.group * INDEX_BITS

    @property
    def selectors(self) -> int:
        """How many lanes, or pairs of lanes, of four may have the metadata."""
        return {16: 4, 32: 2, 64: 1}[self.row_bits]


def expander(program: "Program", sparse: Sparse) -> str:
    """The name of i1(launch, access, stored, metadata, selector, dense): whether metadata is wrong.

    stored: 16 rows of numbers in the types they are computed in; dense: where they and their zeros go. metadata: the
    register of all lanes.
    """
    name = f"sparse.{sparse.kind}.{sparse.depth}{'.ordered' if sparse.ordered else ''}"
    program.helper(name, lambda: _function(name, sparse))
    return name


_LANES = {  # of row %r and group %c, with %low, which of 8 rows it is, and %high, whether of the last 8
    16: """  %halves = shl i32 %high, 4
  %nibbles = shl i32 %c, 2
  %shift = add i32 %halves, %nibbles
  %lane = add i32 %quad, %selector""",
    32: """  %halves = shl i32 %high, 4
  %group.of.half = and i32 %c, 3
  %nibbles = shl i32 %group.of.half, 2
  %shift = add i32 %halves, %nibbles
  %pair = shl i32 %selector, 1
  %half = lshr i32 %c, 2
  %within = add i32 %pair, %half
  %lane = add i32 %quad, %within""",
    64: """  %group.of.half = and i32 %c, 7
  %shift = shl i32 %group.of.half, 2
  %half = lshr i32 %c, 3
  %halves = shl i32 %half, 1
  %within = add i32 %halves, %high
  %lane = add i32 %quad, %within""",
}


def _function(name: str, sparse: Sparse) -> str:
    groups = sparse.depth // sparse.group
    if sparse.kind == "tf32":
        first, last = PAIR_ENDS
        check = f"""  %is.first = icmp eq i32 %index, {first}
  %is.last = icmp eq i32 %index, {last}
  %known = or i1 %is.first, %is.last
  %place.0 = zext i1 %is.last to i32"""
        moves = _move(0, 0, 1)
    else:
        unit = sparse.stored // 2
        check = f"""  %place.0 = and i32 %index, 3
  %place.1 = lshr i32 %index, 2
  %known = icmp {"ult" if sparse.ordered else "ne"} i32 %place.0, %place.1"""
        moves = "\n".join(_move(number, number * unit, unit) for number in (0, 1))
    return f"""
define internal i1 @"{name}"(
    ptr %launch, i32 %access, ptr %stored, ptr %metadata, i32 %selector, ptr %dense) noinline {{
entry:
  call void @llvm.memset.p0.i64(ptr %dense, i8 0, i64 {ROWS * sparse.depth * 4}, i1 false)
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %moves ]
  %r = udiv i32 %n, {groups}
  %c = urem i32 %n, {groups}
  %low = and i32 %r, 7
  %high = lshr i32 %r, 3
  %quad = shl i32 %low, 2
{_LANES[sparse.row_bits]}
  %word.at = getelementptr i32, ptr %metadata, i32 %lane
  %word = load i32, ptr %word.at
  %word.down = lshr i32 %word, %shift
  %index = and i32 %word.down, {(1 << INDEX_BITS) - 1}
{check}
  br i1 %known, label %moves, label %unknown
unknown:
  %index.64 = zext i32 %index to i64
  call void @fault(ptr %launch, i32 {BAD_METADATA}, i32 %access, i32 %lane, i64 %index.64)
  ret i1 true
moves:
  %stored.first = mul i32 %n, {sparse.stored}
  %dense.first = mul i32 %n, {sparse.group}
{moves}
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, {ROWS * groups}
  br i1 %more, label %each, label %end
end:
  ret i1 false
}}
"""


def _move(number: int, first: int, count: int) -> str:
    """Lines that put some numbers of a group, one behind the other, to their place."""
    lines = [f"  %start.{number} = mul i32 %place.{number}, {count}"]
    for one in range(count):
        of = f"{number}.{one}"
        lines.append(f"""  %from.{of} = add i32 %stored.first, {first + one}
  %from.{of}.at = getelementptr i32, ptr %stored, i32 %from.{of}
  %value.{of} = load i32, ptr %from.{of}.at
  %to.{of} = add i32 %start.{number}, {one}
  %to.{of}.here = add i32 %dense.first, %to.{of}
  %to.{of}.at = getelementptr i32, ptr %dense, i32 %to.{of}.here
  store i32 %value.{of}, ptr %to.{of}.at""")
    return "\n".join(lines)
