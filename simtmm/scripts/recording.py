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
from simtmm.simulated_clock import clock_on

Function = TypeVar("Function", bound=Callable[..., Any])


def recording(
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
    """Record the kernels that are launched in a block: `with simtmm.recording() as recording:`.

    All launches in it become one trace, `recording.trace`, once it has ended: of `simtmm.RawKernel` and
    `simtmm.RawModule`, and of CuPy, Numba CUDA and Triton (see docs/scripts.md). `recording.launches` counts them. An
    exception that leaves the block leaves no trace and no file. One recording is under way at a time, of the launches
    of all threads.

    machine: whose architecture kernels are compiled for, and on which events take their time: a Machine, a machine's
        name, or a path to its file (.toml).
    architecture: compute capability times ten (90 for sm_90), in place of a machine; one of today if both are left out.
    output: stream the trace to this Parquet file, so that memory stays bounded; else it is held in memory.
    most_events: more are an error; if left out, a recording held in memory has a limit (simtmm.recorder.limits), one
        written to a file none.
    sample_blocks: record at most so many blocks of each launch, spread evenly over its grid, though all run.
    name: what the trace calls the program.
    kernel: record launches of this kernel alone: its name, a pattern as "gemm_*", or "regex:" and an expression.
    launch: only those of these numbers, counted from 0, as 3 or "0,4-7".
    skip: leave so many of those out first.
    count: record so many at most.

    Launches that are not chosen run all the same, as fast as without a recording.

    Raises RecordingError, MachineError, OutputError, and CompilerError where there is no compiler.
    """
    found = None if machine is None else opened_machine(machine)
    options = RecordingOptions(found, architecture, output, most_events, sample_blocks, name)
    selection = Selection(kernel, launch, skip, count)
    return Recording(options, selection, None if found is None else clock_on(found), adapting)


def recorded(function: Function | None = None, **options: Any) -> Any:
    """Record the launches of each call of a function: `@simtmm.recorded`, or `@simtmm.recorded(machine="h100-sxm")`.

    The function gives what it gave; `function.recording` is the recording of its last call, and None before the first.

    function: whose launches they are.
    options: those of `recording`; the trace is called after the function where no name is given.

    Raises what `recording` raises, when the function is called.
    """
    if function is None:
        return functools.partial(recorded, **options)
    if not callable(function):
        raise RecordingError("recorded: must be put on a function; its options are named, as recorded(machine=...)")
    name = getattr(function, "__name__", "program")

    @functools.wraps(function)
    def wrapper(*arguments: Any, **keywords: Any) -> Any:
        with recording(**{"name": name, **options}) as under_way:
            result = function(*arguments, **keywords)
        wrapper.recording = under_way  # type: ignore[attr-defined]
        return result

    wrapper.recording = None  # type: ignore[attr-defined]
    return wrapper
