"""A sampler: which configurations of a space too large for all of them are tried, by Optuna, an extra.

What it is asked and told is the same for the same seed, however many processes there are, and simulations are stored:
so a search that was stopped continues as if it had not been.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simtmm.errors import StudyError, nearest, shown
from simtmm.extras import imported
from simtmm.study.design.axes import Axis, Value

SAMPLERS = ("tpe", "nsga2", "random")
TRIALS = 200  # if nobody says how many
MOST_TRIALS = 100_000


@dataclass(frozen=True)
class SamplerChoice:
    """Which sampler chooses. name: one of SAMPLERS. trials: how many configurations. seed: of what it draws."""

    name: str
    trials: int
    seed: int


def sampler_choice(given: str | Mapping[str, object]) -> SamplerChoice:
    """The sampler that a name, or a dict of name, trials and seed, says. Raises StudyError."""
    table = {"name": given} if isinstance(given, str) else dict(given)
    for key in table:
        if key not in ("name", "trials", "seed"):
            raise StudyError(f"sampler: {key}: unknown; its keys are name, trials and seed")
    name, trials, seed = table.get("name"), table.get("trials", TRIALS), table.get("seed", 0)
    if name not in SAMPLERS:
        hint = nearest(str(name), SAMPLERS, ())
        raise StudyError(f"sampler = {shown(name)}: must be one of {', '.join(SAMPLERS)}{hint}")
    for key, value, low, high in (("trials", trials, 1, MOST_TRIALS), ("seed", seed, 0, (1 << 32) - 1)):
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise StudyError(f"sampler: {key} = {shown(value)}: must be a whole number from {low} to {high}")
    return SamplerChoice(str(name), int(str(trials)), int(str(seed)))


class Sampler:
    """Chooses configurations, a few at a time."""

    def __init__(self, axes: Sequence[Axis], choice: SamplerChoice, objectives: int) -> None:
        """objectives: how many are minimised. Raises StudyError without Optuna."""
        seed = choice.seed
        self._optuna: Any = imported("optuna", "optuna", "--sampler", StudyError)
        self._optuna.logging.set_verbosity(self._optuna.logging.ERROR)
        samplers = self._optuna.samplers
        made = {
            "tpe": lambda: samplers.TPESampler(seed=seed, constant_liar=True),  # a batch is told of together
            "nsga2": lambda: samplers.NSGAIISampler(seed=seed),
            "random": lambda: samplers.RandomSampler(seed=seed),
        }[choice.name]()
        self._study: Any = self._optuna.create_study(directions=["minimize"] * objectives, sampler=made)
        self._axes = tuple(axes)
        self._asked: list[Any] = []

    def ask(self, number: int) -> list[dict[str, Value]]:
        """So many configurations, which may have been there before."""
        self._asked = [self._study.ask() for _ in range(number)]
        return [{axis.name: self._value(trial, axis) for axis in self._axes} for trial in self._asked]

    def tell(self, outcomes: Sequence[tuple[float, ...] | None]) -> None:
        """What came of those that were asked for last: their objectives, None for one that can't be."""
        for trial, values in zip(self._asked, outcomes, strict=True):
            if values is None:
                self._study.tell(trial, state=self._optuna.trial.TrialState.PRUNED)
            else:
                self._study.tell(trial, list(values))

    def _value(self, trial: Any, axis: Axis) -> Value:
        """Values that go up are near one another as their places are; others are not."""
        places = len(axis.values)
        numbers = [value for value in axis.values if isinstance(value, (int, float)) and not isinstance(value, bool)]
        if len(numbers) == places and numbers == sorted(numbers):
            return axis.values[int(trial.suggest_int(axis.name, 0, places - 1))]
        return axis.values[int(trial.suggest_categorical(axis.name, range(places)))]
