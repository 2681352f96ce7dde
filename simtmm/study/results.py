"""Results: what is known of a study's points, in its order: as arrays, a table, a frame, a file, and one by one."""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import pyarrow as pa
import pyarrow.compute

from simtmm.display import Displayed, Picture, drawn
from simtmm.errors import OutputError, escaped
from simtmm.extras import imported
from simtmm.files import written_whole
from simtmm.model.series import MEASURED, SIMULATED
from simtmm.provenance import provenance
from simtmm.study.arrays import dataset
from simtmm.study.design.axes import Value
from simtmm.study.design.columns import Column, Floats, Integers
from simtmm.study.design.design import Design
from simtmm.study.design.grid import Grid
from simtmm.study.design.points import Point
from simtmm.study.evaluation.residence import HELD_BY

if TYPE_CHECKING:
    import pandas
    import xarray


COMPUTED_BY = "computed_by"  # a column, where not all points are of the program and the simtmm of now
FORMATS = (".parquet", ".csv")
LEFT_OUT = ("engine", "model", "source", "symbols", "launch_ticks", "origin")  # of results, in tables
LARGE = 20_000  # points of closed forms, from which on they are columns in JSON
Status = Literal["done", "skipped", "failed", "open"]
Documents = Mapping[str, Mapping[str, Any]]  # by quantity


@dataclass(frozen=True)
class Row:
    """A point and what came of it.

    status: "open" is a point that nobody has computed yet.
    reason: why it was skipped, or what failed.
    results: documents by quantity.
    computed_by: by which earlier program or simtmm; empty for what would be computed now.
    """

    point: Point
    status: Status
    reason: str
    results: Documents
    computed_by: str = ""

    def cycles(self, quantity: str) -> float | None:
        """The time by a simulation, a model or a measurement; None where there is none.

        quantity: "simulated", a model's name, or "measured".
        """
        found = self.results.get(quantity, {}).get("cycles")
        return None if found is None else float(found)


