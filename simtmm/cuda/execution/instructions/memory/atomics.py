"""Atomic operations: lane by lane, from the lowest on."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.memory.loads_and_stores import address_of, put, take
from simtmm.cuda.execution.layout import ALIGN
from simtmm.cuda.execution.livelock.watched_code import update_lines
from simtmm.cuda.execution.runtime.turn_order import ASCENDING
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.execution.translation.one_nan import NAN
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Instruction, Sink
from simtmm.cuda.ptx.types import bytes_of

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

_OPERATIONS = ("add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas", "arrive")
_REAL = {"f32": "float", "f64": "double"}


def atomic(context: Context, instruction: Instruction) -> None:
    """atom and red."""
    operation = next((m for m in instruction.modifiers if m in _OPERATIONS), None)
    kind = context.type_of()
    count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
    if operation is None or (count > 1 and operation not in ("add", "min", "max")):
        raise context.refuse()
    returns = instruction.opcode == "atom"
    operands = instruction.operands
    address = operands[1] if returns else operands[0]
    given = operands[2:] if returns else operands[1:]
    width = count * bytes_of(kind)
    if len(given) < {"cas": 2, "arrive": 0}.get(operation, 1):
        raise context.refuse("has operands that it does not take")
    if given:
        put(context, given[0], kind, width, "%data")
    if operation == "cas":
        put(context, given[1], kind, width, "%data2")
    space = "shared" if space_of(instruction) == "shared" else "global"
    emit = context.emit
    emit.store(address_of(context, address), "%addresses", ALIGN)
    name = f"atomic.{operation}.{kind}.{space}" + (f".v{count}" if count > 1 else "")
    make = _maker(context, operation, kind, space)
    program = context.code.program
    size = bytes_of(kind)
    behind = update_lines(f"i{8 * size}") if program.watches else ""
    program.helper(name, lambda: _function(name, space, size, count, make, program.order != ASCENDING, behind))
    pointers = [Value(each, "ptr") for each in ("%launch", "%block", "%warp")]
    number, site = Value(str(context.access_number()), "i32"), Value(str(context.site), "i32")
    places = [Value(each, "ptr") for each in ("%addresses", "%data", "%data2", "%result")]
    wrong = emit.call(name, "i1", *pointers, number, site, context.active, *places)
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)
    if returns and not isinstance(operands[0], Sink):
        take(context, operands[0], kind, width, "%result")


def _maker(context: Context, operation: str, kind: str, space: str) -> Callable[[str], str]:
    """The lines that make %new of %old, %b and %c, whole numbers of a type."""
    lines = update_text(context.code.program, operation, kind, space)
    if lines is None:
        raise context.refuse()
    return lambda bits: lines.replace("INT", bits)


def update_text(program: "Program", operation: str, kind: str, space: str = "global") -> str | None:
    """The lines that make %new of %old, %b and %c, whole numbers of type INT; None for what no operation is."""
    if operation in ("min", "max") and "f16" in kind:
        count = 2 if kind.endswith("x2") else 1
        name, reals = f"llvm.{operation}imumnum.v{count}f32", f"<{count} x float>"
        program.declared[name] = f"declare {reals} @{name}({reals}, {reals})"
    return _lines(operation, kind, space)


def _lines(operation: str, kind: str, space: str) -> str | None:
    signed = "s" if kind.startswith("s") else "u"
    match operation:
        case "exch":
            return "  %new = select i1 true, INT %b, INT %old"
        case "cas":
            return "  %same = icmp eq INT %old, %b\n  %new = select i1 %same, INT %c, INT %old"
        case "arrive":
            return _ARRIVAL
        case "and" | "or" | "xor":
            return f"  %new = {operation} INT %old, %b"
        case "inc":
            return ("  %wraps = icmp uge INT %old, %b\n  %up = add INT %old, 1\n"
                    "  %new = select i1 %wraps, INT 0, INT %up")  # fmt: skip
        case "dec":
            return ("  %zero = icmp eq INT %old, 0\n  %above = icmp ugt INT %old, %b\n  %wraps = or i1 %zero, %above\n"
                    "  %down = sub INT %old, 1\n  %new = select i1 %wraps, INT %b, INT %down")  # fmt: skip
        case "min" | "max" if kind[0] in "us":
            order = "lt" if operation == "min" else "gt"
            return f"  %beats = icmp {signed}{order} INT %b, %old\n  %new = select i1 %beats, INT %b, INT %old"
        case "add" if kind[0] in "us":
            return "  %new = add INT %old, %b"
        case "add" if kind == "f32" and space == "global":
            return _FLUSHED_SUM
        case "add" if kind in _REAL:
            of = _REAL[kind]
            sum_of = (f"  %x = bitcast INT %old to {of}\n  %y = bitcast INT %b to {of}\n  %z = fadd {of} %x, %y\n"
                      f"  %sum = bitcast {of} %z to INT\n")  # fmt: skip
            return sum_of + (_ONE_NAN.replace("SUM", "%sum") if kind == "f32" else "  %new = add INT %sum, 0")
        case "add" | "min" | "max" if kind in ("f16", "bf16", "f16x2", "bf16x2"):
            return _of_halves(operation, kind)
    return None


# An mbarrier of sm_80, which machine code looks into: bit 63 is the phase, bits 32 to 62 count up to it the arrivals
# that are missing, and bits 0 to 29 have what the next phase counts from. An operation of ours.
_ARRIVAL = """  %arrived = add INT %old, 4294967296
  %phase = and INT %arrived, -9223372036854775808
  %left = and INT %arrived, 9223372032559808512
  %complete = icmp eq INT %left, 0
  %expected = and INT %old, 1073741823
  %more = or INT %expected, 1073741824
  %count = shl INT %more, 32
  %low = and INT %old, 4294967295
  %next = or INT %count, %low
  %begun = or INT %next, %phase
  %new = select i1 %complete, INT %begun, INT %arrived"""


def _flushed(name: str) -> str:
    """Lines that make a number too small to be normal a 0 of its sign."""
    return f"""  %{name}.size = and i32 %{name}, 2147483647
  %{name}.small = icmp ult i32 %{name}.size, 8388608
  %{name}.sign = and i32 %{name}, -2147483648
  %{name}.kept = select i1 %{name}.small, i32 %{name}.sign, i32 %{name}
