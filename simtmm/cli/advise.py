"""`simtmm advise`."""

from typing import Annotated

import typer

from simtmm.cli.sweep import FAILED, ClusterOption, KeptOption, WorkersOption, interrupted
from simtmm.cli.words import (
    JsonOption,
    KernelMemoryOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachineOption,
    MachinePathOption,
    OutputOption,
    ParamOption,
    SetOption,
    changes_of,
    parameters_of,
    printing,
    ranges_of,
    show,
)
from simtmm.files import check_writable


def advise(
    kernel: Annotated[str, typer.Argument(help="a kernel's name or folder")],
    machine: MachineOption = "gtx280",
    set_: SetOption = None,
    param: ParamOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=RANGE", help="what to try (see `sweep`); threads, blocks, sub-blocks if left out"),
    ] = None,
    model: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="models to ask as well (see `predict`); repeatable")
    ] = None,
    store: KeptOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Find the best threads per block, blocks and sub-block size by simulation, beside what the models choose.

    Every finished configuration is kept; the same command goes on where it was stopped.
    """
    for path in (output, store):
        if path is not None:
            check_writable(path)
    from simtmm.analysis.tune import advise as run_advise
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.report.advise import describe_advice
    from simtmm.report.progress import watching

    try:
        with watching() as watch, printing(as_json):
            made = run_advise(
                kernel,
                machine,
                parameters_of(param),
                changes_of(set_),
                ranges_of(vary, "--vary"),
                model or (),
                store,
                workers,
                cluster,
                watch,
            )
    except Unfinished as part:
        if not as_json:
            show(describe_advice(part.made), None, False, None)
        raise interrupted(part, "configurations") from None
    show(describe_advice(made), made.to_dict(), as_json, output)
    if made.study.number("failed"):
        raise typer.Exit(FAILED)
