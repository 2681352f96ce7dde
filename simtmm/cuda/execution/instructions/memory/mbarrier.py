"""mbarrier: barriers in shared memory that count arrivals, and bytes that copies have yet to bring.

The object is 64 bits, which programs must not look into. Ours: bits 0 to 19 the arrivals that the phase still waits
for, 20 to 39 those that the next begins with, 40 to 60 the bytes that are expected (less those that came early), 63
the phase. A phase is complete when no arrival and no byte is missing; the object begins the next at once. The state
that an arrival gives is the object as it was.
"""

from simtmm.cuda.execution.instructions.memory.loads_and_stores import POINTERS, address_of
from simtmm.cuda.execution.layout import ALIGN, LAUNCH, MOST_POLLS, PEER_BIT, PEER_OFFSETS, WARP
from simtmm.cuda.execution.livelock.watched_code import update_lines
from simtmm.cuda.execution.runtime.assembly_file import with_offsets
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.steps import space_of
from simtmm.cuda.ptx.syntax import Address, Instruction, Operand, Sink
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    AWAIT,
    COMPLETE,
    EXPECT,
    INIT,
    NUMBER_SHIFT,
    REMOTE_SHIFT,
)

_COUNT_BITS = 20
UPDATE = f"""
define internal i64 @mbarrier.update(i64 %old, i64 %arrivals, i64 %dropped, i64 %bytes) {{
  %pending.old = and i64 %old, {(1 << _COUNT_BITS) - 1}
  %pending.less = sub i64 %pending.old, %arrivals
  %pending = and i64 %pending.less, {(1 << _COUNT_BITS) - 1}
  %expected.up = lshr i64 %old, {_COUNT_BITS}
  %expected.old = and i64 %expected.up, {(1 << _COUNT_BITS) - 1}
  %expected = sub i64 %expected.old, %dropped
  %left.up = shl i64 %old, 3
  %left.old = ashr i64 %left.up, 43
  %left = add i64 %left.old, %bytes
  %phase = lshr i64 %old, 63
  %no.arrivals = icmp eq i64 %pending, 0
  %no.bytes = icmp eq i64 %left, 0
  %complete = and i1 %no.arrivals, %no.bytes
  %flip = zext i1 %complete to i64
  %phase.new = xor i64 %phase, %flip
  %pending.new = select i1 %complete, i64 %expected, i64 %pending
  %a = shl i64 %expected, {_COUNT_BITS}
  %b = shl i64 %left, 43
  %c = lshr i64 %b, 3
  %d = shl i64 %phase.new, 63
  %e = or i64 %pending.new, %a
  %f = or i64 %c, %d
  %new = or i64 %e, %f
  ret i64 %new
}}
"""

# What becomes of %old by %x and %y, and %out that the lane gets.
_OPERATIONS = {
    "init": "  %up = shl i64 %x, 20\n  %new = or i64 %x, %up\n  %out = add i64 %old, 0",
    "inval": "  %new = and i64 %old, 0\n  %out = add i64 %old, 0",
    "arrive": "  %new = call i64 @mbarrier.update(i64 %old, i64 %x, i64 0, i64 %y)\n  %out = add i64 %old, 0",
    "arrive_drop": "  %new = call i64 @mbarrier.update(i64 %old, i64 %x, i64 %x, i64 %y)\n  %out = add i64 %old, 0",
    "expect": "  %new = call i64 @mbarrier.update(i64 %old, i64 0, i64 0, i64 %y)\n  %out = add i64 %old, 0",
    # %x: a state, or the phase's parity in bit 63.
    "wait": "  %new = add i64 %old, 0\n  %differ = xor i64 %old, %x\n  %out = lshr i64 %differ, 63",
}


def barrier(context: Context, instruction: Instruction) -> None:
    """mbarrier."""
    what = instruction.modifiers[0]
    operands = instruction.operands
    one = context.emit.constant(1, lanes("i64"))
    match what:
        case "init":
            _apply(context, "init", operands[0], context.read(operands[1], "i64"), None)
        case "inval":
            _apply(context, "inval", operands[0], None, None)
        case "expect_tx":
            _apply(context, "expect", operands[0], None, context.read(operands[1], "i64"))
        case "complete_tx":
            complete(context, operands[0], context.read(operands[1], "i64"), space_of(instruction))
        case "arrive" | "arrive_drop":
            to, rest = (operands[0], operands[1:]) if not isinstance(operands[0], Address) else (Sink(), operands)
            expects = instruction.has("expect_tx")
            given = context.read(rest[1], "i64") if len(rest) > 1 else one
            out = _apply(context, what, rest[0], one if expects else given, given if expects else None)
            if not isinstance(to, Sink):
                context.write(to, out)
        case "test_wait" | "try_wait":
            state = context.read(operands[2], "i64")
            if instruction.has("parity"):
                state = context.emit.binary("shl", state, context.emit.constant(63, state.type))
            context.write(operands[0], _apply(context, "wait", operands[1], state, None))
        case "pending_count":
            state = context.read(operands[1], "i64")
            mask = context.emit.constant((1 << _COUNT_BITS) - 1, state.type)
            context.write(operands[0], context.emit.binary("and", state, mask))
        case _:
            raise context.refuse()


