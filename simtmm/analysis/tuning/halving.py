"""Successive halving: which configurations are worth simulating more precisely.

Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits (2013), with intervals that are
known instead of repetitions.
"""

import math
from collections.abc import Iterable, Sequence

from simtmm.analysis.tuning.front import surely_dominated
from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.trial import Trial
from simtmm.analysis.tuning.tuned import FLAT

STEPS = 3  # precisions, each twice that before
KEPT = 3  # one in so many goes on to the next


def precisions(error: float) -> list[float]:
    """The errors requested one after another, the last being `error`."""
    return [min(error * 2.0**step, 0.5) for step in reversed(range(STEPS))]


def promising(trials: Sequence[Trial], least: int, goals: Goals) -> list[Trial]:
    """Those that go on: of those that may be as good as the best the best third, by the first objective.

    A trial that is surely worse than another, its interval above the other's, goes, and one that surely does not meet
    the conditions. least: at least so many go on of the others. Of two objectives all go on that may be on the front.
    """
    done = [(goals.of(trial), trial) for trial in trials if trial.status == "done" and goals.may_be_met(trial)]
    sure = [found for found, trial in done if goals.surely_met(trial)]  # the others prove nothing of those beside them
    ranked = sorted(done, key=lambda entry: entry[0][0].value)
    if len(goals.objectives) > 1:
        return [trial for found, trial in ranked if not surely_dominated(found, sure)]
    ceiling = min((found[0].high for found in sure), default=math.inf)
    possible = [trial for found, trial in ranked if found[0].low <= ceiling]
    return possible[: max(least, math.ceil(len(ranked) / KEPT))]


def ceiling(trials: Iterable[Trial], least: int, goals: Goals) -> float:
    """How long a configuration may take at least to be simulated all the same, in the unit of the objective.

    One above it is beyond the upper end of the best's interval, by so much that it is not even about as good (FLAT);
    and beyond those of `least` configurations, so that these are there to be listed. There is no limit where
    anything but the time is minimised.
    """
    done = [trial for trial in trials if trial.status == "done"] if goals.is_time else []
    ends = sorted(goals.of(trial)[0].high for trial in done if goals.surely_met(trial))
    return max(ends[0] * (1 + FLAT), ends[least - 1]) if len(ends) >= least else math.inf
