"""`simtmm explain`."""

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
from simtmm.errors import OutputError, nearest, shown
from simtmm.files import check_writable, written_whole

PAGE, TABLE = ".html", ".csv"
LONG = 2_000_000  # operations: a page of more is without what happens over time, which takes 50 bytes for each


def explain(
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
    by: Annotated[str, typer.Option(metavar="WHAT", help="line, array, launch or reason")] = "line",
    top: Annotated[int | None, typer.Option(min=1, help="the so many hottest lines alone")] = None,
    instructions: Annotated[bool, typer.Option(help="what the compiler made of each line below it")] = False,
    what_if: WhatIfOption = True,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", help="a page (.html), the rows (.csv), or else the JSON document, there"
        ),
    ] = None,
) -> None:
    """Say what a program's time on a machine goes to: its source, line by line, with reasons."""
    from simtmm.report.explain import BY, document, explained
    from simtmm.report.text import csv_of

    if by not in BY:
        raise OutputError(f"--by {shown(by)}: must be one of {', '.join(BY)}{nearest(by, BY)}")
    if output is not None:
        check_writable(output)
    is_page = output is not None and output.suffix == PAGE
    program = launched(source, grid, block, arg, kernel, shared, compile_)
    chosen = chosen_machine(machine_for(program, machine, form), set_)
    from simtmm.analysis.run import run as run_study
    from simtmm.report.progress import watching

    with watching() as watch, printing(as_json):
        done = run_study(
            program,
            chosen,
            parameters_of(param),
            "auto",
            watch,
            timeline=is_page,
            form=form,
            what_if=what_if,
            timeline_limit=LONG,
        )
    rows = document(done, by)
    if output is not None and is_page:
        from simtmm.report.explain_page import write_explanation

        write_explanation(output, done)
        output = None
    elif output is not None and output.suffix == TABLE:
        with written_whole(output) as temporary:
            temporary.write_text(csv_of(rows), encoding="utf-8")
        output = None
    show(explained(done, by, top, instructions), {**done.to_dict(), "by": by, "rows": rows}, as_json, output)
