"""Barriers of a block."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.control_flow.edges import fault, number_of, offset_of, park
from simtmm.cuda.execution.layout import ALIGN, BARRIERS, BLOCK, CLUSTER_BARRIER, NO_BARRIER, PEER_OFFSETS, WARP
from simtmm.cuda.execution.runtime.check_log import log_arrival
from simtmm.cuda.execution.translation.emit import BLOCK_POINTER, LAUNCH_POINTER, WARP_POINTER, Value
from simtmm.cuda.ptx.flow.basic_blocks import Block
from simtmm.cuda.ptx.syntax import Immediate, Instruction
from simtmm.errors import shown
from simtmm.workload import ACTION_SHIFT, MEET, NUMBER_SHIFT, REMOTE_SHIFT

FIRST_NAMED = PEER_OFFSETS + 1  # of the numbers of such barriers: behind all addresses of shared memory

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context


def barrier(context: "Context", block: Block, last: Instruction) -> None:
    """bar.sync, bar.red and their kin: lanes arrive, and wait until as many threads have as the barrier is for."""
    emit = context.emit
    operands = list(last.operands)
    if len(operands) < (3 if "red" in last.modifiers else 0):
        raise context.refuse("has operands that it does not take")
    predicate = operands.pop() if "red" in last.modifiers else None
    destination = operands.pop(0) if predicate is not None else None
    number = barrier_number(context, operands[0]) if operands else number_of(0)
    count = uniform(context, operands[1]) if len(operands) > 1 else number_of(0)
    context.flush()
    assert block.behind is not None
    park(context, context.block_mask, block.behind)
    if predicate is not None and destination is not None:
        true = emit.mask(context.predicate(predicate))
        operation = {"popc": 0, "and": 1, "or": 2}[next(m for m in last.modifiers if m in ("popc", "and", "or"))]
        emit.call("gather.barrier", "void", BLOCK_POINTER, context.active, number, true, number_of(operation))
    if context.code.program.checks:
        log_arrival(context, number, count, waits=True)
    note_meeting(context, number, count, 0)
    state = (LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER)
    emit.call("arrive", "void", *state, context.active, number, count, Value("true", "i1"))
    emit.do("br label %dispatch")


def note_meeting(context: "Context", number: Value, count: Value, goes_on: int) -> None:
    """Have written down that a warp comes to a barrier that names how many threads it is for, as to an mbarrier behind
    those of shared memory. goes_on: 1 where it does not wait.
    """
    if context.site < 0:
        return
    emit = context.emit
    warps = emit.binary("lshr", emit.binary("add", count, number_of(31)), number_of(5))
    wide = emit.binary("add", emit.resize(number, "i64", False), Value(str(FIRST_NAMED), "i64"))
    entry = emit.binary("shl", wide, Value(str(NUMBER_SHIFT), "i64"))
    entry = emit.binary("or", entry, emit.resize(warps, "i64", False))
    entry = emit.binary("or", entry, Value(str((MEET << ACTION_SHIFT) | (goes_on << REMOTE_SHIFT)), "i64"))
    emit.store(emit.splat(entry), "%addresses", ALIGN)
    site = Value(str(context.site), "i32")
    emit.call("log.access", "void", LAUNCH_POINTER, site, context.active, Value("%addresses", "ptr"))


def cluster_barrier(context: "Context", instruction: Instruction, block: Block | None = None) -> None:
    """barrier.cluster.arrive, and .wait at the end of a block: of a cluster's threads, and a cluster is one block.

    A thread waits where it has arrived since all had. What checks hear is that it arrives and waits: where it arrives.
    """
    emit, program = context.emit, context.code.program
    if instruction.operands or not instruction.has("arrive", "wait"):
        raise context.refuse()
    number, arrived_at = number_of(CLUSTER_BARRIER), emit.at("%warp", offset_of(WARP, "arrived"))
    arrived = emit.load("i32", arrived_at)
    if block is None:
        if program.checks:
            log_arrival(context, number, number_of(0), waits=True)
        emit.store(emit.binary("or", arrived, context.active), arrived_at)
        state = (LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER)
        emit.call("arrive", "void", *state, context.active, number, number_of(0), Value("false", "i1"))
        return
    context.flush()
    assert block.behind is not None
    park(context, context.block_mask, block.behind)
    waits = emit.binary("and", context.active, arrived)
    for name, offset in (("waiting", 4 * CLUSTER_BARRIER), ("blocked", 0)):
        place = emit.at("%warp", offset_of(WARP, name) + offset)
        emit.store(emit.binary("or", emit.load("i32", place), waits), place)
    emit.do("br label %dispatch")


def barrier_result(context: "Context", last: Instruction) -> None:
    """What bar.red gives, in the block behind it."""
    emit = context.emit
    operands = last.operands
    barrier = emit.binary("and", uniform(context, operands[1]), number_of(BARRIERS - 1))  # which has been looked at
    place = emit.at("%block", offset_of(BLOCK, "result"))
    scaled = emit.binary("mul", emit.resize(barrier, "i64", False), emit.constant(4, "i64"))
    found = emit.splat(emit.load("i32", emit.at(place, scaled)))
    if "popc" not in last.modifiers:
        found = emit.compare("icmp ne", found, emit.constant(0, found.type))
    context.write(operands[0], found)


def barrier_number(context: "Context", operand: object) -> Value:
    """The number of a barrier, i32. One that a block has not is refused, or ends the warp where a register has it."""
    if isinstance(operand, Immediate):
        if not 0 <= operand.value < BARRIERS:
            raise context.refuse(f"names barrier {shown(operand.value)}: must be 0 to {BARRIERS - 1}")
        return number_of(operand.value)
    emit = context.emit
    number = uniform(context, operand)
    wrong = emit.binary(
        "and",
        emit.compare("icmp uge", number, number_of(BARRIERS)),
        emit.compare("icmp ne", context.active, number_of(0)),
    )
    names = [emit.name(stem)[1:] for stem in ("beyond", "barrier")]
    emit.do(f"br {wrong}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    fault(context, NO_BARRIER, context.access_number(), context.active, emit.resize(number, "i64", False))
    emit.label(names[1])
    return emit.binary("and", number, number_of(BARRIERS - 1))  # where nobody takes part it may be any


def uniform(context: "Context", operand: object) -> Value:
    """An operand that has the same value in all active lanes, as i32."""
    if isinstance(operand, Immediate):
        return number_of(operand.value)
    emit = context.emit
    value = context.read(operand, "i32")  # type: ignore[arg-type]
    lane = emit.call("llvm.cttz.i32", "i32", context.active, Value("false", "i1"))
    return emit.value(f"extractelement {value}, i32 {emit.binary('and', lane, number_of(31)).name}", "i32")
