"""Functions of the runtime that load, store and record what the lanes of a warp access, by state space and width."""

from typing import TYPE_CHECKING

from simtmm.cuda.execution.livelock.watched_code import STORED
from simtmm.cuda.execution.runtime.check_log import NOTE_SAME
from simtmm.cuda.execution.runtime.device_clock import ACCESSED

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.program import Program

_HEAD = "ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %site, i32 %mask, ptr %addresses, ptr %data"


def access_function(program: "Program", what: str, space: str, width: int) -> str:
    """The name of a runtime function, which is generated when it is first used."""
    mover = mover_function(program, what, width)
    name = f"{what}.{space}.{width}"
    behind = NOTE_SAME if program.checks else ""
    if program.watches and space != "local":
        behind += STORED
    if behind and what == "store":
        program.helper(name, lambda: _access(name, space, width, True, _comparing(width, behind)))
    else:
        found = ACCESSED if program.times and what == "load" and space == "global" else ""
        program.helper(name, lambda: _access(name, space, width, what == "store", _moving(mover), found))
    return name


def mover_function(program: "Program", what: str, width: int) -> str:
    """The name of a function, likewise, that moves so many bytes a lane between places in this process and data.

    Its mask must have a lane.
    """
    name = f"{'gather' if what == 'load' else 'scatter'}.{width}"
    program.helper(name, lambda: _mover(name, width, what == "load"))
    return name


def _access(name: str, space: str, width: int, writes: bool, move: str, found: str = "") -> str:
    """A function that resolves the addresses of lanes and records them. move: lines that move the data, to %end.

    found: lines behind the resolving.
    """
    return f"""
define internal i1 @"{name}"({_HEAD}) noinline {{
entry:
  %hosts = alloca [32 x i64], align 64
  %nobody = icmp eq i32 %mask, 0
  br i1 %nobody, label %end, label %some
some:
  %wrong = call i1 @resolve.{space}(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask,
                                    i64 {width}, i1 {str(writes).lower()}, ptr %addresses, ptr %hosts)
  br i1 %wrong, label %failed, label %found
found:
{found}  %recorded = icmp sge i32 %site, 0
  br i1 %recorded, label %log, label %move
log:
  call void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %addresses)
  br label %move
move:
{move}end:
  ret i1 false
failed:
  ret i1 true
}}
"""


def _moving(mover: str) -> str:
    """Lines that move all lanes' data at once."""
    return f"""  call void @"{mover}"(i32 %mask, ptr %hosts, ptr %data)
  br label %end
"""


def _comparing(width: int, behind: str) -> str:
    """Lines that store lane by lane. behind: those that follow; %same.next has the lanes that stored what lay there."""
    bits = 8 * width
    return f"""  br label %each
each:
  %m = phi i32 [ %mask, %move ], [ %m.next, %each ]
  %same = phi i32 [ 0, %move ], [ %same.next, %each ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  %host = load ptr, ptr %host.at
  %lane.64 = zext i32 %lane to i64
  %offset = mul i64 %lane.64, {width}
  %slot = getelementptr i8, ptr %data, i64 %offset
  %old = load i{bits}, ptr %host, align 1
  %new = load i{bits}, ptr %slot, align 1
  store i{bits} %new, ptr %host, align 1
  %is.same = icmp eq i{bits} %old, %new
  %one = shl i32 1, %lane
  %bit = select i1 %is.same, i32 %one, i32 0
  %same.next = or i32 %same, %bit
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %stored, label %each
stored:
{behind}  br label %end
"""


def _mover(name: str, width: int, loads: bool) -> str:
    """Whole vectors where lanes lie behind one another, one number where all want the same, else lane by lane.

    Lanes are compared by what differs, gathered with `or`: cheaper than comparisons, whose results must be packed.
    """
    bits = 8 * width
    steps = ", ".join(f"i64 {lane * width}" for lane in range(32))
    whole = (
        f"%v = load <{32 * width} x i8>, ptr %first.at, align 1\n  store <{32 * width} x i8> %v, ptr %data, align 64"
        if loads
        else f"%v = load <{32 * width} x i8>, ptr %data, align 64\n"
        f"  store <{32 * width} x i8> %v, ptr %first.at, align 1"
    )
    source, target = ("%host", "%slot") if loads else ("%slot", "%host")
    same = (
        f"""
  %others = xor <32 x i64> %all, %firsts
  %differs = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %others)
  %is.one = icmp eq i64 %differs, 0
  br i1 %is.one, label %one, label %every
one:
  %o = load i{bits}, ptr %first.at, align 1
  %o.1 = insertelement <32 x i{bits}> poison, i{bits} %o, i32 0
  %o.all = shufflevector <32 x i{bits}> %o.1, <32 x i{bits}> poison, <32 x i32> zeroinitializer
  store <32 x i{bits}> %o.all, ptr %data, align 64
  ret void"""
        if loads
        else "\n  br label %every"
    )
    every = "\n".join(_one_lane(lane, width, loads) for lane in range(32))
    return f"""
define internal void @"{name}"(i32 %mask, ptr %hosts, ptr %data) noinline {{
entry:
  %full = icmp eq i32 %mask, -1
  br i1 %full, label %look, label %each
look:
  %all = load <32 x i64>, ptr %hosts, align 64
  %first = extractelement <32 x i64> %all, i32 0
  %first.at = inttoptr i64 %first to ptr
  %first.1 = insertelement <32 x i64> poison, i64 %first, i32 0
  %firsts = shufflevector <32 x i64> %first.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %line = add <32 x i64> %firsts, <{steps}>
  %beside = xor <32 x i64> %all, %line
  %any.beside = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %beside)
  %is.line = icmp eq i64 %any.beside, 0
  br i1 %is.line, label %whole, label %other
whole:
  {whole}
  ret void
other:{same}
every:
{every}
  ret void
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  %host = load ptr, ptr %host.at
  %lane.64 = zext i32 %lane to i64
  %offset = mul i64 %lane.64, {width}
  %slot = getelementptr i8, ptr %data, i64 %offset
  %e = load i{bits}, ptr {source}, align 1
  store i{bits} %e, ptr {target}, align 1
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %end, label %next
next:
  br label %each
end:
  ret void
}}
"""


def _one_lane(lane: int, width: int, loads: bool) -> str:
    """The lines that move what one lane wants."""
    host, slot = f"%every.host{lane}", f"%every.slot{lane}"
    source, target = (host, slot) if loads else (slot, host)
    return f"""  %every.at{lane} = getelementptr i64, ptr %hosts, i64 {lane}
  {host} = load ptr, ptr %every.at{lane}
  {slot} = getelementptr i8, ptr %data, i64 {lane * width}
  %every.value{lane} = load i{8 * width}, ptr {source}, align 1
  store i{8 * width} %every.value{lane}, ptr {target}, align 1"""
