"""Record a kernel on the CPU: its instrumented C++ build is run block by block, in a process of its own."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from simtmm.errors import RecordingError, shown
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel, Launch
from simtmm.provenance import provenance
from simtmm.recorder.compiler import build, find_compiler
from simtmm.recorder.limits import MOST_LAUNCHES, NO_LIMIT, most_events
from simtmm.recorder.memory import GlobalMemory, trace_launch
from simtmm.recorder.runner import Room, Runner
from simtmm.recorder.unmarked import Unmarked
from simtmm.recorder.wrong import who_wrote
from simtmm.trace.io import Trace, TraceRecorder
from simtmm.trace.races import RaceFinder
from simtmm.trace.schema import Batch, TraceLaunch, sampled_blocks

SILENT = 0x8000  # in a site: the store changed nothing (simtmm/recorder/device_cpu.cuh)


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    races: bool = False,
    most: int | None = None,
    sample_blocks: int | None = None,
) -> Trace:
    """Record a kernel; see simtmm.recorder.record."""
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    program = build(kernel, kernel.defines(parameters), races)
    before = kernel.inputs(parameters)
    memory = GlobalMemory(before, shared=True)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path)
        stack.callback(recorder.abandon)
        runner = stack.enter_context(Runner(kernel, program, memory))
        room = Room(limit, recorder, in_memory=output is None)
        finder = RaceFinder(runner.sites, memory.table()) if races else None
        unmarked = Unmarked(memory.arrays, before)
        launches: list[TraceLaunch] = []
        for launch in kernel.launches(parameters, memory.arrays):
            if len(launches) == MOST_LAUNCHES:
                raise RecordingError(
                    f"kernel {kernel.name}: launch {MOST_LAUNCHES} of {shown(launch.kernel)}: {recorder.events:,} "
                    "events so far, and a trace holds no more launches: does host.py launch for ever?"
                )
            launches.append(trace_launch(launch))
            chosen = sampled_blocks(launch.blocks, sample_blocks) if sample_blocks else None
            unmarked.begin(runner.writable(launch), recorder.events)
            for batch in runner.run(launch, len(launches) - 1, room):
                if finder:
                    silent = batch.events["site"] >= SILENT
                    batch.events["site"] &= SILENT - 1
                    finder.add(batch, launches, silent)
                recorder.add(batch if chosen is None else batch.of_blocks(chosen))
                if progress:
                    progress(recorder.events)
            unmarked.end(launch.kernel, len(launches) - 1, runner.has_accessed, runner.has_stored)
        wrong = kernel.check(parameters, before, memory.arrays)
        warnings = [*unmarked.warnings(), *runner.warnings]
        if wrong:
            for name, array in before.items():
                memory.arrays[name][...] = array
            anew = Room(NO_LIMIT, TraceRecorder(), in_memory=False)

            def again(launch: Launch, number: int) -> Iterator[Batch]:
                for batch in runner.run(launch, number, anew):
                    batch.events["site"] &= SILENT - 1
                    yield batch

            launched = kernel.launches(parameters, memory.arrays)
            writer = who_wrote(wrong.address, kernel, runner.sites, memory, launched, again)
            reasons = _likely_reason(finder) + "".join(f"; {warning}" for warning in warnings)
            raise RecordingError(f"kernel {kernel.name}: wrong answer: {wrong}{writer}{reasons}")
        trace = recorder.finish(
            kernel.name,
            dict(parameters),
            launches,
            memory.table(),
            runner.sites,
            _provenance(runner, warnings),
            sample_blocks,
        )
    if output:
        trace = Trace(trace.info, Path(output))
    trace.races = finder.found() if finder else None
    return trace


def _likely_reason(finder: RaceFinder | None) -> str:
    """The race that a wrong answer may come of, where races were looked for."""
    harmful = finder.found().harmful if finder else ()
    return f"; it races, as {harmful[0].line()}" if harmful else ""


def _provenance(runner: Runner, warnings: list[str]) -> dict[str, Any]:
    return {
        **provenance(),
        "recorder": "cpu",
        "source": runner.source_digest,
        "compiler": " ".join(find_compiler()),
        **({"warnings": warnings} if warnings else {}),
    }
