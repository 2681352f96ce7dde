"""Advice: the launch shape of a kernel that is fastest by simulation, and what the models would choose."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.analysis.tuning.launch_shapes import TUNED, launch_shapes
from simtmm.analysis.tuning.t1 import is_problem
from simtmm.analysis.tuning.trial import Trial
from simtmm.analysis.tuning.tune import tune
from simtmm.analysis.tuning.tuned import Tuned
from simtmm.analysis.unfinished import Unfinished
from simtmm.display import Displayed
from simtmm.errors import KernelError, StudyError
from simtmm.machine import Machine
from simtmm.machine.load import opened_machine
from simtmm.model.series import SIMULATED
from simtmm.provenance import provenance
from simtmm.recorder.sources import opened_kernel
from simtmm.sampling import DEFAULT_ERROR
from simtmm.study.design.axes import Value
from simtmm.watch import Watch, tell, watched

if TYPE_CHECKING:
    import pandas

STATUS = {  # of a configuration, as documents have had it since before there was tuning
    "done": "done", "bounded": "bounded", "does not fit": "skipped", "not compiled": "failed", "failed": "failed",
    "open": "open",
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A configuration that a simulation or a model finds fastest.

    cycles: by itself. simulated: cycles by simulation. slowdown: that over the fastest simulated. ties: how many
    configurations are as fast to it; of these it is that with the fewest threads, then blocks.
    """

    by: str
    configuration: Mapping[str, Value]
    cycles: float
    simulated: float
    slowdown: float
    ties: int


@dataclass(frozen=True)
class Advice(Displayed):
    """What was tried, and the choices: the simulation's first, then the models'."""

    tuned: Tuned

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each configuration that ran, the best first. Raises OutputError if pandas is not installed."""
        return self.tuned.to_frame()

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of what was tried."""
        return self.tuned.over

    @property
    def series(self) -> tuple[str, ...]:
        """What chooses: the simulation and the models."""
        return (SIMULATED, *self.tuned.best.predictions)

    @property
    def choices(self) -> tuple[Choice, ...]:
        """The choice of each of the series."""
        return tuple(self._choice(by) for by in self.series)

    def ranked(self) -> list[Trial]:
        """The configurations that ran, those that were simulated to the requested precision first, then by time."""
        return sorted(
            self.tuned.done, key=lambda trial: (not trial.serves(self.tuned.error), *self._rank(trial, SIMULATED))
        )

    @property
    def failed(self) -> int:
        """How many went wrong; those that the machine can't hold did not."""
        return sum(STATUS[trial.status] == "failed" for trial in self.tuned.trials)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "program": self.tuned.program,
            "machine": self.tuned.machine.name,
            "parameters": dict(self.tuned.fixed),
            "error": self.tuned.error,
            "choices": [vars(choice) | {"configuration": dict(choice.configuration)} for choice in self.choices],
            "configurations": [
                {
                    **dict(trial.configuration),
                    "status": STATUS[trial.status],
                    "reason": trial.reason,
                    "cycles": {by: cycles_of(trial, by) if trial.status == "done" else None for by in self.series},
                    "error": trial.error,
                    "least": trial.least,
                }
                for trial in self.tuned.trials
            ],
            "provenance": provenance(),
        }

    def _choice(self, by: str) -> Choice:
        ranked = self.ranked()
        best = ranked[0] if by == SIMULATED else min(ranked, key=lambda trial: self._rank(trial, by))
        cycles = cycles_of(best, by)
        ties = sum(cycles_of(trial, by) == cycles for trial in ranked)
        fastest = ranked[0].cycles
        return Choice(by, best.configuration, cycles, best.cycles, best.cycles / fastest if fastest else 1.0, ties)

    def _rank(self, trial: Trial, by: str) -> tuple[float, ...]:
        sizes = (trial.configuration.get(name) for name in ("threads", "blocks"))
        return (cycles_of(trial, by), *(float(size) if isinstance(size, (int, float)) else 0.0 for size in sizes))


def cycles_of(trial: Trial, by: str) -> float:
    """A trial's cycles, by simulation or by a model.

    by: "simulated", or a model's name.
    """
    return trial.cycles if by == SIMULATED else trial.predictions[by]


def advise(  # noqa: PLR0913, PLR0917 - each is an option of the search
    kernel: str,
    machine: Machine | str | Path,
    parameters: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    vary: Mapping[str, Any] | None = None,
    models: Iterable[str] = (),
    store: str | Path | None = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
    error: float = DEFAULT_ERROR,
) -> Advice:
    """Try launch shapes of a kernel on a machine, as `tune` does.

    parameters: those that are fixed. changes: of the machine, by dotted key. vary: what is tried, ranges by parameter;
    if left out, threads, blocks and the size of a sub-block, as far as the kernel has them and they are not fixed.
    models: that choose as well. store, workers, cluster, watch, error: see `tune`; with None the store is one in
    the user's cache folder. Raises StudyError where there is nothing to vary, and where no configuration can run;
    and Unfinished where Ctrl-C ends it after some of them.
    kernel: its name or the path of its folder.
    """
    with watched(watch):
        tell("configurations", 0)
        if is_problem(str(kernel)):
            raise KernelError(f"{kernel}: is not a kernel that simtmm tune accepts: simtmm tune also accepts problems")
        on = opened_machine(machine).replace(changes) if changes else opened_machine(machine)
        opened = opened_kernel(kernel)
        fixed = dict(parameters or {})
        tried = dict(vary or {}) or launch_shapes(
            {name: each for name, each in opened.parameters.items() if name not in fixed}, on
        )
        if not tried:
            raise StudyError(
                f"kernel {opened.name}: none of {', '.join(TUNED)} is free to vary: name what to vary, as --vary "
                "NAME=RANGE"
            )
        try:
            tuned = tune(
                kernel, on, tried, fixed, error=error, models=tuple(models), store=store, workers=cluster or workers
            )
        except Unfinished as part:
            raise Unfinished(Advice(part.results), part.done, part.total) from None
    return Advice(tuned)
