"""How a block of code ends: where its lanes go, leave or wait."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.control_flow.barriers import barrier, cluster_barrier
from simtmm.cuda.execution.control_flow.calls import call_function, leave
from simtmm.cuda.execution.control_flow.edges import end_turn, fault, go, go_behind, left_out, number_of, park
from simtmm.cuda.execution.layout import ALIGN, TRAPPED
from simtmm.cuda.execution.translation.emit import lanes
from simtmm.cuda.ptx.flow.basic_blocks import Block, ends_block
from simtmm.cuda.ptx.syntax import Instruction

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context


def end_block(context: "Context", block: Block) -> None:
    """Translate the end of a block of code: where its lanes go next."""
    last = block.instructions[-1] if block.instructions else None
    if last is None or not ends_block(last):
        context.flush()
        if block.number in context.code.flow.turn_ends:
            end_turn(context, block)
        go_behind(context, block)
        return
    context.begin(last)
    match last.opcode:
        case "bra":
            _branch(context, block)
        case "brx":
            _branch_by_table(context, block, last)
        case "ret" | "exit":
            leave(context, block, last)
        case "call":
            call_function(context, block, last)
        case "trap":
            _trap(context, block)
        case "bar" if last.has("warp"):  # all are here: the block began with the wait
            context.flush()
            go_behind(context, block)
        case _ if last.has("cluster"):
            cluster_barrier(context, last, block)
        case _:
            barrier(context, block, last)


def _branch(context: "Context", block: Block) -> None:
    emit = context.emit
    assert block.jump is not None
    context.flush()
    if block.instructions[-1].guard is None or block.behind is None:
        go(context, block.jump, block.number)
        return
    taken, other = context.active, left_out(context)
    names = [emit.name(stem)[1:] for stem in ("all", "some", "none", "part")]
    emit.do(f"br {emit.compare('icmp eq', other, number_of(0))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    go(context, block.jump, block.number)
    emit.label(names[1])
    emit.do(f"br {emit.compare('icmp eq', taken, number_of(0))}, label %{names[2]}, label %{names[3]}")
    emit.label(names[2])
    go(context, block.behind, block.number)
    emit.label(names[3])
    first, later = (block.jump, block.behind) if block.jump < block.behind else (block.behind, block.jump)
    first_lanes, later_lanes = (taken, other) if first == block.jump else (other, taken)
    park(context, later_lanes, later)
    emit.store(first_lanes, "%mask")
    waiting = emit.load("i32", "%next")
    emit.store(emit.intrinsic("llvm.umin", "i32", waiting, number_of(context.code.first_block + later)), "%next")
    go(context, first, block.number)


def _branch_by_table(context: "Context", block: Block, last: Instruction) -> None:
    """Each lane goes its own way; an index beyond the table takes the last."""
    emit = context.emit
    index = context.read(last.operands[0], "i32")
    context.flush()
    chosen = emit.constant(context.code.first_block + block.table[-1], lanes("i32"))
    for number, target in enumerate(block.table[:-1]):
        here = emit.compare("icmp eq", index, emit.constant(number, lanes("i32")))
        chosen = emit.select(here, emit.constant(context.code.first_block + target, lanes("i32")), chosen)
    if last.guard is not None:
        park(context, context.block_mask, block.behind or 0)
    before = emit.load(lanes("i32"), "%warp", ALIGN)
    emit.store(emit.select(context.active_lanes, chosen, before), "%warp", ALIGN)
    emit.do("br label %dispatch")


def _trap(context: "Context", block: Block) -> None:
    emit = context.emit
    number = context.access_number()
    context.flush()
    names = [emit.name(stem)[1:] for stem in ("traps", "goes")]
    emit.do(f"br {emit.compare('icmp ne', context.active, number_of(0))}, label %{names[0]}, label %{names[1]}")
    emit.label(names[0])
    fault(context, TRAPPED, number, context.active)
    emit.label(names[1])
    go_behind(context, block)
