"""`simtmm run`."""

from typing import Annotated

import typer

from simtmm.cli.words import (
    JsonOption,
    MachineOption,
    OutputOption,
    ParamOption,
    SetOption,
    chosen_machine,
    parameters_of,
    show,
)
from simtmm.files import check_writable


def run(
    source: Annotated[
        str | None,
        typer.Argument(help="a kernel, a trace (.parquet) or a workload (.json); the shipped trace if left out"),
    ] = None,
    machine: MachineOption = "gtx280",
    set_: SetOption = None,
    param: ParamOption = None,
    engine: Annotated[str, typer.Option(help="fast (compiled) or reference (SimPy)")] = "fast",
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Simulate a kernel, trace or workload on a machine, beside what the models predict."""
    if output is not None:
        check_writable(output)
    chosen = chosen_machine(machine, set_)
    from simtmm.report.progress import watching
    from simtmm.report.run import describe
    from simtmm.study.run import run as run_study

    with watching() as watch:
        done = run_study(source, chosen, parameters_of(param), engine, watch)
    show(describe(done), done.to_dict(), as_json, output)
