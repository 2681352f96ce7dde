"""Asynchronous copies: done at once, which is one of the allowed times."""

from dataclasses import replace

from simtmm.cuda.execution.instructions.matrices.group_waits import note_group
from simtmm.cuda.execution.instructions.memory import atomics
from simtmm.cuda.execution.instructions.memory import loads_and_stores as memory
from simtmm.cuda.execution.instructions.memory.atomics import update_text
from simtmm.cuda.execution.instructions.memory.loads_and_stores import POINTERS, address_of
from simtmm.cuda.execution.instructions.memory.mbarrier import arrive, complete, note
from simtmm.cuda.execution.instructions.memory.tensor_code import SUMS
from simtmm.cuda.execution.instructions.memory.tensors import barrier_beside, copy_tensor, each_target
from simtmm.cuda.execution.layout import ALIGN, COPIER_BIT, OUT_OF_BOUNDS
from simtmm.cuda.execution.runtime.check_log import log_bulk, log_told
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.flow.steps import BULK_ENTRIES, BULK_WIDTH, space_of, width_of
from simtmm.cuda.ptx.syntax import Address, Immediate, Instruction
from simtmm.cuda.ptx.types import bytes_of
from simtmm.trace.schema import STORES_COMMIT, STORES_WAIT
from simtmm.workload import ARRIVE_COPIED, COMPLETE, COMPLETE_MULTICAST, COMPLETE_SENT, MOST_UNDRAINED

_SPACES = ("global", "shared")


def copy(context: Context, instruction: Instruction) -> None:
    """cp.async and its kin."""
    if instruction.has("prefetch"):
        return
    if instruction.has("tensor"):
        copy_tensor(context, instruction)
    elif instruction.has("mbarrier"):
        # Copies are done: an arrival that is expected besides (without .noinc) leaves all as it was.
        if instruction.has("noinc"):
            arrive(context, instruction.operands[0])
        else:
            none = context.emit.constant(0, "<32 x i64>")
            addresses = address_of(context, instruction.operands[0])
            log_told(context, addresses)
            note(context, ARRIVE_COPIED, context.active, addresses, none)
    elif instruction.has("bulk") and instruction.has("commit_group"):
        note_group(context, STORES_COMMIT)
    elif instruction.has("bulk") and instruction.has("wait_group"):
        left = next((each.value for each in instruction.operands if isinstance(each, Immediate)), 0)
        note_group(context, STORES_WAIT + max(0, min(int(left), MOST_UNDRAINED)))
    elif instruction.has("bulk"):
        _copy_bulk(context, instruction)
    elif not instruction.has("bulk"):
        memory.copy_asynchronously(context, instruction)


def _copy_bulk(context: Context, instruction: Instruction) -> None:
    """cp.async.bulk: so many bytes of each lane that takes part."""
    unknown = next((m for m in instruction.modifiers if m in ("cp_mask", "ignore_oob")), None)
    if unknown is not None:
        raise context.refuse(f"with .{unknown} is not run here")
    spaces = [m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in _SPACES]
    if len(spaces) != 2:
        raise context.refuse("copies between state spaces that are not known")
    emit, program = context.emit, context.code.program
    to, given, size = instruction.operands[:3]
    if isinstance(size, Immediate) and size.value % BULK_WIDTH:
        raise context.refuse(f"copies a number of bytes that is no multiple of {BULK_WIDTH}")
    count = context.read(size, "i64")
    name = f"copy.bulk.{spaces[0]}.{spaces[1]}"
    program.helper("log.bulk", lambda: _LOG)
    move = _MOVE
    if instruction.has("reduce"):
        way, kind = next((each for each in instruction.modifiers if each in SUMS), ""), context.type_of()
        lines = update_text(program, way, kind, spaces[0])
        if lines is None:
            raise context.refuse("adds up in no way that is known")
        name += f".{way}.{kind}"
        bits = f"i{8 * bytes_of(kind)}"
        move = _SUM.replace("LINES", lines).replace("INT", bits).replace("STEP", str(bytes_of(kind)))
    plain = ".plain" if program.checks else ""
    program.helper(name, lambda: _function(name, spaces[0], spaces[1], move, plain))
    target = instruction.operands[3] if len(instruction.operands) > 3 else None
    has_barrier = isinstance(target, Address)
    mask = instruction.operands[4] if has_barrier and instruction.has("multicast::cluster") else None
    for there, site in each_target(context, address_of(context, to), mask):
        emit.store(there, "%data", ALIGN)
        emit.store(address_of(context, given), "%addresses", ALIGN)
        emit.store(count, "%data2", ALIGN)
        number = Value(str(context.access_number()), "i32")
        places = [Value(each, "ptr") for each in ("%data", "%addresses", "%data2")]
        recorded = site if "global" in spaces else Value("-1", "i32")  # else all that a trace has is what is counted
        wrong = emit.call(name, "i1", *POINTERS, number, recorded, context.active, *places)
        label = emit.name("went")[1:]
        emit.do(f"br {wrong}, label %faulted, label %{label}")
        emit.label(label)
        beside = barrier_beside(context, there, target, mask) if target is not None and has_barrier else None
        log_bulk(context, spaces[1], False, address_of(context, given), count, None)
        log_bulk(context, spaces[0], True, there, count, beside)
        if beside is not None:
            action = COMPLETE_SENT if "global" not in spaces else COMPLETE if mask is None else COMPLETE_MULTICAST
            complete(context, beside, count, "shared", action)


