"""Goals: one or two expressions of a trial's result to minimise, and the conditions that it must meet."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simtmm.analysis.tuning.trial import QUANTITIES, TIMES, Subject, Trial
from simtmm.errors import StudyError, nearest, shown
from simtmm.machine import Machine
from simtmm.machine.spec import units
from simtmm.parameter.expression import Expression, expression

MOST_OBJECTIVES = 2


@dataclass(frozen=True)
class Goal:
    """What an expression gives for a trial. low, high: the least and the greatest within the interval of its time."""

    value: float
    low: float
    high: float

    @property
    def error(self) -> float:
        """Half of the interval, as a part of the value; 0 for a value of 0."""
        return (self.high - self.low) / 2 / abs(self.value) if self.value else 0.0


class Goals:
    """Objectives and conditions of a search, computed for its trials.

    objectives: expressions, of which less is better. conditions: that trials must meet. is_time: whether the objective
    is the time, as it is where nobody says.
    """

    def __init__(self, subject: Subject, minimise: Sequence[str], conditions: Sequence[str]) -> None:
        """minimise: one or two expressions; the time if there are none. conditions: on what trials gave.

        Raises StudyError for what is not understood, names that have no value included.
        """
        time = "cycles" if subject.machine.clock_hz is None else "seconds"
        texts = list(minimise) or [time]
        if len(texts) > MOST_OBJECTIVES:
            raise StudyError(f"--minimise: {len(texts)} expressions: must be at most {MOST_OBJECTIVES}")
        if len(set(texts)) < len(texts):
            raise StudyError(f"--minimise {texts[0]!r}: appears more than once")
        self._subject = subject
        self.objectives = tuple(_parsed(text, "--minimise", subject) for text in texts)
        self.conditions = tuple(_parsed(text, "--where", subject) for text in conditions)
        self.is_time = texts in ([time], ["seconds"])

    @property
    def names(self) -> tuple[str, ...]:
        """The objectives as they were written."""
        return tuple(each.text for each in self.objectives)

    def machine_of(self, trial: Trial) -> Machine:
        """The machine of a trial."""
        return self._subject.machine_of(trial.configuration)

    def of(self, trial: Trial) -> tuple[Goal, ...]:
        """What each objective gives for a trial that is done. Raises StudyError where that is no number."""
        if self.is_time and trial.seconds is not None:  # as all are that nobody asked for anything else
            return (Goal(trial.seconds, trial.seconds * (1 - trial.error), trial.seconds * (1 + trial.error)),)
        found = []
        ends = list(self._ends(trial))
        for objective in self.objectives:
            values = [_number(objective, at) for at in ends]
            found.append(Goal(values[0], min(values), max(values)))
        return tuple(found)

    def by_model(self, trial: Trial, model: str) -> float:
        """What the first objective would be if the time were what a model predicts."""
        factor = trial.predictions[model] / trial.cycles if trial.cycles else 0.0
        return _number(self.objectives[0], self._values(trial, factor))

    def met(self, trial: Trial) -> bool:
        """Whether a trial that is done meets the conditions."""
        return self._meets(self._values(trial, 1.0)) if self.conditions else True

    def may_be_met(self, trial: Trial) -> bool:
        """Whether it does anywhere within the interval of its time."""
        return any(self._meets(values) for values in self._ends(trial)) if self.conditions else True

    def surely_met(self, trial: Trial) -> bool:
        """Whether it does everywhere within it, as far as its ends and its middle show."""
        return all(self._meets(values) for values in self._ends(trial)) if self.conditions else True

    def _ends(self, trial: Trial) -> Iterator[dict[str, Any]]:
        """The values at the middle of the interval, and at both ends where it has any."""
        for error in (0.0, -trial.error, trial.error) if trial.error else (0.0,):
            yield self._values(trial, 1 + error)

    def _values(self, trial: Trial, factor: float) -> dict[str, Any]:
        return {**self._subject.values(trial.configuration), **trial.quantities(factor)}

    def _meets(self, values: Mapping[str, Any]) -> bool:
        return all(condition.value(values) for condition in self.conditions)


def is_of_results(text: str) -> bool:
    """Whether a condition is on what trials give. Raises StudyError for what is not understood."""
    return bool(expression(text, "constraint", StudyError).names & set(QUANTITIES))


def _parsed(text: str, option: str, subject: Subject) -> Expression:
    """An expression of known names."""
    parsed = expression(text, option, StudyError)
    kernel, machine = subject.kernel, subject.machine
    for name in sorted(parsed.names):
        if name in QUANTITIES and name in kernel.parameters:
            raise StudyError(f"{option} {text!r}: {name}: is both a parameter of the kernel and a part of the result")
        if name == "seconds" and machine.clock_hz is None:
            raise StudyError(f"{option} {text!r}: seconds: machine {machine.name} has no clock_hz: use cycles")
        if name not in QUANTITIES and name not in kernel.parameters and name not in units():
            known = [*QUANTITIES, *kernel.parameters, *units()]
            raise StudyError(
                f"{option} {text!r}: {name}: must be a part of a result ({', '.join(TIMES)}, ...), a parameter or a "
                f"machine's key{nearest(name, known, ())}"
            )
    return parsed


def _number(objective: Expression, values: Mapping[str, Any]) -> float:
    value = objective.value(values)
    try:
        number = float(value) if isinstance(value, (int, float)) else math.nan
    except OverflowError:  # a whole number of which there is no float
        number = math.inf
    if math.isfinite(number):
        return number
    raise StudyError(f"{objective.what} {shown(objective.text)}: gives {shown(value)}: must be a number")
