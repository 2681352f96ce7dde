"""The shapes and types of products of matrices, and which of them an instruction names."""

from dataclasses import dataclass

from simtmm.cuda.execution.instructions.matrices.fragments import ACCUMULATORS, EIGHT_BITS, WORDS, Fragment
from simtmm.cuda.execution.instructions.matrices.sparse import Sparse
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.cuda.ptx.types import is_type

_EIGHT_BITS = {*EIGHT_BITS}
_HALVES = {"f16", "bf16"}
_BYTES, _NIBBLES = {"s8", "u8"}, {"s4", "u4"}
MMA_SHAPES: dict[str, set[str]] = {
    "m8n8k4": {"f64"},
    "m16n8k4": {"tf32", "f64"},
    "m16n8k8": {*_HALVES, "tf32", "f64"},
    "m16n8k16": {*_HALVES, *_BYTES, *_EIGHT_BITS, "f64"},
    "m16n8k32": {*_BYTES, *_NIBBLES, *_EIGHT_BITS},
    "m16n8k64": _NIBBLES,
    "m8n8k16": _BYTES,
    "m8n8k32": _NIBBLES,
    "m8n8k128": {WORDS},
    "m16n8k128": {WORDS},
    "m16n8k256": {WORDS},
}
SPARSE_SHAPES: dict[str, set[str]] = {
    "m16n8k8": {"tf32"},
    "m16n8k16": {*_HALVES, "tf32"},
    "m16n8k32": {*_HALVES, *_BYTES},
    "m16n8k64": {*_BYTES, *_NIBBLES, *_EIGHT_BITS},
    "m16n8k128": _NIBBLES,
}
"""Of mma.sp, of which half of the first factor is stored."""
_WIDE = {*_HALVES, *_BYTES}
WMMA_SHAPES: dict[str, set[str]] = {
    "m16n16k16": _WIDE,
    "m32n8k16": _WIDE,
    "m8n32k16": _WIDE,
    "m16n16k8": {"tf32"},
    "m8n8k4": {"f64"},
    "m8n8k32": _NIBBLES,
    "m8n8k128": {WORDS},
}
"""The types of the factors by shape (PTX ISA, "Matrix Multiply-Accumulate Instructions")."""

_SUMS = {
    "f16": {"f16", "f32"}, "bf16": {"f32"}, "tf32": {"f32"}, "e4m3": {"f16", "f32"}, "e5m2": {"f16", "f32"},
    "f64": {"f64"}, **{kind: {"s32"} for kind in (*_BYTES, *_NIBBLES, WORDS)},
}  # fmt: skip
_NOT_RUN = ("block_scale", "kind::f8f6f4", "kind::mxf8f6f4", "kind::mxf4",
            "kind::mxf4nvf4")  # fmt: skip


@dataclass(frozen=True)
class Product:
    """d = a b + c, b as it is held, transposed.

    bitwise: of single bits, "and" or "xor". short: tf32 is summed by fours, as wmma does. sparse: how a is stored,
    which then is a matrix with its zeros.
    """

    a: Fragment
    b: Fragment
    c: Fragment
    d: Fragment
    saturates: bool
    bitwise: str
    short: bool
    sparse: Sparse | None = None

    @property
    def held_a(self) -> Fragment:
        """The first factor as registers or shared memory have it."""
        return self.a if self.sparse is None else Fragment(self.a.rows, self.a.columns // 2, self.a.kind)

    @property
    def sum_kind(self) -> str:
        """The type of sums of all floating-point types but f64: f32, unless addend and result are both f16."""
        return "f16" if self.c.kind == self.d.kind == "f16" else "f32"

    @property
    def name(self) -> str:
        """The name of the function that computes it."""
        kinds = ".".join(fragment.kind for fragment in (self.d, self.a, self.b, self.c))
        how = (".satfinite" if self.saturates else "") + (f".{self.bitwise}" if self.bitwise else "")
        how += ".short" if self.short else ""
        if self.sparse is not None:
            how += ".ordered" if self.sparse.ordered else ".sparse"
        return f"mma.m{self.a.rows}n{self.b.rows}k{self.a.columns}.{kinds}{how}"


def shape_of(context: Context, instruction: Instruction, known: dict[str, set[str]]) -> tuple[int, int, int]:
    """m, n and k."""
    name = next((modifier for modifier in instruction.modifiers if modifier in known), None)
    if name is None:
        raise context.refuse(f"has a shape that is not known here; known: {', '.join(known)}")
    rows, rest = name[1:].split("n")
    columns, depth = rest.split("k")
    return int(rows), int(columns), int(depth)


def product_of(context: Context, instruction: Instruction, shapes: dict[str, set[str]]) -> Product:
    """The product that an instruction computes. Refuses one that the PTX ISA does not list or we do not run."""
    unknown = next((modifier for modifier in instruction.modifiers if modifier in _NOT_RUN), None)
    if unknown is not None:
        raise context.refuse(f"with .{unknown} is not run here")
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if len(kinds) == 2 and instruction.opcode == "wmma":
        kinds = [kinds[0], "f16", "f16", kinds[1]]
    if instruction.opcode == "mma" and instruction.has("m8n8k4") and "f16" in kinds:
        raise context.refuse("multiplies as sm_70 alone does, which is not run here; known for f16: m16n8k8, m16n8k16")
    is_sparse = instruction.has("sp", "sp::ordered_metadata")
    shapes = SPARSE_SHAPES if is_sparse else shapes
    rows, columns, depth = shape_of(context, instruction, shapes)
    if len(kinds) != 4:
        raise context.refuse("needs four types: of the result, the factors and the sum")
    d, a, b, c = kinds
    name = f"m{rows}n{columns}k{depth}"
    if not {a, b} <= shapes[name]:
        raise context.refuse(f"multiplies types that {name} does not; it does {', '.join(sorted(shapes[name]))}")
    groups = (_BYTES, _NIBBLES, _EIGHT_BITS)
    if a != b and not any({a, b} <= group for group in groups):
        raise context.refuse("multiplies types that don't go together")
    if not {c, d} <= _SUMS[a] or not {c, d} <= set(ACCUMULATORS):
        raise context.refuse(f"sums in types that are not known here; known: {', '.join(sorted(_SUMS[a]))}")
    if c != d and instruction.opcode == "mma":
        raise context.refuse("needs one type for the sum and the result")
    if instruction.has("satfinite") and d != "s32":
        raise context.refuse("saturates floating-point numbers, which is not run here")
    bitwise = next((modifier for modifier in instruction.modifiers if modifier in ("and", "xor")), "")
    if (a == WORDS) != bool(bitwise):
        raise context.refuse("needs .xor or .and, with factors of single bits alone")
    return Product(
        Fragment(rows, depth, a),
        Fragment(columns, depth, b),
        Fragment(rows, columns, c, True),
        Fragment(rows, columns, d, True),
        instruction.has("satfinite"),
        bitwise,
        instruction.opcode == "wmma",
        Sparse(a, depth, instruction.has("sp::ordered_metadata")) if is_sparse else None,
    )
