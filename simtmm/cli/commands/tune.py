"""`simtmm tune`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.commands.advise import choose_shape, takes_shapes
from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, PictureOption
from simtmm.errors import StudyError
from simtmm.requests.completion import complete_axis, complete_kernel
from simtmm.requests.files import checked, printing
from simtmm.requests.kernel_file import FormOption, ParamOption
from simtmm.requests.machine import MachineOptions
from simtmm.requests.study_options import ClusterOption, KeptOption, WorkersOption, interrupted, model_option
from simtmm.requests.values import parameters_of, ranges_of


@dataclass(frozen=True, kw_only=True)
class SpaceOptions:
    """What is tried."""

    over: Annotated[
        list[str] | None,
        typer.Option(
            "--over",
            metavar="NAME=VALUES",
            help="a parameter or machine key to choose, e.g. block=32,64 or 1:8; repeatable",
            autocompletion=complete_axis,
        ),
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="EXPR",
            help="a constraint, e.g. 'x * y <= 1024' or 'seconds <= 2e-3'; repeatable",
        ),
    ] = None
    sampler: Annotated[
        str | None,
        typer.Option(
            "--sampler", metavar="NAME", help="let Optuna's tpe, nsga2 or random choose what to try; default: try all"
        ),
    ] = None
    trials: Annotated[
        int | None,
        typer.Option("--trials", metavar="N", help="how many configurations the sampler chooses; default: 200"),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="seed of the sampler; default: 0")] = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said of it."""
        return not self.over and not self.where and self.sampler is None and self.trials is None and self.seed is None

    def chosen(self) -> dict[str, object] | None:
        """The sampler as `tune` takes it. Raises StudyError."""
        given = {"trials": self.trials, "seed": self.seed}
        settings = {name: value for name, value in given.items() if value is not None}
        if self.sampler is None and settings:
            raise StudyError(f"--{next(iter(settings))}: is of a sampler, so --sampler must be given too")
        return None if self.sampler is None else {"name": self.sampler, **settings}


@dataclass(frozen=True, kw_only=True)
class GoalOptions:
    """What is best."""

    minimise: Annotated[
        list[str] | None,
        typer.Option(
            "--minimise",
            "--objective",
            metavar="EXPR",
            help="what to minimise; default: the time; give two for a Pareto front",
        ),
    ] = None
    error: Annotated[
        str, typer.Option("--error", metavar="PART", help="the largest error of the best configurations' times")
    ] = "3%"


@grouped
def tune(
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL",
            help="a kernel's name or folder, launches (.toml), or a Kernel Tuner problem (T1, .json)",
            autocompletion=complete_kernel,
        ),
    ],
    environment: EnvironmentOptions,
    machine: MachineOptions,
    result: DocumentOptions,
    space: SpaceOptions,
    goals: GoalOptions,
    param: ParamOption = None,
    form: FormOption = None,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="number of configurations to list")] = 10,
    model: Annotated[
        list[str] | None, model_option("a model that also chooses (see `run --models-only`); repeatable")
    ] = None,
    store: KeptOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    t4: Annotated[
        Path | None,
        typer.Option("--t4", metavar="FILE", help="write the results as Kernel Tuner's T4", callback=checked),
    ] = None,
    picture: PictureOption = None,
) -> None:
    """Find a kernel's fastest configuration by simulation.

    Choose among launch shapes, constants, variants and machine keys, or minimise any expression, by samples of growing
    precision. Without --over, choose threads per block and blocks, beside what the models choose. Every result is kept;
    repeat the command to resume.
    """
    if space.is_empty and not goals.minimise and t4 is None and picture is None and takes_shapes(kernel):
        choose_shape(kernel, machine.chosen_for(kernel, form), {}, parameters_of(param), goals.error, model or (),
                     store, workers, cluster, result)  # fmt: skip
        return
    minimise = goals.minimise or []
    if picture is not None:
        from simtmm.report.pictures import files

        if len(minimise) < 2:
            raise StudyError("--picture: is of a Pareto front: give --minimise twice")
        files.check(picture)
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.report.progress import watching
    from simtmm.requests.sampling import part_of

    try:
        with watching(at_once=True) as watch, printing(result.as_json):
            watch("configurations", 0, None)  # before what is slow to load
            from simtmm.analysis.tuning.t1 import is_problem
            from simtmm.analysis.tuning.tune import tune as run_tune

            tuned = run_tune(
                kernel,
                machine.chosen_for(kernel, "compiled" if is_problem(kernel) else form),
                ranges_of(space.over, "--over"),
                parameters_of(param),
                space.where or (),
                part_of(goals.error),
                model or (),
                form,
                store,
                cluster or workers,
                watch,
                minimise,
                space.chosen(),
            )
    except Unfinished as part:
        from simtmm.report.tune import describe_tuned

        if not result.as_json:
            DocumentOptions().show(describe_tuned(part.results, top), None)
        raise interrupted(part, "configurations") from None
    if t4 is not None:
        from simtmm.analysis.tuning.t4 import write_results

        write_results(tuned, t4)
    if picture is not None:
        from simtmm.report.pictures.pareto import pareto

        files.write(picture, pareto(tuned))
    from simtmm.report.tune import describe_tuned

    result.show(describe_tuned(tuned, top), tuned.to_dict())
