"""`simtmm tune` of a launch's shape alone, which was `simtmm advise`."""

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
    from collections.abc import Callable

    from simtmm.analysis.tuning.advice import Advice
    from simtmm.watch import Watch


@grouped
def advise(  # noqa: PLR0913, PLR0917 - each is an option of the command
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

    By simulation, of sub-block sizes as well, compared with the models' choice: `tune` with launch shapes alone. Every
    finished configuration is stored; the same command continues where it stopped. Exit status 1: some failed.
    """
    from simtmm.requests.sampling import part_of

    def search(watch: "Watch") -> "Advice":
        from simtmm.analysis.tuning.advice import advise as run_advise

        return run_advise(
            kernel, chosen_machine(machine, set_), parameters_of(param), None, ranges_of(vary, "--vary"), model or (),
            store, workers, cluster, watch, part_of(error),
        )  # fmt: skip

    show_advice(search, result)


def show_advice(search: "Callable[[Watch], Advice]", result: DocumentOptions) -> None:
    """Search, and print what is best.

    Raises typer.Exit where some configurations failed, and the errors of simtmm.errors.
    """
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.report.progress import watching

    try:
        with watching(at_once=True) as watch, printing(result.as_json):
            watch("configurations", 0, None)  # before what is slow to load
            advice = search(watch)
    except Unfinished as part:
        from simtmm.report.studies.advise import describe_advice

        if not result.as_json:
            DocumentOptions().show(describe_advice(part.results), None)
        raise interrupted(part, "configurations") from None
    from simtmm.report.studies.advise import describe_advice

    result.show(describe_advice(advice), advice.to_dict())
    if advice.failed:
        raise typer.Exit(FAILED)