@dataclass(frozen=True)
class Results(Displayed):
    """The results of a study. They do not depend on what computed them or on interruptions.

    design: the program, the axes and what is computed.
    table: a row for each point: status, reason, and the numbers of each quantity's result, as QUANTITY.cycles.
    """

    design: Design
    table: pa.Table
    _rows: Callable[[], tuple[Row, ...]] = field(repr=False, compare=False)

    @classmethod
    def of_rows(cls, design: Design, rows: Sequence[Row]) -> "Results":
        """From points and documents."""
        columns: dict[str, Sequence[Any]] = {
            "status": [row.status for row in rows],
            "reason": [row.reason for row in rows],
        }
        if any(row.computed_by for row in rows):
            columns[COMPUTED_BY] = [row.computed_by for row in rows]
        flat = [_flat(row.results) for row in rows]
        for name in dict.fromkeys(name for entry in flat for name in entry):
            columns[name] = [entry.get(name) for entry in flat]
        table = pa.table({name: _array(values) for name, values in columns.items()})
        return cls(design, table, lambda: tuple(rows))

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The points, one object for each, with the documents of their results."""
        return self._rows()

    def __repr__(self) -> str:
        design = self.design
        statuses = ", ".join(f"{self.number(status)} {status}" for status in get_args(Status) if self.number(status))
        told = f"Results({design.subject.name} over {', '.join(design.axes) or 'nothing'}; points: {statuses})"
        return escaped(told)

    def __len__(self) -> int:
        return len(self.table)

    def number(self, status: Status) -> int:
        """How many points have that status."""
        return int(pyarrow.compute.sum(pyarrow.compute.equal(self.table["status"], status)).as_py() or 0)

    @cached_property
    def earlier(self) -> Counter[str]:
        """How many points are from which earlier program or simtmm."""
        there = self.table[COMPUTED_BY].to_pylist() if COMPUTED_BY in self.table.column_names else []
        return Counter(each for each in there if each)

    def reasons(self, status: Status) -> Counter[str]:
        """How many points have that status, by reason."""
        chosen = self.table.filter(pyarrow.compute.equal(self.table["status"], status))
        return Counter(chosen["reason"].to_pylist())

    # As arrays

    @cached_property
    def axes(self) -> Mapping[str, Column]:
        """The values of each axis, by name."""
        return Grid(self.design).columns()

    @cached_property
    def cycles(self) -> Mapping[str, Floats]:
        """The cycles by quantity: float64[points], nan for points without any."""
        return {quantity: self._numbers(f"{quantity}.cycles") for quantity in self.design.compute}

    @cached_property
    def bounds(self) -> Mapping[str, Column]:
        """What binds, by quantity: a model's largest term, or the cause of most of a simulation's time."""
        return {quantity: self._bound(quantity) for quantity in self.design.compute}

    @cached_property
    def terms(self) -> Mapping[str, Mapping[str, Floats]]:
        """The terms of each model by name: float64[points], nan for points without any."""
        return {quantity: self._numbers_of(f"{quantity}.terms.") for quantity in self.design.compute}

    @cached_property
    def holders(self) -> Column:
        """The limits of a group's resident blocks, if simulated (residence.py)."""
        return self._words(f"{SIMULATED}.{HELD_BY}")

    @cached_property
    def known(self) -> Integers:
        """The points with at least one time."""
        there = [np.isfinite(cycles) for cycles in self.cycles.values()]
        return np.flatnonzero(np.logical_or.reduce(there)) if there else np.empty(0, dtype=np.int64)

    def _bound(self, quantity: str) -> Column:
        if quantity == SIMULATED:
            # What was simulated before there were causes has its states alone.
            causes, states = (self._most(f"{quantity}.{kind}.") for kind in ("causes", "time"))
            words = tuple(dict.fromkeys((*causes.values, *states.values)))
            known = [np.array([words.index(word) for word in own.values], dtype=np.int64) for own in (causes, states)]
            places = np.full(len(self), -1)
            for own, numbers in ((states, known[1]), (causes, known[0])):
                there = own.places >= 0
                places[there] = numbers[own.places[there]]
            return Column(words, places)
        return Column((), np.full(len(self), -1)) if quantity == MEASURED else self._words(f"{quantity}.bound")

    def _words(self, name: str) -> Column:
        """A column of words, -1 where there are none."""
        if name not in self.table.column_names:
            return Column((), np.full(len(self), -1))
        words = self.table[name]
        if not pa.types.is_dictionary(words.type):
            words = words.dictionary_encode()
        whole = words.unify_dictionaries().combine_chunks()
        places = whole.indices.fill_null(-1).to_numpy().astype(np.int64)
        return Column(tuple(whole.dictionary.to_pylist()), places)

    def _most(self, before: str) -> Column:
        """Of columns of numbers the one with the largest, -1 where all are 0 or none."""
        columns = self._numbers_of(before)
        numbers = np.stack([np.zeros(len(self)), *map(np.nan_to_num, columns.values())])
        most = numbers[1:].argmax(axis=0) if columns else np.zeros(len(self), dtype=np.int64)
        return Column(tuple(columns), np.where(numbers.any(axis=0), most, -1))

    def _numbers(self, name: str) -> Floats:
        if name not in self.table.column_names:
            return np.full(len(self), np.nan)
        return np.asarray(self.table[name].cast(pa.float64()).to_numpy(), dtype=np.float64)  # null is nan

    def _numbers_of(self, before: str) -> dict[str, Floats]:
        names = [name for name in self.table.column_names if name.startswith(before)]
        return {name.removeprefix(before): self._numbers(name) for name in names}

    # For others

    def to_table(self) -> pa.Table:
        """An Arrow table, a row for each point: axes, status, and the numbers of each quantity's result."""
        columns = {"number": pa.array(np.arange(len(self)))}
        for name, column in self.axes.items():
            columns[name] = _array(list(column.values)).take(pa.array(column.places))
        for name in self.table.column_names:
            if not set(name.split(".")) & set(LEFT_OUT):
                values = self.table[name]
                columns[name] = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
        return pa.table(columns)

    def to_frame(self) -> "pandas.DataFrame":
        """The same as a pandas.DataFrame. Raises OutputError if pandas is not installed."""
        imported("pandas", "plot", "to_frame")
        return self.to_table().to_pandas()

    def to_xarray(self) -> "xarray.Dataset":
        """The same as arrays over the axes, with the names of simtmm/study/arrays.py.

        Raises StudyError where two names would become one, and OutputError where xarray is not installed.
        """
        return dataset(self)

    def plot(
        self,
        across: str | None = None,
        up: str | None = None,
        values: str | Sequence[str] = (),
        by: str | None = None,
        where: Mapping[str, str] | None = None,
        log: str | None = None,
        title: str | None = None,
    ) -> Picture:
        """Curves over an axis, a heat map over two, or winner maps of several programs.

        across: the axis; the first that varies and has numbers if left out.
        up: the second axis of a heat map.
        values: what is drawn: columns, quantities ("simulated") or ratios of them ("simulated/tmm"); times if left out.
            With "winner" among them, which program is fastest over two axes, by each of the others or all series.
        by: an axis that has a line for each of its values.
        where: the points that are taken, by the values of axes.
        log: which axes of curves are logarithmic, "x", "y", "xy" or "none"; found out if left out.
        title: says the program, the machine and what does not vary if left out.

        Raises OutputError for names that are none, for points that can't be distinguished, and without matplotlib.
        """
        return drawn(self, across=across, up=up, values=values, by=by, where=where, log=log, title=title)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON; a large study of closed forms has its points as columns."""
        design = self.design
        large = design.subject.kind == "algorithm" and len(self) >= LARGE
        return {
            "program": design.subject.name,
            "study": design.study.model_dump(by_alias=True, exclude_none=True),
            "axes": list(design.axes),
            "compute": list(design.compute),
            **({"columns": self.to_table().to_pydict()} if large else {"points": list(map(_document, self.rows))}),
            "provenance": {**provenance(), "program": design.subject.digest},
        }

    def save(self, path: str | Path) -> None:
        """Write the table to a .parquet file, with provenance, or to a .csv file. Raises OutputError."""
        import pyarrow.csv
        import pyarrow.parquet

        check_format(path)
        table = self.to_table()
        with written_whole(path) as temporary:
            if Path(path).suffix == ".csv":
                pyarrow.csv.write_csv(table, temporary)
            else:
                metadata = {
                    "simtmm": json.dumps({**provenance(), "study": self.design.study.model_dump(by_alias=True)})
                }
                pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), temporary)


def check_format(path: str | Path) -> None:
    """Raise OutputError for a suffix that tables are not written with."""
    if Path(path).suffix not in FORMATS:
        raise OutputError(f"{path}: must end in {' or '.join(FORMATS)}")


def _document(row: Row) -> dict[str, Any]:
    point = row.point
    return {
        "number": point.number,
        "key": point.key,
        "axes": dict(point.axes),
        "machine": point.machine.name if point.machine else None,
        "parameters": dict(point.parameters),
        "status": row.status,
        "reason": row.reason,
        **({COMPUTED_BY: row.computed_by} if row.computed_by else {}),
        "results": row.results,
    }


def _flat(results: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in results.items():
        if isinstance(value, Mapping) and name not in LEFT_OUT:
            flat.update(_flat(value, f"{prefix}{name}."))
        elif name not in LEFT_OUT:
            flat[prefix + name] = value
    return flat


def _array(values: Sequence[Any]) -> pa.Array:
    """Of one type: whole numbers among fractions become fractions, words among numbers make words of all."""
    there: list[Value] = [value for value in values if value is not None]
    if all(type(value) is int for value in there) or all(type(value) is bool for value in there):
        return pa.array(values)
    if all(isinstance(value, (int, float)) and type(value) is not bool for value in there):
        return pa.array([None if value is None else float(value) for value in values])
    return pa.array([None if value is None else str(value) for value in values])
