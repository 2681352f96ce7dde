"""recording() and recorded: the launches of a block or a function, of RawKernels and of frameworks alike."""

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from simtmm.errors import RecordingError
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.recorder.direct.recording import Recording, RecordingOptions
from simtmm.recorder.selection import Selection
from simtmm.scripts.framework import adapting
from simtmm.scripts.host_calls import ListedClock
from simtmm.simulated_clock import clock_on

Function = TypeVar("Function", bound=Callable[..., Any])


def recording(  # noqa: PLR0913 - each is an option of the recording
    machine: Machine | str | Path | None = None,
    *,
    architecture: int | None = None,
    output: str | Path | None = None,
    most_events: int | None = None,
    sample_blocks: int | None = None,
    name: str = "program",
    kernel: str | None = None,
    launch: str | int | None = None,
    skip: int = 0,
    count: int | None = None,
) -> Recording:
    """Record the kernels launched in a with block: `with simtmm.recording() as recording:`.

    When the block ends, all its launches are one trace, `recording.trace`: those of `simtmm.RawKernel`,
    `simtmm.RawModule`, CuPy, Numba CUDA and Triton (see docs/scripts.md). `recording.launches` counts them. If an
    exception leaves the block, there is no trace and no file. Only one recording can be in progress at a time; it
    covers the launches of all threads.

    machine: the machine whose architecture kernels are compiled for and whose times events have: a Machine, a machine's
        name, or a path to its file (.toml).
    architecture: the compute capability times ten (90 for sm_90), instead of a machine; a current one if both are left
        out.
    output: stream the trace to this Parquet file, with bounded memory; it stays in memory if left out.
    most_events: the limit on events, above which recording fails; if left out, only a recording in memory has a limit
        (simtmm.recorder.limits).
    sample_blocks: the largest number of blocks to record of each launch, spread evenly over its grid; all blocks run.
    name: the program's name in the trace.
    kernel: record only launches of this kernel: its name, a pattern such as "gemm_*", or "regex:" and an expression.
    launch: record only the launches with these numbers, counted from 0: 3 or "0,4-7".
    skip: the number of those launches to skip first.
    count: the largest number of launches to record.

    Other launches also run, as fast as without a recording.

    Raises RecordingError, MachineError, OutputError, and CompilerError if there is no compiler.
    """
    found = None if machine is None else opened_machine(machine)
    options = RecordingOptions(found, architecture, output, most_events, sample_blocks, name)
    selection = Selection(kernel, launch, skip, count)
    return Recording(options, selection, None if found is None else clock_on(found, ListedClock), adapting)


def recorded(function: Function | None = None, **options: Any) -> Any:
    """Record the launches of each call of a function: `@simtmm.recorded`, or `@simtmm.recorded(machine="h100-sxm")`.

    The function returns its own result; `function.recording` is the recording of its last call, None before the first.

    function: the function to record.
    options: those of `recording`; the trace has the function's name if none is given.

    Calls of the function raise the errors of `recording`.
    """
    if function is None:
        return functools.partial(recorded, **options)
    if not callable(function):
        raise RecordingError("recorded: must decorate a function; name its options, as in recorded(machine=...)")
    name = getattr(function, "__name__", "program")

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        with recording(**{"name": name, **options}) as under_way:
            result = function(*arguments, **keywords)
        wrapper.recording = under_way  # type: ignore[attr-defined]
        return result

    wrapper.recording = None  # type: ignore[attr-defined]
    return wrapper
