"""`simtmm tune`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.completion import complete_kernel
from simtmm.cli.environment import EnvironmentOptions
from simtmm.cli.grouped import grouped
from simtmm.cli.kernel_file import FormOption, ParamOption
from simtmm.cli.machine import MachineOptions
from simtmm.cli.output import DocumentOptions, checked, printing
from simtmm.cli.study_options import KeptOption, WorkersOption, model_option, resumable
from simtmm.cli.values import parameters_of, ranges_of


@grouped
def tune(
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL",
            help="a kernel's name or folder, launches (.toml), or a problem of Kernel Tuner's (T1, .json)",
            autocompletion=complete_kernel,
        ),
    ],
    environment: EnvironmentOptions,
    machine: MachineOptions,
    result: DocumentOptions,
    over: Annotated[
        list[str] | None,
        typer.Option("--over", metavar="NAME=VALUES", help="a parameter to choose, as block=32,64 or 1:8; repeatable"),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="EXPR", help="what configurations must meet, as 'x * y <= 1024'; repeatable"),
    ] = None,
    param: ParamOption = None,
    form: FormOption = None,
    error: Annotated[
        str, typer.Option("--error", metavar="PART", help="how far off the best ones' times are at most")
    ] = "3%",
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="configurations that are listed")] = 10,
    model: Annotated[list[str] | None, model_option("a model that chooses as well (see `predict`); repeatable")] = None,
    store: KeptOption = None,
    workers: WorkersOption = None,
    t4: Annotated[
        Path | None,
        typer.Option("--t4", metavar="FILE", help="write the results there as Kernel Tuner's T4", callback=checked),
    ] = None,
) -> None:
    """Find a kernel's fastest configuration by simulation.

    Of launch shapes, constants and variants: samples of growing precision. Every result is kept; the same command goes
    on where it was stopped.
    """
    from simtmm.analysis.tuning.search import tune as run_tune
    from simtmm.analysis.tuning.t1 import is_problem
    from simtmm.cli.sampling import part_of
    from simtmm.report.progress import watching
    from simtmm.report.tune import describe_tuned

    with resumable(store, "the user's cache folder"), watching() as watch, printing(result.as_json):
        tuned = run_tune(
            kernel,
            machine.chosen_for(kernel, "compiled" if is_problem(kernel) else form),
            ranges_of(over, "--over"),
            parameters_of(param),
            where or (),
            part_of(error),
            model or (),
            form,
            store,
            workers,
            watch,
        )
    if t4 is not None:
        from simtmm.analysis.tuning.t4 import write_results

        write_results(tuned, t4)
    result.show(describe_tuned(tuned, top), tuned.to_dict())
