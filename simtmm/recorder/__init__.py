"""Recording: run a kernel and write down what its threads do."""

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.errors import KernelError, RecordingError, nearest, shown
from simtmm.files import is_same_file
from simtmm.kernel import Kernel
from simtmm.recorder.sources import opened_kernel

if TYPE_CHECKING:
    from simtmm.graph import Source as GraphSource
    from simtmm.trace.io import Trace

logger = logging.getLogger("simtmm")

RECORDERS = ("cpu", "gpu")
FORMS = ("written", "compiled", "ptx")


def record(  # noqa: C901, PLR0913 - each is an option of a recording, and a case for each form
    kernel: str | Path | Kernel,
    parameters: Mapping[str, object] | None = None,
    on: str = "cpu",
    *,
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    races: bool = False,
    most_events: int | None = None,
    sample_blocks: int | None = None,
    device_memory: int | None = None,
    form: str | None = None,
    architecture: int | None = None,
    graph: "GraphSource | None" = None,
) -> "Trace":
    """Run a kernel, check its answer, and give the trace of what its threads did.

    kernel: a name (kernels/NAME), a folder, a file of launches (.toml), or a loaded Kernel.
    parameters: the kernel's parameters that differ from its defaults, by name.
    on: "cpu", or "gpu" through CuPy, which runs the instrumented build of what is recorded as written and the
        instrumented PTX of what is recorded as compiled.
    output: stream the trace to this Parquet file, with bounded memory; it stays in memory if left out.
    progress: called with the number of events so far.
    races: look for races as well; the trace's `races` are what was found (simtmm.trace.races).
    most_events: more are an error; if left out, a recording held in memory has a limit (simtmm.recorder.limits), one
        written to a file none.
    sample_blocks: record at most so many blocks of each launch, spread evenly over its grid, though all run; what was
        left out stands in the trace's `info.sampling`.
    form: "written" records what the macros in the source mark, "compiled" the compiler's output: the machine's
        instructions, or those of PTX where they can't be had, as the trace's `info.schedules` say; "ptx" those of PTX
        in any case, and so does "compiled" on a GPU. If left out, "compiled" for a kernel without macros, unless
        `races` is set, and "written" for any other.
    architecture: compute capability that is compiled for, times ten (90 for sm_90); if left out one of today, or the
        GPU's own.
    device_memory: that a recording on a GPU may take beside the arrays [bytes]; most of what is free if left out.
    graph: for a kernel on graphs, a file or a networkx graph instead of the generated one (docs/graphs.md).

    On the CPU a kernel is ended where it makes no progress for too long or takes too much memory (the environment
    variables SIMTMM_KERNEL_TIMEOUT, in seconds, and SIMTMM_KERNEL_MEMORY, in bytes); one recorded as written runs in a
    process of its own.
    What the trace can't be believed in, such as a launch that records no access, is logged as a warning, and stands in
    its `info.warnings`.

    Raises KernelError, CompilerError, and RecordingError for an index out of bounds, a wrong answer, or a kernel whose
    process ends.
    """
    if on not in RECORDERS:
        raise RecordingError(f"recorder {on!r}: unknown{nearest(str(on), RECORDERS)}")
    if not isinstance(kernel, (str, Path, Kernel)):
        raise KernelError(
            f"kernel = {shown(kernel)}: must be a kernel's name or folder, a file of launches (.toml), or a Kernel "
            "(load_kernel)"
        )
    if parameters is not None and not isinstance(parameters, Mapping):
        raise KernelError(f"parameters = {shown(parameters)}: must be a dict of names and values")
    for name, value in (("sample_blocks", sample_blocks), ("device_memory", device_memory)):
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            raise RecordingError(f"{name} = {shown(value)}: must be a whole number of at least 1")
    loaded = kernel if isinstance(kernel, Kernel) else opened_kernel(kernel)
    if graph is not None:
        loaded = loaded.on_graph(graph)
    read = (*loaded.source_paths, *([] if isinstance(kernel, Kernel) else [kernel, Path(kernel) / "host.py"]))
    if output is not None and any(is_same_file(output, path) for path in read):
        raise RecordingError(f"output = {shown(str(output))}: is also the input and would be overwritten")
    if form is not None and form not in FORMS:
        raise RecordingError(f"form = {shown(form)}: must be one of {', '.join(FORMS)}")
    only_written = races and not loaded.sources
    chosen = form or ("written" if only_written else form_of(loaded))
    if chosen != "written":
        trace = _compiled(
            loaded, parameters, on, output, progress, races, most_events, sample_blocks, device_memory, architecture,
            chosen != "ptx",
        )  # fmt: skip
    elif loaded.sources:
        what = ", ".join(source.name for source in loaded.sources)
        raise RecordingError(f"kernel {loaded.name}: {what}: is recorded as compiled; form = 'written' needs a folder")
    elif architecture is not None:
        raise RecordingError(f"kernel {loaded.name}: architecture: is for kernels recorded as compiled")
    elif on == "gpu":
        if races:
            raise RecordingError("races are found only in recordings on the CPU (on = 'cpu')")
        from simtmm.recorder.gpu import record as gpu

        resolved = loaded.resolve(parameters or {})
        trace = gpu.record(loaded, resolved, output, progress, most_events, sample_blocks, device_memory)
    else:
        if device_memory is not None:
            raise RecordingError("device_memory: is for recordings on a GPU (on = 'gpu')")
        from simtmm.recorder.cpu import record as cpu
        from simtmm.recorder.unmarked import unmarked_warnings

        resolved = loaded.resolve(parameters or {})
        doubts = unmarked_warnings(loaded, resolved)
        trace = cpu.record(loaded, resolved, output, progress, races, most_events, sample_blocks, doubts)
    for doubt in trace.info.doubts:
        logger.warning("warning: kernel %s: %s", loaded.name, doubt)
    return trace


def form_of(kernel: Kernel) -> str:
    """How a kernel is recorded by default: as written if its source has macros that mark accesses."""
    from simtmm.recorder.sites import has_macros

    return "written" if not kernel.sources and has_macros(kernel) else "compiled"


def _compiled(  # noqa: PLR0913, PLR0917 - each is an option of a recording
    kernel: Kernel,
    parameters: Mapping[str, object] | None,
    on: str,
    output: str | Path | None,
    progress: Callable[[int], None] | None,
    races: bool,
    most_events: int | None,
    sample_blocks: int | None,
    device_memory: int | None,
    architecture: int | None,
    machine_code: bool,
) -> "Trace":
    if races:
        raise RecordingError(f"kernel {kernel.name}: races are found only in kernels recorded as written")
    resolved = kernel.resolve(parameters or {})
    if on == "gpu":
        from simtmm.recorder.gpu.record import record_compiled

        return record_compiled(
            kernel, resolved, output, progress, most_events, sample_blocks, device_memory, architecture
        )
    if device_memory is not None:
        raise RecordingError("device_memory: is for recordings on a GPU (on = 'gpu')")
    from simtmm.recorder.compiled import record as compiled

    return compiled.record(kernel, resolved, output, progress, most_events, sample_blocks, architecture, machine_code)
