"""A measured time beside predictions: which of them it departs from."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.errors import ModelError
from simtmm.model.departure import departures
from simtmm.result import Prediction

FACTOR = 2.0  # where none is given


@dataclass(frozen=True)
class Departed:
    """seconds: measured. factor: up to which a prediction agrees. ratios: measured over predicted time, by model.
    departing: the models whose time it departs from by more than the factor, either way.
    """

    seconds: float
    factor: float
    ratios: Mapping[str, float]
    departing: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "seconds": self.seconds,
            "factor": self.factor,
            "ratios": dict(self.ratios),
            "departing": list(self.departing),
        }


def departed(predictions: Mapping[str, Prediction], seconds: float, factor: float = FACTOR) -> Departed:
    """Section 6.4 of the dissertation: what takes several times its predicted time is worth looking into.

    Predictions of no time are left out. Raises ModelError for a time or factor outside its domain, and for predictions
    without seconds, whose machine has no clock.
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
    return Departed(seconds, factor, ratios, departing)
