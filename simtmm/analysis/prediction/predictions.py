"""Predictions: the models' times of a program on a machine, compared with a measured time if there is one."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed, Picture, drawn
from simtmm.errors import escaped
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.model.algorithms.regimes import Regime
from simtmm.model.algorithms.speedup import Speedup
from simtmm.model.departure import MeasuredDeparture, measured_departure
from simtmm.model.latency_hiding import Hiding
from simtmm.model.launch.occupancy import ForcedBlocks
from simtmm.provenance import provenance
from simtmm.result import Prediction
from simtmm.sampling.outcome import Sampled
from simtmm.trace.sampled_blocks import Sampling

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class Predictions(Displayed):
    """The models' predictions for a program on a machine.

    program, parameters, machine: the input.
    predictions: the predictions by model.
    algorithm: the papers' algorithm that the kernel follows, if any.
    closed_form: predictions for that algorithm from its symbols; empty if these are outside its domain.
    no_closed_form: why they are outside.
    regimes: what binds along a symbol, by the TMM.
    formulas: LaTeX by model, generated when called.
    sampling: which blocks the trace has, if not all.
    warnings: what the trace lacks, in words.
    hiding: the threads per core that hide the latency.
    speedup: an algorithm's speedup.
    departed: the distance of the predictions from a measured time.
    forced: the active blocks, if given.
    sampled: the sample that the counts are extrapolated from, and their interval; None if all was counted.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    predictions: Mapping[str, Prediction]
    algorithm: str | None = None
    closed_form: Mapping[str, Prediction] = field(default_factory=dict)
    no_closed_form: str | None = None
    regimes: Mapping[str, list[Regime]] = field(default_factory=dict)
    formulas: Callable[[], dict[str, str]] = field(default=dict, compare=False)
    sampling: Sampling | None = None
    warnings: tuple[str, ...] = ()
    hiding: Hiding | None = None
    speedup: Speedup | None = None
    departed: MeasuredDeparture | None = None
    forced: ForcedBlocks | None = None
    sampled: Sampled | None = None

    def beside(self, seconds: float, factor: float) -> "Predictions":
        """The same with a measured time. Raises the ModelError of `simtmm.model.departure.measured_departure`.

        seconds: the measured time.
        factor: how many times its predicted time is worth looking into.
        """
        closed = {f"{model}, closed form": prediction for model, prediction in self.closed_form.items()}
        return dataclasses.replace(self, departed=measured_departure({**self.predictions, **closed}, seconds, factor))

    def __repr__(self) -> str:
        number = len(self.of_each_form)
        told = f"Predictions({self.program} on {self.machine.name}: {number} prediction{'s' * (number != 1)})"
        return escaped(told)

    @property
    def of_each_form(self) -> dict[tuple[str, bool], Prediction]:
        """All predictions, by model and whether they are closed forms of the kernel's algorithm."""
        counted = {(model, False): prediction for model, prediction in self.predictions.items()}
        return counted | {(model, True): prediction for model, prediction in self.closed_form.items()}

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each prediction, for pandas: time, what binds, each term [cycles], and the source.

        Raises OutputError if pandas is not installed.
        """
        rows: list[dict[str, Any]] = []
        for (model, closed), prediction in self.of_each_form.items():
            row = {"model": model, "closed_form": closed, "cycles": prediction.cycles, "seconds": prediction.seconds}
            terms = {f"terms.{name}": cycles for name, cycles in prediction.terms.items()}
            rows.append({**row, "bound": prediction.bound, **terms, "source": prediction.source})
        return frame(rows)

    def plot(self) -> Picture:
        """A picture of the times of all models. Raises OutputError if matplotlib is not installed."""
        return drawn(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            "program": self.program,
            "parameters": dict(self.parameters),
            "sampling": self.sampling.to_dict() if self.sampling else None,
            "sampled": self.sampled.to_dict() if self.sampled else None,
            "warnings": list(self.warnings),
            "machine": {"name": self.machine.name, "processors": self.machine.processors, **self.machine.to_dict()},
            "predictions": {name: prediction.to_dict() for name, prediction in self.predictions.items()},
            "algorithm": self.algorithm,
            "closed_form": {name: prediction.to_dict() for name, prediction in self.closed_form.items()},
            "no_closed_form": self.no_closed_form,
            "hiding": {**dataclasses.asdict(self.hiding), "limit": self.hiding.limit} if self.hiding else None,
            "speedup": self.speedup.to_dict() if self.speedup else None,
            "forced": self.forced.to_dict() if self.forced else None,
            "measured": self.departed.to_dict() if self.departed else None,
            "regimes": {
                over: [
                    {
                        "bound": regime.bound,
                        "start": regime.start,
                        "stop": regime.stop,
                        "begins": None if regime.begins is None else str(regime.begins),
                    }
                    for regime in found
                ]
                for over, found in self.regimes.items()
            },
            "provenance": {**provenance(), "machine": self.machine.digest()},
        }
