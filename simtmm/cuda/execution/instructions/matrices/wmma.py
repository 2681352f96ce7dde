"""wmma: fragments of matrices between memory and registers, and the product of what they hold.

A function of the runtime, one for each kind of fragment, order of elements and state space, goes over the registers,
or over the elements of each where those that a register holds don't lie behind one another in memory.
"""

from simtmm.cuda.execution.instructions.matrices.fragments import WORDS, Fragment
from simtmm.cuda.execution.instructions.matrices.mma import (
    check_registers,
    multiply_fragments,
    put_registers,
    take_registers,
)
from simtmm.cuda.execution.instructions.matrices.products import WMMA_SHAPES, shape_of
from simtmm.cuda.execution.instructions.matrices.transfers import Transfer
from simtmm.cuda.execution.instructions.memory.loads_and_stores import address_of, parts_of
from simtmm.cuda.execution.layout import ALIGN, LANES
from simtmm.cuda.execution.runtime.accesses import access_function
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.steps import space_of, width_of
from simtmm.cuda.ptx.syntax import Instruction, Operand

_BY_ROW = ("s4", "u4", WORDS)  # these are held as they lie in memory alone


def _fragment(context: Context, instruction: Instruction, which: str) -> Fragment:
    kind = context.type_of()
    rows, columns, depth = shape_of(context, instruction, WMMA_SHAPES)
    shape = f"m{rows}n{columns}k{depth}"
    factors = WMMA_SHAPES[shape]
    if which == "a" and kind in factors:
        return Fragment(rows, depth, kind)
    if which == "b" and kind in factors:
        return Fragment(columns, depth, kind)
    sums = {"f64"} if "f64" in factors else {"s32"} if factors <= {"s4", "u4", WORDS} else {"f16", "f32", "s32"}
    if which not in "ab" and kind in sums:
        return Fragment(rows, columns, kind, True)
    raise context.refuse(f"has elements of a type that is not known for {shape}")


def _transfer(context: Context, instruction: Instruction, loads: bool) -> Transfer:
    which = next((modifier for modifier in instruction.modifiers if modifier in ("a", "b", "c", "d")), "d")
    fragment = _fragment(context, instruction, which)
    by_rows = instruction.has("row")
    along = by_rows != (which == "b")  # the second factor is held transposed
    if fragment.kind in _BY_ROW and not along:
        raise context.refuse("has elements of less than a byte across the registers, which is not known")
    space = space_of(instruction)
    return Transfer(fragment, along, "shared" if space == "shared" else "global", loads)


def load_fragment(context: Context, instruction: Instruction) -> None:
    """wmma.load."""
    transfer = _transfer(context, instruction, True)
    fragment = transfer.fragment
    to, address, *stride = instruction.operands
    check_registers(context, to, fragment, exact=False)
    _move(context, instruction, transfer, address, stride)
    if transfer.pieces > 1:
        for register in range(fragment.registers):
            _join(context, transfer, register)
    take_registers(context, to, fragment, "%data" if transfer.pieces == 1 else "%result")


def _join(context: Context, transfer: Transfer, register: int) -> None:
    """Elements that were loaded one by one as a register, the first in the lowest bits."""
    emit, fragment = context.emit, transfer.fragment
    size = 8 * transfer.piece_bytes
    total: Value | None = None
    for piece in range(transfer.pieces):
        at = emit.at("%data", (register * transfer.pieces + piece) * transfer.stride)
        wide = emit.resize(emit.load(lanes(f"i{size}"), at, 4), "i32", False)
        moved = emit.binary("shl", wide, emit.constant(piece * size, wide.type)) if piece else wide
        total = moved if total is None else emit.binary("or", total, moved)
    assert total is not None
    emit.store(total, emit.at("%result", register * fragment.register_bytes), ALIGN)


def store_fragment(context: Context, instruction: Instruction) -> None:
    """wmma.store: of a result."""
    emit = context.emit
    transfer = _transfer(context, instruction, False)
    fragment = transfer.fragment
    address, given, *stride = instruction.operands
    check_registers(context, given, fragment, exact=False)
    if transfer.pieces == 1:
        put_registers(context, given, fragment, "%data")
    else:
        size = 8 * transfer.piece_bytes
        for register, part in enumerate(parts_of(given)[: fragment.registers]):
            value = context.read(part, "i32")
            for piece in range(transfer.pieces):
                moved = emit.binary("lshr", value, emit.constant(piece * size, value.type))
                at = emit.at("%data", (register * transfer.pieces + piece) * transfer.stride)
                emit.store(emit.resize(moved, f"i{size}", False), at, 4)
    _move(context, instruction, transfer, address, stride)


