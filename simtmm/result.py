"""What a run gives: Result (simulated) and Prediction (modelled). Frozen."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simtmm.timeline import Timeline

WHERE_TIME_GOES = ("issuing", "memory", "barrier", "start", "empty")


@dataclass(frozen=True)
class Result:
    """What a simulation reports (machine rules, section 7).

    ticks: the run's length, launch overheads included. issued: instructions that took a port. transactions:
    chunks listed by them, cache hits included. port_busy: ticks that ports were held, summed over ports. time:
    where the ticks of all core groups went, summed over groups, launch overheads apart; None without a
    breakdown. launch_ticks: the length of each launch, its overhead included. timeline: what each warp did when, if
    that was asked for.
    """

    ticks: int
    issued: int
    transactions: int
    l1_hits: int
    l2_hits: int
    port_busy: int
    time: Mapping[str, int] | None
    launch_ticks: tuple[int, ...]
    ticks_per_cycle: int = 1
    clock_hz: float | None = None
    engine: str = field(default="", compare=False)
    timeline: "Timeline | None" = None

    @property
    def cycles(self) -> float:
        """ticks / ticks_per_cycle."""
        return self.ticks / self.ticks_per_cycle

    @property
    def seconds(self) -> float | None:
        """cycles / clock_hz; None where the machine has no clock."""
        return None if self.clock_hz is None else self.cycles / self.clock_hz

    def to_dict(self) -> dict[str, Any]:
        """All of it but the timeline, for JSON."""
        return {
            "engine": self.engine,
            "ticks": self.ticks,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "issued": self.issued,
            "transactions": self.transactions,
            "l1_hits": self.l1_hits,
            "l2_hits": self.l2_hits,
            "port_busy": self.port_busy,
            "time": None if self.time is None else dict(self.time),
            "launch_ticks": list(self.launch_ticks),
        }


@dataclass(frozen=True)
class Prediction:
    """What a model says of a program on a machine.

    terms: each term's cycles by name, in the model's order. bound: the name of the term that binds. symbols:
    the values that went in, by the papers' letters. source: document and equation.
    """

    model: str
    cycles: float
    bound: str
    terms: Mapping[str, float]
    symbols: Mapping[str, float]
    source: str
    clock_hz: float | None = None

    @property
    def seconds(self) -> float | None:
        """cycles / clock_hz; None where the machine has no clock."""
        return None if self.clock_hz is None else self.cycles / self.clock_hz

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {
            "model": self.model,
            "cycles": self.cycles,
            "seconds": self.seconds,
            "bound": self.bound,
            "terms": dict(self.terms),
            "symbols": dict(self.symbols),
            "source": self.source,
        }
