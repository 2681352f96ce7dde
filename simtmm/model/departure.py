"""Which measured times depart from a model, so that their cause can be looked for.

Source: Ma, dissertation (2014), section 6.4: a run that took four times its predicted time gave away that the number
of active blocks mattered, and claiming more shared memory mended it (occupancy.shared_memory_for).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.errors import ModelError
from simtmm.model.formula import Floats, Symbol

MEASURED = Symbol("measured", "measured time", above=True)
PREDICTED = Symbol("predicted", "predicted time", above=True)
FACTOR = Symbol("factor", "measured over predicted time, or the inverse, up to which they agree", minimum=1)


@dataclass(frozen=True)
class Departures:
    """ratio: measured over predicted time. departs: whether that is above the factor or below its inverse."""

    ratio: Floats
    departs: npt.NDArray[np.bool_]


def departures(measured: npt.ArrayLike, predicted: npt.ArrayLike, factor: float) -> Departures:
    """Where measured and predicted times, in one unit, differ by more than a factor.

    The arrays broadcast. Raises ModelError for times that are not above 0, shapes that do not fit, a factor below 1.
    """
    most = float(FACTOR.check("departures", factor))
    times, model = MEASURED.check("departures", measured), PREDICTED.check("departures", predicted)
    try:
        ratio = np.asarray(times / model)
    except ValueError:
        raise ModelError(
            f"departures: measured has the shape {times.shape}, predicted {model.shape}: must be the same"
        ) from None
    return Departures(ratio, np.asarray((ratio > most) | (ratio < 1 / most)))
