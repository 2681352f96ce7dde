"""`simtmm run`."""

from pathlib import Path
from typing import Annotated

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
from simtmm.files import check_writable


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
        typer.Option(metavar="FILE", help="write what each warp did when, for Perfetto or chrome://tracing"),
    ] = None,
    timeline_events: Annotated[int, typer.Option(min=1, help="beyond so many events, a sample")] = 1_000_000,
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
        written = write_timeline(timeline, done.result, chosen, about, timeline_events)
        parts += ["", f"Timeline: {written}"]
        document["timeline"] = written.to_dict()
    show(parts, document, as_json, output)