def complete(context: Context, address: Operand | Value, count: Value, space: str, action: int = COMPLETE) -> None:
    """Count bytes that have arrived. action: what that is to a trace."""
    emit = context.emit
    less = emit.binary("sub", emit.constant(0, count.type), count)
    _apply(context, "expect", address, None, less, space, (action, count))


def arrive(context: Context, address: Operand) -> None:
    """An arrival of each active lane, once its copies have arrived."""
    one = context.emit.constant(1, lanes("i64"))
    _apply(context, "arrive", address, one, None, noted=(ARRIVE_COPIED, one))


# An address is that of shared memory, by itself or in the generic window; an entry is as an operation of a workload.
_NOTE = with_offsets(f"""
define internal void @log.mbarrier(
    ptr %launch, ptr %block, i32 %site, i32 %mask, ptr %addresses, ptr %counts, i64 %action) noinline {{
entry:
  %some = icmp ne i32 %mask, 0
  %known = icmp sge i32 %site, 0
  %writes = and i1 %some, %known
  br i1 %writes, label %write, label %end
write:
  %entries = alloca [32 x i64], align 64
  %own.at = getelementptr i8, ptr %block, i64 {{BLOCK.cluster_rank}}
  %own.32 = load i32, ptr %own.at
  %own.64 = zext i32 %own.32 to i64
  %own.one = add i64 %own.64, 1
  br label %each
each:
  %n = phi i64 [ 0, %write ], [ %n.next, %each ]
  %address.at = getelementptr i64, ptr %addresses, i64 %n
  %address = load i64, ptr %address.at
  %count.at = getelementptr i64, ptr %counts, i64 %n
  %count.whole = load i64, ptr %count.at
  %count = and i64 %count.whole, {(1 << NUMBER_SHIFT) - 1}
  %number = and i64 %address, {PEER_OFFSETS}
  %peer.up = lshr i64 %address, {PEER_BIT}
  %peer = and i64 %peer.up, 31
  %is.peer = icmp ne i64 %peer, 0
  %is.other = icmp ne i64 %peer, %own.one
  %is.remote = and i1 %is.peer, %is.other
  %remote = zext i1 %is.remote to i64
  %a = shl i64 %number, {NUMBER_SHIFT}
  %b = shl i64 %remote, {REMOTE_SHIFT}
  %c = shl i64 %action, {ACTION_SHIFT}
  %d = or i64 %a, %b
  %e = or i64 %c, %count
  %entry.whole = or i64 %d, %e
  %entry.at = getelementptr i64, ptr %entries, i64 %n
  store i64 %entry.whole, ptr %entry.at
  %n.next = add i64 %n, 1
  %more = icmp ult i64 %n.next, 32
  br i1 %more, label %each, label %logs
logs:
  call void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %entries)
  br label %end
end:
  ret void
}}
""")


def note(context: Context, action: int, mask: Value, addresses: Value | None, counts: Value) -> None:
    """Log what the lanes of a mask do at mbarriers; addresses: those in %addresses if left out."""
    if context.site < 0:
        return
    emit, program = context.emit, context.code.program
    program.helper("log.mbarrier", lambda: _NOTE)
    if addresses is not None:
        emit.store(addresses, "%addresses", ALIGN)
    emit.store(counts, "%data2", ALIGN)
    site, code = Value(str(context.site), "i32"), Value(str(action), "i64")
    places = (Value("%addresses", "ptr"), Value("%data2", "ptr"))
    emit.call("log.mbarrier", "void", *POINTERS[:2], site, mask, *places, code)


