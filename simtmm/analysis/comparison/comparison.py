"""Comparison: the times of many programs on many machines, as simulated, modelled and measured, and how they agree.

Each pair of a program and a machine is a case; each way to obtain its time is a series: "simulated", the models,
"calibrated", "measured". One series is the reference that the others are held against.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from simtmm.analysis.comparison.agreement import Agreement as Agreement
from simtmm.analysis.comparison.agreement import ranks
from simtmm.analysis.comparison.case import Absent, Case
from simtmm.display import Displayed, Picture, drawn
from simtmm.engine.causes import (
    ATOMICS,
    BARRIERS,
    ISSUE,
    L2_BANDWIDTH,
    LATENCY,
    MEMORY_BANDWIDTH,
    PORT_BANDWIDTH,
)
from simtmm.extras import frame
from simtmm.measurement.timings import Timing
from simtmm.model import find_model
from simtmm.model.series import MEASURED, SIMULATED

if TYPE_CHECKING:
    import pandas


# What a cause is in the models' words, or a state of the time of a result from before there were causes; the others
# are in none of them.
REGIMES = {
    **dict.fromkeys((MEMORY_BANDWIDTH, L2_BANDWIDTH, PORT_BANDWIDTH, ATOMICS, LATENCY), "memory"),
    ISSUE: "compute",
    BARRIERS: "synchronisation",
    "issuing": "compute",
    "memory": "memory",
    "barrier": "synchronisation",
}

Unit = Literal["s", "cycles"]


@dataclass(frozen=True)
class Comparison(Displayed):
    """Simulated, modelled and measured times of programs on machines, side by side.

    cases: each a program, its parameters and a machine, with the times by series.
    series: "simulated", "measured" and models, in the order of the report.
    reference: the series that the others are compared with.
    absent: the cases without a time, with the reason.
    unmatched: measured times that match no case.
    fits: the calibrated model's constants in cycles, by program and machine, with the number of cases that they were
        fitted to (0: given).
    provenance: versions and the command.
    warnings: the architectures that kernels were compiled for, if not the machine's own.
    """

    cases: tuple[Case, ...]
    series: tuple[str, ...]
    reference: str
    absent: tuple[Absent, ...] = ()
    unmatched: tuple[Timing, ...] = ()
    fits: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Comparison(cases: {len(self.cases)}, {', '.join(self.series)}; against {self.reference})"

    @property
    def failed(self) -> dict[str, str]:
        """Why cases have no time, by program, requested parameters and machine."""
        return {one.where: one.reason for one in self.absent}

    @property
    def unit(self) -> Unit:
        """The unit of times over all machines: seconds, or cycles if a machine has no clock rate."""
        return "s" if all(case.machine.clock_hz is not None for case in self.cases) else "cycles"

    def time(self, case: Case, series: str) -> float | None:
        """In `unit`.

        series: its name, as "simulated" or a model's.
        """
        return case.seconds(series) if self.unit == "s" else case.cycles(series)

    def ratio(self, case: Case, series: str) -> float | None:
        """Time over the reference's; None if either is unknown or not above 0.

        series: its name, as "simulated" or a model's.
        """
        time, reference = case.cycles(series), case.cycles(self.reference)
        return time / reference if time is not None and reference is not None and min(time, reference) > 0 else None

    def pairs(self, series: str) -> list[tuple[Case, float, float]]:
        """(case, the reference's time, the series' time) of the cases that have both, in `unit`.

        series: its name, as "simulated" or a model's.
        """
        found = []
        for case in self.cases:
            if self.ratio(case, series) is not None:
                reference, time = self.time(case, self.reference), self.time(case, series)
                assert reference is not None
                assert time is not None
                found.append((case, reference, time))
        return found

    def agreements(self) -> list[Agreement]:
        """How well each other series agrees with the reference; those without a common case are left out."""
        agreements = (self._agreement(series) for series in self.series if series != self.reference)
        return [agreement for agreement in agreements if agreement is not None]

    def _agreement(self, series: str) -> Agreement | None:
        pairs = self.pairs(series)
        if not pairs:
            return None
        reference, times = (np.array([pair[index] for pair in pairs]) for index in (1, 2))
        ratios = times / reference
        spearman, kendall = ranks(reference, times)
        return Agreement(
            series=series,
            cases=len(pairs),
            geometric_mean=float(np.exp(np.log(ratios).mean())),
            median=float(np.median(ratios)),
            largest=float(ratios[np.abs(np.log(ratios)).argmax()]),
            mean_error=float(np.abs(ratios - 1).mean()),
            spearman=spearman,
            kendall=kendall,
            regimes=None if series == MEASURED or _is_fitted(series) else self._same_regimes(series),
        )

    def _same_regimes(self, series: str) -> tuple[int, int]:
        bounds = [(REGIMES.get(case.bound(SIMULATED) or ""), case.bound(series)) for case in self.cases]
        both = [(one, other) for one, other in bounds if one is not None and other is not None]
        return sum(one == other for one, other in both), len(both)

    def rows(self) -> list[dict[str, Any]]:
        """A row for each case and series, flat, for CSV and other tables; for a case without times, the row says
        why.
        """
        names = list(dict.fromkeys(name for case in self.cases for name in case.parameters))
        names += [
            name for name in dict.fromkeys(name for one in self.absent for name in one.given) if name not in names
        ]
        rows = []
        is_sampled = any(case.sampled for case in self.cases)
        for case in self.cases:
            for series in self.series:
                ratio = self.ratio(case, series)
                if case.seconds(series) is None and case.cycles(series) is None:
                    continue
                rows.append(
                    {
                        "kernel": case.program,
                        "machine": case.machine_name,
                        **{name: case.parameters.get(name) for name in names},
                        "series": series,
                        "cycles": case.cycles(series),
                        "seconds": case.seconds(series),
                        f"of_{self.reference}": ratio,
                        "error_percent": None if ratio is None else 100 * (ratio - 1),
                        **({"half_interval": case.half_interval(series)} if is_sampled else {}),
                        "bound": case.bound(series),
                        "status": "done",
                        "reason": "",
                    }
                )
        for one in self.absent:
            description = {"kernel": one.program, "machine": one.machine_name, **one.given}
            rows.append(
                dict.fromkeys(rows[0] if rows else ()) | description | {"status": one.status, "reason": one.reason}
            )
        return rows

    def to_frame(self) -> "pandas.DataFrame":
        """`rows()`, for pandas. Raises OutputError if pandas is not installed."""
        return frame(self.rows())

    def plot(self, kind: str = "scatter", log: str | None = None) -> Picture:
        """A picture of it.

        kind: "scatter", "curves", "stacks", "roofline" or "ratios", as docs/pictures.md shows them.
        log: which axes are logarithmic, "x", "y", "xy" or "none"; found out if left out.

        Raises OutputError for an unknown kind, where there is nothing to draw, and without matplotlib.
        """
        return drawn(self, kind=kind, log=log)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            "reference": self.reference,
            "series": list(self.series),
            "unit": self.unit,
            "cases": [
                {
                    "kernel": case.program,
                    "parameters": dict(case.parameters),
                    "machine": case.machine_name,
                    "machine_digest": case.machine.digest(),
                    "rule": case.rule or case.machine.scheduling.scheduler,
                    "trace": case.trace,
                    "times": {
                        series: {
                            "cycles": case.cycles(series),
                            "seconds": case.seconds(series),
                            "ratio": self.ratio(case, series),
                            "bound": case.bound(series),
                        }
                        for series in self.series
                        if case.cycles(series) is not None or case.seconds(series) is not None
                    },
                    "where_time_went": dict(case.result.time or {}),
                    "causes": dict(case.causes),
                    "errors": dict(case.errors),
                    "sampled": dict(case.sampled) if case.sampled else None,
                }
                for case in self.cases
            ],
            "agreement": [agreement.to_dict() for agreement in self.agreements()],
            "calibrated": {name: dict(fit) for name, fit in self.fits.items()},
            "failed": self.failed,
            "absent": [
                {
                    "kernel": one.program,
                    "parameters": dict(one.given),
                    "machine": one.machine_name,
                    "status": one.status,
                    "reason": one.reason,
                }
                for one in self.absent
            ],
            "warnings": list(self.warnings),
            "unmatched": [measured.to_dict() for measured in self.unmatched],
            "provenance": dict(self.provenance),
        }


def _is_fitted(series: str) -> bool:
    """Whether it is a line through times: its terms say nothing of what binds."""
    return series != SIMULATED and bool(find_model(series).constants)
