"""Which measured times disagree with a model, so that their cause can be looked for.

Source: Ma, dissertation (2014), section 6.4: a run that took four times its predicted time gave away that the number
of active blocks mattered, and claiming more shared memory fixed it (occupancy.shared_memory_for).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError
from simtmm.model.equations.formula import Floats, Symbol
from simtmm.result import Prediction

DEFAULT_FACTOR = 2.0  # up to which a prediction agrees, where none is given

MEASURED_TIME = Symbol("measured", "measured time", above=True)
PREDICTED_TIME = Symbol("predicted", "predicted time", above=True)
LARGEST_RATIO = Symbol("factor", "measured over predicted time, or the inverse, up to which they agree", minimum=1)


@dataclass(frozen=True)
class Departures:
    """ratio: measured over predicted time. departs: whether that is above the factor or below its inverse."""

    ratio: Floats
    departs: npt.NDArray[np.bool_]


def departures(measured: npt.ArrayLike, predicted: npt.ArrayLike, factor: float) -> Departures:
    """Where measured and predicted times, in one unit, differ by more than a factor.

    The arrays broadcast. Raises ModelError for times that are not above 0, shapes that do not fit, a factor below 1.
    """
    most = float(LARGEST_RATIO.check("departures", factor))
    times, model = MEASURED_TIME.check("departures", measured), PREDICTED_TIME.check("departures", predicted)
    try:
        ratio = np.asarray(times / model)
    except ValueError:
        raise ModelError(
            f"departures: measured has the shape {times.shape}, predicted {model.shape}: must be the same"
        ) from None
    return Departures(ratio, np.asarray((ratio > most) | (ratio < 1 / most)))


@dataclass(frozen=True)
class MeasuredDeparture:
    """Which predictions one measured time disagrees with.

    seconds: measured [s].
    factor: up to which a prediction agrees.
    ratios: measured over predicted time, by model.
    departing: the models whose time differs from it by more than the factor, either way.
    """

    seconds: float
    factor: float
    ratios: Mapping[str, float]
    departing: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "seconds": self.seconds,
            "factor": self.factor,
            "ratios": dict(self.ratios),
            "departing": list(self.departing),
        }


def measured_departure(
    predictions: Mapping[str, Prediction], seconds: float, factor: float = DEFAULT_FACTOR
) -> MeasuredDeparture:
    """Section 6.4 of the dissertation: what takes several times its predicted time is worth looking into.

    Predictions of no time are left out. Raises ModelError for a time or factor outside its domain, and for predictions
    without seconds, whose machine has no clock.

    predictions: by the model's name.
    seconds: the measured time.
    factor: how many times its predicted time is worth looking into.
    """
    times = {}
    for name, prediction in predictions.items():
        if prediction.seconds is None:
            raise ModelError("measured time: the machine has no clock_hz, so predictions have cycles only")
        if prediction.seconds > 0:
            times[name] = prediction.seconds
    found = departures(seconds, list(times.values()), factor)
    ratios = dict(zip(times, found.ratio.tolist(), strict=True))
    departing = tuple(name for name, departs in zip(times, found.departs.tolist(), strict=True) if departs)
    return MeasuredDeparture(seconds, factor, ratios, departing)
