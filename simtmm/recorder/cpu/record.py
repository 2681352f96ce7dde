"""Record a kernel on the CPU: its instrumented C++ build is run block by block, in a process of its own."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.computer import NO_LIMIT
from simtmm.files import check_writable, written_whole
from simtmm.kernel import Kernel, Launch, Wrong
from simtmm.provenance import provenance
from simtmm.recorder.compiler import build, find_compiler
from simtmm.recorder.cpu.last_writer import who_wrote
from simtmm.recorder.cpu.launches import CpuLaunches, Room
from simtmm.recorder.global_memory import GlobalMemory
from simtmm.recorder.launches import ProgramRun
from simtmm.recorder.limits import most_bytes, most_events
from simtmm.trace.io import Trace
from simtmm.trace.recording import TraceRecorder
from simtmm.trace.sampled_blocks import sampled_blocks
from simtmm.trace.schema import Batch

if TYPE_CHECKING:
    from simtmm.trace.races import RaceFinder

SILENT = 1 << 31  # in a site: the store changed nothing (simtmm/recorder/device_cpu.cuh)


def record(
    kernel: Kernel,
    parameters: dict[str, int | float | str],
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
    races: bool = False,
    most: int | None = None,
    sample_blocks: int | None = None,
    doubts: Sequence[str] = (),
) -> Trace:
    """Record a kernel; see simtmm.recorder.record. doubts: what is known to be missing in the trace, in words."""
    limit = most_events(most, in_memory=output is None)
    if output:
        check_writable(output)
    program = build(kernel, kernel.defines(parameters), races)
    memory = GlobalMemory(kernel.inputs(parameters), shared=True)
    with contextlib.ExitStack() as stack:
        path = stack.enter_context(written_whole(output)) if output else None
        recorder = TraceRecorder(path, most_bytes())
        stack.callback(recorder.abandon)
        room = Room(limit, output is None, recorder)
        execution = stack.enter_context(
            CpuLaunches(kernel, program, memory, room, straight=not (races or sample_blocks))
        )
        run = ProgramRun(kernel, parameters, memory.arrays, execution, before=memory.before)
        finder = _finder(execution, memory) if races else None
        for batch in run.batches():
            if finder:
                silent = batch.events["site"] >= SILENT
                batch.events["site"] &= SILENT - 1
                finder.add(batch, run.launches, silent)
            if sample_blocks:
                batch = batch.of_blocks(sampled_blocks(run.launches[-1].blocks, sample_blocks))
            recorder.add(batch, run.launches)
            if progress:
                progress(recorder.events)
        warnings = [*doubts, *run.warnings(), *execution.warnings]
        run.check(
            lambda wrong: (
                _last_writer(wrong, run, execution)
                + _likely_reason(finder)
                + "".join(f"; {warning}" for warning in warnings)
                + _in_other_orders(kernel, parameters, run)
            )
        )
        trace = recorder.finish(
            kernel.name,
            run.parameters,
            run.launches,
            memory.table(),
            execution.sites,
            _provenance(execution, warnings) | kernel.origin,
            sample_blocks,
        )
    if output:
        trace = Trace(trace.info, Path(output))
    trace.races = finder.found() if finder else None
    return trace


def _in_other_orders(kernel: Kernel, parameters: dict[str, Any], run: ProgramRun) -> str:
    from simtmm.recorder.compiled.other_orders import told  # late: most answers are right

    return told(kernel, parameters, run.before)


def _finder(execution: CpuLaunches, memory: GlobalMemory) -> "RaceFinder":
    from simtmm.trace.races import RaceFinder  # late: it brings Numba along

    return RaceFinder(execution.sites, memory.table())


def _last_writer(wrong: Wrong, run: ProgramRun, execution: CpuLaunches) -> str:
    """Who wrote the wrong element last, found by running the program again."""
    memory, execution.room = execution.memory, Room(NO_LIMIT, in_memory=False)
    execution.straight = False  # the batches are written to, and looked into
    for name, array in run.before.items():
        memory.arrays[name][...] = array

    def again(launch: Launch, number: int) -> Iterator[Batch]:
        for batch in execution.run(launch, number):
            batch.events["site"] &= SILENT - 1
            yield batch

    launched = run.kernel.launches(run.parameters, memory.arrays)
    return who_wrote(wrong.address, run.kernel, execution.sites, memory, launched, again)


def _likely_reason(finder: "RaceFinder | None") -> str:
    """The race that a wrong answer may come of, where races were looked for."""
    harmful = finder.found().harmful if finder else ()
    return f"; it has a race: {harmful[0].line()}" if harmful else ""


def _provenance(execution: CpuLaunches, warnings: list[str]) -> dict[str, Any]:
    return {
        **provenance(),
        "recorder": "cpu",
        "source": execution.source_digest,
        "compiler": " ".join(find_compiler()),
        **({"warnings": warnings} if warnings else {}),
    }
