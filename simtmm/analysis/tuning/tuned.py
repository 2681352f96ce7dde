"""The result of a search: its trials, ranked by the objective, and the models' choices."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from simtmm.analysis.tuning.front import front
from simtmm.analysis.tuning.goals import Goal, Goals
from simtmm.analysis.tuning.trial import Trial
from simtmm.display import Displayed
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.provenance import provenance

if TYPE_CHECKING:
    import pandas

FLAT = 0.05  # of the best's value, within which configurations are as good


@dataclass(frozen=True)
class Choice:
    """The configuration that a model finds best. slowdown: its simulated objective over the best's."""

    model: str
    trial: Trial
    slowdown: float


@dataclass(frozen=True)
class Tuned(Displayed):
    """What came of a search.

    program: the kernel's name. trials: all that were tried, in the order of the space. excluded: combinations that the
    constraints left out. error: the requested one, of the best. goals: what was minimised, and the conditions. sampled:
    how many combinations there are, where a sampler chose among them; 0 where all were tried.
    """

    program: str
    machine: Machine
    fixed: Mapping[str, Any]
    over: tuple[str, ...]
    trials: tuple[Trial, ...]
    excluded: int
    error: float
    goals: Goals
    sampled: int = 0

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each configuration that ran, the best first. Raises OutputError if pandas is not installed."""
        return frame(
            [
                {**trial.configuration, "cycles": trial.cycles, "error": trial.error, "objective": self.value(trial)}
                for trial in self.ranked()
            ]
        )

    @cached_property
    def done(self) -> list[Trial]:
        """Those that ran and meet the conditions."""
        return [trial for trial in self.trials if trial.status == "done" and self.goals.met(trial)]

    @property
    def unmet(self) -> int:
        """How many ran and do not meet the conditions."""
        return sum(trial.status == "done" for trial in self.trials) - len(self.done)

    @property
    def open(self) -> int:
        """How many were not run, as Ctrl-C came before."""
        return sum(trial.status == "open" for trial in self.trials)

    @cached_property
    def bounded(self) -> list[Trial]:
        """Those that were not simulated, as they surely take longer than the best."""
        return [trial for trial in self.trials if trial.status == "bounded"]

    def least(self, trial: Trial) -> tuple[float, float | None]:
        """What a trial takes at least: cycles, and seconds where its machine has a clock."""
        clock = self.goals.machine_of(trial).clock_hz
        return trial.least, None if clock is None else trial.least / clock

    @cached_property
    def _goals(self) -> dict[int, tuple[Goal, ...]]:
        return {id(trial): self.goals.of(trial) for trial in self.done}

    def of(self, trial: Trial) -> tuple[Goal, ...]:
        """What the objectives are for a trial that is among `done`."""
        return self._goals[id(trial)]

    def value(self, trial: Trial) -> float:
        """What the first objective is for one of `done`."""
        return self.of(trial)[0].value

    def ranked(self) -> list[Trial]:
        """`done`: those simulated to the requested precision, then the others; each the best first."""
        return sorted(self.done, key=lambda trial: (not trial.serves(self.error), self.value(trial)))

    @property
    def best(self) -> Trial:
        """The best by the first objective."""
        return self.ranked()[0]

    @property
    def front(self) -> list[Trial]:
        """Those that none is better than in both objectives, the best by the first one first; the best alone of one."""
        if len(self.goals.objectives) == 1:
            return [self.best]
        precise = [trial for trial in self.done if trial.serves(self.error)] or self.done  # none yet, at Ctrl-C
        return [precise[place] for place in front([tuple(goal.value for goal in self.of(each)) for each in precise])]

    @property
    def rivals(self) -> int:
        """How many configurations beside the best may be as good, as their intervals overlap."""
        ceiling = self.of(self.best)[0].high
        return sum(self.of(trial)[0].low <= ceiling for trial in self.done) - 1

    @property
    def flat(self) -> int:
        """How many configurations, the best included, are at most FLAT worse than it."""
        best = self.value(self.best)
        return sum(self.value(trial) <= best + FLAT * abs(best) for trial in self.done)

    def over_best(self, trial: Trial) -> float:
        """How many times the best's objective a trial's is; nan where the best's is not above 0, and says nothing."""
        best = self.value(self.best)
        return self.value(trial) / best if best > 0 else math.nan

    def choices(self) -> list[Choice]:
        """What each model would have chosen by the first objective, its time being the one that the model predicts."""
        found = []
        for model in self.best.predictions:
            by_model = {id(trial): self.goals.by_model(trial, model) for trial in self.done}
            chosen = min(self.done, key=lambda trial: by_model[id(trial)])
            found.append(Choice(model, chosen, self.over_best(chosen)))
        return found

    def reasons(self) -> dict[str, int]:
        """Why configurations did not run, and how many each, the most frequent first."""
        counted: dict[str, int] = {}
        for trial in self.trials:
            if trial.reason:
                counted[trial.reason] = counted.get(trial.reason, 0) + 1
        return dict(sorted(counted.items(), key=lambda entry: -entry[1]))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON; configurations that ran first, the best before the others."""
        there = {id(trial) for trial in self.done}
        left = [trial for trial in self.trials if id(trial) not in there]
        return {
            "program": self.program,
            "machine": self.machine.name,
            "parameters": dict(self.fixed),
            "error": self.error,
            "minimise": list(self.goals.names),
            "where": [condition.text for condition in self.goals.conditions],
            "best": self._document(self.best),
            "front": [self._document(trial) for trial in self.front],
            "within_5_percent": self.flat,
            "rivals": self.rivals,
            "choices": [
                {"model": each.model, "configuration": dict(each.trial.configuration), "slowdown": each.slowdown}
                for each in self.choices()
            ],
            "bounded": len(self.bounded),
            "excluded": self.excluded,
            "combinations": self.sampled or len(self.trials) + self.excluded,
            "configurations": [
                *(self._document(trial) for trial in self.ranked()),
                *({**trial.to_dict(), "objectives": []} for trial in left),
            ],
            "provenance": provenance(),
        }

    def _document(self, trial: Trial) -> dict[str, Any]:
        objectives = [{"value": goal.value, "low": goal.low, "high": goal.high} for goal in self.of(trial)]
        return {**trial.to_dict(), "objectives": objectives}
