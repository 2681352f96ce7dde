"""The code of copies of boxes of tensors: tensors.ll, with the words of a variant in it, and tensor_elements.ll."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.instructions.memory.atomics import update_text
from simtmm.cuda.execution.layout import (
    CHECK_SPACE_BIT,
    CHECK_WIDTH_BIT,
    CHECK_WRITE_BIT,
    COPIER_BIT,
    IN_GLOBAL,
    LANES,
)
from simtmm.cuda.execution.runtime.assembly_file import assembly_file, with_offsets

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

SUMS = ("add", "min", "max", "inc", "dec", "and", "or", "xor")
OFFSETS = 5  # rows of the coordinates' room: the offsets of im2col follow
_KINDS = {2: "u32", 3: "s32", 4: "u64", 5: "s64", 6: "f16", 7: "f32", 8: "f64", 9: "bf16"}  # by the driver's numbers
_INTEGERS, _REALS = ("u32", "s32", "u64", "s64"), ("f16", "bf16", "f32", "f64")
_SUMMED = {
    "add": (*_INTEGERS, *_REALS),
    "inc": ("u32",),
    "dec": ("u32",),
    **dict.fromkeys(("min", "max"), (*_INTEGERS, "f16", "bf16")),
    **dict.fromkeys(("and", "or", "xor"), _INTEGERS),
}


def variant(program: "Program", way: str, rank: int, im2col: bool) -> str:
    """The name of i1(launch, block, warp, access, site, mask, maps, shared, coordinates, sizes): whether it faults."""
    name = f"tensor.{way}.{rank}{'.im2col' if im2col else ''}"
    stores = way != "load"
    program.helper("tensor.common", lambda: assembly_file("tensor_elements.ll"))
    way_name = "store" if stores else "load"
    program.helper(f"tensor.note.{way_name}", lambda: _note(program.checks, way_name))
    if way in SUMS:
        program.helper(f"tensor.sum.{way}", lambda: _sum(program, way))
    program.helper(f"{name}.lane", lambda: _lane(name, way, rank, im2col, ".plain" if program.checks else ""))
    program.helper(name, lambda: _EACH.replace("NAME", name))
    return name


def _lane(name: str, way: str, rank: int, im2col: bool, plain: str) -> str:
    text = assembly_file("tensors.ll")
    stores = way != "load"
    words = {
        "NAME": f"{name}.lane",
        "WAY": "store" if stores else "load",
        "RESOLVE": f"@resolve.shared{plain}",
        "DIMS": str(rank),
        "IM2COL": str(int(im2col)),
        "STEPS": f"<{', '.join(f'i64 {16 * n}' for n in range(LANES))}>",
        "SHARED_WRITTEN": str(not stores).lower(),
        "GLOBAL_WRITTEN": str(stores).lower(),
        "FIELDS\n": _fields(rank, im2col),
        "PLACE\n": _places(rank, im2col),
        "MOVE\n": _moving(way),
        ".LAST": f".{rank - 1}",
    }
    for word, value in words.items():
        text = text.replace(word, value)
    return text


def _fields(rank: int, im2col: bool) -> str:
    """Lines that read what each dimension has: dim.i, step.i, count.i, at.i, and of im2col low.i, span.i, off.i."""
    text = ""
    for n in range(rank):
        text += f"""  %dim.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.sizes}}
  %dim.{n}.here = getelementptr i64, ptr %dim.{n}.at, i64 {n}
  %dim.{n} = load i64, ptr %dim.{n}.here, align 1
  %step.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.steps}}
  %step.{n}.here = getelementptr i8, ptr %step.{n}.at, i64 {n}
  %step.{n}.8 = load i8, ptr %step.{n}.here
  %step.{n}{".given" if im2col and n in (0, rank - 1) else ""} = zext i8 %step.{n}.8 to i64
"""
        if im2col and n in (0, rank - 1):  # steps are those of pixels
            text += f"  %step.{n} = add i64 0, 1\n"
        text += f"""  %step.less.{n} = sub i64 %step.{n}, 1
  %box.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.box}}
  %box.{n}.here = getelementptr i16, ptr %box.{n}.at, i64 {n}
  %box.{n}.16 = load i16, ptr %box.{n}.here, align 1
  %box.{n} = zext i16 %box.{n}.16 to i64
  %count.{n}.up = add i64 %box.{n}, %step.less.{n}
  %count.{n} = udiv i64 %count.{n}.up, %step.{n}
  %at.{n}.row = getelementptr i8, ptr %coordinates, i64 {4 * LANES * n}
  %at.{n}.here = getelementptr i32, ptr %at.{n}.row, i32 %lane
  %at.{n}.32 = load i32, ptr %at.{n}.here
  %at.{n} = sext i32 %at.{n}.32 to i64
"""
        if n:
            text += f"""  %stride.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.strides}}
  %stride.{n}.here = getelementptr i64, ptr %stride.{n}.at, i64 {n - 1}
  %stride.{n} = load i64, ptr %stride.{n}.here, align 1
