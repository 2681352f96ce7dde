"""One of two runs that are compared: read from its saved JSON document, or from the document that it would be saved
as.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import floor, isfinite
from pathlib import Path
from typing import Any

from simtmm.documents import read_json
from simtmm.errors import SavedRunError, shown, shown_error
from simtmm.provenance import VERSION
from simtmm.stalls import REASONS, Place
from simtmm.workload import LARGEST

NEEDED = ("program", "parameters", "machine", "simulated", "verdict", "stalls", "provenance")
MOST_CHANGES = 8  # keys of a machine that are listed


@dataclass(frozen=True)
class Row:
    """Warps' ticks at a line and an array for a reason."""

    place: Place
    array: str
    reason: str
    ticks: int


@dataclass(frozen=True)
class Side:
    """A run. origin: what it came from. parameters: of the program. machine: its name; tables: its values by key.

    overhead: cycles of the launches' overheads. empty: the part of the time for which core groups have no block.
    verdict: in words. warnings: what the trace does not hold, in words.
    rows: what its warps' ticks went into; a place is a line, or what happens where there is no source.
    """

    origin: str
    program: str
    parameters: Mapping[str, Any]
    machine: str
    tables: Mapping[str, Any]
    clock_hz: float | None
    ticks_per_cycle: int
    cycles: Fraction
    overhead: Fraction
    empty: float | None
    verdict: str
    warnings: tuple[str, ...]
    rows: tuple[Row, ...]

    @property
    def name(self) -> str:
        """Program, parameters and machine."""
        parameters = ", ".join(f"{key}={value}" for key, value in self.parameters.items())
        return f"{self.program}{f' ({parameters})' if parameters else ''} on {self.machine}"

    @property
    def seconds(self) -> Fraction | None:
        """None if the machine has no clock rate."""
        return None if self.clock_hz is None else self.cycles / Fraction(self.clock_hz)

    @property
    def lines(self) -> dict[Place, None]:
        """The lines that have any ticks, each once."""
        return dict.fromkeys(row.place for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """What names it, and its times, for JSON."""
        return {
            "origin": self.origin,
            "program": self.program,
            "parameters": dict(self.parameters),
            "machine": self.machine,
            "cycles": float(self.cycles),
            "seconds": None if self.seconds is None else float(self.seconds),
            "verdict": self.verdict,
            "warnings": list(self.warnings),
        }

    @classmethod
    def of(cls, document: Mapping[str, Any], origin: str) -> "Side":
        """From the JSON document of a run (`Run.to_dict`).

        document: as JSON has it.

        Raises SavedRunError.
        """
        for key in NEEDED:
            if not isinstance(document, Mapping) or key not in document:
                raise SavedRunError(f"{origin}: is not the output of `simtmm run --json`: {key} is missing")
        if document["stalls"] is None:
            raise SavedRunError(f"{origin}: has no stalls, so it does not say why warps wait: run it again")
        try:
            version = document["provenance"]["simtmm"]
            if version != VERSION:
                raise SavedRunError(
                    f"{origin}: was written by simtmm {shown(version)}, this is {VERSION}: run it again"
                )
            side = cls._read(document, origin)
            side.to_dict()  # times that no float holds are found here
            return side
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            what = f"{error} is missing" if isinstance(error, KeyError) else shown_error(error)
            raise SavedRunError(f"{origin}: is damaged: {what}") from None

    @classmethod
    def _read(cls, document: Mapping[str, Any], origin: str) -> "Side":
        simulated, machine = document["simulated"], dict(document["machine"])
        per_cycle = _whole("ticks_per_cycle", machine["ticks_per_cycle"], 1)
        clock = machine.get("clock_hz")
        if clock is not None and not (_is_number(clock) and clock > 0):
            raise ValueError(f"clock_hz = {shown(clock)}: must be a number above 0")
        ticks = _whole("ticks", simulated["ticks"])
        scheduling = machine["scheduling"]
        each, node, first = (
            floor((value or 0) * float(per_cycle) + 0.5)
            for value in (
                scheduling.get("launch_overhead"),
                scheduling.get("graph_launch_overhead", scheduling.get("launch_overhead")),
                scheduling.get("first_launch"),
            )
        )
        launches = len(simulated["launch_ticks"])
        in_graph = _whole("launches_in_graph", simulated.get("launches_in_graph", 0))
        of_launches = each * (launches - in_graph) + node * in_graph + (first if launches else 0)
        if not 0 <= of_launches <= ticks:
            raise ValueError(f"launches' overheads of {of_launches} ticks: must be within the run's {ticks}")
        time = simulated.get("time")
        rows = _rows(document["stalls"]["places"])
        reasons = document["stalls"]["reasons"]
        found: dict[str, int] = defaultdict(int)
        for row in rows:
            found[row.reason] += row.ticks
        if set(reasons) != set(REASONS) or any(found[reason] != reasons[reason] for reason in REASONS):
            raise ValueError("stalls: places and reasons must agree")
        whole = sum(time.values()) if time else 0
        return cls(
            origin=origin,
            program=str(document["program"]),
            parameters=dict(document["parameters"]),
            machine=str(machine["name"]),
            tables=_flat(machine),
            clock_hz=None if clock is None else float(clock),
            ticks_per_cycle=per_cycle,
            cycles=Fraction(ticks, per_cycle),
            overhead=Fraction(of_launches, per_cycle),
            empty=time["empty"] / whole if whole else None,
            verdict=str(document["verdict"]),
            warnings=tuple(str(each) for each in document.get("warnings") or ()),
            rows=rows,
        )


def load_document(path: str | Path) -> Any:
    """The JSON document in a file. Raises SavedRunError."""
    return read_json(path, SavedRunError)


def changed_keys(a: Side, b: Side) -> dict[str, tuple[Any, Any]]:
    """Values in which parameters and machines differ, by key; a machine's only where few of them do.

    a, b: the runs.
    """
    keys = [key for key in (*a.parameters, *b.parameters) if a.parameters.get(key) != b.parameters.get(key)]
    parameters = {key: (a.parameters.get(key), b.parameters.get(key)) for key in keys} if a.program == b.program else {}
    keys = list(dict.fromkeys(key for key in (*a.tables, *b.tables) if a.tables.get(key) != b.tables.get(key)))
    of_machine = {key: (a.tables.get(key), b.tables.get(key)) for key in keys}
    return parameters | (of_machine if len(keys) <= MOST_CHANGES else {})


def _rows(places: list[Mapping[str, Any]]) -> tuple[Row, ...]:
    totals: dict[tuple[Place, str, str], int] = defaultdict(int)
    sources: dict[tuple[str, int], str] = {}
    for row in places:
        line = _whole("line", row["line"])
        file = str(row["file"]) if line else ""
        source = sources.setdefault((file, line), str(row["source"])) if line else ""
        place = Place("" if line else str(row["kind"]), file, line, source)
        for reason in REASONS:
            ticks = _whole(reason, row[reason])
            if ticks:
                totals[place, str(row["array"]), reason] += ticks
    return tuple(Row(*key, ticks) for key, ticks in totals.items())


def _flat(table: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """A machine's values by dotted key, without what says nothing of how it works."""
    flat: dict[str, Any] = {}
    for key, value in table.items():
        if not before and key in ("name", "processors", "description", "sources", "changes", "family"):
            continue
        flat |= _flat(value, f"{before}{key}.") if isinstance(value, Mapping) else {f"{before}{key}": value}
    return flat


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _whole(key: str, value: Any, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= LARGEST:
        raise ValueError(f"{key} = {shown(value)}: must be a whole number from {least} to 2^63 - 1")
    return value
