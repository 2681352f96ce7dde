"""The search: compile all configurations, then simulate those that promise most, more and more precisely.

Of all configurations those are simulated first that take least by their bounds; those are not simulated of which the
bound says that they take longer than the best.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.halving import ceiling, precisions, promising
from simtmm.analysis.tuning.kept import KeptTrials
from simtmm.analysis.tuning.sampler import Sampler
from simtmm.analysis.tuning.space import Space
from simtmm.analysis.tuning.trial import Subject, Trial, attempted, checked, screened, tried
from simtmm.errors import StudyError
from simtmm.parallel.tasks import Executor, Task
from simtmm.study.design.axes import Value
from simtmm.watch import tell

FINALISTS = 10  # that are simulated to the requested precision; whatever bounds say, so many are simulated
BATCH = 8  # configurations that a sampler is asked for at once, however many processes there are
AT_FIRST = 16  # configurations that are simulated before bounds are looked at, and then as many as are done
TIRED = 20  # times as many as are wanted are asked for, where most are refused or there already


class Search:
    """A search as it goes on.

    trials: what is known, by configuration's number. configurations: those that are tried, by number. excluded:
    combinations that the constraints left out.
    """

    def __init__(self, subject: Subject, goals: Goals, kept: KeptTrials, executor: Executor) -> None:
        self._subject, self._goals, self._kept, self._executor = subject, goals, kept, executor
        self._bounds: dict[int, float] = {}  # by number: cycles
        self.configurations: list[dict[str, Value]] = []
        self.trials: dict[int, Trial] = {}
        self.excluded = 0

    def of_all(self, space: Space, error: float) -> None:
        """Try all configurations of a space. Raises StudyError for too many of them."""
        self.configurations, self.excluded = space.admitted()
        found = {number: self._kept.find(each) for number, each in enumerate(self.configurations)}
        self.trials = {number: trial for number, trial in found.items() if trial is not None}
        unknown = [number for number in found if found[number] is None]
        left = sorted([*self.trials, *self._screened(unknown, self._goals.is_time and len(found) > FINALISTS)])
        coarse, *finer = precisions(error)
        self._coarse(left, coarse)
        self._refined(self._promising([each for each in left if self.trials[each].status != "bounded"]), finer)

    def of_some(self, space: Space, error: float, sampler: Sampler, wanted: int) -> None:
        """Try so many configurations that a sampler chooses, by what those before gave at the coarsest precision."""
        coarse, *finer = precisions(error)
        numbers: dict[tuple[Value, ...], int] = {}
        asked = 0
        while len(self.configurations) < min(wanted, space.size) and asked < TIRED * wanted:
            batch = sampler.ask(min(BATCH, wanted - len(self.configurations)))
            asked += len(batch)
            fresh = []
            for chosen in batch:
                key = tuple(chosen.values())
                if key not in numbers and space.admits(chosen):
                    numbers[key] = len(self.configurations)
                    fresh.append(numbers[key])
                    self.configurations.append(chosen)
            self._tried_once(fresh, coarse)
            sampler.tell([self._objectives(numbers.get(tuple(chosen.values()))) for chosen in batch])
        if not self.configurations:
            raise StudyError(f"--where: excludes all {asked:,} configurations that the sampler chose")
        for number, each in enumerate(self.configurations):  # what was simulated more precisely before serves from here
            self.trials[number] = self._kept.find(each) or self.trials[number]
        self._refined([number for number, trial in self.trials.items() if trial.status == "done"], finer)

    def found(self) -> tuple[Trial, ...]:
        """A trial of each configuration, in order; open those that are not known yet."""
        return tuple(self.trials.get(number) or Trial(each, "open") for number, each in enumerate(self.configurations))

    def _objectives(self, number: int | None) -> tuple[float, ...] | None:
        """What a sampler learns of a configuration; None for one that can't be, or does not meet the conditions."""
        trial = None if number is None else self.trials[number]
        if trial is None or trial.status != "done" or not self._goals.met(trial):
            return None
        return tuple(goal.value for goal in self._goals.of(trial))

    def _tried_once(self, numbers: Sequence[int], precision: float) -> None:
        """Try configurations at a precision, whatever is known of them at another: a sampler learns the same again."""
        unknown = []
        for number in numbers:
            known = self._kept.find(self.configurations[number], precision)
            if known is None:
                unknown.append(number)
            else:
                self.trials[number] = known
        self._simulated(unknown, precision, is_screened=False)

    def _screened(self, numbers: Sequence[int], is_bounded: bool) -> list[int]:
        """Those that may run, whose bounds are known then; the others have their trial."""
        todo = {}
        for number in numbers:
            known = self._kept.find_least(self.configurations[number]) if is_bounded else None
            if known is None:
                todo[number] = (self._subject, self.configurations[number], is_bounded)
            else:
                self._bounds[number] = known
        for number, outcome in self._outcomes("compiling", screened, todo):
            if isinstance(outcome, float) and 0 <= outcome < math.inf:
                self._bounds[number] = outcome
                if outcome:
                    self._kept.keep_least(self.configurations[number], outcome)
            else:
                self.trials[number] = self._trial(number, outcome)
        return sorted(self._bounds)

    def _coarse(self, numbers: Sequence[int], precision: float) -> None:
        """Simulate those that take least by their bounds, until bounds are longer than the best take."""
        unknown = [each for each in numbers if each not in self.trials or not self.trials[each].serves(precision)]
        left = sorted(unknown, key=lambda number: (self._bound(number), number))
        while left:
            limit = ceiling(self.trials.values(), FINALISTS, self._goals)
            begun = len(unknown) - len(left)
            batch = [number for number in left[: max(AT_FIRST, begun)] if self._bound(number) <= limit]
            if not batch:
                break
            self._simulated(batch, precision, begun=begun, total=len(unknown))
            left = left[len(batch) :]
        for number in left:
            self.trials[number] = Trial(self.configurations[number], "bounded", least=self._bounds[number])

    def _bound(self, number: int) -> float:
        """The least time of a configuration, in the unit of the objective."""
        cycles = self._bounds.get(number, 0.0)
        clock = self._subject.machine_of(self.configurations[number]).clock_hz if cycles else None
        return cycles if clock is None else cycles / clock

    def _refined(self, left: list[int], steps: Sequence[float]) -> None:
        """Simulate those that promise most, more and more precisely."""
        for precision in steps:
            self._simulated(sorted(each for each in left if not self.trials[each].serves(precision)), precision)
            left = self._promising(left)

    def _promising(self, numbers: Sequence[int]) -> list[int]:
        """Those that go on."""
        places = {id(self.trials[number]): number for number in numbers}
        known = [self.trials[number] for number in numbers]
        return [places[id(trial)] for trial in promising(known, FINALISTS, self._goals)]

    def _simulated(
        self, numbers: Sequence[int], precision: float, is_screened: bool = True, begun: int = 0, total: int = 0
    ) -> None:
        """Simulate configurations. begun: how many of `total` were before, of progress that goes on."""
        todo = {number: (self._subject, self.configurations[number], precision) for number in numbers}
        for number, outcome in self._outcomes(
            "configurations", tried if is_screened else attempted, todo, begun, total
        ):
            self.trials[number] = replace(self._trial(number, outcome), least=self._bounds.get(number, 0.0))
            self._kept.keep(self.trials[number])

    def _trial(self, number: int, outcome: object) -> Trial:
        """What an executor gives: the trial, or what its process ended in."""
        return checked(outcome, self.configurations[number])

    def _outcomes(
        self,
        stage: str,
        function: Callable[..., Any],
        arguments: Mapping[int, tuple[Any, ...]],
        begun: int = 0,
        total: int = 0,
    ) -> Iterator[tuple[int, Any]]:
        """What a function gives for each of the arguments, or the error that it ends in, as it is done."""
        if not arguments:
            return
        tasks = {Task(function, given, wanted=True): number for number, given in arguments.items()}
        total = max(total, len(tasks))
        tell(stage, begun, total)
        for done, (task, outcome) in enumerate(self._executor.run(list(tasks)), begun + 1):
            tell(stage, done, total)
            yield tasks[task], outcome
