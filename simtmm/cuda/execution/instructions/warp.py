"""Instructions by which the lanes of a warp exchange values, barriers at which no thread waits, and registers."""

from simtmm.cuda.execution.control_flow.barriers import (
    barrier_number,
    barrier_result,
    cluster_barrier,
    note_meeting,
    uniform,
)
from simtmm.cuda.execution.control_flow.edges import number_of, offset_of
from simtmm.cuda.execution.control_flow.gathering import members
from simtmm.cuda.execution.instructions.matrices.group_waits import note_group
from simtmm.cuda.execution.layout import ALIGN, WARP
from simtmm.cuda.execution.runtime.check_log import log_arrival
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.flow.basic_blocks import BARRIER_RESULT, LEAVE_CONVERGENCE
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Pair, Sink
from simtmm.cuda.ptx.types import bits_of
from simtmm.trace.schema import REGISTERS

_LANES = lanes("i32")


def shuffle(context: Context, instruction: Instruction) -> None:
    """shfl: a register of another lane, and whether that lane is within bounds."""
    emit = context.emit
    mode = next((m for m in instruction.modifiers if m in ("up", "down", "bfly", "idx")), None)
    if mode is None:
        raise context.refuse("does not say whose value a lane takes")
    a, b, c = (context.read(operand, "i32") for operand in instruction.operands[1:4])
    # PTX leaves open what a lane gets from an absent one. CUDA's own reduction sample adds it, so that it must be 0.
    a = emit.select(emit.lanes_of(context.active), a, emit.constant(0, a.type))

    def low_bits(value: Value) -> Value:
        return emit.binary("and", value, emit.constant(31, value.type))

    lane = emit.iota("i32")
    by, clamp = low_bits(b), low_bits(c)
    segment = low_bits(emit.binary("lshr", c, emit.constant(8, c.type)))
    within = low_bits(emit.invert(segment))
    first = emit.binary("and", lane, segment)
    last = emit.binary("or", first, emit.binary("and", clamp, within))
    match mode:
        case "up":
            chosen = emit.binary("sub", lane, by)
        case "down":
            chosen = emit.binary("add", lane, by)
        case "bfly":
            chosen = emit.binary("xor", lane, by)
        case _:
            chosen = emit.binary("or", first, emit.binary("and", by, within))
    inside = emit.compare("icmp sge" if mode == "up" else "icmp sle", chosen, last)
    source = low_bits(emit.select(inside, chosen, lane))
    found = take_lanes(context, a, source)
    to = instruction.operands[0]
    if isinstance(to, Pair):
        context.write(to.first, found)
        context.write(to.second, inside)
    else:
        context.write(to, found)


def take_lanes(context: Context, value: Value, source: Value) -> Value:
    """For each lane, the value of the lane with a given number."""
    emit = context.emit
    if source.name.startswith("<"):  # known before it runs
        places = [int(part.split()[1]) for part in source.name[1:-1].split(",")]
        return emit.shuffle(value, value, places)
    context.code.program.helper("take.lanes", lambda: _TAKE_LANES)
    emit.store(value, "%data", ALIGN)
    emit.store(source, "%data2", ALIGN)
    emit.call("take.lanes", "void", *(Value(name, "ptr") for name in ("%data", "%data2", "%result")))
    return emit.load(value.type, "%result", ALIGN)


_TAKE_LANES = """
define internal void @take.lanes(ptr %data, ptr %places, ptr %result) noinline {
entry:
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %each ]
  %place.at = getelementptr i32, ptr %places, i32 %n
  %place = load i32, ptr %place.at
  %from = getelementptr i32, ptr %data, i32 %place
  %value = load i32, ptr %from
  %to = getelementptr i32, ptr %result, i32 %n
  store i32 %value, ptr %to
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, 32
  br i1 %more, label %each, label %end
end:
  ret void
}
"""


def heard(context: Context, instruction: Instruction) -> Value:
    """The lanes that each lane gets values from: the active lanes of its mask."""
    emit = context.emit
    return emit.binary("and", context.read(members(instruction), "i32"), emit.splat(context.active))


def vote(context: Context, instruction: Instruction) -> None:
    """vote: all, any, uni, ballot."""
    emit = context.emit
    predicate = context.predicate(instruction.operands[1])
    mine = heard(context, instruction)
    ballot = emit.binary("and", emit.splat(emit.mask(predicate)), mine)
    zero = emit.constant(0, _LANES)
    everyone = emit.compare("icmp eq", ballot, mine)
    if instruction.has("ballot"):
        result = ballot
    elif instruction.has("all"):
        result = everyone
    elif instruction.has("any"):
        result = emit.compare("icmp ne", ballot, zero)
    elif instruction.has("uni"):
        result = emit.binary("or", everyone, emit.compare("icmp eq", ballot, zero))
    else:
        raise context.refuse()
    context.write(instruction.operands[0], result)


