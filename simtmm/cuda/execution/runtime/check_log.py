"""A log for checks: each access with its resolved address, and everything that orders accesses.

A program whose `checks` is set writes it in the place of what a trace holds (layout.py has its entries); no other
program has a line of it. simtmm/cuda/checks reads it.
"""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import (
    ALIGN,
    BULK_COMMITTED,
    BULK_WAITED,
    CHECK_BULK_BIT,
    CHECK_SPACE_BIT,
    CHECK_WIDTH_BIT,
    CHECK_WRITE_BIT,
    COPIES_ALL,
    COPIES_COMMITTED,
    COPIES_WAITED,
    FENCE_BLOCK,
    FENCE_DEVICE,
    IN_GLOBAL,
    IN_LOCAL,
    IN_SHARED,
    LEAVING,
    MOST_GROUPS,
    PRODUCTS_COMMITTED,
    PRODUCTS_WAITED,
    PROXY_FENCE,
    SAME_VALUE,
    SYNCHRONISES,
    TENSOR_ENTRIES,
    WARP,
)
from simtmm.cuda.execution.runtime.barrier_places import TRIPS_HERE, WAY_HERE
from simtmm.cuda.execution.translation.emit import LAUNCH_POINTER, Value
from simtmm.cuda.ptx.syntax import Immediate, Instruction

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context
    from simtmm.cuda.execution.translation.program import Program

_SPACES = {"global": IN_GLOBAL, "shared": IN_SHARED, "local": IN_LOCAL}
_MANY = {
    "wmma": 64,
    "wgmma": 20,
    "cp": 6,
    "bar": 4,
    "barrier": 4,
}  # entries of an instruction that moves piece by piece; of others, two at most


def checking_runtime(runtime: str) -> str:
    """The runtime, with the code that records accesses and work for a trace replaced by that of the log."""
    runtime = runtime.replace("void @log.access(", "void @log.entry(").replace("void @log.work(", "void @log.note(")
    for space in _SPACES:
        runtime = runtime.replace(
            f"define internal i1 @resolve.{space}(", f"define internal i1 @resolve.{space}.plain("
        )
    return "\n".join((runtime, _NO_RECORD, *(_resolve(space, number) for space, number in _SPACES.items())))


_NO_RECORD = """
declare i64 @llvm.cttz.i64(i64, i1)
define internal void @log.work(ptr %launch, i32 %site, i32 %mask) alwaysinline {
  ret void
}
define internal void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %addresses) alwaysinline {
  ret void
}
"""


def _resolve(space: str, number: int) -> str:
    """Every access of a state space comes by here."""
    head = "ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, i64 %size, i1 %writes, ptr %addresses"
    return f"""
define internal i1 @resolve.{space}({head}, ptr %hosts) noinline {{
  %exponent = call i64 @llvm.cttz.i64(i64 %size, i1 true)
  %exponent.32 = trunc i64 %exponent to i32
  %width = shl i32 %exponent.32, {CHECK_WIDTH_BIT}
  %write = zext i1 %writes to i32
  %writing = shl i32 %write, {CHECK_WRITE_BIT}
  %what = or i32 %width, %writing
  %where = or i32 %what, {number << CHECK_SPACE_BIT}
  %entry.word = or i32 %where, %access
  call void @log.entry(ptr %launch, i32 %entry.word, i32 %mask, ptr %addresses)
  %wrong = call i1 @resolve.{space}.plain({head}, ptr %hosts)
  ret i1 %wrong
}}
"""


NOTE_SAME = f"""  %any = icmp ne i32 %same.next, 0
  br i1 %any, label %note, label %noted
note:
  call void @log.note(ptr %launch, i32 {SAME_VALUE}, i32 %same.next)
  br label %noted
noted:
"""
"""Lines behind a store that compares: the lanes that stored what lay there are noted."""


def log_fence(context: "Context", instruction: Instruction) -> None:
    """Log membar and fence; other instructions add nothing. A fence of the async proxy for global memory alone, too."""
    if instruction.opcode not in ("membar", "fence"):
        return
    if instruction.has("proxy"):
        if instruction.has("async") and not instruction.has("global"):
            _note(context, PROXY_FENCE, context.active)
        return
    if instruction.has("mbarrier_init"):
        return
    level = FENCE_BLOCK if instruction.has("cta") else FENCE_DEVICE
    _note(context, level, context.active)


def log_copies(context: "Context", instruction: Instruction) -> None:
    """Log an instruction that ends a group of copies or of products, or waits for some; others add nothing.

    What an mbarrier is told of is a group that ends there; the access to the mbarrier, which is logged, tells which.
    """
    if instruction.opcode == "wgmma" or (instruction.opcode == "cp" and instruction.has("bulk")):
        _log_groups(context, instruction)
        return
    if instruction.opcode != "cp":
        return
    if instruction.has("commit_group", "mbarrier"):
        _note(context, COPIES_COMMITTED, context.active)
    elif instruction.has("wait_all"):
        _note(context, COPIES_ALL, context.active)
    elif instruction.has("wait_group"):
        (latest,) = instruction.operands
        if not isinstance(latest, Immediate):
            raise context.refuse("waits for a number of groups that is no constant")
        _note(context, COPIES_WAITED - latest.value, context.active)


