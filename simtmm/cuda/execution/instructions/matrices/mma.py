"""Products of matrices by a warp: mma.sync and wmma.mma.

The registers go to memory, and a function of the runtime, one for each shape and type, makes rows of numbers of them,
multiplies, and puts the result back.
"""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.matrices.fragments import TILE_ROWS, WHOLE, Fragment, tile_function
from simtmm.cuda.execution.instructions.matrices.products import MMA_SHAPES, WMMA_SHAPES, Product, product_of
from simtmm.cuda.execution.instructions.matrices.sparse import Sparse, expander
from simtmm.cuda.execution.instructions.matrices.tensor_sums import (
    ROWS_AT_ONCE,
    Block,
    Steps,
    exponents_function,
    steps_of,
)
from simtmm.cuda.execution.instructions.memory.loads_and_stores import parts_of
from simtmm.cuda.execution.layout import ALIGN
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Emitter, Value
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand
from simtmm.errors import shown

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program


def multiply(context: Context, instruction: Instruction) -> None:
    """mma.sync."""
    _multiply(context, instruction, product_of(context, instruction, MMA_SHAPES), exact=True)


def multiply_fragments(context: Context, instruction: Instruction) -> None:
    """wmma.mma."""
    _multiply(context, instruction, product_of(context, instruction, WMMA_SHAPES), exact=False)


def _multiply(context: Context, instruction: Instruction, product: Product, exact: bool) -> None:
    """exact: whether there may be no more registers than elements; fragments of wmma may be held several times."""
    emit = context.emit
    operands = instruction.operands
    places = ("%data", "%data2", "%result")
    for operand, fragment, place in zip(operands[1:4], (product.held_a, product.b, product.c), places, strict=True):
        check_registers(context, operand, fragment, exact)
        put_registers(context, operand, fragment, place)
    check_registers(context, operands[0], product.d, exact)
    context.code.program.helper(product.name, lambda: _function(context.code.program, product))
    pointers = [Value(place, "ptr") for place in places]
    if product.sparse is None:
        emit.call(product.name, "void", *pointers)
    else:
        metadata, selector = put_metadata(context, operands[4], operands[5], product.sparse)
        access = Value(str(context.access_number()), "i32")
        launch = Value("%launch", "ptr")
        wrong = emit.call(product.name, "i1", *pointers, launch, access, context.active, metadata, selector)
        label = emit.name("went")[1:]
        emit.do(f"br {wrong}, label %faulted, label %{label}")
        emit.label(label)
    take_registers(context, operands[0], product.d, "%result")


def put_metadata(context: Context, operand: Operand, chosen: Operand, sparse: Sparse) -> tuple[Value, Value]:
    """Store the register with a sparse factor's metadata, of all lanes; where, and the selector."""
    selector = chosen.value if isinstance(chosen, Immediate) else -1
    if not 0 <= selector < sparse.selectors:
        most = sparse.selectors - 1
        raise context.refuse(f"has the selector {shown(selector)}: must be {'0' if not most else f'0 to {most}'}")
    context.emit.store(context.read(operand, "i32"), "%addresses", ALIGN)
    return Value("%addresses", "ptr"), Value(str(selector), "i32")


def expand(program: "Program", emit: Emitter, sparse: Sparse, failed: str) -> str:
    """Matrix %a from what is stored of it at %a.stored, in a function with %launch, %access, %metadata, %selector; the
    label behind.
    """
    places = [Value(each, "ptr") for each in ("%a.stored", "%metadata")]
    wrong = emit.call(
        expander(program, sparse), "i1", Value("%launch", "ptr"), Value("%access", "i32"), *places,
        Value("%selector", "i32"), Value("%a", "ptr"),
    )  # fmt: skip
    label = emit.name("expanded")[1:]
    emit.do(f"br {wrong}, label %{failed}, label %{label}")
    emit.label(label)
    return label


def check_registers(context: Context, operand: Operand, fragment: Fragment, exact: bool) -> None:
    """Refuse a fragment with the wrong number of registers."""
    count = len(parts_of(operand))
    if count != fragment.registers and (exact or count % fragment.registers):
        raise context.refuse(f"has {count} registers where a fragment has {fragment.registers}")


def put_registers(context: Context, operand: Operand, fragment: Fragment, place: str) -> None:
    """Store the registers of a fragment consecutively, each with all lanes."""
    for number, part in enumerate(parts_of(operand)[: fragment.registers]):
        value = context.read(part, f"i{fragment.register_bits}")
        context.emit.store(value, context.emit.at(place, number * fragment.register_bytes), ALIGN)


def take_registers(context: Context, operand: Operand, fragment: Fragment, place: str) -> None:
    """Load the registers of a fragment; registers beyond one copy of it hold it again."""
    element = f"<32 x i{fragment.register_bits}>"
    values = [
        context.emit.load(element, context.emit.at(place, number * fragment.register_bytes), ALIGN)
        for number in range(fragment.registers)
    ]
    for number, part in enumerate(parts_of(operand)):
        context.write(part, values[number % len(values)])


