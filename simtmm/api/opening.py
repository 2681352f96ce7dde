"""The machine, trace, workload or counts that a caller names, or one error that says what is allowed."""

from pathlib import Path

from simtmm.errors import ModelError, TraceError, WorkloadError, shown
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine as opened_machine
from simtmm.program import kind_of
from simtmm.trace.counts import Counts, count
from simtmm.trace.io import SUFFIX, Trace, load_trace
from simtmm.trace.lower import lower_or_stream
from simtmm.trace.streamed import AnyWorkload, StreamedWorkload
from simtmm.workload import Workload, load_workload


def opened_trace(trace: Trace | str | Path) -> Trace:
    """The trace itself, or the one of that name or file. Raises TraceError."""
    if isinstance(trace, Trace):
        return trace
    if isinstance(trace, (str, Path)):
        return load_trace(trace)
    raise TraceError(f"trace = {shown(trace)}: must be a Trace, a trace's name, or a path to its file ({SUFFIX})")


def opened_workload(workload: AnyWorkload | Trace | str | Path, machine: Machine, places: bool = False) -> AnyWorkload:
    """The workload itself, that of a file, or what a trace is on the machine. Raises WorkloadError, TraceError.

    places: whether the operations of a trace say where in the program they come from.
    """
    if isinstance(workload, (Workload, StreamedWorkload)):
        return workload
    if isinstance(workload, (str, Path)) and kind_of(workload) == "workload":
        return load_workload(workload)
    if isinstance(workload, (Trace, str, Path)):
        return lower_or_stream(opened_trace(workload), machine, places=places)[0]
    raise WorkloadError(
        f"workload = {shown(workload)}: must be a Workload, a path to its file (.json), a Trace, a trace's "
        f"name, or a path to its file ({SUFFIX})"
    )


def opened_counts(counts: Counts | Trace | str | Path, machine: Machine) -> Counts:
    """The counts themselves, or those of a trace on the machine. Raises ModelError, TraceError, WorkloadError."""
    if isinstance(counts, Counts):
        return counts
    if isinstance(counts, (Trace, str, Path)):
        return count(opened_trace(counts), machine)
    raise ModelError(
        f"counts = {shown(counts)}: must be Counts (see simtmm.count), a Trace, a trace's name, or a path to its file "
        f"({SUFFIX})"
    )
