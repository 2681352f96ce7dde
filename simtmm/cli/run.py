"""`simtmm run`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.words import (
    ArgumentOption,
    BlockOption,
    CompilerOption,
    FormOption,
    GridOption,
    JsonOption,
    KernelMemoryOption,
    KernelOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    NoMachineOption,
    OutputOption,
    ParamOption,
    SetOption,
    SharedOption,
    SourceArgument,
    WhatIfOption,
    chosen_machine,
    launched,
    machine_for,
    parameters_of,
    printing,
    show,
)
from simtmm.errors import OutputError
from simtmm.files import check_writable

if TYPE_CHECKING:
    from simtmm.machine import Machine
    from simtmm.report.trace_events import Choice


def run(
    source: SourceArgument = None,
    machine: NoMachineOption = None,
    set_: SetOption = None,
    param: ParamOption = None,
    grid: GridOption = None,
    block: BlockOption = None,
    arg: ArgumentOption = None,
    kernel: KernelOption = None,
    shared: SharedOption = 0,
    compile_: CompilerOption = None,
    form: FormOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    engine: Annotated[
        str, typer.Option(help="fast (compiled), reference (SimPy), or auto: whichever is done sooner")
    ] = "auto",
    timeline: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="write what each warp did when, for Perfetto or chrome://tracing; .json or .json.gz"
        ),
    ] = None,
    timeline_events: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="beyond so many events, a sample; what makes 50 MB if left out"),
    ] = None,
    timeline_groups: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="core groups of the timeline, as 0,1,5-7; all if left out")
    ] = None,
    timeline_from: Annotated[float | None, typer.Option(metavar="CYCLE", help="where the timeline begins")] = None,
    timeline_to: Annotated[float | None, typer.Option(metavar="CYCLE", help="where it ends")] = None,
    what_if: WhatIfOption = True,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Simulate a kernel, CUDA file, trace or workload on a machine, beside what the models predict."""
    for path in (output, timeline):
        if path is not None:
            check_writable(path)
    program = launched(source, grid, block, arg, kernel, shared, compile_)
    chosen = chosen_machine(machine_for(program, machine, form), set_)
    part = timeline_part(chosen, timeline, timeline_events, timeline_groups, timeline_from, timeline_to)
    from simtmm.analysis.run import run as run_study
    from simtmm.report.progress import watching
    from simtmm.report.run import describe

    with watching() as watch, printing(as_json):
        done = run_study(
            program, chosen, parameters_of(param), engine, watch, timeline is not None, form=form, what_if=what_if
        )
    parts, document = [*describe(done)], done.to_dict()
    if timeline is not None:
        from simtmm.report.trace_events import write_timeline

        about = {key: document[key] for key in ("program", "parameters", "provenance")}
        kernels = [launch.kernel for launch in done.info.launches] if done.info else []
        written = write_timeline(timeline, done.result, chosen, about, timeline_events, part, done.blocks, kernels)
        parts += ["", f"Timeline: {written}"]
        document["timeline"] = written.to_dict()
    show(parts, document, as_json, output)


def timeline_part(
    machine: "Machine",
    path: Path | None,
    events: int | None,
    groups: str | None,
    begin: float | None,
    end: float | None,
) -> "Choice":
    """What the options ask for of a timeline, checked as far as it can be before the run."""
    from simtmm.report.trace_events import Choice, groups_of

    given = {"--timeline-events": events, "--timeline-groups": groups, "--timeline-from": begin, "--timeline-to": end}
    for option, value in given.items():
        if value is not None and path is None:
            raise OutputError(f"{option} {value}: is for --timeline FILE, which is not given")
    part = Choice(None if groups is None else groups_of(groups), 0 if begin is None else begin, end)
    part.mask(machine)
    return part
