"""A case of a comparison: a program on a machine, with its times by simulation, models and measurement; or why not."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from simtmm.machine import Machine
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.result import Prediction, Result
from simtmm.trace.counts import Counts


@dataclass(frozen=True)
class Case:
    """A program on a machine.

    given: the requested parameters, a part of `parameters`. machine_name: as it was requested. errors: why a
    model says nothing, by model. causes: the part of the simulated time that each accounts for. algorithm: the papers'
    one that the program follows, if it does. rule: that schedules, where it is a user's own. measured_on: the names
    under which the machine may have been measured. sampled: error of the time and of the counts, and of how much it was
    simulated, where a sample was.
    """

    program: str
    given: Mapping[str, Any]
    parameters: Mapping[str, Any]
    machine_name: str
    machine: Machine
    result: Result
    counts: Counts
    predictions: Mapping[str, Prediction]
    measured_seconds: float | None = None
    errors: Mapping[str, str] = field(default_factory=dict)
    trace: str = ""
    causes: Mapping[str, float] = field(default_factory=dict)
    algorithm: str = ""
    rule: str = ""
    measured_on: tuple[str, ...] = ()
    sampled: Mapping[str, Any] | None = None

    @property
    def label(self) -> str:
        """The program and the requested parameters."""
        return _label(self.program, self.given)

    def cycles(self, series: str) -> float | None:
        """The time that a series tells; None where it tells none, and for measured ones without a clock.

        series: its name, as "simulated" or a model's.
        """
        if series == SIMULATED:
            return self.result.cycles
        if series == MEASURED:
            clock = self.machine.clock_hz
            return None if self.measured_seconds is None or clock is None else self.measured_seconds * clock
        return self.predictions[series].cycles if series in self.predictions else None

    def seconds(self, series: str) -> float | None:
        """The same in seconds; None without a clock, except for measured ones.

        series: its name, as "simulated" or a model's.
        """
        if series == MEASURED:
            return self.measured_seconds
        cycles, clock = self.cycles(series), self.machine.clock_hz
        return None if cycles is None or clock is None else cycles / clock

    def half_interval(self, series: str) -> float | None:
        """Half of the interval in which a sampled time lies, as a part of it; None of what was simulated whole, and of
        other series.

        series: its name, as "simulated" or a model's.
        """
        return float(self.sampled["error"]) if self.sampled and series == SIMULATED else None

    def bound(self, series: str) -> str | None:
        """What a series says binds: a model's term, or the cause that most of the simulated time goes to.

        series: its name, as "simulated" or a model's.
        """
        if series == SIMULATED:
            if any(self.causes.values()):
                return max(self.causes, key=lambda name: self.causes[name])
            time = self.result.time
            if not time or not any(time.values()):
                return None
            return max(time, key=lambda name: time[name])
        return self.predictions[series].bound if series in self.predictions else None


@dataclass(frozen=True)
class Absent:
    """A case of which there is no time.

    status: "skipped" where the machine can't hold it, "failed" where something went wrong, "open" where it has not been
    run yet. reason: in one line.
    """

    program: str
    given: Mapping[str, Any]
    machine_name: str
    status: Literal["skipped", "failed", "open"]
    reason: str

    @property
    def label(self) -> str:
        """The program and the requested parameters."""
        return _label(self.program, self.given)

    @property
    def where(self) -> str:
        """The program, the requested parameters, and the machine."""
        return ", ".join([self.program, *(f"{key}={value}" for key, value in self.given.items()), self.machine_name])


def _label(program: str, given: Mapping[str, Any]) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in given.items())
    return f"{program} ({parameters})" if parameters else program
