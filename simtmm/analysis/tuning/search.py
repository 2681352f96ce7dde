"""The search: compile all configurations, then simulate those that promise most, more and more precisely."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.halving import precisions, promising
from simtmm.analysis.tuning.kept import KeptTrials
from simtmm.analysis.tuning.sampler import Sampler
from simtmm.analysis.tuning.space import Space
from simtmm.analysis.tuning.trial import Subject, Trial, attempted, refused, screened, tried
from simtmm.errors import SimtmmError, StudyError
from simtmm.parallel.tasks import Executor, Task
from simtmm.study.design.axes import Value
from simtmm.watch import tell

FINALISTS = 10  # that are simulated to the requested precision
BATCH = 8  # configurations that a sampler is asked for at once, however many processes there are
TIRED = 20  # times as many as are wanted are asked for, where most are refused or there already


class Search:
    """A search as it goes on.

    trials: what is known, by configuration's number. configurations: those that are tried, by number. excluded:
    combinations that the constraints left out.
    """

    def __init__(self, subject: Subject, goals: Goals, kept: KeptTrials, executor: Executor) -> None:
        self._subject, self._goals, self._kept, self._executor = subject, goals, kept, executor
        self.configurations: list[dict[str, Value]] = []
        self.trials: dict[int, Trial] = {}
        self.excluded = 0

    def of_all(self, space: Space, error: float) -> None:
        """Try all configurations of a space. Raises StudyError for too many of them."""
        self.configurations, self.excluded = space.admitted()
        found = {number: self._kept.find(each) for number, each in enumerate(self.configurations)}
        self.trials = {number: trial for number, trial in found.items() if trial is not None}
        left = sorted([*self.trials, *self._screened([number for number in found if found[number] is None])])
        self._refined(left, precisions(error))

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
            raise StudyError(f"--where: leaves none of {asked:,} configurations that the sampler chose")
        for number, each in enumerate(self.configurations):  # what was simulated more precisely before serves from here
            self.trials[number] = self._kept.find(each) or self.trials[number]
        self._refined([number for number, trial in self.trials.items() if trial.status == "done"], finer)

    def found(self) -> tuple[Trial, ...]:
        """A trial of each configuration, in order; open those that are not known yet."""
        return tuple(self.trials.get(number) or Trial(each, "open") for number, each in enumerate(self.configurations))

    def _objectives(self, number: int | None) -> tuple[float, ...] | None:
        """What a sampler is told of a configuration; None for one that can't be, or does not meet the conditions."""
        trial = None if number is None else self.trials[number]
        if trial is None or trial.status != "done" or not self._goals.met(trial):
            return None
        return tuple(goal.value for goal in self._goals.of(trial))

    def _tried_once(self, numbers: Sequence[int], precision: float) -> None:
        """Try configurations at a precision, whatever is known of them at another: a sampler is told the same again."""
        unknown = []
        for number in numbers:
            known = self._kept.find(self.configurations[number], precision)
            if known is None:
                unknown.append(number)
            else:
                self.trials[number] = known
        self._simulated(unknown, precision, is_screened=False)

    def _screened(self, numbers: Sequence[int]) -> list[int]:
        """Those that may run; the others have their trial."""
        left = []
        todo = {number: (self._subject, self.configurations[number]) for number in numbers}
        for number, outcome in self._outcomes("compiling", screened, todo):
            if outcome is None:
                left.append(number)
            else:
                self.trials[number] = self._trial(number, outcome)
        return left

    def _refined(self, left: list[int], steps: Sequence[float]) -> None:
        """Simulate those that promise most, more and more precisely."""
        for precision in steps:
            self._simulated(
                [each for each in left if each not in self.trials or not self.trials[each].serves(precision)], precision
            )
            places = {id(self.trials[number]): number for number in left}
            known = [self.trials[number] for number in left]
            left = [places[id(trial)] for trial in promising(known, FINALISTS, self._goals)]

    def _simulated(self, numbers: Sequence[int], precision: float, is_screened: bool = True) -> None:
        todo = {number: (self._subject, self.configurations[number], precision) for number in sorted(numbers)}
        for number, outcome in self._outcomes("configurations", tried if is_screened else attempted, todo):
            self.trials[number] = self._trial(number, outcome)
            self._kept.keep(self.trials[number])

    def _trial(self, number: int, outcome: Trial | SimtmmError) -> Trial:
        """What an executor gives: the trial, or what its process ended in."""
        return outcome if isinstance(outcome, Trial) else refused(self.configurations[number], outcome)

    def _outcomes(
        self, stage: str, function: Callable[..., Any], arguments: Mapping[int, tuple[Any, ...]]
    ) -> Iterator[tuple[int, Any]]:
        """What a function gives for each of the arguments, or the error that it ends in, as it is done."""
        if not arguments:
            return
        tasks = {Task(function, given, wanted=True): number for number, given in arguments.items()}
        tell(stage, 0, len(tasks))
        for done, (task, outcome) in enumerate(self._executor.run(list(tasks)), 1):
            tell(stage, done, len(tasks))
            yield tasks[task], outcome
