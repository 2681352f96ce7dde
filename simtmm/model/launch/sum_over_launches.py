"""Programs of several launches: a formula is evaluated for each, and the times are added.

The launches of a program run one after another, so a formula for one kernel takes arrays, an element a launch.
"""

from collections.abc import Callable

import numpy as np

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.equations.formula import Evaluation, Floats
from simtmm.result import Prediction
from simtmm.trace.counts import Counts, LaunchCounts


def of_launches(model: str, counts: Counts, value: Callable[[LaunchCounts], float]) -> Floats:
    """A value of each launch. Raises ModelError where a program has work but no launches are known."""
    if not counts.launches and (counts.work or counts.memory_operations):
        raise ModelError(f"{model}: counts without launches: must have at least one (Counts.launches)")
    return np.array([value(launch) for launch in counts.launches], dtype=np.float64)


def over_launches(evaluation: Evaluation, machine: Machine) -> Prediction:
    """The sum over launches, as a Prediction in cycles.

    terms: each summed over launches. bound: the term that binds for most of the time. symbols: those that are the
    same in all launches, and r, how many launches there are.
    """
    terms = {name: np.atleast_1d(term) for name, term in evaluation.terms.items()}
    times = np.atleast_1d(evaluation.total)
    bounds = np.atleast_1d(evaluation.bound)
    bound_for = {name: float(times[bounds == name].sum()) for name in terms}
    symbols = {name: float(value.flat[0]) for name, value in evaluation.values.items() if len(np.unique(value)) == 1}
    return Prediction(
        model=evaluation.formula.name,
        cycles=float(times.sum()),
        bound=max(bound_for, key=lambda name: bound_for[name]),
        terms={name: float(np.broadcast_to(term, times.shape).sum()) for name, term in terms.items()},
        symbols={name: int(value) if value.is_integer() else value for name, value in symbols.items()}
        | {"r": len(times)},
        source=evaluation.formula.source,
        clock_hz=machine.clock_hz,
    )