def _log_groups(context: "Context", instruction: Instruction) -> None:
    """Likewise of groups of copies in bulk, or of products."""
    products = instruction.opcode == "wgmma"
    if instruction.has("commit_group"):
        _note(context, PRODUCTS_COMMITTED if products else BULK_COMMITTED, context.active)
    elif instruction.has("wait_group"):
        left = next((each.value for each in instruction.operands if isinstance(each, Immediate)), 0)
        mark = PRODUCTS_WAITED if products else BULK_WAITED
        _note(context, mark - max(0, min(int(left), MOST_GROUPS)), context.active)


def log_bulk(context: "Context", space: str, writes: bool, addresses: Value, sizes: Value, told: Value | None) -> None:
    """Log what lanes copy in bulk in a state space: where each begins, its size, and the mbarrier that is told.

    addresses, sizes, told: i64 of each lane.
    """
    if not context.code.program.checks:
        return
    emit = context.emit
    what = 1 << CHECK_BULK_BIT | _SPACES[space] << CHECK_SPACE_BIT | int(writes) << CHECK_WRITE_BIT
    number = context.access_number() | what
    for each in (addresses, sizes, told or emit.constant(-1, addresses.type)):
        emit.store(each, "%addresses", ALIGN)
        emit.call("log.entry", "void", LAUNCH_POINTER, Value(str(number), "i32"), context.active,
                  Value("%addresses", "ptr"))  # fmt: skip


def log_told(context: "Context", addresses: Value) -> None:
    """Log that mbarriers in shared memory are told of copies, at addresses, i64 of each lane."""
    if not context.code.program.checks:
        return
    number = context.access_number() | 3 << CHECK_WIDTH_BIT | _SPACES["shared"] << CHECK_SPACE_BIT
    context.emit.store(addresses, "%addresses", ALIGN)
    context.emit.call("log.entry", "void", LAUNCH_POINTER, Value(str(number), "i32"), context.active,
                      Value("%addresses", "ptr"))  # fmt: skip


def log_leaving(context: "Context", mask: Value) -> None:
    """Log that lanes leave the kernel."""
    _note(context, LEAVING, mask)


def _note(context: "Context", what: int, mask: Value) -> None:
    context.emit.call("log.note", "void", LAUNCH_POINTER, Value(str(what), "i32"), mask)


def log_gathering(context: "Context", wanted: Value) -> None:
    """Lanes go on together behind the wait of an instruction that gathers those of its mask; a mask a lane."""
    emit = context.emit
    _log(context, emit.load("i32", "%mask"), emit.resize(wanted, "i64", False), is_barrier=False)


def log_arrival(context: "Context", number: Value, count: Value, waits: bool) -> None:
    """Lanes arrive at a barrier: its number, from bit 8 on the threads that it is for, from 24 whether they wait; and
    from 32 the lanes of the warp that have neither left nor come to where nothing but the end follows. Two entries
    more have of each lane how it came there, and in which trips of loops (barrier_places.py).
    """
    emit, code = context.emit, context.code
    living = emit.field("i32", "%warp", int(WARP.fields["living"][1]))  # type: ignore[index]
    entry = code.program.entry_code
    for block in entry.flow.blocks:
        first = block.instructions[0] if block.instructions else None
        if first is not None and first.opcode in ("ret", "exit") and first.guard is None:
            place = Value(str(entry.first_block + block.number), "i32")
            there = emit.call("lanes.at", "i32", Value("%warp", "ptr"), living, place)
            living = emit.binary("and", living, emit.invert(there))
    expected = emit.resize(emit.binary("or", living, context.active), "i64", False)
    word = emit.resize(number, "i64", False)
    for value, bit in ((emit.resize(count, "i64", False), 8), (Value(str(int(waits)), "i64"), 24), (expected, 32)):
        word = emit.binary("or", word, emit.binary("shl", value, Value(str(bit), "i64")))
    places = (context.register(name) for name in (WAY_HERE, TRIPS_HERE))
    _log(context, context.active, emit.splat(word), *places, is_barrier=True)


def _log(context: "Context", mask: Value, *words: Value, is_barrier: bool) -> None:
    emit = context.emit
    number = context.access_number() | SYNCHRONISES << CHECK_SPACE_BIT | int(is_barrier) << CHECK_WRITE_BIT
    for each in words:
        emit.store(each, "%addresses", ALIGN)
        emit.call("log.entry", "void", LAUNCH_POINTER, Value(str(number), "i32"), mask, Value("%addresses", "ptr"))


def _entries(instruction: Instruction) -> int:
    """That one may write at most: a box of a tensor all of what it accesses, in shared and in global memory."""
    return 2 * TENSOR_ENTRIES if instruction.has("tensor") else _MANY.get(instruction.opcode, 2)


def most_check_entries(program: "Program") -> int:
    """The largest number of log entries that a block of code may write."""
    return max(
        sum(_entries(instruction) for instruction in block.instructions) + 4
        for code in program.codes
        for block in code.flow.blocks
    )
