"""redux: over the lanes of a mask, of whole numbers, bits and f32."""

from simtmm.cuda.execution.instructions.warp import heard
from simtmm.cuda.execution.layout import ALIGN
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.execution.translation.one_nan import NAN
from simtmm.cuda.ptx.syntax import Instruction

_LANES = lanes("i32")
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
_REDUCTIONS = {
    ("add", "s32"): ("add", 0), ("add", "u32"): ("add", 0), ("min", "s32"): ("smin", 2**31 - 1),
    ("max", "s32"): ("smax", -(2**31)), ("min", "u32"): ("umin", -1), ("max", "u32"): ("umax", 0),
    ("and", "b32"): ("and", -1), ("or", "b32"): ("or", 0), ("xor", "b32"): ("xor", 0),
}  # fmt: skip


def reduce(context: Context, instruction: Instruction) -> None:
    """redux."""
    operation = next((m for m in instruction.modifiers if m in ("add", "min", "max", "and", "or", "xor")), "")
    kind = context.type_of()
    to, given = instruction.operands[:2]
    if kind == "f32" and operation in ("min", "max"):
        ordered = _ordered(context, instruction, operation, context.read(given, "i32"))
        found = _reduced(context, instruction, *_REDUCTIONS[operation, "s32"], ordered)
        context.write(to, _from_order(context, found))
        return
    known = _REDUCTIONS.get((operation, kind))
    if known is None:
        raise context.refuse()
    context.write(to, _reduced(context, instruction, *known, context.read(given, "i32")))


def _reduced(context: Context, instruction: Instruction, intrinsic: str, neutral: int, value: Value) -> Value:
    """For each lane the result over the lanes that it hears of."""
    emit, program = context.emit, context.code.program
    emit.store(value, "%data", ALIGN)
    emit.store(heard(context, instruction), "%data2", ALIGN)
    name = f"redux.{intrinsic}"
    program.declared[f"llvm.vector.reduce.{intrinsic}.v32i32"] = (
        f"declare i32 @llvm.vector.reduce.{intrinsic}.v32i32(<32 x i32>)"
    )
    program.helper(name, lambda: _reduce(name, intrinsic, neutral))
    emit.call(name, "void", *(Value(place, "ptr") for place in ("%data", "%data2", "%result")))
    return emit.load(_LANES, "%result", ALIGN)


def _ordered(context: Context, instruction: Instruction, operation: str, raw: Value) -> Value:
    """Bits of f32 as whole numbers of the same order. A NaN is beyond all: it loses, with .NaN it wins."""
    emit = context.emit
    size = emit.binary("and", raw, emit.constant(_MOST, raw.type))
    nan = emit.compare("icmp ugt", size, emit.constant(0x7F800000, raw.type))
    if instruction.has("abs"):
        raw = size
    signs = emit.binary("ashr", raw, emit.constant(31, raw.type))
    ordered = emit.binary("xor", raw, emit.binary("and", signs, emit.constant(_MOST, raw.type)))
    wins = _LEAST if operation == "min" else _MOST
    loses = _MOST if operation == "min" else _LEAST
    return emit.select(nan, emit.constant(wins if instruction.has("NaN") else loses, raw.type), ordered)


def _from_order(context: Context, ordered: Value) -> Value:
    """The other way; a NaN is that of GPUs."""
    emit = context.emit
    signs = emit.binary("ashr", ordered, emit.constant(31, ordered.type))
    raw = emit.binary("xor", ordered, emit.binary("and", signs, emit.constant(_MOST, ordered.type)))
    size = emit.binary("and", raw, emit.constant(_MOST, raw.type))
    nan = emit.compare("icmp ugt", size, emit.constant(0x7F800000, raw.type))
    return emit.select(nan, emit.constant(NAN, raw.type), raw)


def _reduce(name: str, intrinsic: str, neutral: int) -> str:
    """Lane by lane, since lanes may have masks of their own; a lane with the mask of the one before has its result."""
    return f"""
define internal void @{name}(ptr %data, ptr %masks, ptr %result) noinline {{
entry:
  %all = load <32 x i32>, ptr %data, align 64
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %next ]
  %before = phi i32 [ 0, %entry ], [ %mask, %next ]
  %had = phi i32 [ {neutral}, %entry ], [ %has, %next ]
  %mask.at = getelementptr i32, ptr %masks, i32 %n
  %mask = load i32, ptr %mask.at
  %same = icmp eq i32 %mask, %before
  br i1 %same, label %next, label %compute
compute:
  %lanes = bitcast i32 %mask to <32 x i1>
  %chosen = select <32 x i1> %lanes, <32 x i32> %all, <32 x i32> splat (i32 {neutral})
  %new = call i32 @llvm.vector.reduce.{intrinsic}.v32i32(<32 x i32> %chosen)
  br label %next
next:
  %has = phi i32 [ %had, %each ], [ %new, %compute ]
  %to = getelementptr i32, ptr %result, i32 %n
  store i32 %has, ptr %to
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, 32
  br i1 %more, label %each, label %end
end:
  ret void
}}
"""


HANDLERS = {"redux": reduce}