def _apply(
    context: Context,
    operation: str,
    address: Operand | Value,
    x: Value | None,
    y: Value | None,
    space: str | None = None,
    noted: tuple[int, Value] | None = None,
) -> Value:
    """An operation on the objects of the lanes, one after the other; what each gets of it, i64.

    noted: what it is to a trace, and its count, where that does not follow from the operation.
    """
    emit, program = context.emit, context.code.program
    assert context.instruction is not None
    found = space_of(context.instruction) if space is None else space
    space = "shared" if found == "shared" else "global"
    program.helper("mbarrier.update", lambda: UPDATE)
    name = f"mbarrier.{operation}.{space}"
    behind = update_lines("i64") if program.watches else ""
    program.helper(name, lambda: _function(name, operation, space, behind))
    emit.store(address if isinstance(address, Value) else address_of(context, address), "%addresses", ALIGN)
    zero = emit.constant(0, lanes("i64"))
    emit.store(x or zero, "%data", ALIGN)
    emit.store(y or zero, "%data2", ALIGN)
    number = Value(str(context.access_number()), "i32")
    places = [Value(each, "ptr") for each in ("%addresses", "%data", "%data2", "%result")]
    wrong = emit.call(name, "i1", *POINTERS, number, context.active, *places)
    label = emit.name("went")[1:]
    emit.do(f"br {wrong}, label %faulted, label %{label}")
    emit.label(label)
    out = emit.load(lanes("i64"), "%result", ALIGN)
    if operation == "wait":
        _look_again(context, out)
    if noted is None:
        _note_operation(context, operation, x, y, out)
    else:
        note(context, noted[0], context.active, None, noted[1])
    return out


def _look_again(context: Context, out: Value) -> None:
    """Where a phase is not complete, other warps go first, and the lanes come to the instruction again, at most
    MOST_POLLS times: PTX leaves open how long it waits. So a loop around it goes round once or twice. Code that is
    watched has the loop go round in vain as soon as nothing else changes anything.
    """
    emit, program = context.emit, context.code.program
    label = emit.name("looked")[1:]
    failed = emit.mask(emit.compare("icmp eq", out, emit.constant(0, out.type)))
    fails = emit.compare("icmp ne", emit.binary("and", failed, context.active), Value("0", "i32"))
    place = emit.at("%warp", int(WARP.fields["polls"][1]))  # type: ignore[index]
    polls = emit.load("i32", place)
    most = Value(str(MOST_POLLS), "i32")
    if program.watches:
        most = emit.field("i32", "%launch", int(LAUNCH.fields["most_polls"][1]))  # type: ignore[index]
    few = emit.compare("icmp ult", polls, most)
    again = emit.binary("and", fails, few)
    more = emit.binary("add", polls, Value("1", "i32"))
    emit.store(emit.select(again, more, Value("0", "i32")), place)
    program.tired.add(context.number)
    emit.do(f"br {again}, label %tired{context.number}, label %{label}")
    emit.label(label)


def _note_operation(context: Context, operation: str, x: Value | None, y: Value | None, out: Value) -> None:
    """What an operation is to a trace: of a wait only that of lanes whose phase is complete."""
    emit = context.emit
    if operation == "wait" and x is not None:
        passed = emit.mask(emit.compare("icmp ne", out, emit.constant(0, out.type)))
        parity = emit.binary("lshr", x, emit.constant(63, x.type))
        note(context, AWAIT, emit.binary("and", context.active, passed), None, parity)
        return
    if y is not None:
        note(context, EXPECT, context.active, None, y)
    if x is not None:
        note(context, INIT if operation == "init" else ARRIVE, context.active, None, x)


def _function(name: str, operation: str, space: str, behind: str) -> str:
    return f"""
define internal i1 @"{name}"(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 %mask, ptr %addresses, ptr %xs, ptr %ys, ptr %result) noinline {{
entry:
  %hosts = alloca [32 x i64], align 64
  %nobody = icmp eq i32 %mask, 0
  br i1 %nobody, label %end, label %some
some:
  %wrong = call i1 @resolve.{space}(
    ptr %launch, ptr %block, ptr %warp, i32 %access,
    i32 %mask, i64 8, i1 true, ptr %addresses, ptr %hosts)
  br i1 %wrong, label %failed, label %each
each:
  %m = phi i32 [ %mask, %some ], [ %m.next, %each ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  %host = load ptr, ptr %host.at
  %x.at = getelementptr i64, ptr %xs, i32 %lane
  %x = load i64, ptr %x.at
  %y.at = getelementptr i64, ptr %ys, i32 %lane
  %y = load i64, ptr %y.at
  %old = load i64, ptr %host
{_OPERATIONS[operation]}
  store i64 %new, ptr %host
{behind}  %result.at = getelementptr i64, ptr %result, i32 %lane
  store i64 %out, ptr %result.at
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %end, label %each
end:
  ret i1 false
failed:
  ret i1 true
}}
"""


HANDLERS = {"mbarrier": barrier}