def _function(name: str, to: str, given: str, move: str, plain: str) -> str:
    """Lane by lane. An array holds all that is copied if it holds the first 16 bytes and the last, as far apart.

    move: lines that move the bytes, or add them up. plain: what functions are called that log nothing for checks.
    """
    logged = "%givens" if given == "global" else "%tos"
    resolve = "\n".join(
        f"""  %{side}.wrong{end} = call i1 @resolve.{space}{plain}(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 %one, i64 {BULK_WIDTH}, i1 {writes}, ptr %{side}{"s" if end == 0 else ".lasts"}, ptr %{side}.hosts{end})
  br i1 %{side}.wrong{end}, label %failed, label %{side}.right{end}
{side}.right{end}:"""
        for side, space, writes in (("to", to, "true"), ("given", given, "false"))
        for end in (0, 1)
    )
    lasts = "\n".join(
        f"""  %{side}.at = getelementptr i64, ptr %{side}s, i32 %lane
  %{side}.first = load i64, ptr %{side}.at
  %{side}.end = add i64 %{side}.first, %last
  %{side}.last.at = getelementptr i64, ptr %{side}.lasts, i32 %lane
  store i64 %{side}.end, ptr %{side}.last.at
  %{side}.host.at = getelementptr i64, ptr %{side}.hosts0, i32 %lane
  %{side}.host.last.at = getelementptr i64, ptr %{side}.hosts1, i32 %lane"""
        for side in ("to", "given")
    )
    spans = "\n".join(
        f"""  %{side}.host = load i64, ptr %{side}.host.at
  %{side}.host.last = load i64, ptr %{side}.host.last.at
  %{side}.span = sub i64 %{side}.host.last, %{side}.host
  %{side}.whole = icmp eq i64 %{side}.span, %last"""
        for side in ("to", "given")
    )
    buffers = "\n".join(
        f"  %{side}.{what} = alloca [32 x i64], align 64"
        for side in ("to", "given")
        for what in ("lasts", "hosts0", "hosts1")
    )
    return f"""
define internal i1 @"{name}"(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 %site, i32 %mask, ptr %tos, ptr %givens, ptr %sizes) noinline {{
entry:
{buffers}
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %log, label %lane.one
lane.one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %one = shl i32 1, %lane
  %size.at = getelementptr i64, ptr %sizes, i32 %lane
  %size = load i64, ptr %size.at
  %last = sub i64 %size, {BULK_WIDTH}
  %none = icmp eq i64 %size, 0
{lasts}
  br i1 %none, label %next, label %found
found:
{resolve}
{spans}
  %whole = and i1 %to.whole, %given.whole
  br i1 %whole, label %move, label %outside
outside:
  %inner = select i1 %to.whole, i64 %given.end, i64 %to.end
  call void @fault(ptr %launch, i32 {OUT_OF_BOUNDS}, i32 %access, i32 %lane, i64 %inner)
  br label %failed
move:
  %to.pointer = inttoptr i64 %to.host to ptr
  %given.pointer = inttoptr i64 %given.host to ptr
{move}  br label %next
next:
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  br label %each
log:
  %recorded = icmp sge i32 %site, 0
  br i1 %recorded, label %logs, label %end
logs:
  call void @log.bulk(ptr %launch, ptr %warp, i32 %site, i32 %mask, ptr {logged}, ptr %sizes)
  br label %end
end:
  ret i1 false
failed:
  ret i1 true
}}
"""


