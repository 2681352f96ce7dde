"""Waits for groups of products: a product is one of four warps, so that its factors are needed until all have come to
it. A warp that has waited for a group may overwrite them, or say that they may be.
"""

from simtmm.cuda.execution.layout import ALIGN, LANES, WARP
from simtmm.cuda.execution.runtime.assembly_file import with_offsets
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value

_COMMITTED = int(WARP.fields["committed"][1])  # type: ignore[index]

# Whether a living warp of the four has committed fewer groups than this one has, but for the latest.
_OTHERS = with_offsets("""
define internal i1 @wgmma.others.lack(ptr %launch, ptr %warp, i32 %left) noinline {
entry:
  %stride.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warp_bytes}
  %stride = load i64, ptr %stride.at
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %number.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %number = load i32, ptr %number.at
  %own.at = getelementptr i8, ptr %warp, i64 {WARP.committed}
  %own = load i32, ptr %own.at
  %needed = sub i32 %own, %left
  %first = and i32 %number, -4
  %end = add i32 %first, 4
  br label %each
each:
  %n = phi i32 [ %first, %entry ], [ %n.next, %next ]
  %is.there = icmp slt i32 %n, %warps
  br i1 %is.there, label %look, label %none
look:
  %by = sub i32 %n, %number
  %by.64 = sext i32 %by to i64
  %offset = mul i64 %by.64, %stride
  %other = getelementptr i8, ptr %warp, i64 %offset
  %living.at = getelementptr i8, ptr %other, i64 {WARP.living}
  %living = load i32, ptr %living.at
  %lives = icmp ne i32 %living, 0
  %committed.at = getelementptr i8, ptr %other, i64 {WARP.committed}
  %committed = load i32, ptr %committed.at
  %fewer = icmp slt i32 %committed, %needed
  %lacks = and i1 %lives, %fewer
  br i1 %lacks, label %some, label %next
next:
  %n.next = add i32 %n, 1
  %more = icmp slt i32 %n.next, %end
  br i1 %more, label %each, label %none
some:
  ret i1 true
none:
  ret i1 false
}
""")


def commit(context: Context) -> None:
    """Count a group of the warp, if a lane takes part."""
    emit = context.emit
    place = emit.at("%warp", _COMMITTED)
    takes_part = emit.compare("icmp ne", context.active, Value("0", "i32"))
    emit.store(emit.binary("add", emit.load("i32", place), emit.resize(takes_part, "i32", False)), place)


def wait_for_others(context: Context, left: int) -> None:
    """Let other warps go first, and come to the instruction again, while a living warp of the four has yet to commit
    the groups that are waited for.
    """
    emit, program = context.emit, context.code.program
    program.helper("wgmma.others.lack", lambda: _OTHERS)
    lack = emit.call(
        "wgmma.others.lack", "i1", Value("%launch", "ptr"), Value("%warp", "ptr"), Value(str(left), "i32")
    )  # fmt: skip
    takes_part = emit.compare("icmp ne", context.active, Value("0", "i32"))
    waits = emit.binary("and", lack, takes_part)
    label = emit.name("came")[1:]
    program.tired.add(context.number)
    emit.do(f"br {waits}, label %tired{context.number}, label %{label}")
    emit.label(label)


def note_group(context: Context, what: int) -> None:
    """Have it written down that lanes begin a product, commit those so far, or wait for groups of them; or likewise of
    stores in bulk, or have so many registers from there on.

    what: as a trace has it.
    """
    if context.site >= 0:
        emit = context.emit
        emit.store(emit.constant(what, f"<{LANES} x i64>"), "%addresses", ALIGN)
        site = Value(str(context.site), "i32")
        emit.call("log.access", "void", Value("%launch", "ptr"), site, context.active, Value("%addresses", "ptr"))
