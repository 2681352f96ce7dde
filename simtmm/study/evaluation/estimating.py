"""Estimating: how long a study's points would take, from a few that are computed for it and not kept."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import fmean, stdev

import numpy as np

from simtmm.errors import SimtmmError
from simtmm.parallel.tasks import Serial, Task
from simtmm.study.design.design import Design
from simtmm.study.evaluation.recorded_traces import recorded
from simtmm.study.evaluation.steps import Outcome, compute, compute_by_sample
from simtmm.study.evaluation.tasks import Pending, tasks_of
from simtmm.study.forecast import Estimate

MOST_TRIED = 8  # points
PATIENCE = 5.0  # seconds after which no further one is begun, once there are two
NEW_PROCESS = 1.5  # seconds until one has read the modules: about that on cores of 2 to 4 GHz
NOISE = 0.15  # of any time on a computer that does other things too
# Student's t at 97.5 %, by degrees of freedom: of so few points a mean is known that badly
STUDENT = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36}


@dataclass
class _Tried:
    """Seconds of the calls for the points that were tried, by function; and why some could not be computed."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    points: int = 0
    refused: list[str] = field(default_factory=list)

    def note(self, task: Task, seconds: float) -> None:
        self.seconds.setdefault(task.function.__name__, []).append(seconds)


def estimated(design: Design, waiting: Pending, workers: int, to_record: Callable[[], int]) -> Estimate:
    """How long it takes to compute what is waiting.

    to_record: gives how many traces are not there yet; those of the points tried are, afterwards.

    Each function of the study's tasks (recording, lowering, counting, simulating) takes as long as it did for the
    points tried, as often as the study calls it.
    """
    calls: dict[str, int] = {}
    for task in tasks_of(design, waiting):
        calls[task.function.__name__] = calls.get(task.function.__name__, 0) + 1
    chosen = _spread(list(waiting.points))
    begun = time.perf_counter()
    first = _try(design, waiting, chosen[:1])  # reads modules and what is compiled, and records
    cold = time.perf_counter() - begun - sum(first.seconds.get(recorded.__name__, []))
    begun, tried = time.perf_counter(), _Tried()
    for key in chosen:
        _try(design, waiting, [key], tried)
        if tried.points > 1 and time.perf_counter() - begun > PATIENCE:
            break
    if len(tried.refused) == tried.points:
        return Estimate(None, f"none of {tried.points} of its points can be computed: {tried.refused[0]}")
    recordings = [*first.seconds.get(recorded.__name__, []), *tried.seconds.pop(recorded.__name__, [])[1:]]
    total, error = fmean(recordings) * to_record() if recordings else 0.0, 0.0
    for name, seconds in tried.seconds.items():
        total += calls[name] * fmean(seconds)
        error += (calls[name] * _standard_error(seconds, calls[name])) ** 2
    last = next(each.__name__ for each in (compute, compute_by_sample) if each.__name__ in calls)
    least = total - calls[last] * (fmean(of := tried.seconds[last]) - min(of))
    spread = STUDENT.get(tried.points - 1, STUDENT[7]) * math.sqrt(error) + NOISE * total
    parts = [max(total - spread, least * (1 - NOISE)), total, total + spread]
    # Each process once, beside one another: a new one has Python and simtmm to read as well
    warm = sum(seconds[0] for seconds in tried.seconds.values())
    beginning = max(0.0, cold - warm) + (NEW_PROCESS if workers > 1 else 0.0)
    # How long processes take to begin depends on what else the computer does and has read: by a factor of two
    begins = (beginning / 2, beginning, beginning * 2)
    low, middle, high = (part / workers + begin for part, begin in zip(parts, begins, strict=True))
    return Estimate(middle, f"{tried.points} of its points", interval=(low, high))


def _try(design: Design, waiting: Pending, keys: Sequence[str], tried: _Tried | None = None) -> _Tried:
    """Compute these points here, and note the time of each call."""
    tried = _Tried() if tried is None else tried
    for key in keys:
        alone = Pending({key: waiting.points[key]}, {key: waiting.lacking[key]})
        for _, outcome in Serial(tried.note).run(list(tasks_of(design, alone))):
            tried.points += 1
            if isinstance(outcome, SimtmmError):
                tried.refused.append(str(outcome))
            elif isinstance(outcome, Outcome) and outcome.skipped:
                tried.refused.append(outcome.skipped)
    return tried


def _spread(keys: Sequence[str]) -> list[str]:
    """Some of the points: one at random of each stretch, the same at each call. Even ones might all be of one value."""
    drawn = np.random.default_rng(0)
    number = min(MOST_TRIED, len(keys))
    bounds = [place * len(keys) // number for place in range(number + 1)]
    return [keys[int(drawn.integers(low, high))] for low, high in pairwise(bounds)]


def _standard_error(seconds: Sequence[float], of: int) -> float:
    """Of the mean of a sample, of so many in all."""
    if len(seconds) < 2:
        return fmean(seconds)  # of one nothing is known but itself
    left_out = max(0.0, 1 - len(seconds) / of)
    return stdev(seconds) * math.sqrt(left_out / len(seconds))
