"""One run: simulated time, beside what the models predict."""

from collections.abc import Callable, Mapping
from pathlib import Path

from simtmm.analysis import run as runs
from simtmm.analysis.run import Run
from simtmm.api.opening import opened_machine
from simtmm.engine import DEFAULT
from simtmm.errors import KernelError, shown
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.trace.io import Trace

Watch = Callable[[str, int, int | None], None]  # stage, done, total where it is known


def run(
    source: str | Path | Kernel | Trace | None = None,
    machine: Machine | str | Path = "gtx280",
    parameters: Mapping[str, object] | None = None,
    engine: str = DEFAULT,
    watch: Watch | None = None,
    timeline: bool = False,
) -> Run:
    """Simulate a kernel, trace or workload on a machine, beside what the models predict; `simtmm run` as a function.

    source: a Kernel, or a kernel's name or folder, which is recorded first; a Trace, or a path to a trace (.parquet);
        a path to a workload (.json); the shipped trace if left out.
    machine: a Machine, a machine's name, or a path to its file (.toml).
    parameters: of the kernel, those that differ from its defaults.
    engine: "fast" (compiled) or "reference" (SimPy).
    watch: called with (stage, done, total where it is known) as things go on.
    timeline: whether `.result.timeline` is kept, what each warp did when.

    Gives the result, the counts, the predictions by model, whether latency is hidden, and a verdict in words.

    Raises the errors of the steps: KernelError, CompilerError, RecordingError, TraceError, WorkloadError, MachineError
    and EngineError.
    """
    opened = opened_machine(machine)
    if isinstance(source, Trace):
        if parameters:
            raise KernelError(f"parameters ({', '.join(parameters)}) can only be given to a kernel, and not to a trace")
        return runs.run_trace(source, opened, engine, watch, timeline)
    if isinstance(source, Kernel):
        source = source.folder
    if source is not None and not isinstance(source, (str, Path)):
        raise KernelError(
            f"source = {shown(source)}: must be a kernel's name or folder, a Kernel, a Trace, or a path to a trace "
            "(.parquet) or to a workload (.json)"
        )
    return runs.run(source, opened, parameters, engine, watch, timeline)
