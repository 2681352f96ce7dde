"""Study: the points of a study with what is known of each, in the study's order; as a table, a frame, a file."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np
import pyarrow as pa

from simtmm.errors import OutputError, StudyError
from simtmm.files import written_whole
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.provenance import provenance
from simtmm.study.axes import Value
from simtmm.study.columns import Column, Columns
from simtmm.study.layout import Layout
from simtmm.study.plan import Plan, Point
from simtmm.study.store.store import Documents, Store

if TYPE_CHECKING:
    import pandas

FORMATS = (".parquet", ".csv")
LEFT_OUT = ("engine", "model", "source", "symbols", "launch_ticks", "origin")  # of results, in tables
Status = Literal["done", "skipped", "failed", "open"]


class Known(Protocol):
    """What is known of a study's points, whatever they are kept in: a Study, or a Sheet."""

    @property
    def plan(self) -> Layout:
        """What was asked for."""
        ...

    def __len__(self) -> int: ...

    def number(self, status: Status) -> int:
        """How many points have that status."""
        ...

    def reasons(self, status: Status) -> Counter[str]:
        """How many points have that status for which reason."""
        ...

    def columns(self) -> Columns:
        """Times, what binds, and terms, as arrays."""
        ...

    def to_table(self) -> pa.Table:
        """An Arrow table, a row a point: axes, status, and the numbers of each quantity's result."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        ...


@dataclass(frozen=True)
class Row:
    """A point and what came of it. reason: why it was skipped, or what failed. results: documents by quantity.

    status: "open" is a point that nobody has computed yet.
    """

    point: Point
    status: Status
    reason: str
    results: Documents

    def cycles(self, quantity: str) -> float | None:
        """The time by a simulation, a model or a measurement; None where there is none."""
        found = self.results.get(quantity, {}).get("cycles")
        return None if found is None else float(found)

    def bound(self, quantity: str) -> str | None:
        """What binds: a model's largest term, or where most of a simulation's time goes."""
        document = self.results.get(quantity)
        if document is None or quantity == MEASURED:
            return None
        if quantity != SIMULATED:
            return str(document["bound"])
        time = document["time"]
        return max(time, key=time.__getitem__) if time and any(time.values()) else None


@dataclass(frozen=True)
class Study:
    """What is known of a study. The same whatever ran it, and however often it was interrupted."""

    plan: Plan
    rows: tuple[Row, ...]

    def number(self, status: Status) -> int:
        """How many points have that status."""
        return sum(row.status == status for row in self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def reasons(self, status: Status) -> Counter[str]:
        """How many points have that status for which reason."""
        return Counter(row.reason for row in self.rows if row.status == status)

    def columns(self) -> Columns:
        """Times, what binds, and terms, as arrays."""
        axes = {name: Column.of([row.point.axes[name] for row in self.rows]) for name in self.plan.axes}
        cycles, bounds, terms = {}, {}, {}
        for quantity in self.plan.compute:
            told = [row.cycles(quantity) for row in self.rows]
            cycles[quantity] = np.array([np.nan if value is None else value for value in told], dtype=np.float64)
            said = Column.of([row.bound(quantity) for row in self.rows])
            none = said.values.index(None) if None in said.values else -1
            bounds[quantity] = Column(said.values, np.where(said.places == none, -1, said.places))
            own = [row.results.get(quantity, {}).get("terms", {}) for row in self.rows]
            names = dict.fromkeys(name for entry in own for name in entry)
            terms[quantity] = {name: np.array([entry.get(name, np.nan) for entry in own]) for name in names}
        return Columns(axes, cycles, bounds, terms)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        made = self.plan
        return {
            "program": made.program.name,
            "study": made.study.model_dump(by_alias=True, exclude_none=True),
            "axes": list(made.axes),
            "compute": list(made.compute),
            "points": [
                {
                    "number": row.point.number,
                    "key": row.point.key,
                    "axes": dict(row.point.axes),
                    "machine": row.point.machine.name if row.point.machine else None,
                    "parameters": dict(row.point.parameters),
                    "status": row.status,
                    "reason": row.reason,
                    "results": row.results,
                }
                for row in self.rows
            ],
            "provenance": {**provenance(), "program": made.program.digest},
        }

    def to_table(self) -> pa.Table:
        """An Arrow table, a row a point: axes, status, and the numbers of each quantity's result."""
        columns: dict[str, list[Any]] = {"number": [row.point.number for row in self.rows]}
        for name in self.plan.axes:
            columns[name] = [row.point.axes.get(name) for row in self.rows]
        columns["status"] = [row.status for row in self.rows]
        columns["reason"] = [row.reason for row in self.rows]
        flat = [_flat(row.results) for row in self.rows]
        for name in dict.fromkeys(name for entry in flat for name in entry):
            columns[name] = [entry.get(name) for entry in flat]
        return pa.table({name: array_of(values) for name, values in columns.items()})

    def to_frame(self) -> "pandas.DataFrame":
        """The same as a pandas.DataFrame. Raises StudyError where pandas is not installed."""
        return frame(self)

    def save(self, path: str | Path) -> None:
        """Write the table to a .parquet file, provenance included, or to a .csv file. Raises OutputError."""
        save(self, path)


