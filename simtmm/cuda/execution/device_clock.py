"""The clocks that device code reads: each warp's own cycles, estimated while it runs.

Only kernels that read a clock have these lines. A warp's clock goes on by the cycles that its instructions issue and
stall, and waits for the values that its loads bring as a trace has it (simtmm/cuda/ptx/steps.py). A load takes the
latency of the level at which a cheap model of the caches finds it: tags without ways, by which a line is where one of
its index was brought last. Nothing here knows of other warps that want the same port or line: what the launch takes is
the simulation's to say.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from simtmm.cuda.execution.assembly_file import with_offsets
from simtmm.cuda.execution.emit import Value
from simtmm.cuda.ptx.registers import read
from simtmm.cuda.ptx.steps import Step
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.trace.schema import RESULT_CLASSES

if TYPE_CHECKING:
    from simtmm.cuda.execution.context import Context
    from simtmm.cuda.execution.program import Program
    from simtmm.machine import Machine

CLOCKS = ("%clock", "%globaltimer")
SLOTS = 8  # for values that are under way: scoreboards, or registers, of which several may share one
BLOCKS = 64  # whose warps' clocks are known at once; a number of 2
PTX_CYCLES = 4  # of an instruction of PTX, of which nobody says how long it holds its warp: what most take on NVIDIA's
LINE_BITS = 7  # of an address, within a line
SCALE = 32  # bits behind the point of nanoseconds a cycle

TIMING = np.dtype(
    [
        ("base", "<i8"), ("latest", "<i8"), ("nanoseconds", "<i8"), ("l1", "<i8"), ("l2", "<i8"), ("memory", "<i8"),
        ("shared", "<i8"), ("barrier", "<i8"), ("l1_mask", "<i8"), ("l2_mask", "<i8"), ("l1_tags", "<u8"),
        ("l2_tags", "<u8"), ("entries", "<u8"), *((name, "<i8") for name in RESULT_CLASSES),
    ]
)  # fmt: skip
"""base: the clock at the launch's beginning; latest: the latest of any warp. nanoseconds: of a cycle, with SCALE bits
behind the point. Latencies [cycles] of a hit in the L1 and the L2, of global and shared memory, and of a barrier. Masks
and places of the tags of both caches (-1: there is none), and of an ENTRY for each warp, and one more, of each block.
Latencies of results, by their classes [cycles]."""

ENTRY = np.dtype([("block", "<i8"), ("clock", "<i8"), ("met", "<i8"), ("latency", "<i8"), ("ready", "<i8", SLOTS)])
"""Of a warp: its block's number and one, its clock, whether it has come to a barrier, the latency of its access under
way, and when the values of each slot are there. Of a block, as its last: when the last warp came to its barrier."""


def _offsets(title: str, dtype: np.dtype[np.void]) -> dict[str, int]:
    return {f"{title}.{name}": int(dtype.fields[name][1]) for name in dtype.names or ()}  # type: ignore[index]


_FIELDS = _offsets("TIMING", TIMING) | _offsets("ENTRY", ENTRY)
_FIRST = Value("%launch", "ptr"), Value("%block", "ptr"), Value("%warp", "ptr")


@dataclass(frozen=True)
class Latencies:
    """What device clocks go by, of a machine.

    l1, l2, memory, shared, barrier: [cycles]; l1 and l2 None where there is no such cache. l1_lines, l2_lines: lines of
    the L1s of all groups together, and of the L2. nanoseconds: of a cycle. results: latencies of values that machine
    code waits for by a scoreboard, by class [cycles].
    """

    l1: int | None = 33
    l2: int | None = 210
    memory: int = 600
    shared: int = 29
    barrier: int = 20
    l1_lines: int = 1 << 17
    l2_lines: int = 1 << 18
    nanoseconds: float = 0.7
    results: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, machine: "Machine") -> "Latencies":
        """Those of a machine; in nanoseconds as at 1 GHz where it has no clock."""
        memory, banks, results = machine.memory, machine.banks, machine.results
        l1, l2 = memory.l1, memory.l2
        return cls(
            l1=None if l1 is None else round(l1.latency),
            l2=None if l2 is None else round(l2.latency),
            memory=round(memory.latency),
            shared=round(banks.latency),
            barrier=round(machine.scheduling.barrier_latency),
            l1_lines=0 if l1 is None else machine.cores.groups * l1.sets * l1.ways,
            l2_lines=0 if l2 is None else l2.sets * l2.ways,
            nanoseconds=1e9 / (machine.clock_hz or 1e9),
            results=tuple((name, round(getattr(results, name, None) or 0)) for name in RESULT_CLASSES),
        )


class DeviceClock:
    """The clock of a device over its launches: the caches' tags, and how late it is."""

    def __init__(self, latencies: Latencies | None = None) -> None:
        """latencies: of a GPU of today, if left out."""
        self.latencies = found = latencies or Latencies()
        self._l1 = np.full(_count(found.l1_lines if found.l1 is not None else 0), -1, np.int64)
        self._l2 = np.full(_count(found.l2_lines if found.l2 is not None else 0), -1, np.int64)
        self._timing = np.zeros((), TIMING)
        self._entries = np.zeros(0, ENTRY)

    def begin(self, warps: int, footprint: int) -> int:
        """A launch begins: the address of its TIMING.

        warps: of a block. footprint: bytes of all arrays; what fits the L2 is there, as copies and earlier launches
        leave it.
        """
        found, timing = self.latencies, self._timing
        beyond = found.l2 if found.l2 is not None and footprint <= found.l2_lines << LINE_BITS else found.memory
        self._l1[:] = -1
        if len(self._entries) < BLOCKS * (warps + 1):
            self._entries = np.zeros(BLOCKS * (warps + 1), ENTRY)
        self._entries["block"] = 0
        values: dict[str, Any] = {
            "base": int(timing["latest"]), "nanoseconds": round(found.nanoseconds * 2**SCALE), "l1": found.l1 or 0,
            "l2": found.l2 or 0, "memory": beyond, "shared": found.shared, "barrier": found.barrier,
            "l1_mask": len(self._l1) - 1, "l2_mask": len(self._l2) - 1, "l1_tags": self._l1.ctypes.data,
            "l2_tags": self._l2.ctypes.data, "entries": self._entries.ctypes.data,
            **dict.fromkeys(RESULT_CLASSES, 0), **dict(found.results),
        }  # fmt: skip
        for name, value in values.items():
            timing[name] = value
        return int(timing.ctypes.data)


