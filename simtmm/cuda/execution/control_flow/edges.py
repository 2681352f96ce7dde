"""How lanes of a warp go from block to block of code, and where they wait for each other."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import LAUNCH, WARP
from simtmm.cuda.execution.runtime.check_log import log_leaving
from simtmm.cuda.execution.translation.emit import BLOCK_POINTER, LAUNCH_POINTER, WARP_POINTER, Emitter, Value
from simtmm.cuda.ptx.flow.basic_blocks import Block

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context

WAITING_ROUNDS = 16  # of a turn, of a loop in which threads may wait for others


def number_of(number: int) -> Value:
    """An i32 constant."""
    return Value(str(number), "i32")


def offset_of(structure: object, name: str) -> int:
    """The offset of a field in its structure [bytes]."""
    return int(structure.fields[name][1])  # type: ignore[attr-defined]


def go(context: "Context", target: int, source: int) -> None:
    """Send the lanes in %mask to a block of the function, unless others wait there or before it."""
    emit, code = context.emit, context.code
    number = code.first_block + target
    program = code.program
    label = f"B{number}"
    if target <= source:
        program.tired.add(number)
        cost = program.fuel // WAITING_ROUNDS if target in code.flow.waiting else 1
        fuel = emit.binary("sub", emit.load("i32", "%fuel"), number_of(cost))
        emit.store(fuel, "%fuel")
        over = emit.compare("icmp slt", fuel, number_of(0))
        label = emit.name("goes")[1:]
        emit.do(f"br {over}, label %tired{number}, label %{label}")
        emit.label(label)
    program.parked.add(number)
    meets = emit.compare("icmp uge", number_of(number), emit.load("i32", "%next"))
    emit.do(f"br {meets}, label %park{number}, label %B{number}")


def park_block(emit: Emitter, number: int) -> None:
    """The LLVM block in which lanes wait for others at a block of code, or let them go first."""
    emit.label(f"park{number}")
    emit.call("park", "void", WARP_POINTER, emit.load("i32", "%mask"), number_of(number))
    emit.do("br label %dispatch")


def tired_block(emit: Emitter, number: int) -> None:
    """The LLVM block of lanes whose turn is over: the others go first."""
    emit.label(f"tired{number}")
    mask = emit.load("i32", "%mask")
    place = emit.at("%warp", offset_of(WARP, "tired"))
    emit.store(emit.binary("or", emit.load("i32", place), mask), place)
    emit.store(emit.load("i32", "%fuel.at"), "%fuel")
    emit.call("park", "void", WARP_POINTER, mask, number_of(number))
    emit.do("br label %dispatch")


def end_turn(context: "Context", block: Block) -> None:
    """The others go first where turns are to end behind this block, as `turn_end` of the launch says."""
    if block.behind is None:  # lanes leave
        return
    emit, code = context.emit, context.code
    number = code.first_block + block.behind
    code.program.tired.add(number)
    chosen = emit.field("i32", "%launch", offset_of(LAUNCH, "turn_end"))
    ends = emit.compare("icmp eq", chosen, number_of(code.first_block + block.number))
    label = emit.name("goes")[1:]
    emit.do(f"br {ends}, label %tired{number}, label %{label}")
    emit.label(label)


def go_behind(context: "Context", block: Block) -> None:
    """Let lanes continue with the next block in program order."""
    if block.behind is None:  # the end of the text: as ret
        if context.code.program.checks:
            log_leaving(context, context.block_mask)
        context.emit.call("leave", "void", LAUNCH_POINTER, BLOCK_POINTER, WARP_POINTER, context.block_mask)
        context.emit.do("br label %dispatch")
    else:
        go(context, block.behind, block.number)


def left_out(context: "Context") -> Value:
    """The lanes of the block whose guard predicate is false."""
    emit = context.emit
    return emit.binary("and", context.block_mask, emit.invert(context.active))


def park(context: "Context", mask: Value, target: int) -> None:
    """Park lanes at a block of the function, where they wait or continue when it is their turn."""
    context.emit.call("park", "void", WARP_POINTER, mask, number_of(context.code.first_block + target))


def rest_goes_on(context: "Context", block: Block) -> None:
    """Let lanes whose guard is false continue after the block."""
    if block.instructions[-1].guard is not None and block.behind is not None:
        park(context, left_out(context), block.behind)


def fault(context: "Context", code: int, number: int, mask: Value, address: Value | None = None) -> None:
    """End the warp with a fault of the first lane of a mask. address: i64, which the message reports."""
    emit = context.emit
    lane = emit.call("llvm.cttz.i32", "i32", mask, Value("true", "i1"))
    emit.call("fault", "void", LAUNCH_POINTER, number_of(code), number_of(number), lane, address or Value("0", "i64"))
    emit.do("br label %faulted")
