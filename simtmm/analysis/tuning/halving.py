"""Successive halving: which configurations are worth being simulated more precisely.

Source: Karnin, Koren and Somekh, Almost Optimal Exploration in Multi-Armed Bandits (2013), with intervals that are
known in the place of repetitions.
"""

import math
from collections.abc import Sequence

from simtmm.analysis.tuning.trial import Trial

STEPS = 3  # precisions, each twice that before
KEPT = 3  # one in so many goes on to the next


def precisions(error: float) -> list[float]:
    """The errors requested one after another, the last being `error`."""
    return [min(error * 2.0**step, 0.5) for step in reversed(range(STEPS))]


def promising(trials: Sequence[Trial], least: int) -> list[Trial]:
    """Those that go on, the fastest first: of those that may be as fast as the fastest the best third.

    A trial that is surely slower than another, its interval above the other's, goes. least: at least so many go on of
    the others.
    """
    ranked = sorted((trial for trial in trials if trial.status == "done"), key=lambda trial: trial.cycles)
    if not ranked:
        return []
    ceiling = min(trial.high for trial in ranked)
    possible = [trial for trial in ranked if trial.low <= ceiling]
    return possible[: max(least, math.ceil(len(ranked) / KEPT))]
