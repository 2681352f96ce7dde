"""`simtmm record`."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.checks import Checking, CheckOptions
from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.errors import RecordingError
from simtmm.files import is_file
from simtmm.requests.completion import complete_recorded
from simtmm.requests.files import checked_trace, printing
from simtmm.requests.machine import chosen_machine, machine_option
from simtmm.requests.program import ProgramOptions
from simtmm.requests.values import parameters_of

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simtmm.trace.io import Trace

RACES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class RecordedProgramOptions(ProgramOptions):
    """A program that can be recorded; there is none if left out."""

    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE",
            help="a kernel, a CUDA file (.cu), a Python script (.py) or launches (.toml)",
            autocompletion=complete_recorded,
        ),
    ] = field()


@dataclass(frozen=True, kw_only=True)
class RecorderOptions:
    """Where and how a kernel is recorded."""

    on: Annotated[
        str,
        typer.Option(
            "--on", metavar="PLACE", help="where to record: cpu or gpu", autocompletion=lambda: ["cpu", "gpu"]
        ),
    ] = "cpu"
    races: Annotated[bool, typer.Option("--races", help=f"also look for races, and list the first {RACES_SHOWN}")] = (
        False
    )
    most_events: Annotated[
        int | None,
        typer.Option(
            "--most-events",
            metavar="N",
            min=1,
            help="the largest number of events; more are an error; default: no limit",
        ),
    ] = None
    device_memory: Annotated[
        int | None, typer.Option("--device-memory", metavar="BYTES", min=1, help="GPU memory that a recording may use")
    ] = None


@grouped
def record(
    program: RecordedProgramOptions,
    recorder: RecorderOptions,
    environment: EnvironmentOptions,
    checks: CheckOptions,
    machine: Annotated[
        str | None, machine_option("compile for this machine's architecture; default: a current one")
    ] = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None,
        output_option("the trace there (.parquet); default: KERNEL.parquet", callback=checked_trace),
    ] = None,
) -> None:
    """Run a program, check its answer, and write its trace.

    A trace holds what each thread did, whatever the machine. A program is a kernel, a CUDA file or program, a Python
    script, or launches.
    """
    from simtmm.report.command_time import timed

    with checks.begun() as checking, timed("record", program, recorder, machine):
        if checking.is_on and recorder.on != "cpu":
            raise RecordingError(f"--check {checks.check}: runs only on the CPU (--on cpu)")
        if program.is_own:
            _record_own(program, recorder, machine, as_json, output, checking)
        else:
            _record_kernel(checking.applied(program), recorder, machine, as_json, output, checking)
        checking.end()


def _record_kernel(
    program: ProgramOptions,
    recorder: RecorderOptions,
    machine: str | None,
    as_json: bool,
    output: Path | None,
    checking: Checking,
) -> None:
    """Run a kernel and write its trace."""
    kernel = program.not_own(samples=True)
    from simtmm.program import architecture_for
    from simtmm.recorder import record as record_kernel
    from simtmm.recorder.sources import opened_kernel
    from simtmm.report.progress import watching

    assert kernel is not None
    loaded = opened_kernel(kernel) if isinstance(kernel, str) else kernel
    architecture = architecture_for(loaded, chosen_machine(machine), program.form)[0] if machine else None
    path = output or Path(f"{loaded.name}.parquet")
    replaced = is_file(path)
    with watching(), printing(as_json):
        trace = record_kernel(
            loaded,
            parameters_of(program.parameters),
            recorder.on,
            output=path,
            races=recorder.races,
            most_events=recorder.most_events,
            sample_blocks=program.sample_blocks,
            device_memory=recorder.device_memory,
            form=program.form,
            architecture=architecture,
        )
    document = {**trace.info.to_dict(), "path": str(path)}
    races: list[str] = []
    if trace.races is not None:
        document["races"] = trace.races.to_dict(RACES_SHOWN)
        races = trace.races.lines(RACES_SHOWN)
    report: list[RenderableType] = [_line(path, trace, replaced), *races, *checking.parts()]
    show(report, document | checking.to_dict(), as_json, None)


def _record_own(
    program: ProgramOptions,
    recorder: RecorderOptions,
    machine: str | None,
    as_json: bool,
    output: Path | None,
    checking: Checking,
) -> None:
    """Run a user's own program and write the trace of what it launches."""
    if recorder.on != "cpu":
        raise RecordingError(f"--on {recorder.on}: launches of a program are recorded on the CPU only")
    path = output or Path(f"{Path(str(program.source)).stem}.parquet")
    replaced = is_file(path)
    own = program.run_own(
        chosen_machine(machine) if machine else None,
        as_json=as_json,
        output=path,
        most_events=recorder.most_events,
        foreign={"--races": recorder.races, "--device-memory": recorder.device_memory},
    )
    trace = own.program.trace
    assert trace is not None
    document = {**trace.info.to_dict(), "path": str(path), "script": own.to_dict()}
    report: list[RenderableType] = [*own.lines(), _line(path, trace, replaced), *checking.parts()]
    show(report, document | checking.to_dict(), as_json, None)
    own.end()


def _line(path: Path, trace: "Trace", replaced: bool) -> str:
    """Where a trace is, and what it holds. replaced: whether another was there."""
    info = trace.info
    launches = f"{len(info.launches):,} launch{'es' * (len(info.launches) != 1)}"
    line = f"{path}: {info.kernel}, {launches}, {info.events:,} events, digest {info.digest}"
    if info.sampling is not None:
        left_out, blocks = sum(info.sampling.left_out), sum(launch.blocks for launch in info.launches)
        line += f"; {left_out:,} of {blocks:,} blocks left out"
    if replaced:
        line += "; it replaces the existing file"
    return line
