"""`simtmm.record`: the words of `simtmm record` as arguments."""

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


def record(
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
    graph: "GraphSource | None" = None,
) -> "Trace":
    """Run a program, check its answer, and give the trace of what its threads did: `simtmm record` as a function.

    source: a kernel's name (kernels/NAME) or folder, launches (.toml), or a Kernel; a CUDA file (.cu), with `grid` and
        `block` one of its kernels, without them a program with a main; or a Python script (.py).
    parameters: those that differ from the kernel's defaults, by name.
    on: "cpu", or "gpu" through CuPy, which runs the instrumented build of what is recorded as written and the
        instrumented PTX of what is recorded as compiled.
    output: stream the trace to this Parquet file, so that memory stays bounded; else it is held in memory.
    progress: called with the number of events so far; not of a program or script.
    races: look for races as well; the trace's `races` are what was found.
    most_events: more are an error; if left out, a recording held in memory has a limit, one written to a file none.
    sample_blocks: record at most so many blocks of each launch, spread evenly over its grid, though all run; what was
        left out stands in the trace's `info.sampling`.
    device_memory: that a recording on a GPU may take beside the arrays [bytes]; most of what is free if left out.
    form: "written" records what the macros in the source mark, "compiled" the machine's instructions, or those of PTX
        where they can't be had, as the trace's `info.schedules` say; "ptx" those of PTX in any case. If left out,
        "compiled" for a kernel without macros, unless races are looked for, and "written" for any other.
    architecture: compute capability that is compiled for, times ten (90 for sm_90); if left out one of today, or the
        GPU's own.
    grid: blocks of the launch: 64, (64, 64) or "64x64".
    block: threads of a block, likewise.
    args: the kernel's arguments by name: numbers, NumPy arrays, which are copied, or texts such as
        "random:float32:1000" and "x.npy".
    kernel: the kernel's name where a file has several; of a program or script, which kernels are recorded.
    shared: dynamic shared memory of a block [bytes].
    compile: options for the compiler, such as "-DN=4".
    machine: that a program or script finds; an H100 if left out.
    arguments: of a program or script.
    launch: which launches of it are recorded: 3, or "0,4-7".
    skip: so many of its launches are left out first.
    count: so many of them are recorded at most.
    record_elementwise: whether CuPy's own functions are recorded as kernels.
    build: options of nvcc for a program.
    clock: "virtual" or "real", what a program reads from its clocks.
    host_time: whether the time of a program's own code counts on them.
    stop_after: launches, 100, or seconds, "60s", after which a program is ended.
    graph: for a kernel on graphs, a file or a graph of networkx in place of the one that it draws (docs/graphs.md).

    On the CPU a kernel is ended where it makes no progress for too long or takes too much memory (the environment
    variables SIMTMM_KERNEL_TIMEOUT, in seconds, and SIMTMM_KERNEL_MEMORY, in bytes). What the trace can't be believed
    in, such as a launch that records no access, is logged as a warning, and stands in its `info.warnings`.

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
        "clock": clock, "host_time": host_time, "stop_after": stop_after, "graph": graph,
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
        raise RecordingError(f"on = {on!r}: launches of a program are recorded on the CPU alone")
    on_machine = None if machine is None else chosen_machine(machine)
    foreign: dict[str, object] = {"races": races, "device_memory": device_memory, "architecture": architecture}
    path = None if output is None else Path(output)
    try:
        own = request.run_own(on_machine, output=path, most_events=most_events, foreign=foreign)
    except typer.Exit as end:
        raise RecordingError(
            f"{source}: ended with exit status {end.exit_code}, and left no launch to record"
        ) from None
    trace = own.program.trace
    assert trace is not None
    return trace
