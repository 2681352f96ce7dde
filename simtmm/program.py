"""Program: from what a user names, a kernel, a trace or a workload, to what is simulated and counted on a machine."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from simtmm.errors import KernelError, TraceError, shown
from simtmm.files import data_file
from simtmm.kernel import Kernel, load_kernel
from simtmm.machine import Machine
from simtmm.recorder import record
from simtmm.trace.counts import Counts, count
from simtmm.trace.io import Trace, load_trace
from simtmm.trace.lower import lower
from simtmm.workload import Workload, load_workload

Kind = Literal["kernel", "trace", "workload"]

SUFFIXES: Mapping[str, Kind] = {".parquet": "trace", ".json": "workload"}
WORDS: Mapping[Kind, str] = {
    "kernel": "a kernel's name or folder",
    "trace": "a trace (.parquet)",
    "workload": "a workload (.json)",
}

Heard = Callable[[int], None]  # events recorded
Lowered = Callable[[int, int], None]  # done, total


@dataclass(frozen=True)
class Prepared:
    """A program on a machine. counts: None where only a workload is known, which nothing can be counted of."""

    machine: Machine
    workload: Workload
    counts: Counts | None


@dataclass(frozen=True)
class Program:
    """What ran, whatever the machine.

    name: of the kernel, or where a workload comes from.
    parameters: all of the kernel's.
    trace: what its threads did; None where only a workload is known.
    workload: where there is no trace.
    kernel: what was recorded; None where it was recorded before.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None
    workload: Workload | None = None
    kernel: Kernel | None = None

    def on(self, machine: Machine, progress: Lowered | None = None) -> Prepared:
        """Its workload and counts on a machine.

        progress: called with the blocks lowered, and all of them.

        Raises WorkloadError for a block that the machine can't hold.
        """
        if self.trace is None:
            assert self.workload is not None
            return Prepared(machine, self.workload, None)
        workload = lower(self.trace, machine, progress)
        return Prepared(machine, workload, count(self.trace, machine, workload))


def kind_of(source: str | Path) -> Kind:
    """What a source is, told by its suffix: a trace is .parquet, a workload .json, and all else names a kernel."""
    return SUFFIXES.get(Path(source).suffix, "kernel")


def open_program(
    source: str | Path | Trace,
    parameters: Mapping[str, object] | None = None,
    progress: Heard | None = None,
    kinds: Collection[Kind] = ("kernel", "trace", "workload"),
) -> Program:
    """The program that a source names; a kernel is recorded on the CPU.

    source: a kernel's name or folder, a trace's file or the trace itself, a workload's file.
    parameters: of a kernel, those that differ from its defaults.
    progress: called with the number of events recorded so far.
    kinds: what the source may be.

    Raises KernelError, and the errors of recording and reading (simtmm.errors).
    """
    if isinstance(source, Trace):
        if parameters:
            raise KernelError(f"a trace: parameters ({', '.join(parameters)}) can only be given to a kernel")
        return _of_trace(source)
    if not isinstance(source, (str, Path)):
        raise KernelError(f"source = {shown(source)}: must be {' or '.join(WORDS[allowed] for allowed in kinds)}")
    kind = kind_of(source)
    if kind not in kinds:
        raise KernelError(f"{source}: is {WORDS[kind]}: must be {' or '.join(WORDS[allowed] for allowed in kinds)}")
    if kind != "kernel" and parameters:
        raise KernelError(f"{source}: parameters ({', '.join(parameters)}) can only be given to a kernel")
    if kind == "trace":
        return _of_trace(load_trace(source))
    if kind == "workload":
        workload = load_workload(source)
        return Program(workload.origin, workload=workload)
    kernel = load_kernel(source)
    return _of_trace(record(kernel, parameters, progress=progress), kernel)


def shipped_trace(name: str) -> Path:
    """The path of a trace in traces/. Raises TraceError."""
    path = data_file("traces", name)
    if path is None:
        raise TraceError(f"{name}: did not come with this simtmm: install it again")
    return path


def _of_trace(trace: Trace, kernel: Kernel | None = None) -> Program:
    return Program(trace.info.kernel, trace.info.parameters, trace, kernel=kernel)
