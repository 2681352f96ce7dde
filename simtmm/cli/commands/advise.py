"""`simtmm tune` of a launch's shape alone, which was `simtmm advise`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.requests.completion import complete_axis, complete_kernel
from simtmm.requests.files import printing
from simtmm.requests.kernel_file import ParamOption
from simtmm.requests.machine import DEFAULT_MACHINE, SetOption, chosen_machine, machine_option
from simtmm.requests.study_options import FAILED, ClusterOption, KeptOption, WorkersOption, interrupted, model_option
from simtmm.requests.values import parameters_of, ranges_of

if TYPE_CHECKING:
    from simtmm.machine import Machine


@grouped
def advise(
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL", help="a kernel's name or folder, or launches (.toml)", autocompletion=complete_kernel
        ),
    ],
    environment: EnvironmentOptions,
    result: DocumentOptions,
    machine: Annotated[str, machine_option("a machine (see `machines`)")] = DEFAULT_MACHINE,
    set_: SetOption = None,
    param: ParamOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="NAME=RANGE",
            help="what to try (see `sweep`); default: threads, blocks, sub-blocks",
            autocompletion=complete_axis,
        ),
    ] = None,
    error: Annotated[
        str, typer.Option("--error", metavar="PART", help="the largest error of the best configurations' times")
    ] = "3%",
    model: Annotated[
        list[str] | None, model_option("a model that also chooses (see `run --models-only`); repeatable")
    ] = None,
    store: KeptOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
) -> None:
    """Find a kernel's best threads per block and blocks.

    By simulation, of sub-block sizes as well, beside what the models choose: `tune` with launch shapes alone. Every
    finished configuration is kept; the same command goes on where it was stopped. Exit status 1: some failed.
    """
    choose_shape(
        kernel, chosen_machine(machine, set_), ranges_of(vary, "--vary"), parameters_of(param), error, model or (),
        store, workers, cluster, result,
    )  # fmt: skip


def takes_shapes(kernel: str) -> bool:
    """Whether that is a kernel, of which threads and blocks can be chosen; not a problem of Kernel Tuner's."""
    from simtmm.analysis.tuning.t1 import is_problem

    return not is_problem(kernel)


def choose_shape(
    kernel: str,
    machine: "Machine",
    vary: Mapping[str, str],
    parameters: Mapping[str, object],
    error: str,
    models: Sequence[str],
    store: Path | None,
    workers: int | None,
    cluster: str | None,
    result: DocumentOptions,
) -> None:
    """Try launch shapes, and print what is best.

    Raises typer.Exit where some failed, and the errors of simtmm.errors.
    """
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.report.progress import watching
    from simtmm.requests.sampling import part_of

    try:
        with watching(at_once=True) as watch, printing(result.as_json):
            watch("configurations", 0, None)  # before what is slow to load
            from simtmm.analysis.tuning.advice import advise as run_advise

            advice = run_advise(
                kernel, machine, parameters, None, vary, models, store, workers, cluster, watch, part_of(error)
            )
    except Unfinished as part:
        from simtmm.report.advise import describe_advice

        if not result.as_json:
            DocumentOptions().show(describe_advice(part.results), None)
        raise interrupted(part, "configurations") from None
    from simtmm.report.advise import describe_advice

    result.show(describe_advice(advice), advice.to_dict())
    if advice.failed:
        raise typer.Exit(FAILED)