def _move(
    context: Context, instruction: Instruction, transfer: Transfer, address: Operand, stride: list[Operand]
) -> None:
    """Between memory and %data, where pieces stand one behind the other, each of all lanes."""
    emit, fragment = context.emit, transfer.fragment
    shortest = fragment.columns if transfer.along_rows else fragment.rows
    step = context.read(stride[0], "i64", True) if stride else emit.constant(shortest, lanes("i64"))
    emit.store(address_of(context, address), "%addresses", ALIGN)
    emit.store(step, "%data2", ALIGN)
    program = context.code.program
    mover = access_function(program, "load" if transfer.loads else "store", transfer.space, transfer.piece_bytes)
    program.helper(transfer.name, lambda: _function(transfer, mover, width_of(instruction)))
    wrong = emit.call(
        transfer.name,
        "i1",
        *(Value(name, "ptr") for name in ("%launch", "%block", "%warp")),
        Value(str(context.access_number()), "i32"),
        Value(str(context.site), "i32"),
        context.active,
        *(Value(name, "ptr") for name in ("%addresses", "%data2", "%data")),
    )
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)


def _function(transfer: Transfer, mover: str, width: int) -> str:
    """A loop over tables of rows (times the stride) and columns, in bits, the last of them what is logged."""
    bits = transfer.element_bits
    assert width * LANES * 8 == transfer.fragment.rows * transfer.fragment.columns * bits
    places = transfer.places()
    table = [*places, transfer.segments()]
    if not transfer.along_rows:  # columns lie behind one another in memory, each one whole
        table = [[(column, row) for row, column in line] for line in table]
    rows = ", ".join(f"i64 {bits * row}" for line in table for row, _ in line)
    columns = ", ".join(f"i64 {bits * column}" for line in table for _, column in line)
    count = LANES * len(table)
    name, across = transfer.name, "i64 %n, <32 x i64> %bases, <32 x i64> %strides"
    values = "<32 x i64> %bases, <32 x i64> %strides"
    return f"""
@"{name}.rows" = internal constant [{count} x i64] [{rows}], align 64
@"{name}.columns" = internal constant [{count} x i64] [{columns}], align 64
define internal <32 x i64> @"{name}.addresses"({across}) {{
  %offset = mul i64 %n, 256
  %rows.at = getelementptr i8, ptr @"{name}.rows", i64 %offset
  %rows = load <32 x i64>, ptr %rows.at, align 64
  %columns.at = getelementptr i8, ptr @"{name}.columns", i64 %offset
  %columns = load <32 x i64>, ptr %columns.at, align 64
  %far = mul <32 x i64> %rows, %strides
  %bits = add <32 x i64> %far, %columns
  %bytes = ashr <32 x i64> %bits, splat (i64 3)
  %all = add <32 x i64> %bases, %bytes
  ret <32 x i64> %all
}}
define internal i1 @"{name}"(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 %site, i32 %mask, ptr %addresses, ptr %strides.at, ptr %data) noinline {{
entry:
  %places = alloca [32 x i64], align 64
  %bases = load <32 x i64>, ptr %addresses, align 64
  %strides = load <32 x i64>, ptr %strides.at, align 64
  %recorded = icmp sge i32 %site, 0
  br i1 %recorded, label %log, label %each
log:
  %logged = call <32 x i64> @"{name}.addresses"(i64 {len(places)}, {values})
  store <32 x i64> %logged, ptr %places, align 64
  call void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %places)
  br label %each
each:
  %n = phi i64 [ 0, %entry ], [ 0, %log ], [ %n.next, %next ]
  %all = call <32 x i64> @"{name}.addresses"({across})
  store <32 x i64> %all, ptr %places, align 64
  %offset = mul i64 %n, {transfer.stride}
  %data.at = getelementptr i8, ptr %data, i64 %offset
  %wrong = call i1 @"{mover}"(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 -1, i32 %mask, ptr %places, ptr %data.at)
  br i1 %wrong, label %end, label %next
next:
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, {len(places)}
  br i1 %more, label %each, label %end
end:
  ret i1 %wrong
}}
"""


def fragments(context: Context, instruction: Instruction) -> None:
    """wmma.load, wmma.store, wmma.mma."""
    if instruction.has("load"):
        load_fragment(context, instruction)
    elif instruction.has("store"):
        store_fragment(context, instruction)
    else:
        multiply_fragments(context, instruction)


HANDLERS = {"wmma": fragments}