_MOVE = "  call void @llvm.memcpy.p0.p0.i64(ptr %to.pointer, ptr %given.pointer, i64 %size, i1 false)\n"
_SUM = """  br label %adding
adding:
  %n = phi i64 [ 0, %move ], [ %n.next, %adding ]
  %to.place = getelementptr i8, ptr %to.pointer, i64 %n
  %given.place = getelementptr i8, ptr %given.pointer, i64 %n
  %old = load INT, ptr %to.place, align 1
  %b = load INT, ptr %given.place, align 1
LINES
  store INT %new, ptr %to.place, align 1
  %n.next = add i64 %n, STEP
  %n.more = icmp ult i64 %n.next, %size
  br i1 %n.more, label %adding, label %added
added:
"""


# An entry has an address a lane: the pieces of a copy are written down as if the lanes of the warp had shared them.
# A warp that never had all of its lanes writes them down for the lane that copies. The log has room for so many
# entries, no more.
_LOG = f"""
define internal void @log.bulk(ptr %launch, ptr %warp, i32 %site, i32 %mask, ptr %addresses, ptr %sizes) noinline {{
entry:
  %pieces = alloca [32 x i64], align 64
  %living = call i32 @lanes.begun(ptr %launch, ptr %warp)
  %all = icmp eq i32 %living, -1
  %step = select i1 %all, i64 {32 * BULK_WIDTH}, i64 {BULK_WIDTH}
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %room = phi i32 [ {BULK_ENTRIES}, %entry ], [ %room.here, %next ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %end, label %lane.one
lane.one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %one = shl i32 1, %lane
  %size.at = getelementptr i64, ptr %sizes, i32 %lane
  %size = load i64, ptr %size.at
  %first.at = getelementptr i64, ptr %addresses, i32 %lane
  %first = load i64, ptr %first.at
  br label %piece
piece:
  %done = phi i64 [ 0, %lane.one ], [ %done.next, %write ]
  %room.here = phi i32 [ %room, %lane.one ], [ %room.next, %write ]
  %left = sub i64 %size, %done
  %some = icmp sgt i64 %left, 0
  %fits = icmp sgt i32 %room.here, 0
  %goes = and i1 %some, %fits
  br i1 %goes, label %write, label %next
write:
  %count = lshr i64 %left, {BULK_WIDTH.bit_length() - 1}
  %count.some = call i64 @llvm.umin.i64(i64 %count, i64 32)
  %bits = shl i64 1, %count.some
  %bits.less = sub i64 %bits, 1
  %shared = trunc i64 %bits.less to i32
  %who = select i1 %all, i32 %shared, i32 %one
  %begin = add i64 %first, %done
  %begin.1 = insertelement <32 x i64> poison, i64 %begin, i32 0
  %begins = shufflevector <32 x i64> %begin.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %spread = add <32 x i64> %begins, <{", ".join(f"i64 {BULK_WIDTH * n}" for n in range(32))}>
  %places.here = select i1 %all, <32 x i64> %spread, <32 x i64> %begins
  %lane.64 = zext i32 %lane to i64
  %lane.counted = add i64 %lane.64, 1
  %copier = shl i64 %lane.counted, {COPIER_BIT}
  %copier.1 = insertelement <32 x i64> poison, i64 %copier, i32 0
  %copiers = shufflevector <32 x i64> %copier.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %places = or <32 x i64> %places.here, %copiers
  store <32 x i64> %places, ptr %pieces, align 64
  call void @log.access(ptr %launch, i32 %site, i32 %who, ptr %pieces)
  %done.next = add i64 %done, %step
  %room.next = sub i32 %room.here, 1
  br label %piece
next:
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  br label %each
end:
  ret void
}}
"""


def store(context: Context, instruction: Instruction) -> None:
    """st, and st.async, which an mbarrier counts the bytes of."""
    if instruction.has("bulk"):
        raise context.refuse("fills memory by a number of bytes, which is not run here")
    memory.store(context, instruction)
    if instruction.has("async") and len(instruction.operands) > 2:
        size = context.emit.constant(width_of(instruction), "<32 x i64>")
        complete(context, instruction.operands[2], size, space_of(instruction))


def reduction(context: Context, instruction: Instruction) -> None:
    """red, and red.async, whose bytes an mbarrier counts."""
    if not instruction.has("async"):
        atomics.atomic(context, instruction)
        return
    if len(instruction.operands) != 3:
        raise context.refuse("needs an address, a value and an mbarrier")
    atomics.atomic(context, replace(instruction, operands=instruction.operands[:2]))
    size = context.emit.constant(bytes_of(context.type_of()), "<32 x i64>")
    complete(context, instruction.operands[2], size, space_of(instruction))


HANDLERS = {"cp": copy, "st": store, "red": reduction}