def frame(study: Known) -> "pandas.DataFrame":
    """A study's table as a pandas.DataFrame. Raises StudyError where pandas is not installed."""
    try:
        return study.to_table().to_pandas()
    except ImportError:
        raise StudyError("to_frame needs pandas: pip install pandas") from None


def save(study: Known, path: str | Path) -> None:
    """Write a study's table to a .parquet file, provenance included, or to a .csv file. Raises OutputError."""
    import pyarrow.csv
    import pyarrow.parquet

    check_format(path)
    table = study.to_table()
    with written_whole(path) as temporary:
        if Path(path).suffix == ".csv":
            pyarrow.csv.write_csv(table, temporary)
        else:
            said = {"simtmm": json.dumps({**provenance(), "study": study.plan.study.model_dump(by_alias=True)})}
            pyarrow.parquet.write_table(table.replace_schema_metadata(said), temporary)


def check_format(path: str | Path) -> None:
    """Raise OutputError for a suffix that tables are not written with."""
    if Path(path).suffix not in FORMATS:
        raise OutputError(f"{path}: must end in {' or '.join(FORMATS)}")


def gather(made: Plan, store: Store, verify: bool = True) -> Study:
    """What a store knows of the points of a plan. verify: see Store.results. Raises DamageError."""
    results, skipped, failures = store.results(verify), store.skipped(), store.failures()
    rows = []
    for point in made.points:
        found = {name: results.get(point.key, {})[name] for name in made.compute if name in results.get(point.key, {})}
        errors = {name: said for name, said in failures.get(point.key, {}).items() if name in ("", *made.compute)}
        reason = point.skipped or skipped.get(point.key, "")
        status: Status = "done"
        if reason:
            status = "skipped"
        elif errors:
            status, reason = "failed", "; ".join(f"{name}: {said}" if name else said for name, said in errors.items())
        elif any(name not in found for name in made.compute if name != MEASURED):
            status = "open"
        rows.append(Row(point, status, reason, found))
    return Study(made, tuple(rows))


def read(made: Plan, path: str | Path) -> Study:
    """What a store at that path knows of a plan, as after an interrupted run. Raises StudyError."""
    with Store(path, make=False) as store:
        store.check()
        return gather(made, store)


def _flat(results: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in results.items():
        if isinstance(value, Mapping) and name not in LEFT_OUT:
            flat.update(_flat(value, f"{prefix}{name}."))
        elif name not in LEFT_OUT:
            flat[prefix + name] = value
    return flat


def array_of(values: list[Any]) -> pa.Array:
    """Of one type: whole numbers among fractions become fractions, words among numbers make words of all."""
    there: list[Value] = [value for value in values if value is not None]
    if all(type(value) is int for value in there) or all(type(value) is bool for value in there):
        return pa.array(values)
    if all(isinstance(value, (int, float)) and type(value) is not bool for value in there):
        return pa.array([None if value is None else float(value) for value in values])
    return pa.array([None if value is None else str(value) for value in values])