def _count(lines: int) -> int:
    """As many, or the next power of two below."""
    return 1 << lines.bit_length() - 1 if lines else 0


def reads_clocks(instruction: Instruction) -> bool:
    """Whether it reads a clock."""
    return any(name.startswith(CLOCKS) for name in read(instruction))


def clock_functions(program: "Program") -> None:
    """Have the program's runtime hold the functions that the others call."""
    numbers = {"ENTRY": ENTRY.itemsize, "BLOCKS_MASK": BLOCKS - 1, "SLOTS": SLOTS, "SCALE": SCALE}
    program.declared["llvm.smax.i64"] = "declare i64 @llvm.smax.i64(i64, i64)"
    program.helper("clock", lambda: with_offsets(_IR, {**_FIELDS, **numbers, "LINE_BITS": LINE_BITS}))


class StepClock:
    """The clock while a step is translated."""

    def __init__(self, context: "Context", step: Step) -> None:
        """The step begins when the values that it needs are there."""
        self._context, self._step = context, step
        self._cycles = 0
        slots = 0
        for name in step.needs:
            slots |= 1 << _slot(context, name)
        if slots:
            _call(context, "wait", Value(str(slots), "i32"))

    def before(self, instruction: Instruction) -> None:
        """An instruction comes: one that reads the clock, or accesses memory, is behind the cycles of those before."""
        step = self._step
        if reads_clocks(instruction):
            self._pass()
        if instruction is step.access:
            self._pass()
            level = {"shared_load": "shared", "shared_atomic": "shared", "atomic": "l2"}.get(step.kind, "l1")
            _call(self._context, "begin", Value(str(_FIELDS[f"TIMING.{level}"]), "i64"))
        self._cycles += _cycles_of(instruction)
        if instruction.issue is not None and instruction.issue.result is not None:
            self._pass()
            name, scoreboard = instruction.issue.result
            _call(self._context, "begin", Value(str(_FIELDS[f"TIMING.{name}"]), "i64"))
            _call(self._context, "loaded", Value(str(_slot(self._context, scoreboard)), "i32"))

    def end(self) -> None:
        """The step has ended, with its access if it has one, whose values come when its latency is over."""
        for name in self._step.gives:
            _call(self._context, "loaded", Value(str(_slot(self._context, name)), "i32"))
        self._pass()
        if self._step.kind == "barrier":
            _call(self._context, "meet")

    def _pass(self) -> None:
        if self._cycles:
            _call(self._context, "pass", Value(str(self._cycles), "i64"))
        self._cycles = 0


