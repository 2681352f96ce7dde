"""Watched code: the same program, which also counts changes that may let a thread continue, and notes its reads.

A program whose `watches` is set has these lines, no other: its registers, blocks and accesses are numbered and placed
alike, so that a launch may go on in either at any block of code.
"""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.layout import LOCAL_WINDOW, SHARED_WINDOW, WARP
from simtmm.cuda.execution.runtime.assembly_file import with_offsets
from simtmm.cuda.execution.translation.emit import LAUNCH_POINTER, Value
from simtmm.cuda.ptx.flow.basic_blocks import HERE
from simtmm.cuda.ptx.flow.registers import CLOCKS, read
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Symbol

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context

_WINDOW_BIT = LOCAL_WINDOW.bit_length() - 2  # of a generic address: from here on it tells shared from local memory
_SPACES = {"global": 0, "shared": SHARED_WINDOW}
# What other than memory is looked at, and what is written in ways that are not followed: nobody is accused of it.
_CHANGING = (*CLOCKS, "%pm")
_RESTLESS = {
    "nanosleep", "activemask", "tex", "tld4", "suld", "sust", "sured", "trap", "brkpt", "pmevent", "griddepcontrol",
}  # fmt: skip


def watched_runtime(runtime: str) -> str:
    """The runtime, with code that notes accesses."""
    for space in _SPACES:
        runtime = runtime.replace(
            f"define internal i1 @resolve.{space}(", f"define internal i1 @resolve.{space}.known("
        )
    return "\n".join((runtime, with_offsets(_CHANGES), *(_resolve(space, window) for space, window in _SPACES.items())))


def watch_block(context: "Context") -> None:
    """Lanes run a block of code."""
    emit = context.emit
    place = emit.at("%warp", int(WARP.fields["ran"][1]))  # type: ignore[index]
    emit.store(emit.binary("or", emit.load("i32", place), context.block_mask), place)


def watch_instruction(context: "Context", instruction: Instruction) -> None:
    """Count an instruction that may go on otherwise next time, though nobody has stored anything."""
    if _is_restless(context, instruction):
        some = context.emit.compare("icmp ne", context.active, Value("0", "i32"))
        context.emit.call("watch.restless", "void", LAUNCH_POINTER, some)


def _is_restless(context: "Context", instruction: Instruction) -> bool:
    opcode = instruction.opcode
    if opcode == "nanosleep" and instruction.operands == (Immediate(0),):  # lets others go first, and takes no time
        return False
    if opcode in ("bar", "barrier") and instruction.has("red") and len(instruction.operands) > 3:
        return True  # what those of so many threads give that happen to meet
    if opcode in _RESTLESS or any(name.startswith(_CHANGING) for name in read(instruction)):
        return True
    if opcode in ("vote", "shfl") and not instruction.has("sync", HERE):  # of the lanes that happen to be there
        return True
    if opcode == "call":  # a function that Python does
        target = next((each for each in instruction.operands if isinstance(each, Symbol)), None)
        return target is not None and target.name not in context.code.program.function_numbers
    return opcode in ("st", "cp") and instruction.has("bulk", "async::bulk", *(["async"] if opcode == "st" else []))


STORED = """  call void @watch.stored(ptr %launch, i32 %mask, i32 %same.next, ptr %addresses)
"""
"""Lines behind a store that compares: %same.next has the lanes that stored what lay there."""


def update_lines(bits: str) -> str:
    """Lines behind an update of a number that was %old and is %new."""
    return f"""  %changes = icmp ne {bits} %old, %new
  call void @watch.change(ptr %launch, i1 %changes)
"""


_HEAD = "ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, i64 %size"


def _counting(name: str, field: str) -> str:
    """A function that adds a truth value to a number of the launch."""
    return f"""
define internal void @watch.{name}(ptr %launch, i1 %some) alwaysinline {{
  %at = getelementptr i8, ptr %launch, i64 {{LAUNCH.{field}}}
  %before = load i64, ptr %at
  %more = zext i1 %some to i64
  %now = add i64 %before, %more
  store i64 %now, ptr %at
  ret void
}}"""