"""
        if im2col and 0 < n < rank - 1:
            text += _corners(n)
    if im2col:
        return with_offsets(text + "  %inner = add i64 %box.0, 0\n  %rows = add i64 %box.1, 0\n")
    text += "  %inner = add i64 %count.0, 0\n  %rows.1 = add i64 1, 0\n"
    for n in range(1, rank):
        text += f"  %rows.{n + 1} = mul i64 %rows.{n}, %count.{n}\n"
    return with_offsets(text + f"  %rows = add i64 %rows.{rank}, 0\n")


def _corners(n: int) -> str:
    """Of a dimension of pixels: the first of its box, how many there are, where the copy begins, and the offset."""
    return f"""  %low.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.lower}}
  %low.{n}.here = getelementptr i16, ptr %low.{n}.at, i64 {n - 1}
  %low.{n}.16 = load i16, ptr %low.{n}.here, align 1
  %low.{n} = sext i16 %low.{n}.16 to i64
  %upper.{n}.at = getelementptr i8, ptr %map, i64 {{TENSOR_MAP.upper}}
  %upper.{n}.here = getelementptr i16, ptr %upper.{n}.at, i64 {n - 1}
  %upper.{n}.16 = load i16, ptr %upper.{n}.here, align 1
  %upper.{n} = sext i16 %upper.{n}.16 to i64
  %end.{n} = add i64 %dim.{n}, %upper.{n}
  %wide.{n} = sub i64 %end.{n}, %low.{n}
  %wide.{n}.up = add i64 %wide.{n}, %step.less.{n}
  %span.{n}.any = sdiv i64 %wide.{n}.up, %step.{n}
  %span.{n}.some = icmp sgt i64 %span.{n}.any, 1
  %span.{n} = select i1 %span.{n}.some, i64 %span.{n}.any, i64 1
  %start.{n}.far = sub i64 %at.{n}, %low.{n}
  %start.{n} = sdiv i64 %start.{n}.far, %step.{n}
  %off.{n}.row = getelementptr i8, ptr %coordinates, i64 {4 * LANES * (OFFSETS + n - 1)}
  %off.{n}.here = getelementptr i32, ptr %off.{n}.row, i32 %lane
  %off.{n}.32 = load i32, ptr %off.{n}.here
  %off.{n} = zext i32 %off.{n}.32 to i64
"""


def _places(rank: int, im2col: bool) -> str:
    """Lines that make of row %r where it lies: g.0 to g.n, the offset in bytes, and whether it is inside."""
    text = "  %g.0 = add i64 %at.0, 0\n  %offset.0 = add i64 0, 0\n"
    text += "  %inside.0 = icmp eq i64 0, 0\n  %rest.1 = add i64 %r, 0\n"
    for n in range(1, rank):
        last = n == rank - 1
        if im2col and last:
            text += f"  %g.{n} = add i64 %at.{n}, %rest.{n}\n"
        elif im2col:
            text += f"""  %from.{n} = add i64 %rest.{n}, %start.{n}
  %index.{n} = urem i64 %from.{n}, %span.{n}
  %rest.{n + 1} = udiv i64 %from.{n}, %span.{n}
  %far.{n} = mul i64 %index.{n}, %step.{n}
  %pixel.{n} = add i64 %low.{n}, %far.{n}
  %g.{n} = add i64 %pixel.{n}, %off.{n}
"""
        else:
            text += f"""  %index.{n} = urem i64 %rest.{n}, %count.{n}
  %rest.{n + 1} = udiv i64 %rest.{n}, %count.{n}
  %far.{n} = mul i64 %index.{n}, %step.{n}
  %g.{n} = add i64 %at.{n}, %far.{n}
"""
        text += f"""  %in.{n} = icmp ult i64 %g.{n}, %dim.{n}
  %inside.{n} = and i1 %inside.{n - 1}, %in.{n}
  %bytes.{n} = mul i64 %g.{n}, %stride.{n}
  %offset.{n} = add i64 %offset.{n - 1}, %bytes.{n}
