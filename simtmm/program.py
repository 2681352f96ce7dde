"""Program: from what a user names, a kernel, a trace or a workload, to what is simulated and counted on a machine."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

from simtmm.errors import KernelError, TraceError, shown
from simtmm.files import data_file
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.recorder import FORMS, form_of, record
from simtmm.recorder.sources import opened_kernel
from simtmm.trace.counts import Counts, lower_and_count
from simtmm.trace.io import Trace, load_trace
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload, load_workload

Kind = Literal["kernel", "trace", "workload"]

SUFFIXES: Mapping[str, Kind] = {".parquet": "trace", ".json": "workload"}
WORDS: Mapping[Kind, str] = {
    "kernel": "a kernel's name or folder, or a file of launches (.toml)",
    "trace": "a trace (.parquet)",
    "workload": "a workload (.json)",
}

OBJECTS: Mapping[Kind, type] = {"kernel": Kernel, "trace": Trace, "workload": Workload}
THREADS = "threads"  # of a block: what shipped kernels call that parameter
LOADERS: Mapping[Kind, Callable[[str | Path], Kernel | Trace | Workload]] = {
    "kernel": opened_kernel,
    "trace": load_trace,
    "workload": load_workload,
}

Source: TypeAlias = str | Path | Kernel | Trace | Workload
Heard = Callable[[int], None]  # events recorded
Lowered = Callable[[int, int], None]  # done, total


@dataclass(frozen=True)
class Prepared:
    """A program on a machine. counts: None where only a workload is known, which nothing can be counted of."""

    machine: Machine
    workload: AnyWorkload
    counts: Counts | None


@dataclass(frozen=True)
class Program:
    """What ran, whatever the machine.

    name: of the kernel, or where a workload comes from.
    parameters: all of the kernel's.
    trace: what its threads did; None where only a workload is known.
    workload: where there is no trace.
    kernel: what was recorded; None where it was recorded before.
    notes: what a reader of a result must know of how it was compiled, in words.
    sources: the lines of its files by the names that its places have, where no kernel's folder has them.
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    trace: Trace | None = None
    workload: Workload | None = None
    kernel: Kernel | None = None
    notes: tuple[str, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def on(self, machine: Machine, progress: Lowered | None = None, places: bool = False) -> Prepared:
        """Its workload and counts on a machine.

        progress: called with the blocks lowered, and all of them.
        places: whether operations say where in the program they come from, as stalls need it.

        Raises WorkloadError for a block that the machine can't hold.
        """
        if self.trace is None:
            assert self.workload is not None
            return Prepared(machine, self.workload, None)
        return Prepared(machine, *lower_and_count(self.trace, machine, progress, places))


def kind_of(source: Source) -> Kind:
    """What a source is, by its suffix: a trace is .parquet, a workload .json, and all else names a kernel.

    Raises KernelError for what is neither a path nor a name nor one of these.
    """
    for kind, of in OBJECTS.items():
        if isinstance(source, of):
            return kind
    if not isinstance(source, (str, Path)):
        raise KernelError(f"source = {shown(source)}: must be {' or '.join(WORDS.values())}")
    return SUFFIXES.get(Path(source).suffix, "kernel")


def open_program(
    source: Source,
    parameters: Mapping[str, object] | None = None,
    progress: Heard | None = None,
    kinds: Collection[Kind] = ("kernel", "trace", "workload"),
    machine: Machine | None = None,
    form: str | None = None,
) -> Program:
    """The program that a source names; a kernel is recorded on the CPU.

    source: a kernel's name or folder, a trace's file, a workload's file; or one of the three itself.
    parameters: a kernel's parameters that differ from its defaults.
    progress: called with the number of events recorded so far.
    kinds: the allowed kinds of source.
    machine: whose architecture a kernel is compiled for, where it is recorded as compiled; one of today if left out.
    form: "written", "compiled" or "ptx", how a kernel is recorded (see simtmm.record); if left out, what suits it.

    Raises KernelError, and the errors of recording and reading (simtmm.errors).
    """
    kind = kind_of(source)
    what = str(source) if isinstance(source, (str, Path)) else f"this {kind}"
    if kind not in kinds:
        raise KernelError(f"{what}: is {WORDS[kind]}: must be {' or '.join(WORDS[allowed] for allowed in kinds)}")
    if kind != "kernel" and form is not None:
        raise KernelError(f"{what}: form = {shown(form)}: can only be given to a kernel")
    if kind != "kernel" and parameters:
        raise KernelError(f"{what}: parameters ({', '.join(parameters)}) can only be given to a kernel")
    opened = LOADERS[kind](source) if isinstance(source, (str, Path)) else source
    if isinstance(opened, Workload):
        return Program(opened.origin, workload=opened)
    if isinstance(opened, Trace):
        return _of_trace(opened)
    architecture, notes = architecture_for(opened, machine, form)
    fitting, told = fitting_block(opened, parameters or {}, machine)
    notes += told
    trace = record(opened, fitting, progress=progress, form=form, architecture=architecture)
    return _of_trace(trace, opened, notes)


def architecture_for(
    kernel: Kernel, machine: Machine | None, form: str | None = None
) -> tuple[int | None, tuple[str, ...]]:
    """What a kernel is compiled for on a machine, and notes where that is not the machine's own; None as written.

    form: how the kernel is recorded, where that was given.
    """
    if form is not None and form not in FORMS:
        raise KernelError(f"form = {shown(form)}: must be one of {', '.join(FORMS)}")
    if machine is None or (form or form_of(kernel)) == "written":
        return None, ()
    from simtmm.cuda.compilers import architecture_of

    chosen = architecture_of(machine)
    return chosen.number, (chosen.note,) if chosen.note else ()


def fitting_block(
    kernel: Kernel, parameters: Mapping[str, object], machine: Machine | None
) -> tuple[Mapping[str, object], tuple[str, ...]]:
    """The parameters, with fewer `threads` than the kernel's default where a machine's core group can't hold a block of
    so many; and a note that says so. What the user gave stays, and is refused later where it does not fit.
    """
    threads = kernel.parameters.get(THREADS)
    if machine is None or threads is None or THREADS in parameters or not isinstance(threads.default, int):
        return parameters, ()
    most = min(
        machine.warps_per_group * machine.cores.warp_width, machine.resources.threads_per_block or threads.default
    )
    if threads.default <= most:
        return parameters, ()
    allowed = threads.choices or [2**power for power in range(most.bit_length())]
    fitting = [each for each in allowed if isinstance(each, int) and (threads.minimum or 1) <= each <= most]
    if not fitting:
        return parameters, ()
    note = f"{THREADS} = {max(fitting)}, not {threads.default}: a core group of {machine.name} holds {most} threads"
    return {**parameters, THREADS: max(fitting)}, (note,)


def shipped_trace(name: str) -> Path:
    """The path of a trace in traces/.

    name: of its file.

    Raises TraceError.
    """
    path = data_file("traces", name)
    if path is None:
        raise TraceError(f"{name}: is missing from this installation: reinstall simtmm")
    return path


def _of_trace(trace: Trace, kernel: Kernel | None = None, notes: tuple[str, ...] = ()) -> Program:
    return Program(trace.info.kernel, trace.info.parameters, trace, kernel=kernel, notes=notes)