# A thread's local memory is like its registers: it is compared with them.
_CHANGES = f"""{_counting("change", "changes")}{_counting("restless", "restless")}
define internal void @watch.stored(ptr %launch, i32 %mask, i32 %same, ptr %addresses) noinline {{
  %others = xor i32 %same, -1
  %differ = and i32 %others, %mask
  %all = load <32 x i64>, ptr %addresses, align 64
  %windows = lshr <32 x i64> %all, splat (i64 {_WINDOW_BIT})
  %foreign = icmp ne <32 x i64> %windows, splat (i64 {LOCAL_WINDOW >> _WINDOW_BIT})
  %foreign.bits = bitcast <32 x i1> %foreign to i32
  %told = and i32 %differ, %foreign.bits
  %changes = icmp ne i32 %told, 0
  call void @watch.change(ptr %launch, i1 %changes)
  ret void
}}
define internal void @watch.access({_HEAD}, ptr %addresses, i64 %window) noinline {{
entry:
  %table.at = getelementptr i8, ptr %launch, i64 {{LAUNCH.seen}}
  %table = load ptr, ptr %table.at
  %number = zext i32 %access to i64
  %skipped = mul i64 %number, {{SEEN_BYTES}}
  %row = getelementptr i8, ptr %table, i64 %skipped
  %low.at = getelementptr i8, ptr %row, i64 {{SEEN.low}}
  %end.at = getelementptr i8, ptr %row, i64 {{SEEN.end}}
  %first = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %first.at = getelementptr i64, ptr %addresses, i32 %first
  %address = load i64, ptr %first.at
  %generic = add i64 %address, %window
  %address.at = getelementptr i8, ptr %row, i64 {{SEEN.address}}
  store i64 %generic, ptr %address.at
  %times.at = getelementptr i8, ptr %row, i64 {{SEEN.times}}
  %times = load i64, ptr %times.at
  %times.now = add i64 %times, 1
  store i64 %times.now, ptr %times.at
  %block.from = getelementptr i8, ptr %block, i64 {{BLOCK.number}}
  %block.number = load i64, ptr %block.from
  %block.at = getelementptr i8, ptr %row, i64 {{SEEN.block}}
  store i64 %block.number, ptr %block.at
  %warp.from = getelementptr i8, ptr %warp, i64 {{WARP.number}}
  %warp.number = load i32, ptr %warp.from
  %warp.at = getelementptr i8, ptr %row, i64 {{SEEN.warp}}
  store i32 %warp.number, ptr %warp.at
  %lanes.at = getelementptr i8, ptr %row, i64 {{SEEN.lanes}}
  store i32 %mask, ptr %lanes.at
  %low.before = load i64, ptr %low.at
  %end.before = load i64, ptr %end.at
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %each ]
  %low = phi i64 [ %low.before, %entry ], [ %low.next, %each ]
  %end = phi i64 [ %end.before, %entry ], [ %end.next, %each ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %one.at = getelementptr i64, ptr %addresses, i32 %lane
  %one = load i64, ptr %one.at
  %one.generic = add i64 %one, %window
  %one.end = add i64 %one.generic, %size
  %lower = icmp ult i64 %one.generic, %low
  %low.next = select i1 %lower, i64 %one.generic, i64 %low
  %higher = icmp ugt i64 %one.end, %end
  %end.next = select i1 %higher, i64 %one.end, i64 %end
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %done, label %each
done:
  store i64 %low.next, ptr %low.at
  store i64 %end.next, ptr %end.at
  ret void
}}
"""


def _resolve(space: str, window: int) -> str:
    """Every access to what others may write comes by here."""
    return f"""
define internal i1 @resolve.{space}({_HEAD}, i1 %writes, ptr %addresses, ptr %hosts) noinline {{
  %wrong = call i1 @resolve.{space}.known({_HEAD}, i1 %writes, ptr %addresses, ptr %hosts)
  br i1 %wrong, label %end, label %note
note:
  call void @watch.access({_HEAD}, ptr %addresses, i64 {window})
  br label %end
end:
  ret i1 %wrong
}}
"""
