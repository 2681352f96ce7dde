"""wgmma: products of matrices by four warps, with factors in shared memory, or the first in registers.

Each warp computes the 16 rows of the product that its own registers hold, when it comes to the instruction: of all
times at which a GPU may read shared memory, which are up to the wait for the group, the first. A product is one of all
four warps: none goes on behind its wait for a group before the others have come as far, as then its factors may go.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.matrices.descriptors import K_OF_TURNED, SharedMatrix, reader_function
from simtmm.cuda.execution.instructions.matrices.fragments import TILE_ROWS, WHOLE, WORDS, Fragment, computed
from simtmm.cuda.execution.instructions.matrices.group_waits import commit, note_group, wait_for_others
from simtmm.cuda.execution.instructions.matrices.mma import (
    expand,
    move_tiles,
    multiply_blocks,
    multiply_whole,
    put_metadata,
)
from simtmm.cuda.execution.instructions.matrices.products import Product
from simtmm.cuda.execution.instructions.matrices.sparse import Sparse
from simtmm.cuda.execution.instructions.matrices.tensor_sums import Steps
from simtmm.cuda.execution.instructions.memory.loads_and_stores import parts_of
from simtmm.cuda.execution.layout import ALIGN, LANES, WARP
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Emitter, Value, element_of
from simtmm.cuda.ptx.isa.matrices import WGMMA_DEPTHS
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Vector
from simtmm.cuda.ptx.types import bits_of, is_type
from simtmm.trace.schema import MOST_PRODUCT_GROUPS, PRODUCT_COMMIT, PRODUCT_WAIT

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

ROWS = 16  # of a product, in the registers of a warp
WARPS = 4  # whose rows lie one below the other
_NUMBER = int(WARP.fields["number"][1])  # type: ignore[index]
_TURNED_KINDS = ("f16", "bf16")  # types whose matrices may be transposed in shared memory


@dataclass(frozen=True)
class GroupProduct:
    """The product that an instruction computes.

    product: of a warp's rows. negates: whether A and B are. in_registers: whether A is. turned: whether A and B are
    transposed in shared memory.
    """

    product: Product
    negates: tuple[bool, bool]
    in_registers: bool
    turned: tuple[bool, bool]

    @property
    def name(self) -> str:
        """The name of the function that computes it."""
        flags = "".join(str(int(each)) for each in (*self.negates, self.in_registers, *self.turned))
        return f"wgmma.{self.product.name}.{flags}"


def multiply(context: Context, instruction: Instruction) -> None:
    """wgmma."""
    if instruction.has("fence", "commit_group", "wait_group"):
        if instruction.has("commit_group"):
            commit(context)
            note_group(context, PRODUCT_COMMIT)
        elif instruction.has("wait_group"):
            left = next((int(each.value) for each in instruction.operands if isinstance(each, Immediate)), 0)
            wait_for_others(context, max(0, left))
            note_group(context, PRODUCT_WAIT + max(0, min(left, MOST_PRODUCT_GROUPS - 1)))
        return
    note_group(context, 0)
    emit, operands = context.emit, instruction.operands
    found = _product_of(context, instruction)
    product = found.product
    for number, part in enumerate(parts_of(operands[0])):
        value = context.read(part, "i32")
        emit.store(value, emit.at("%matrix", number * product.d.register_bytes), ALIGN)
    if found.in_registers:
        for number, part in enumerate(parts_of(operands[1])):
            value = context.read(part, "i32")
            emit.store(value, emit.at("%data", number * product.a.register_bytes), ALIGN)
    sparse = product.sparse
    a = Value("0", "i64") if found.in_registers else _of_any_lane(context, context.read(operands[1], "i64"))
    b = _of_any_lane(context, context.read(operands[2], "i64"))
    adds = context.predicate(operands[3 if sparse is None else 5])
    adds = _of_any_lane(context, emit.resize(adds, "i32", False))
    adds = emit.compare("icmp ne", adds, Value("0", "i32"))
    context.code.program.helper(found.name, lambda: _function(context.code.program, found))
    pointers = [Value(name, "ptr") for name in ("%launch", "%block", "%warp")]
    access = Value(str(context.access_number()), "i32")
    registers = [Value(name, "ptr") for name in ("%data", "%matrix")]
    metadata = () if sparse is None else put_metadata(context, operands[3], operands[4], sparse)
    wrong = emit.call(found.name, "i1", *pointers, access, context.active, *registers, a, b, adds, *metadata)
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)
    for number, part in enumerate(parts_of(operands[0])):
        place = emit.at("%matrix", number * product.d.register_bytes)
        context.write(part, emit.load(f"<{LANES} x i32>", place, ALIGN))


def _of_any_lane(context: Context, value: Value) -> Value:
    """What the lowest lane that takes part holds, as all must hold the same."""
    emit = context.emit
    lane = emit.call("llvm.cttz.i32", "i32", context.active, Value("false", "i1"))
    lane = emit.binary("and", lane, Value(str(LANES - 1), "i32"))
    return emit.value(f"extractelement {value}, i32 {lane.name}", element_of(value.type))


def _product_of(context: Context, instruction: Instruction) -> GroupProduct:
    """Refuses what is not run, and immediate operands that no instruction has."""
    operands = instruction.operands
    is_sparse = instruction.has("sp")
    d_kind, a_kind, b_kind = (each for each in instruction.modifiers if is_type(each))
    shape = next(each for each in instruction.modifiers if each.startswith("m64n"))
    columns = int(shape[4:].partition("k")[0])
    depth = WGMMA_DEPTHS[a_kind] * (2 if is_sparse else 1)
    in_registers = isinstance(operands[1], Vector)
    numbers = [each.value if isinstance(each, Immediate) else 0 for each in operands[6 if is_sparse else 4 :]]
    scales, turns = numbers[:2], [0] * in_registers + numbers[2:]
    for scale in scales:
        if scale not in (1, -1):
            raise context.refuse(f"scales a matrix by {scale}: must be 1 or -1")
    for turn in turns:
        if turn not in (0, 1):
            raise context.refuse(f"has {turn} where 1 says that a matrix is transposed: must be 0 or 1")
    bitwise = "and" if a_kind == WORDS else ""
    product = Product(
        Fragment(ROWS, depth, a_kind),
        Fragment(columns, depth, b_kind),
        Fragment(ROWS, columns, d_kind, True),
        Fragment(ROWS, columns, d_kind, True),
        instruction.has("satfinite"),
        bitwise,
        False,
        Sparse(a_kind, depth, ordered=True) if is_sparse else None,
    )
    for operand, fragment in ((operands[0], product.d), *([(operands[1], product.held_a)] if in_registers else [])):
        if len(parts_of(operand)) != fragment.registers:
            raise context.refuse(f"has {len(parts_of(operand))} registers where a warp holds {fragment.registers}")
    negates = (scales[0] < 0, scales[1] < 0) if scales else (False, False)
    turned = (bool(turns[0]), bool(turns[1])) if len(turns) > 1 else (False, False)
    return GroupProduct(product, negates, in_registers, turned)


def _function(program: "Program", found: GroupProduct) -> str:
    """i1(launch, block, warp, access, mask, registers of A and D, descriptors, whether D is added): a fault?

    Of a sparse A its metadata and their selector follow.
    """
    emit = Emitter(program.declared)
    product = found.product
    rows, columns, depth = ROWS, product.b.rows, product.a.computed_columns
    emit.label("entry")
    emit.do("%nobody = icmp eq i32 %mask, 0")
    emit.do("br i1 %nobody, label %end, label %some")
    emit.label("some")
    for name, count in (("%a", rows * depth), ("%b", depth * columns), ("%c", rows * columns)):
        emit.do(f"{name} = alloca [{count} x i32], align {ALIGN}")
    held, stored = product.held_a, "%a"
    if product.sparse is not None:
        stored = "%a.stored"
        emit.do(f"{stored} = alloca [{rows * depth // 2} x i32], align {ALIGN}")
    if found.in_registers:
        move_tiles(program, emit, held, "load", "%ra", stored, held.computed_columns * 4)
        if found.negates[0]:
            _negate(emit, stored, rows * held.computed_columns)
    else:
        number = emit.field("i32", "%warp", _NUMBER)
        within = emit.resize(emit.binary("and", number, Value(str(WARPS - 1), "i32")), "i64", False)
        first = emit.binary("mul", within, Value(str(ROWS), "i64"))
        _read(program, emit, held, ROWS, found.turned[0], found.negates[0], ("%da", first, stored))
        if found.turned[0]:  # it lies along M, and A is taken row by row
            _turn(program, emit, stored, K_OF_TURNED, ROWS)
    if product.sparse is not None:
        expand(program, emit, product.sparse, "failed")
    _read(program, emit, product.b, columns, found.turned[1], found.negates[1], ("%db", Value("0", "i64"), "%b"))
    if not found.turned[1]:  # it lies along K, and B is taken row by row of K
        _turn(program, emit, "%b", columns, depth)
    move_tiles(program, emit, product.c, "load", "%rd", "%c", columns * 4)
    emit.do("br i1 %adds, label %sum, label %anew")
    emit.label("anew")
    emit.call("llvm.memset.p0.i64", "void", Value("%c", "ptr"), Value("0", "i8"), Value(str(rows * columns * 4), "i64"),
              Value("false", "i1"))  # fmt: skip
    emit.do("br label %sum")
    emit.label("sum")
    if product.a.kind in WHOLE:
        multiply_whole(emit, product, rows, columns, depth, "sum")
    else:
        multiply_blocks(program, emit, product, Steps(1, product.a.columns))
    move_tiles(program, emit, product.d, "store", "%rd", "%c", columns * 4)
    emit.do("br label %end")
    emit.label("end")
    emit.do("ret i1 false")
    emit.label("failed")
    emit.do("ret i1 true")
    body = "\n".join(emit.lines)
    head = "ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, ptr %ra, ptr %rd, i64 %da, i64 %db, i1 %adds"
    head += "" if product.sparse is None else ", ptr %metadata, i32 %selector"
    return f'define internal i1 @"{found.name}"({head}) noinline {{\n{body}\n}}\n'


def _read(
    program: "Program", emit: Emitter, fragment: Fragment, rows: int, turned: bool, negates: bool,
    places: tuple[str, Value, str],
) -> None:  # fmt: skip
    """A factor of shared memory as numbers to compute with, in the order in which it lies there.

    places: its descriptor, its first row, and where the numbers go.
    """
    descriptor, first, to = places
    k_bytes = fragment.columns * (32 if fragment.kind == "tf32" else bits_of(fragment.kind)) // 8
    read = reader_function(program, SharedMatrix(rows, turned, k_bytes))
    raw = f"{to}.raw"
    emit.do(f"{raw} = alloca [{rows * k_bytes} x i8], align {ALIGN}")
    pointers = [Value(name, "ptr") for name in ("%launch", "%block", "%warp")]
    wrong = emit.call(
        read, "i1", *pointers, Value("%access", "i32"), Value(descriptor, "i64"), first, Value(raw, "ptr")
    )
    label = emit.name("read")[1:]
    emit.do(f"br {wrong}, label %failed, label %{label}")
    emit.label(label)
    name = f"wgmma.numbers.{fragment.kind}{'.negated' if negates else ''}"
    program.helper(name, lambda: _numbers_function(program, name, fragment.kind, negates))
    count = rows * fragment.computed_columns
    emit.call(name, "void", Value(raw, "ptr"), Value(to, "ptr"), Value(str(count), "i64"))


def _numbers_function(program: "Program", name: str, kind: str, negates: bool) -> str:
    """void(raw, numbers, count): 8 at a time."""
    emit = Emitter(program.declared)
    width = 32 if kind in (WORDS, "tf32") else bits_of(kind)
    emit.label("entry")
    emit.do("br label %some")
    emit.label("some")
    emit.do("%n = phi i64 [ 0, %entry ], [ %n.next, %some ]")
    emit.do(f"%from = getelementptr i{width}, ptr %raw, i64 %n")
    emit.do("%to = getelementptr i32, ptr %numbers, i64 %n")
    found = computed(emit, emit.load(f"<{TILE_ROWS} x i{width}>", "%from", width // 8), kind)
    if negates:
        found = emit.value(f"fneg {found}", found.type)
    emit.store(found, "%to", 4)
    emit.do(f"%n.next = add i64 %n, {TILE_ROWS}")
    emit.do("%more = icmp ult i64 %n.next, %count")
    emit.do("br i1 %more, label %some, label %end")
    emit.label("end")
    emit.do("ret void")
    body = "\n".join(emit.lines)
    return f'define internal void @"{name}"(ptr %raw, ptr %numbers, i64 %count) noinline {{\n{body}\n}}\n'


def _negate(emit: Emitter, place: str, count: int) -> None:
    for at in range(0, count * 4, TILE_ROWS * 4):
        value = emit.load(f"<{TILE_ROWS} x float>", emit.at(place, at), 4)
        emit.store(emit.value(f"fneg {value}", value.type), emit.at(place, at), 4)


_TURN = """
define internal void @wgmma.turn(ptr %from, ptr %to, i64 %rows, i64 %columns) noinline {
entry:
  br label %row
row:
  %r = phi i64 [ 0, %entry ], [ %r.next, %row.end ]
  %first = mul i64 %r, %columns
  br label %one
one:
  %c = phi i64 [ 0, %row ], [ %c.next, %one ]
  %place = add i64 %first, %c
  %from.at = getelementptr i32, ptr %from, i64 %place
  %value = load i32, ptr %from.at
  %down = mul i64 %c, %rows
  %there = add i64 %down, %r
  %to.at = getelementptr i32, ptr %to, i64 %there
  store i32 %value, ptr %to.at
  %c.next = add i64 %c, 1
  %c.more = icmp ult i64 %c.next, %columns
  br i1 %c.more, label %one, label %row.end
row.end:
  %r.next = add i64 %r, 1
  %r.more = icmp ult i64 %r.next, %rows
  br i1 %r.more, label %row, label %end
end:
  ret void
}
"""


def _turn(program: "Program", emit: Emitter, place: str, rows: int, columns: int) -> None:
    """Transpose a matrix in its place."""
    program.helper("wgmma.turn", lambda: _TURN)
    emit.do(f"{place}.turned = alloca [{rows * columns} x i32], align {ALIGN}")
    sizes = (Value(str(rows), "i64"), Value(str(columns), "i64"))
    emit.call("wgmma.turn", "void", Value(place, "ptr"), Value(f"{place}.turned", "ptr"), *sizes)
    emit.call("llvm.memcpy.p0.p0.i64", "void", Value(place, "ptr"), Value(f"{place}.turned", "ptr"),
              Value(str(rows * columns * 4), "i64"), Value("false", "i1"))  # fmt: skip


HANDLERS = {"wgmma": multiply}
