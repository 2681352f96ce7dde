"""What `tune` is asked for: a kernel, what is tried, and what is best."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.errors import StudyError
from simtmm.requests.completion import complete_axis, complete_kernel
from simtmm.requests.kernel_file import FormOption, ParamOption
from simtmm.requests.machine import MachineOptions
from simtmm.requests.sampling import part_of
from simtmm.requests.study_options import ClusterOption, KeptOption, WorkersOption, model_option
from simtmm.requests.values import parameters_of, ranges_of

if TYPE_CHECKING:
    from simtmm.analysis.tuning.advice import Advice
    from simtmm.analysis.tuning.tuned import Tuned
    from simtmm.watch import Watch


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
            raise StudyError(f"--{next(iter(settings))}: needs --sampler")
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


@dataclass(frozen=True, kw_only=True)
class TuneRequest(MachineOptions, SpaceOptions, GoalOptions):
    """A search for the best configuration. Its fields are options of `simtmm tune` and arguments of `simtmm.tune`."""

    kernel: Annotated[
        str,
        typer.Argument(
            metavar="KERNEL",
            help="a kernel's name or folder, launches (.toml), or a Kernel Tuner problem (T1, .json)",
            autocompletion=complete_kernel,
        ),
    ]
    parameters: ParamOption = None
    form: FormOption = None
    model: Annotated[list[str] | None, model_option("a model that chooses as well; repeatable")] = None
    store: KeptOption = None
    workers: WorkersOption = None
    cluster: ClusterOption = None

    @property
    def is_of_shape(self) -> bool:
        """Whether threads and blocks are chosen: nothing else is said to choose or to minimise."""
        from simtmm.analysis.tuning.t1 import is_problem

        return self.is_empty and not self.minimise and not is_problem(str(self.kernel))

    def shape(self, watch: "Watch | None") -> "Advice":
        """The best shape of the launch, compared with the models' choice."""
        from simtmm.analysis.tuning.advice import advise

        return advise(
            self.kernel,
            self.chosen_for(self.kernel, self.form),
            parameters_of(self.parameters),
            None,
            {},
            self.model or (),
            self.store,
            self.workers,
            self.cluster,
            watch,
            part_of(self.error),
        )

    def tuned(self, watch: "Watch | None") -> "Tuned":
        """What came of the search. Raises the errors of simtmm.errors, and Unfinished where Ctrl-C ended it."""
        from simtmm.analysis.tuning.t1 import is_problem
        from simtmm.analysis.tuning.tune import tune

        return tune(
            self.kernel,
            self.chosen_for(self.kernel, "compiled" if is_problem(str(self.kernel)) else self.form),
            ranges_of(self.over, "--over"),
            parameters_of(self.parameters),
            self.where or (),
            part_of(self.error),
            self.model or (),
            self.form,
            self.store,
            self.cluster or self.workers,
            watch,
            self.minimise or (),
            self.chosen(),
        )