"""


# Of a sum of f32 that is a NaN the one that a GPU gives.
_ONE_NAN = f"""  %is.nan = fcmp uno float %z, %z
  %new = select i1 %is.nan, i32 {NAN}, i32 SUM"""

# Sums of f32 in global memory, but not in shared memory (PTX ISA, atom).
_FLUSHED_SUM = f"""{_flushed("old")}{_flushed("b")}  %x = bitcast i32 %old.kept to float
  %y = bitcast i32 %b.kept to float
  %z = fadd float %x, %y
  %sum = bitcast float %z to i32
{_flushed("sum")}{_ONE_NAN.replace("SUM", "%sum.kept")}"""


def _of_halves(operation: str, kind: str) -> str:
    """The sum, the least or the most of one or two numbers of 16 bits, computed in f32 and rounded once."""
    count = 2 if kind.endswith("x2") else 1
    vector, wide = f"<{count} x i16>", f"<{count} x i32>"
    reals = f"<{count} x float>"
    lines = [f"  %old.h = bitcast INT %old to {vector}", f"  %b.h = bitcast INT %b to {vector}"]
    for name in ("old", "b"):
        if kind.startswith("f"):
            lines += [
                f"  %{name}.f = bitcast {vector} %{name}.h to <{count} x half>",
                f"  %{name}.r = fpext <{count} x half> %{name}.f to {reals}",
            ]
        else:
            lines += [
                f"  %{name}.w = zext {vector} %{name}.h to {wide}",
                f"  %{name}.s = shl {wide} %{name}.w, splat (i32 16)",
                f"  %{name}.r = bitcast {wide} %{name}.s to {reals}",
            ]
    if operation == "add":
        lines.append(f"  %sum = fadd {reals} %old.r, %b.r")
    else:  # of a number and a NaN the number; -0 is less than 0
        least = f"llvm.{operation}imumnum.v{count}f32"
        lines.append(f"  %sum = call {reals} @{least}({reals} %old.r, {reals} %b.r)")
    if kind.startswith("f"):
        lines += [
            f"  %sum.h = fptrunc {reals} %sum to <{count} x half>",
            f"  %sum.i = bitcast <{count} x half> %sum.h to {vector}",
            f"  %nan = fcmp uno {reals} %sum, %sum",
            f"  %one = select <{count} x i1> %nan, {vector} splat (i16 32767), {vector} %sum.i",
            f"  %new = bitcast {vector} %one to INT",
        ]
    else:
        lines += [
            f"  %sum.i = bitcast {reals} %sum to {wide}",
            f"  %top = lshr {wide} %sum.i, splat (i32 16)",
            f"  %odd = and {wide} %top, splat (i32 1)",
            f"  %bias = add {wide} %odd, splat (i32 32767)",
            f"  %moved = add {wide} %sum.i, %bias",
            f"  %cut = lshr {wide} %moved, splat (i32 16)",
            f"  %nan = fcmp uno {reals} %sum, %sum",
            f"  %kept = select <{count} x i1> %nan, {wide} splat (i32 32767), {wide} %cut",
            f"  %sum.h = trunc {wide} %kept to {vector}",
            f"  %new = bitcast {vector} %sum.h to INT",
        ]
    return "\n".join(lines)


_ASCENDING = """  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
"""
_DESCENDING = """  %above = call i32 @llvm.ctlz.i32(i32 %m, i1 true)
  %lane = sub i32 31, %above