"""
    return text


def _moving(way: str) -> str:
    """Lines that move an element, and that fill one outside the tensor."""
    if way == "load":
        move = "  call void @tensor.convert(i8 %kind, ptr %s.at, ptr %g.at, i64 %bytes)"
        outside = "  call void @tensor.fill(ptr %s.at, i64 %filling, i64 %bytes)"
    elif way == "store":
        move, outside = "  call void @tensor.convert(i8 %kind, ptr %g.at, ptr %s.at, i64 %bytes)", ""
    else:
        move = f"""  %wrong.kind = call i1 @tensor.sum.{way}(i8 %kind, ptr %g.at, ptr %s.at)
  br i1 %wrong.kind, label %bad, label %element.end"""
        return f"element.in:\n{move}\nelement.out:\n  br label %element.end\n"
    after = "  br label %element.end"
    lines = ["element.in:", move, after, "element.out:", *([outside] if outside else []), after]
    return "\n".join(lines) + "\n"


def _sum(program: "Program", way: str) -> str:
    """i1(kind, to, from): add one number to another; whether there is no such sum of the type."""
    labels, cases = [], []
    functions = ""
    for number, kind in _KINDS.items():
        if kind not in _SUMMED[way]:
            continue
        of = f"i{16 if '16' in kind else int(kind[1:])}"
        lines = (update_text(program, way, kind) or "").replace("INT", of)
        functions += (
            f'define internal {of} @"tensor.new.{way}.{kind}"({of} %old, {of} %b) alwaysinline '
            f"{{\n{lines}\n  ret {of} %new\n}}\n"
        )
        labels.append(f"i8 {number}, label %{kind}")
        cases.append(f"""{kind}:
  %{kind}.old = load {of}, ptr %to, align 1
  %{kind}.b = load {of}, ptr %from, align 1
  %{kind}.new = call {of} @"tensor.new.{way}.{kind}"({of} %{kind}.old, {of} %{kind}.b)
  store {of} %{kind}.new, ptr %to, align 1
  ret i1 false
""")
    return f"""{functions}define internal i1 @tensor.sum.{way}(i8 %kind, ptr %to, ptr %from) noinline {{
  switch i8 %kind, label %none [ {" ".join(labels)} ]
{"".join(cases)}none:
  ret i1 true
}}
"""


def _note(checks: bool, way: str) -> str:
    """What is recorded: pieces of 16 bytes of global memory, a lane each of those that the warp began with."""
    if checks:
        what = 4 << CHECK_WIDTH_BIT | int(way == "store") << CHECK_WRITE_BIT | IN_GLOBAL << CHECK_SPACE_BIT
        log = f"""  %word = or i32 %access, {what}
  call void @log.entry(ptr %launch, i32 %word, i32 %mask, ptr %pieces)
  br label %written"""
    else:
        log = """  %recorded = icmp sge i32 %site, 0
  br i1 %recorded, label %record, label %written
record:
  call void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %pieces)
  br label %written"""
    head = "ptr %launch, ptr %warp, i32 %access, i32 %site, i32 %lane"
    return with_offsets(f"""
define internal void @"tensor.note.{way}"({head}, i64 %address, ptr %pieces, ptr %filled, ptr %room) noinline {{
  %living = call i32 @lanes.begun(ptr %launch, ptr %warp)
  %taken.64 = load i64, ptr %filled
  %taken = trunc i64 %taken.64 to i32
  %others = xor i32 %taken, -1
  %free = and i32 %living, %others
  %next = call i32 @llvm.cttz.i32(i32 %free, i1 false)
  %slot = and i32 %next, 31
  %place = getelementptr i64, ptr %pieces, i32 %slot
  %lane.64 = zext i32 %lane to i64
  %lane.one = add i64 %lane.64, 1
  %copier = shl i64 %lane.one, {COPIER_BIT}
  %entry = or i64 %address, %copier
  store i64 %entry, ptr %place
  %bit = shl i32 1, %slot
  %taken.now = or i32 %taken, %bit
  %now.64 = zext i32 %taken.now to i64
  store i64 %now.64, ptr %filled
  %full = icmp eq i32 %taken.now, %living
  br i1 %full, label %flush, label %end
flush:
  call void @"tensor.flush.{way}"({head}, ptr %pieces, ptr %filled, ptr %room)
  br label %end
end:
  ret void
}}
define internal void @"tensor.flush.{way}"({head}, ptr %pieces, ptr %filled, ptr %room) noinline {{
  %taken = load i64, ptr %filled
  %mask = trunc i64 %taken to i32
  %some = icmp ne i32 %mask, 0
  %left = load i64, ptr %room
  %fits = icmp sgt i64 %left, 0
  %goes = and i1 %some, %fits
  br i1 %goes, label %write, label %end
write:
{log}
written:
  %less = sub i64 %left, 1
  store i64 %less, ptr %room
  store i64 0, ptr %filled
  br label %end
end:
  ret void
}}
""")


_EACH = """
define internal i1 @"NAME"(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %site, i32 %mask, ptr %maps, ptr %shareds, ptr %coordinates, ptr %sizes) noinline {
entry:
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %end, label %one
one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %map.at = getelementptr i64, ptr %maps, i32 %lane
  %map = load i64, ptr %map.at
  %shared.at = getelementptr i64, ptr %shareds, i32 %lane
  %shared = load i64, ptr %shared.at
  %size = getelementptr i64, ptr %sizes, i32 %lane
  %wrong = call i1 @"NAME.lane"(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %site, i32 %lane, i64 %map, i64 %shared, ptr %coordinates, ptr %size)
  br i1 %wrong, label %failed, label %next
next:
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  br label %each
end:
  ret i1 false
failed:
  ret i1 true
}
"""  # noqa: E501
