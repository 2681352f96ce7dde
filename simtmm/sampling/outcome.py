"""What came of a sample: a program's time with its interval, as if all of it had been simulated."""

from dataclasses import dataclass
from typing import Any

from simtmm.result import Result
from simtmm.sampling.simulation import SimulatedSample
from simtmm.trace.counts import Counts
from simtmm.trace.info import TraceInfo


@dataclass(frozen=True)
class Sampled:
    """What a program takes, by a sample of it.

    result, counts: as if all of it had been simulated and counted, extrapolated where it was not.
    error: half of the interval in which its time lies, 95 % of the time, as a part of the time; 0 where all was
        simulated. asked: the half that was requested.
    blocks, launches: of the program; simulated_blocks, simulated_launches: of these. rounds: samples that were taken.
    info: of a trace of the whole program, but for its events. sample: what was simulated, as it was. notes: what a
        reader must know, in words.
    counts_error: half of the interval in which the program's work lies, 95 % of the time, as a part of it.
    """

    result: Result
    counts: Counts
    error: float
    asked: float
    blocks: int
    simulated_blocks: int
    launches: int
    simulated_launches: int
    rounds: int
    info: TraceInfo
    sample: SimulatedSample
    notes: tuple[str, ...] = ()
    counts_error: float = 0.0

    @property
    def words(self) -> str:
        """Of how much it was simulated."""
        if self.simulated_blocks == self.blocks:
            return f"all {self.blocks:,} blocks were simulated"
        launches = f", in {self.simulated_launches:,} of {self.launches:,} launches" if self.launches > 1 else ""
        return f"of {self.blocks:,} blocks {self.simulated_blocks:,} were simulated{launches}"

    def _interval(self, time: float) -> list[float]:
        return [time * max(0.0, 1 - self.error), time * (1 + self.error)]

    def to_dict(self) -> dict[str, Any]:
        """All of it but result, counts, info and sample, for JSON."""
        seconds = self.result.seconds
        return {
            "error": self.error,
            "asked": self.asked,
            "counts_error": self.counts_error,
            "confidence": 0.95,
            "cycles": self._interval(self.result.cycles),
            "seconds": None if seconds is None else self._interval(seconds),
            "blocks": self.blocks,
            "simulated_blocks": self.simulated_blocks,
            "launches": self.launches,
            "simulated_launches": self.simulated_launches,
            "rounds": self.rounds,
            "notes": list(self.notes),
        }
