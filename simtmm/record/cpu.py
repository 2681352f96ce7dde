"""Record a kernel on the CPU: its instrumented C++ build is run block by block."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from simtmm.errors import RecordingError, shown
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel, Launch
from simtmm.provenance import provenance
from simtmm.record.compiler import build, find_compiler
from simtmm.record.library import Library, Room
from simtmm.record.limits import MOST_LAUNCHES, NO_LIMIT, most_events
from simtmm.record.memory import GlobalMemory, trace_launch
from simtmm.record.wrong import who_wrote
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.races import RaceFinder
from simtmm.trace.schema import Batch, TraceLaunch, sampled_blocks

SILENT = 0x8000  # in a site: the store changed nothing (simtmm/record/device_cpu.cuh)
_LIBRARY_IN_USE = threading.Lock()  # a library has static state


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    races: bool = False,
    most: int | None = None,
    sample_blocks: int | None = None,
) -> Trace:
    """Record a kernel; see simtmm.record.record."""
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    library = Library(kernel, build(kernel, kernel.defines(parameters), races))
    memory = GlobalMemory(kernel.inputs(parameters))
    before = {name: array.copy() for name, array in memory.arrays.items()}
    with contextlib.ExitStack() as stack:
        stack.enter_context(_LIBRARY_IN_USE)
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path)
        stack.callback(recorder.abandon)
        stack.callback(library.release)
        room = Room(limit, recorder, in_memory=output is None)
        finder = RaceFinder(library.sites, memory.table()) if races else None
        launches: list[TraceLaunch] = []
        for launch in kernel.launches(parameters, memory.arrays):
            if len(launches) == MOST_LAUNCHES:
                raise RecordingError(
                    f"kernel {kernel.name}: launch {MOST_LAUNCHES} of {shown(launch.kernel)}: {recorder.events:,} "
                    "events so far, and a trace holds no more launches: does host.py launch for ever?"
                )
            launches.append(trace_launch(launch))
            chosen = sampled_blocks(launch.blocks, sample_blocks)
            for batch in library.run(launch, len(launches) - 1, memory, room):
                if finder:
                    silent = batch.events["site"] >= SILENT
                    batch.events["site"] &= SILENT - 1
                    finder.add(batch, launches, silent)
                recorder.add(batch.of_blocks(chosen) if sample_blocks else batch)
                if progress:
                    progress(recorder.events)
        wrong = kernel.check(parameters, before, memory.arrays)
        if wrong:
            for name, array in before.items():
                memory.arrays[name][...] = array
            anew = Room(NO_LIMIT, TraceRecorder(), in_memory=False)

            def again(launch: Launch, number: int) -> Iterator[Batch]:
                for batch in library.run(launch, number, memory, anew):
                    batch.events["site"] &= SILENT - 1
                    yield batch

            launched = kernel.launches(parameters, memory.arrays)
            writer = who_wrote(wrong.address, kernel, library.sites, memory, launched, again)
            raise RecordingError(f"kernel {kernel.name}: wrong answer: {wrong}{writer}{_likely_reason(finder)}")
        trace = recorder.finish(
            kernel.name, dict(parameters), launches, memory.table(), library.sites, _provenance(library), sample_blocks
        )
    if output:
        trace = Trace(trace.info, Path(output))
    trace.races = finder.found() if finder else None
    return trace


def _likely_reason(finder: RaceFinder | None) -> str:
    """The race that a wrong answer may come of, where races were looked for."""
    harmful = finder.found().harmful if finder else ()
    return f"; it races, as {harmful[0].line()}" if harmful else ""


def _provenance(library: Library) -> dict[str, Any]:
    return {
        **provenance(),
        "recorder": "cpu",
        "source": library.source_digest,
        "compiler": " ".join(find_compiler()),
    }