def _cycles_of(instruction: Instruction) -> int:
    """That an instruction takes of its warp."""
    issue = instruction.issue
    return PTX_CYCLES if issue is None else issue.stall + (issue.work is not None or issue.recorded)


def read_clock(context: "Context", in_nanoseconds: bool) -> Value:
    """The warp's clock: i64."""
    name = "clock.nanoseconds" if in_nanoseconds else "clock.read"
    return context.emit.value(f"call i64 @{name}({', '.join(map(str, _FIRST))})", "i64")


def _slot(context: "Context", name: str) -> int:
    slots = context.code.program.clock_slots
    return slots.setdefault(name, len(slots) % SLOTS)


def _call(context: "Context", name: str, *arguments: Value) -> None:
    context.emit.call(f"clock.{name}", "void", *_FIRST, *arguments)


ACCESSED = """  call void @clock.access(ptr %launch, ptr %block, ptr %warp, i32 %mask, ptr %addresses)
"""
"""Lines of an access whose addresses are known."""

_IR = """
define internal ptr @clock.entry(ptr %launch, ptr %block, ptr %warp) {
entry:
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %number.at = getelementptr i8, ptr %block, i64 {BLOCK.number}
  %number = load i64, ptr %number.at
  %mine = add i64 %number, 1
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps.32 = load i32, ptr %warps.at
  %warps = sext i32 %warps.32 to i64
  %rows = add i64 %warps, 1
  %row = and i64 %number, {BLOCKS_MASK}
  %first = mul i64 %row, %rows
  %own.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %own.32 = load i32, ptr %own.at
  %own = sext i32 %own.32 to i64
  %index = add i64 %first, %own
  %offset = mul i64 %index, {ENTRY}
  %entries.at = getelementptr i8, ptr %timing, i64 {TIMING.entries}
  %entries = load ptr, ptr %entries.at
  %found = getelementptr i8, ptr %entries, i64 %offset
  %last = add i64 %first, %warps
  %last.offset = mul i64 %last, {ENTRY}
  %whole = getelementptr i8, ptr %entries, i64 %last.offset
  %base = load i64, ptr %timing
  %there = load i64, ptr %found
  %is.mine = icmp eq i64 %there, %mine
  br i1 %is.mine, label %look, label %new
new:
  call void @llvm.memset.p0.i64(ptr %found, i8 0, i64 {ENTRY}, i1 false)
  store i64 %mine, ptr %found
  %clock.at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  store i64 %base, ptr %clock.at
  %whole.there = load i64, ptr %whole
  %whole.mine = icmp eq i64 %whole.there, %mine
  br i1 %whole.mine, label %end, label %first.of.block
first.of.block:
  call void @llvm.memset.p0.i64(ptr %whole, i8 0, i64 {ENTRY}, i1 false)
  store i64 %mine, ptr %whole
  br label %end
look:
  %met.at = getelementptr i8, ptr %found, i64 {ENTRY.met}
  %met = load i64, ptr %met.at
  %has.met = icmp ne i64 %met, 0
  br i1 %has.met, label %behind, label %end
behind:
  store i64 0, ptr %met.at
  %all.at = getelementptr i8, ptr %whole, i64 {ENTRY.clock}
  %all = load i64, ptr %all.at
  %own.clock.at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %own.clock = load i64, ptr %own.clock.at
  %later = call i64 @llvm.smax.i64(i64 %all, i64 %own.clock)
  store i64 %later, ptr %own.clock.at
  br label %end
end:
  ret ptr %found
}

define internal void @clock.pass(ptr %launch, ptr %block, ptr %warp, i64 %cycles) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %before = load i64, ptr %at
  %now = add i64 %before, %cycles
  store i64 %now, ptr %at
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %latest.at = getelementptr i8, ptr %timing, i64 {TIMING.latest}
  %latest = load i64, ptr %latest.at
  %later = call i64 @llvm.smax.i64(i64 %latest, i64 %now)
  store i64 %later, ptr %latest.at
  ret void
}

define internal void @clock.wait(ptr %launch, ptr %block, ptr %warp, i32 %slots) noinline {
entry:
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %ready = getelementptr i8, ptr %found, i64 {ENTRY.ready}
  %before = load i64, ptr %at
  br label %each
each:
  %slot = phi i32 [ 0, %entry ], [ %slot.next, %each ]
  %clock = phi i64 [ %before, %entry ], [ %clock.next, %each ]
  %place = getelementptr i64, ptr %ready, i32 %slot
  %when = load i64, ptr %place
  %bit = lshr i32 %slots, %slot
  %odd = trunc i32 %bit to i1
  %later = call i64 @llvm.smax.i64(i64 %clock, i64 %when)
  %clock.next = select i1 %odd, i64 %later, i64 %clock
  %slot.next = add i32 %slot, 1
  %over = icmp eq i32 %slot.next, {SLOTS}
  br i1 %over, label %end, label %each
end:
  store i64 %clock.next, ptr %at
  ret void
}

define internal void @clock.begin(ptr %launch, ptr %block, ptr %warp, i64 %field) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %usual.at = getelementptr i8, ptr %timing, i64 %field
  %usual = load i64, ptr %usual.at
  %at = getelementptr i8, ptr %found, i64 {ENTRY.latency}
  store i64 %usual, ptr %at
  ret void
}

define internal void @clock.loaded(ptr %launch, ptr %block, ptr %warp, i32 %slot) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {ENTRY.latency}
  %latency = load i64, ptr %at
  call void @clock.result(ptr %launch, ptr %block, ptr %warp, i64 %latency, i32 %slot)
  ret void
}

define internal void @clock.result(ptr %launch, ptr %block, ptr %warp, i64 %latency, i32 %slot) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %clock = load i64, ptr %at
  %when = add i64 %clock, %latency
  %ready = getelementptr i8, ptr %found, i64 {ENTRY.ready}
  %place = getelementptr i64, ptr %ready, i32 %slot
  %before = load i64, ptr %place
  %later = call i64 @llvm.smax.i64(i64 %before, i64 %when)
  store i64 %later, ptr %place
  ret void
}

define internal void @clock.meet(ptr %launch, ptr %block, ptr %warp) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %latency.at = getelementptr i8, ptr %timing, i64 {TIMING.barrier}
  %latency = load i64, ptr %latency.at
  %at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %clock = load i64, ptr %at
  %there = add i64 %clock, %latency
  %met.at = getelementptr i8, ptr %found, i64 {ENTRY.met}
  store i64 1, ptr %met.at
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %own.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %own = load i32, ptr %own.at
  %behind = sub i32 %warps, %own
  %behind.64 = sext i32 %behind to i64
  %offset = mul i64 %behind.64, {ENTRY}
  %whole = getelementptr i8, ptr %found, i64 %offset
  %all.at = getelementptr i8, ptr %whole, i64 {ENTRY.clock}
  %all = load i64, ptr %all.at
  %later = call i64 @llvm.smax.i64(i64 %all, i64 %there)
  store i64 %later, ptr %all.at
  ret void
}

define internal i64 @clock.read(ptr %launch, ptr %block, ptr %warp) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {ENTRY.clock}
  %clock = load i64, ptr %at
  ret i64 %clock
}

define internal i64 @clock.nanoseconds(ptr %launch, ptr %block, ptr %warp) noinline {
  %clock = call i64 @clock.read(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %scale.at = getelementptr i8, ptr %timing, i64 {TIMING.nanoseconds}
  %scale = load i64, ptr %scale.at
  %wide = zext i64 %clock to i128
  %wide.scale = zext i64 %scale to i128
  %product = mul i128 %wide, %wide.scale
  %whole = lshr i128 %product, {SCALE}
  %found = trunc i128 %whole to i64
  ret i64 %found
}

; The latency of the slowest lane: where its line was found. Of a cache that is not there the mask is -1.
define internal i1 @clock.hits(ptr %timing, i64 %mask.field, i64 %tags.field, i64 %tag) noinline {
entry:
  %mask.at = getelementptr i8, ptr %timing, i64 %mask.field
  %mask = load i64, ptr %mask.at
  %none = icmp slt i64 %mask, 0
  br i1 %none, label %missing, label %look
missing:
  ret i1 false
look:
  %tags.at = getelementptr i8, ptr %timing, i64 %tags.field
  %tags = load ptr, ptr %tags.at
  %folded = lshr i64 %tag, 32
  %mixed = xor i64 %tag, %folded
  %index = and i64 %mixed, %mask
  %place = getelementptr i64, ptr %tags, i64 %index
  %there = load i64, ptr %place
  %hit = icmp eq i64 %there, %tag
  store i64 %tag, ptr %place
  ret i1 %hit
}

define internal void @clock.access(ptr %launch, ptr %block, ptr %warp, i32 %mask, ptr %addresses) noinline {
entry:
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %l1.at = getelementptr i8, ptr %timing, i64 {TIMING.l1}
  %l1 = load i64, ptr %l1.at
  %l2.at = getelementptr i8, ptr %timing, i64 {TIMING.l2}
  %l2 = load i64, ptr %l2.at
  %memory.at = getelementptr i8, ptr %timing, i64 {TIMING.memory}
  %memory = load i64, ptr %memory.at
  %shared.at = getelementptr i8, ptr %timing, i64 {TIMING.shared}
  %shared = load i64, ptr %shared.at
  %latency.at = getelementptr i8, ptr %found, i64 {ENTRY.latency}
  %number.at = getelementptr i8, ptr %block, i64 {BLOCK.number}
  %number = load i64, ptr %number.at
  %processors.at = getelementptr i8, ptr %launch, i64 {LAUNCH.processors}
  %processors.32 = load i32, ptr %processors.at
  %processors.any = sext i32 %processors.32 to i64
  %processors = call i64 @llvm.smax.i64(i64 %processors.any, i64 1)
  %processor = urem i64 %number, %processors
  %apart = shl i64 %processor, 44
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %line.before = phi i64 [ -1, %entry ], [ %line, %next ]
  %slowest = phi i64 [ 0, %entry ], [ %slowest.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %address.at = getelementptr i64, ptr %addresses, i32 %lane
  %address = load i64, ptr %address.at
  %line = lshr i64 %address, {LINE_BITS}
  %same = icmp eq i64 %line, %line.before
  br i1 %same, label %next, label %other
other:
  %is.low = icmp ult i64 %address, {SHARED_WINDOW}
  br i1 %is.low, label %look, label %window
window:
  %is.shared = icmp ult i64 %address, {LOCAL_WINDOW}
  %of.window = select i1 %is.shared, i64 %shared, i64 %l1
  br label %known
look:
  %tag.l1 = or i64 %line, %apart
  %in.l1 = call i1 @clock.hits(ptr %timing, i64 {TIMING.l1_mask}, i64 {TIMING.l1_tags}, i64 %tag.l1)
  br i1 %in.l1, label %known, label %beyond
beyond:
  %in.l2 = call i1 @clock.hits(ptr %timing, i64 {TIMING.l2_mask}, i64 {TIMING.l2_tags}, i64 %line)
  %far = select i1 %in.l2, i64 %l2, i64 %memory
  br label %known
known:
  %latency = phi i64 [ %of.window, %window ], [ %l1, %look ], [ %far, %beyond ]
  br label %next
next:
  %own = phi i64 [ 0, %each ], [ %latency, %known ]
  %slowest.next = call i64 @llvm.smax.i64(i64 %slowest, i64 %own)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %end, label %each
end:
  store i64 %slowest.next, ptr %latency.at
  ret void
}
"""
