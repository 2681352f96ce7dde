"""A calibration: values, the measurement of each, how well it is determined, and the resulting machine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simtmm.calibration.latency_levels import Level
from simtmm.calibration.streams.occupancy_curve import OccupancyCurve
from simtmm.files import write_text, written_whole
from simtmm.machine import Machine, machine_toml


@dataclass(frozen=True)
class Value:
    """A calibrated value. key: dotted. error: its standard error from the fit, None where there is none. note: from
    which measurement it came and how. determined: whether the measurements determine it.
    """

    key: str
    value: Any
    unit: str
    measurement: str
    note: str
    determined: bool = True
    error: float | None = None


@dataclass(frozen=True)
class SetErrors:
    """How near a machine comes to a set of measurements.

    kind, called: which set. rows: fitted ones. others: how many were not fitted, by reason.
    before, after: the mean size of log(simulated / measured) on the machine given, and on the one found.
    left_out: the same of rows that a fit had not seen.
    """

    kind: str
    called: str
    rows: int
    others: Mapping[str, int]
    before: float
    after: float
    left_out: float


@dataclass(frozen=True)
class Calibration:
    """A machine from measurements.

    machine: the calibrated machine, to simulate or save.
    values: each calibrated value, with its measurement and whether that determines it.
    levels: the levels of the memory hierarchy in the pointer chase.
    curve: its points over occupancy, None without a stream measurement.
    latency_errors: bytes, measured cycles, and simulated over measured minus 1, of each point of the chase.
    notes: what you must know about it, in words.
    sets: how near it comes to measurements of the hierarchy, before and after (simtmm/calibration/hierarchy).
    """

    machine: Machine
    values: tuple[Value, ...]
    levels: tuple[Level, ...]
    curve: OccupancyCurve | None
    latency_errors: tuple[tuple[float, float, float], ...] = ()
    notes: tuple[str, ...] = field(default=())
    sets: tuple[SetErrors, ...] = ()

    @property
    def undetermined(self) -> tuple[Value, ...]:
        """The values that the measurements do not determine."""
        return tuple(value for value in self.values if not value.determined)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, as one JSON document."""
        return {
            "machine": self.machine.to_dict(),
            "values": [vars(value) for value in self.values],
            "levels": [vars(level) for level in self.levels],
            "ill_determined": [value.key for value in self.undetermined],
            "latency_errors": [
                {"buffer_bytes": size, "measured_cycles": measured, "error": error}
                for size, measured, error in self.latency_errors
            ],
            "stream": None if self.curve is None else self.curve.to_dict(),
            "sets": [{**vars(each), "others": dict(each.others)} for each in self.sets],
            "notes": list(self.notes),
        }

    def save(self, path: str | Path) -> None:
        """Write the machine as TOML with its sources, whole or not at all."""
        with written_whole(path) as temporary:
            write_text(temporary, machine_toml(self.machine))


def with_values(machine: Machine, values: Sequence[Value]) -> Machine:
    """The machine with these values in place of its own, without sources. Raises MachineError."""
    tables = machine.to_dict()
    tables["sources"] = {}
    for value in values:
        *parents, last = value.key.split(".")
        table = tables
        for parent in parents:
            table = table.setdefault(parent, {})
        table[last] = value.value
    return Machine.from_dict(tables, "calibrated machine")


def with_sources(machine: Machine, base: Machine | None, values: Sequence[Value]) -> Machine:
    """The machine with a source for each of the values, and the base's sources for what it has from there."""
    known = machine.values()
    sources = {key: source.model_dump() for key, source in (base.sources if base else {}).items() if key in known}
    for value in values:
        certainty = "assumption" if value.note.startswith("assumption") else "derived"
        error = "" if value.error is None else f"; standard error {value.error:.2g}"
        weak = "" if value.determined else "; ill-determined"
        sources[value.key] = {
            "certainty": certainty, "source": value.measurement, "note": f"{value.note}{error}{weak}"
        }  # fmt: skip
    return Machine.from_dict({**machine.to_dict(), "sources": sources}, "calibrated machine")