def match(context: Context, instruction: Instruction) -> None:
    """match: the lanes whose registers hold the same value."""
    emit = context.emit
    element = f"i{bits_of(context.type_of())}"
    value = context.read(instruction.operands[1], element)
    mine = heard(context, instruction)
    name = f"match.{element}"
    context.code.program.helper(name, lambda: _match(name, element))
    emit.store(value, "%data", ALIGN)
    emit.call(name, "void", Value("%data", "ptr"), Value("%result", "ptr"))
    equal = emit.binary("and", emit.load(_LANES, "%result", ALIGN), mine)
    to = instruction.operands[0]
    if instruction.has("any"):
        context.write(to, equal)
        return
    same = emit.compare("icmp eq", equal, mine)
    first = to.first if isinstance(to, Pair) else to
    context.write(first, emit.select(same, mine, emit.constant(0, _LANES)))
    if isinstance(to, Pair):
        context.write(to.second, same)


def _match(name: str, element: str) -> str:
    of = f"<32 x {element}>"
    return f"""
define internal void @{name}(ptr %data, ptr %result) noinline {{
entry:
  %all = load {of}, ptr %data, align 64
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %each ]
  %from = getelementptr {element}, ptr %data, i32 %n
  %one = load {element}, ptr %from
  %one.1 = insertelement {of} poison, {element} %one, i32 0
  %ones = shufflevector {of} %one.1, {of} poison, <32 x i32> zeroinitializer
  %same = icmp eq {of} %all, %ones
  %mask = bitcast <32 x i1> %same to i32
  %to = getelementptr i32, ptr %result, i32 %n
  store i32 %mask, ptr %to
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, 32
  br i1 %more, label %each, label %end
end:
  ret void
}}
"""


def elect(context: Context, instruction: Instruction) -> None:
    """elect: the lowest lane of the mask."""
    emit = context.emit
    mine = heard(context, instruction)
    leader = emit.intrinsic("llvm.cttz", _LANES, mine, Value("false", "i1"))
    to = instruction.operands[0]
    first, second = (to.first, to.second) if isinstance(to, Pair) else (Sink(), to)
    context.write(first, leader)
    context.write(second, emit.compare("icmp eq", leader, emit.iota("i32")))


def barrier(context: Context, instruction: Instruction) -> None:
    """bar.arrive, which does not wait; the others end their blocks (control_flow/block_ends.py)."""
    if instruction.has("cluster"):
        cluster_barrier(context, instruction)
        return
    emit = context.emit
    named, counted = instruction.operands
    number, count = barrier_number(context, named), uniform(context, counted)
    if context.code.program.checks:
        log_arrival(context, number, count, waits=False)
    note_meeting(context, number, count, 1)
    pointers = [Value(name, "ptr") for name in ("%launch", "%block", "%warp")]
    emit.call("arrive", "void", *pointers, context.active, number, count, Value("false", "i1"))


def leave_convergence(context: Context, instruction: Instruction) -> None:
    """Take the lanes that take part out of the masks of all others, which look anew at whom they wait for."""
    emit = context.emit
    to, masks = instruction.operands
    others = emit.splat(emit.invert(context.active))
    context.write_everywhere(to, emit.binary("and", context.read(masks, "i32"), others))
    blocked_at, gathering_at = (emit.at("%warp", offset_of(WARP, name)) for name in ("blocked", "gathering"))
    gathering = emit.load("i32", gathering_at)
    emit.store(emit.binary("and", emit.load("i32", blocked_at), emit.invert(gathering)), blocked_at)
    emit.store(number_of(0), gathering_at)


def set_registers(context: Context, instruction: Instruction) -> None:
    """setmaxnreg: how many registers a thread has from here on, unless ptxas ignores it (machine rules, section 9)."""
    program = context.code.program
    bounds = program.module.functions[program.entry].bounds
    if instruction.issue is not None or {"maxnreg", "minnctapersm"} & bounds.keys():
        note_group(context, REGISTERS + next(int(o.value) for o in instruction.operands if isinstance(o, Immediate)))


HANDLERS = {
    LEAVE_CONVERGENCE: leave_convergence,
    "shfl": shuffle,
    "vote": vote,
    "match": match,
    "elect": elect,
    "bar": barrier,
    "barrier": barrier,
    BARRIER_RESULT: barrier_result,
    "setmaxnreg": set_registers,
}