"""


def _function(
    name: str, space: str, size: int, count: int, make: Callable[[str], str], backwards: bool, behind: str
) -> str:
    """Lane by lane, the lowest first unless backwards, and in each one number after the other.

    behind: lines that follow each update.
    """
    bits = f"i{8 * size}"
    return f"""
define internal {bits} @"{name}.new"({bits} %old, {bits} %b, {bits} %c) alwaysinline {{
{make(bits)}
  ret {bits} %new
}}
define internal i1 @"{name}"(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %site, i32 %mask, ptr %addresses,
    ptr %data, ptr %data2, ptr %result) noinline {{
entry:
  %hosts = alloca [32 x i64], align 64
  %nobody = icmp eq i32 %mask, 0
  br i1 %nobody, label %end, label %some
some:
  %wrong = call i1 @resolve.{space}(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask,
    i64 {size * count}, i1 true, ptr %addresses, ptr %hosts)
  br i1 %wrong, label %failed, label %log
log:
  call void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %addresses)
  br label %each
each:
  %m = phi i32 [ %mask, %log ], [ %m.next, %next ]
{_DESCENDING if backwards else _ASCENDING}  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  %host = load ptr, ptr %host.at
  %first = mul i32 %lane, {count}
  br label %number
number:
  %n = phi i32 [ 0, %each ], [ %n.next, %number ]
  %at = getelementptr {bits}, ptr %host, i32 %n
  %place = add i32 %first, %n
  %b.at = getelementptr {bits}, ptr %data, i32 %place
  %b = load {bits}, ptr %b.at
  %c.at = getelementptr {bits}, ptr %data2, i32 %place
  %c = load {bits}, ptr %c.at
  %old = load {bits}, ptr %at, align 1
  %new = call {bits} @"{name}.new"({bits} %old, {bits} %b, {bits} %c)
  store {bits} %new, ptr %at, align 1
{behind}  %result.at = getelementptr {bits}, ptr %result, i32 %place
  store {bits} %old, ptr %result.at
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, {count}
  br i1 %more, label %number, label %next
next:
  %bit = shl i32 1, %lane
  %m.next = xor i32 %m, %bit
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %end, label %each
end:
  ret i1 false
failed:
  ret i1 true
}}
"""


HANDLERS = {"atom": atomic, "red": atomic}
