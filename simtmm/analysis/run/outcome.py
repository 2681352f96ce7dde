"""What a run gives: the simulation's result, the models' predictions beside it, and what binds it."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.analysis.accesses import Access
from simtmm.analysis.host import HostFound
from simtmm.analysis.source_changes import Advice
from simtmm.analysis.units import Unit, units
from simtmm.analysis.verdict import Verdict
from simtmm.display import Displayed, Picture, drawn
from simtmm.errors import OutputError, escaped, shown
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.model.latency_hiding import Hiding
from simtmm.model.launch.occupancy import Occupancy, occupancy
from simtmm.model.series import SIMULATED
from simtmm.result import Prediction, Result
from simtmm.timeline import Blocks
from simtmm.trace.counts import Counts
from simtmm.trace.info import TraceInfo
from simtmm.trace.sampled_blocks import Sampling
from simtmm.trace.schedule import Schedule

if TYPE_CHECKING:
    import pandas

    from simtmm.analysis.nsight.beside import Beside
    from simtmm.sampling.outcome import Sampled

FORMAT = "simtmm.run/1"  # of a run's document, and its version (simtmm.report.run_document)


@dataclass(frozen=True)
class Run(Displayed):
    """The result of a run. Without a trace (if a workload was given) there are no counts and predictions.

    program, parameters, machine: the input.
    result: the simulation's result.
    counts: work, span and memory operations, the models' input.
    predictions: each model's prediction, by its name.
    hiding: how much of the latency the program's threads can hide.
    verdict: what binds the run, where, and what would help.
    advice: what a programmer could change, as simulated, the greatest gain first; empty if nothing was tried.
    beside_the_model: why the TMM's time differs, in words.
    provenance: versions, digests and the command.
    occupancies: each distinct occupancy of the launches with the number of launches that have it.
    sampling: which blocks the trace has, if not all.
    warnings: what the trace lacks, in words.
    compared: whether such a result was ever compared with hardware, in words.
    assumptions: unknown values of the machine that decide the result, in words.
    schedules: the kinds of instructions of a compiled program's kernels.
    sources: the lines of the program's files, by the names in its places, if the kernels were recorded in this run.
    info: the trace's metadata, if there is a trace.
    blocks: the block of each warp, if there is a timeline.
    sampled: the interval of the time, if the result is extrapolated from a sample.
    accesses: how each line accesses each array, and how it could at best, the hottest first.
    below: lower bounds that the result violates, in words: each is a fault of simtmm.
    host: what the calls of a program's host code take, and what to change there; None of what is no CUDA program.
    whole_seconds: the time with all blocks [s], where the trace has only the first ones of some launches; else None.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    result: Result
    counts: Counts | None
    occupancies: tuple[tuple[Occupancy, int], ...]
    predictions: Mapping[str, Prediction]
    hiding: Hiding | None
    verdict: Verdict
    beside_the_model: str = ""
    compared: str = ""
    assumptions: tuple[str, ...] = ()
    provenance: Mapping[str, Any] = field(default_factory=dict)
    sampling: Sampling | None = None
    warnings: tuple[str, ...] = ()
    schedules: tuple[Schedule, ...] = ()
    sources: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    info: TraceInfo | None = None
    blocks: Blocks | None = None
    sampled: "Sampled | None" = None
    below: tuple[str, ...] = ()
    whole_seconds: float | None = None
    advice: tuple[Advice, ...] = ()
    accesses: tuple[Access, ...] = ()
    host: HostFound | None = None

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of simtmm while its kernels were recorded or simulated, in words, as in the warnings."""
        return (*self.below, *(schedule.fault for schedule in self.schedules if schedule.fault))

    @property
    def graph(self) -> Mapping[str, Any] | None:
        """The user's graph that the kernel ran on: its sizes, degrees and diameter; None without one."""
        recorded = self.info.provenance.get("graph") if self.info else None
        return recorded if isinstance(recorded, dict) else None

    @cached_property
    def units(self) -> tuple[Unit, ...]:
        """How busy the machine's units were, and their throughput compared with the maximum."""
        return units(self.machine, self.result, self.counts)

    def kernels_with(self, entry: Occupancy) -> tuple[str, ...]:
        """The distinct kernels of the launches with this occupancy, in the order of the launches.

        entry: one of `occupancies`.
        """
        launches = self.info.launches if self.info else ()
        return tuple(dict.fromkeys(each.kernel for each in launches if occupancy(self.machine, each) == entry))

    def __repr__(self) -> str:
        return escaped(f"Run({self.program} on {self.machine.name}: {self.result.cycles:,.8g} cycles)")

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each series, the simulation's and each model's, for pandas: the time, its ratio to the simulated
        time, and what binds.

        Raises OutputError if pandas is not installed.
        """
        result = self.result
        whole = result.cycles or None
        rows: list[dict[str, Any]] = [
            {"series": SIMULATED, "cycles": result.cycles, "seconds": result.seconds, "bound": self.verdict.cause}
        ]
        rows += [
            {"series": name, "cycles": prediction.cycles, "seconds": prediction.seconds, "bound": prediction.bound}
            for name, prediction in self.predictions.items()
        ]
        return frame([{**row, "of_simulated": whole and row["cycles"] / whole} for row in rows])

    def beside(self, *files: str | Path, keep_row: str | Path | None = None) -> "Beside":
        """The run compared with what a profiler measured of the same launches: `simtmm run --nsight` as a method.

        files: CSV files of ncu (pages raw, details, source) or nsys stats (docs/counters.md).
        keep_row: a CSV file that gets a row for each quantity of each launch, to send to us.

        Raises StudyError for a file that can't be understood, or where nothing in it is of this run; OutputError.
        """
        from simtmm.analysis.nsight import beside, opened_profile
        from simtmm.analysis.nsight.rows import keep_rows

        if keep_row is not None and Path(keep_row).suffix != ".csv":
            raise OutputError(f"keep_row = {shown(keep_row)}: must end in .csv")
        found = beside(self, opened_profile(files))
        if keep_row is not None:
            keep_rows(keep_row, self, found)
        return found

    def plot(self) -> Picture:
        """A picture of the simulated time and the models' times. Raises OutputError if matplotlib is not installed."""
        return drawn(self)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        machine = self.machine
        return {
            "format": FORMAT,
            "program": self.program,
            "parameters": dict(self.parameters),
            **({"graph": dict(self.graph)} if self.graph else {}),
            "sampling": None
            if self.sampling is None
            else self.sampling.to_dict()
            | ({} if self.whole_seconds is None else {"whole_seconds": self.whole_seconds}),
            "sampled": self.sampled.to_dict() if self.sampled else None,
            "faults": list(self.faults),
            "warnings": list(self.warnings),
            "schedules": [schedule.to_dict() for schedule in self.schedules],
            "machine": {"name": machine.name, "processors": machine.processors, **machine.to_dict()},
            "counts": self.counts.to_dict() if self.counts else None,
            "occupancy": [{"launches": launches, **entry.to_dict()} for entry, launches in self.occupancies],
            "simulated": self.result.to_dict(),
            "predictions": {name: prediction.to_dict() for name, prediction in self.predictions.items()},
            "hiding": {**dataclasses.asdict(self.hiding), "limit": self.hiding.limit} if self.hiding else None,
            "verdict": self.verdict.words,
            "bound": self.verdict.to_dict(),
            "advice": [{**dataclasses.asdict(each), "where": each.where} for each in self.advice],
            "accesses": [{**dataclasses.asdict(each), "used": each.used} for each in self.accesses],
            **({"host": self.host.to_dict()} if self.host else {}),
            "beside_the_model": self.beside_the_model,
            "units": [dataclasses.asdict(unit) for unit in self.units],
            "stalls": _stalls(self.result),
            "compared": self.compared,
            "assumptions": list(self.assumptions),
            "provenance": dict(self.provenance),
        }


def _stalls(result: Result) -> dict[str, Any] | None:
    """What warps' ticks went into and what was counted: by reason, place, array and launch."""
    stalls = result.stalls
    if stalls is None:
        return None
    rows = {"places": result.sites, "arrays": result.arrays, "launches": result.launches}
    return {"reasons": dict(stalls.reasons), **rows}
