"""A measured time to compare with the models' predictions for one program: in seconds, or from a file."""

import math
from dataclasses import dataclass
from pathlib import Path

from simtmm.analysis.prediction.predictions import Predictions
from simtmm.errors import ModelError
from simtmm.measurement.timings import Timing, load_timings, matching
from simtmm.model.departure import DEFAULT_FACTOR


@dataclass(frozen=True)
class MeasuredTime:
    """One measured time. given: in the caller's words. seconds: None where it is one of `timings`."""

    given: str
    seconds: float | None
    timings: tuple[Timing, ...] = ()

    def beside(self, prediction: Predictions, machine: str, factor: float | None = None) -> Predictions:
        """A prediction with the time beside it.

        machine: the name or file that the machine was chosen by, which timings may name as well as the machine's own.
        factor: up to which both agree; 2 if left out.

        Raises ModelError where there is not exactly one time of this program on this machine, and for a factor below 1.
        """
        seconds = self._seconds(prediction, machine) if self.seconds is None else self.seconds
        return prediction.beside(seconds, DEFAULT_FACTOR if factor is None else factor)

    def _seconds(self, prediction: Predictions, machine: str) -> float:
        names = {prediction.machine.name, Path(machine).stem}
        found = matching([*self.timings], prediction.program, prediction.parameters, names)
        if len(found) != 1:
            what = f"{prediction.program} with these parameters on {' or '.join(sorted(names))}"
            raise ModelError(f"--measured {self.given}: must have one time of {what}, but has {len(found)}")
        return self.timings[found[0]].seconds


def measured_time(given: str | None, seconds_only: bool = False) -> MeasuredTime | None:
    """The measured time that a caller means by seconds, by a file of times, or by the name of the papers'.

    seconds_only: whether files and names are refused, as of an algorithm, which no file names.
    given: a number of seconds, a file, or a name; None if none was given.

    Raises ModelError, and the errors of the file.
    """
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        if seconds_only:
            what = f"--measured {given}: must be a number of seconds above 0 for an algorithm"
            raise ModelError(what) from None
        return MeasuredTime(given, None, tuple(load_timings(given)))
    if not 0 < seconds < math.inf:
        raise ModelError(f"--measured {given}: must be a number of seconds above 0")
    return MeasuredTime(given, seconds)


def check_factor(factor: float | None, measured: str | None) -> None:
    """Raise ModelError for a factor without a measured time.

    factor: how many times its predicted time is worth looking into; None if not given.
    measured: as it was given, None if it was not.
    """
    if factor is not None and measured is None:
        raise ModelError("--factor: needs --measured, the time that it is for")
