"""`simtmm.record`: the options of `simtmm record` as arguments."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simtmm.api.requested import request_of
from simtmm.api.run import Sizes
from simtmm.errors import RecordingError
from simtmm.requests.program import ProgramOptions

if TYPE_CHECKING:
    from simtmm.graph import Source as GraphSource
    from simtmm.kernel import Kernel
    from simtmm.machine import Machine
    from simtmm.trace.io import Trace


def record(  # noqa: PLR0913 - each is an option of the verb
    source: "str | Path | Kernel | None" = None,
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
    grid: Sizes = None,
    block: Sizes = None,
    args: Mapping[str, object] | None = None,
    kernel: "str | Path | Kernel | None" = None,
    shared: int = 0,
    compile: Sequence[str] = (),
    machine: "Machine | str | Path | None" = None,
    arguments: Sequence[object] = (),
    launch: int | str | None = None,
    skip: int = 0,
    count: int | None = None,
    record_elementwise: bool = False,
    build: str | Sequence[str] = (),
    clock: str = "virtual",
    host_time: bool | str | None = None,
    stop_after: int | str | None = None,
    warp: int | None = None,
    graph: "GraphSource | None" = None,
) -> "Trace":
    """Run a program, check its answer, and return a trace of its threads' work: `simtmm record` as a function.

    source: a kernel's name (kernels/NAME) or folder, launches (.toml), or a Kernel; a CUDA file (.cu): one of its
        kernels with `grid` and `block`, a program with a main without; or a Python script (.py).
    parameters: the kernel's parameters that differ from its defaults, by name.
    on: "cpu", or "gpu" through CuPy. The GPU runs an instrumented build of a kernel that is recorded as written, and
        instrumented PTX of one that is recorded as compiled.
    output: stream the trace to this Parquet file, with bounded memory; it stays in memory if left out.
    progress: called with the number of events so far; not for a program or script.
    races: whether to look for races; the trace's `races` has those found.
    most_events: the limit on events, above which recording fails; if left out, only a recording in memory has a limit.
    sample_blocks: the largest number of blocks to record of each launch, spread evenly over its grid. All blocks run;
        the trace's `info.sampling` says which were left out.
    device_memory: memory that a recording on a GPU may use besides the arrays [bytes]; most of the free memory if left
        out.
    form: "written" records what the macros in the source mark. "compiled" records the machine's instructions, or PTX's
        if those are unavailable; the trace's `info.schedules` says which. "ptx" always records PTX's. If left out,
        "compiled" for a kernel without macros, unless `races` is set, and otherwise "written".
    architecture: the compute capability to compile for, times ten (90 for sm_90); a current one or the GPU's own if
        left out.
    grid: blocks of the launch: 64, (64, 64) or "64x64".
    block: threads of a block, likewise.
    args: the kernel's arguments by name: numbers, NumPy arrays, which are copied, or texts such as
        "random:float32:1000" and "x.npy".
    kernel: the kernel's name if a file has several; for a program or script, which kernels to record.
    shared: dynamic shared memory of a block [bytes].
    compile: options for the compiler, such as "-DN=4".
    machine: the GPU that a program or script sees; an H100 if left out.
    arguments: command-line arguments of a program or script.
    launch: which of its launches to record: 3, or "0,4-7".
    skip: the number of its launches to skip first.
    count: the largest number of launches to record.
    record_elementwise: whether to record CuPy's own functions as kernels.
    build: nvcc's options for a program.
    clock: what a program reads from its clocks: "virtual" or "real" time.
    host_time: whether those clocks count the time of a program's own code; by default for programs, unless the
        environment sets CI.
    stop_after: when to end a program: after a number of launches, 100, or of seconds, "60s".
    warp: lanes of a warp in a HIP program's code: 32, or 64 on a machine with waves of 64.
    graph: for a kernel on graphs, a file or a networkx graph instead of the generated one (docs/graphs.md).

    On the CPU, a kernel is stopped if it makes no progress for too long or uses too much memory (the environment
    variables SIMTMM_KERNEL_TIMEOUT, in seconds, and SIMTMM_KERNEL_MEMORY, in bytes). Doubts about the trace, such as a
    launch that records no access, are logged as warnings and listed in its `info.warnings`.

    Raises KernelError, CompilerError, and RecordingError for an index out of bounds, a wrong answer, a kernel whose
    process ends, or a program that launches nothing.
    """
    from simtmm.recorder import record as record_kernel
    from simtmm.requests.machine import chosen_machine

    if source is None and kernel is not None:  # as the first argument was called before
        source, kernel = kernel, None
    request = request_of(ProgramOptions, {
        "source": source, "parameters": parameters, "grid": grid, "block": block, "args": args, "kernel": kernel,
        "shared": shared, "compile": compile, "form": form, "arguments": arguments, "launch": launch, "skip": skip,
        "count": count, "sample_blocks": sample_blocks, "record_elementwise": record_elementwise, "build": build,
        "clock": clock, "host_time": host_time, "stop_after": stop_after, "warp": warp,
        "graph": graph,
    })  # fmt: skip
    if not request.is_own:
        opened = request.not_own(samples=True)
        return record_kernel(
            opened,  # type: ignore[arg-type]  # which refuses what is no kernel
            parameters,
            on,
            output=output,
            progress=progress,
            races=races,
            most_events=most_events,
            sample_blocks=sample_blocks,
            device_memory=device_memory,
            form=form,
            architecture=architecture,
        )
    if on != "cpu":
        raise RecordingError(f"on = {on!r}: launches of a program are recorded on the CPU only")
    on_machine = None if machine is None else chosen_machine(machine)
    foreign: dict[str, object] = {"races": races, "device_memory": device_memory, "architecture": architecture}
    path = None if output is None else Path(output)
    try:
        own = request.run_own(on_machine, output=path, most_events=most_events, foreign=foreign)
    except typer.Exit as end:
        raise RecordingError(f"{source}: ended with exit status {end.exit_code}, and recorded no launch") from None
    trace = own.program.trace
    assert trace is not None
    return trace