def _function(program: "Program", product: Product) -> str:
    """void(a, b, c): registers of the factors, and of the sum, in whose place the result is put. Of a sparse factor
    i1(a, b, c, launch, access, mask, metadata, selector): whether the metadata is wrong.
    """
    emit = Emitter(program.declared)
    a, b, c, d = product.a, product.b, product.c, product.d
    size = a.computed_bytes
    rows, columns, depth = a.rows, b.rows, a.computed_columns
    emit.label("entry")
    for name, count, element in (
        ("%a", rows * depth, a.computed), ("%b", depth * columns, b.computed), ("%c", rows * columns, c.computed)
    ):  # fmt: skip
        _room(emit, name, count, element)

    begin = "entry"
    if product.sparse is None:
        move_tiles(program, emit, a, "load", "%ra", "%a", depth * size)
    else:
        begin = "some"
        _room(emit, "%a.stored", rows * depth // 2, a.computed)
        emit.do("%nobody = icmp eq i32 %mask, 0")
        emit.do(f"br i1 %nobody, label %nothing, label %{begin}")
        emit.label("nothing")
        emit.do("ret i1 false")
        emit.label("failed")
        emit.do("ret i1 true")
        emit.label(begin)
        move_tiles(program, emit, product.held_a, "load", "%ra", "%a.stored", depth * size // 2)
        begin = expand(program, emit, product.sparse, "failed")
    move_tiles(program, emit, b, "turned", "%rb", "%b", columns * size)
    move_tiles(program, emit, c, "load", "%rc", "%c", columns * c.computed_bytes)
    if a.kind in ("f64", *WHOLE):
        multiply_whole(emit, product, rows, columns, depth, begin)
    else:
        multiply_blocks(program, emit, product, steps_of(a.kind, depth, product.short))
    move_tiles(program, emit, d, "store", "%rc", "%c", columns * c.computed_bytes)
    body = "\n".join(emit.lines)
    head, kind, end = "ptr %ra, ptr %rb, ptr %rc", "void", "ret void"
    if product.sparse is not None:
        head += ", ptr %launch, i32 %access, i32 %mask, ptr %metadata, i32 %selector"
        kind, end = "i1", "ret i1 false"
    return f'define internal {kind} @"{product.name}"({head}) noinline {{\n{body}\n  {end}\n}}\n'


def move_tiles(
    program: "Program", emit: Emitter, fragment: Fragment, what: str, registers: str, matrix: str, stride: int
) -> None:
    """Move tiles between registers and a matrix in memory (`tile_function`). stride: between rows [bytes]."""
    move = tile_function(program, fragment, what)
    wide = fragment.computed_tile_columns
    for row in range(fragment.row_tiles):
        for column in range(fragment.column_tiles):
            at = emit.at(registers, fragment.register(row, column) * fragment.register_bytes)
            down, right = TILE_ROWS * row, wide * column
            each = fragment.computed_bytes
            start = right * stride + down * each if what == "turned" else down * stride + right * each
            place = emit.at(matrix, start)
            emit.call(move, "void", Value(at, "ptr"), Value(place, "ptr"), Value(str(stride), "i64"))


def _room(emit: Emitter, name: str, count: int, element: str) -> None:
    emit.do(f"{name} = alloca [{count} x {element}], align {ALIGN}")


def multiply_blocks(program: "Program", emit: Emitter, product: Product, steps: Steps) -> None:
    """c += a b, as a tensor core does it: block by block, in one sum or several behind one another."""
    a, b = product.a, product.b
    rows, columns, depth = a.rows, b.rows, a.columns
    block = Block(product.sum_kind, depth, columns, steps)
    program.helper(block.name, lambda: block.functions(program.declared))
    for fragment, values, exponents in ((a, "%a", "%ea"), (b, "%b", "%eb")):
        count = fragment.rows * fragment.columns
        _room(emit, exponents, count, "i32")
        take = exponents_function(program, fragment.kind)
        emit.call(take, "void", *(Value(each, "ptr") for each in (values, exponents)), Value(str(count), "i64"))
    sums = "%c"
    if steps.pairs:
        sums = "%sums"
        _room(emit, sums, rows * columns, "float")
        emit.store(emit.constant("0.0", f"<{rows * columns} x float>"), sums, ALIGN)
    for step in range(steps.count):
        first = steps.first(step)
        for row in range(0, rows, ROWS_AT_ONCE):
            for column in range(0, columns, TILE_ROWS):
                left, right, at = depth * row + first, columns * first + column, columns * row + column
                places = {"%a": left, "%ea": left, "%b": right, "%eb": right, sums: at}
                pointers = (Value(emit.at(name, 4 * number), "ptr") for name, number in places.items())
                emit.call(block.name, "void", *pointers)
    if steps.pairs:
        _add(emit, rows * columns, sums)


def _add(emit: Emitter, count: int, sums: str) -> None:
    """c += sums, rounded to nearest here, and to f16 where they are stored."""
    for at in range(0, count * 4, TILE_ROWS * 4):
        parts = [emit.load(f"<{TILE_ROWS} x float>", emit.at(each, at), 4) for each in ("%c", sums)]
        emit.store(emit.binary("fadd", *parts), emit.at("%c", at), 4)


def multiply_whole(emit: Emitter, product: Product, rows: int, columns: int, depth: int, before: str) -> None:
    """c += a b: for some rows and 8 columns at a time the sum over k. before: the label of the lines before these."""
    element, size = product.c.computed, product.c.computed_bytes
    of = f"<{TILE_ROWS} x {element}>"
    many = range(ROWS_AT_ONCE)
    emit.do("br label %rows")
    emit.label("rows")
    emit.do(f"%i = phi i64 [ 0, %{before} ], [ %i.next, %rows.next ]")
    emit.do("br label %columns")
    emit.label("columns")
    emit.do("%j = phi i64 [ 0, %rows ], [ %j.next, %sums.end ]")
    emit.do(f"%a.first = mul i64 %i, {depth * size}")
    emit.do("%a.row = getelementptr i8, ptr %a, i64 %a.first")
    emit.do(f"%b.first = mul i64 %j, {size}")
    emit.do("%b.column = getelementptr i8, ptr %b, i64 %b.first")
    emit.do(f"%c.first = mul i64 %i, {columns * size}")
    emit.do("%c.row = getelementptr i8, ptr %c, i64 %c.first")
    emit.do("%c.at = getelementptr i8, ptr %c.row, i64 %b.first")
    # Whole numbers are added to c at the end, where the sum may be held within bounds.
    begins = [
        emit.constant(0, of) if element == "i32" else emit.load(of, emit.at("%c.at", n * columns * size), 4)
        for n in many
    ]
    emit.do("br label %sums")
    emit.label("sums")
    emit.do("%k = phi i64 [ 0, %columns ], [ %k.next, %sums ]")
    head = len(emit.lines)
    emit.do(f"%b.offset = mul i64 %k, {columns * size}")
    emit.do("%b.at = getelementptr i8, ptr %b.column, i64 %b.offset")
    row = emit.load(of, "%b.at", 4)
    totals: list[Value] = []
    emit.do(f"%a.offset = mul i64 %k, {size}")
    emit.do("%a.at = getelementptr i8, ptr %a.row, i64 %a.offset")
    for n in many:
        one = emit.load(element, emit.at("%a.at", n * depth * size))
        first = emit.value(f"insertelement {of} poison, {one}, i32 0", of)
        factor = emit.value(f"shufflevector {first}, {of} poison, <{TILE_ROWS} x i32> zeroinitializer", of)
        totals.append(_summed(emit, product, Value(f"%sum{n}", of), factor, row))
    emit.lines[head:head] = [
        f"  %sum{n} = phi {of} [ {begins[n].name}, %columns ], [ {totals[n].name}, %sums ]" for n in many
    ]
    emit.do("%k.next = add i64 %k, 1")
    emit.do(f"%k.more = icmp ult i64 %k.next, {depth}")
    emit.do("br i1 %k.more, label %sums, label %sums.end")
    emit.label("sums.end")
    for n in many:
        at = emit.at("%c.at", n * columns * size)
        total = totals[n]
        if element == "i32":
            given = emit.load(of, at, 4)
            held = emit.intrinsic("llvm.sadd.sat", of, given, total) if product.saturates else None
            total = held or emit.binary("add", given, total)
        emit.store(total, at, 4)
    emit.do(f"%j.next = add i64 %j, {TILE_ROWS}")
    emit.do(f"%j.more = icmp ult i64 %j.next, {columns}")
    emit.do("br i1 %j.more, label %columns, label %rows.next")
    emit.label("rows.next")
    emit.do(f"%i.next = add i64 %i, {ROWS_AT_ONCE}")
    emit.do(f"%i.more = icmp ult i64 %i.next, {rows}")
    emit.do("br i1 %i.more, label %rows, label %done")
    emit.label("done")


def _summed(emit: Emitter, product: Product, total: Value, factor: Value, row: Value) -> Value:
    """A sum with the product of a number and a row added."""
    if product.bitwise:
        both = emit.binary(product.bitwise, factor, row)
        return emit.binary("add", total, emit.intrinsic("llvm.ctpop", total.type, both))
    if product.c.computed == "i32":
        return emit.binary("add", total, emit.binary("mul", factor, row))
    return emit.intrinsic("llvm.fma", total.type, factor, row, total)


HANDLERS = {"mma": multiply}
