"""The clocks that device code reads: each warp's own cycles, estimated while it runs.

Only kernels that read a clock have these lines. A warp's clock goes on by the cycles that its instructions issue and
stall, and waits for the values that its loads bring as a trace has it (simtmm/cuda/ptx/flow/steps.py). A load takes the
latency of the level at which a cheap model of the caches finds it: tags without ways, by which a line is where one of
its index was brought last. Nothing here knows of other warps that want the same port or line: what the launch takes is
the simulation's to say.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import (
    CLOCK,
    CLOCK_BLOCKS,
    CLOCK_LINE_BITS,
    CLOCK_SCALE,
    CLOCK_SLOTS,
    TIMING,
    offsets,
)
from simtmm.cuda.execution.runtime.assembly_file import assembly_file
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.flow.registers import reads_clocks
from simtmm.cuda.ptx.flow.steps import Step
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.trace.schema import RESULT_CLASSES

if TYPE_CHECKING:
    from simtmm.cuda.execution.translation.context import Context
    from simtmm.cuda.execution.translation.program import Program
    from simtmm.machine import Machine

PTX_CYCLES = 4  # of an instruction of PTX, of which nobody says how long it holds its warp: what most take on NVIDIA's

_FIRST = Value("%launch", "ptr"), Value("%block", "ptr"), Value("%warp", "ptr")


@dataclass(frozen=True)
class Latencies:
    """The latencies of a machine that device clocks use.

    l1, l2, memory, shared, barrier: [cycles]; l1 and l2 None where there is no such cache. groups: core groups, each
    with an L1. l1_lines, l2_lines: lines of the L1 of each, and of the L2. nanoseconds: of a cycle. results: latencies
    of values that machine code waits for by a scoreboard, by class [cycles].
    """

    l1: int | None = 33
    l2: int | None = 210
    memory: int = 600
    shared: int = 29
    barrier: int = 20
    groups: int = 128
    l1_lines: int = 1 << 10
    l2_lines: int = 1 << 18
    nanoseconds: float = 0.7
    results: tuple[tuple[str, int], ...] = ()

    @classmethod
    def of(cls, machine: "Machine") -> "Latencies":
        """Those of a machine; in nanoseconds as at 1 GHz where it has no clock."""
        memory, banks, results = machine.memory, machine.banks, machine.results
        l1, l2, durations = memory.l1, memory.l2, machine.durations
        # A load issues before its latency begins, and what waits for it issues a cycle behind its end.
        beside = (durations.issue + durations.pipeline_depth) / machine.ticks_per_cycle
        return cls(
            l1=None if l1 is None else round(l1.latency + beside),
            l2=None if l2 is None else round(l2.latency + beside),
            memory=round(memory.latency + beside),
            shared=round(banks.latency + beside),
            barrier=round(machine.scheduling.barrier_latency),
            groups=machine.cores.groups,
            l1_lines=0 if l1 is None else l1.sets * l1.ways,
            l2_lines=0 if l2 is None else l2.sets * l2.ways,
            nanoseconds=1e9 / (machine.clock_hz or 1e9),
            results=tuple((name, round(getattr(results, name, None) or 0)) for name in RESULT_CLASSES),
        )


class DeviceClock:
    """The clock of a device over its launches: its time, and the tags of its caches."""

    def __init__(self, latencies: Latencies | None = None) -> None:
        """latencies: of a GPU of today, if left out."""
        self.latencies = latencies or Latencies()
        self._timing = np.zeros((), TIMING)
        self._entries = np.zeros(0, CLOCK)

    @cached_property
    def _l1(self) -> npt.NDArray[np.int64]:
        return _no_tags(self.latencies.l1, self.latencies.groups * self.latencies.l1_lines)

    @cached_property
    def _l2(self) -> npt.NDArray[np.int64]:
        return _no_tags(self.latencies.l2, self.latencies.l2_lines)

    def begin(self, warps: int, footprint: int) -> int:
        """A launch begins: the address of its TIMING.

        warps: of a block. footprint: bytes of all arrays; what fits the L2 is there, as copies and earlier launches
        leave it.
        """
        found, timing = self.latencies, self._timing
        beyond = found.l2 if found.l2 is not None and footprint <= found.l2_lines << CLOCK_LINE_BITS else found.memory
        local = next(each for each in (found.l1, found.l2, found.memory) if each is not None)
        self._l1[:] = -1
        entries = CLOCK_BLOCKS * (warps + 1)
        if len(self._entries) < entries:
            self._entries = np.zeros(entries, CLOCK)
        self._entries["block"] = 0
        values: dict[str, Any] = {
            "base": int(timing["latest"]), "nanoseconds": round(found.nanoseconds * 2**CLOCK_SCALE),
            "l1": local, "l2": found.l2 or 0, "memory": beyond, "shared": found.shared,
            "barrier": found.barrier,
            "groups": found.groups, "l1_lines": len(self._l1) // found.groups, "l2_lines": len(self._l2),
            "l1_tags": self._l1.ctypes.data,
            "l2_tags": self._l2.ctypes.data, "entries": self._entries.ctypes.data,
            **dict.fromkeys(RESULT_CLASSES, 0), **dict(found.results),
        }  # fmt: skip
        for name, value in values.items():
            timing[name] = value
        return int(timing.ctypes.data)


def _no_tags(latency: int | None, lines: int) -> npt.NDArray[np.int64]:
    """Of caches with as many lines that hold nothing; of none, none."""
    return np.full(0 if latency is None else lines, -1, np.int64)


def clock_functions(program: "Program") -> None:
    """Add the clock's functions to the runtime of a program."""
    program.declared["llvm.smax.i64"] = "declare i64 @llvm.smax.i64(i64, i64)"
    program.helper("clock", lambda: assembly_file("clocks.ll"))


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
            _call(self._context, "begin", Value(str(offsets()[f"TIMING.{level}"]), "i64"))
        self._cycles += _cycles_of(instruction)
        if instruction.issue is not None and instruction.issue.result is not None:
            self._pass()
            name, scoreboard = instruction.issue.result
            _call(self._context, "begin", Value(str(offsets()[f"TIMING.{name}"]), "i64"))
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
    return slots.setdefault(name, len(slots) % CLOCK_SLOTS)


def _call(context: "Context", name: str, *arguments: Value) -> None:
    context.emit.call(f"clock.{name}", "void", *_FIRST, *arguments)


ACCESSED = """  call void @clock.access(ptr %launch, ptr %block, ptr %warp, i32 %mask, ptr %addresses)
"""
"""Lines of an access whose addresses are known."""
