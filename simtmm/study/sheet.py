"""Sheet: a large study of closed forms as columns, computed and kept a part at a time; no point is an object.

A part is so many points in the study's order. It is kept whole, by a key of the study's content, and is not computed
again.
"""

import hashlib
import io
import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet

from simtmm.provenance import computed_by, provenance
from simtmm.study.columns import Column, Columns
from simtmm.study.grid import Places
from simtmm.study.layout import Layout
from simtmm.study.results import Status, array_of, frame
from simtmm.study.results import save as save_table
from simtmm.study.sheet_points import PointsOf
from simtmm.study.store.damage import DamageError
from simtmm.study.store.store import Store

if TYPE_CHECKING:
    import pandas

LARGE = 20_000  # points, from which on a study of closed forms is a sheet
PART = 1 << 16

Watch = Callable[[str, int, int | None], None]  # stage, done, total


def is_sheet(laid: Layout) -> bool:
    """Whether a study is computed as columns."""
    return laid.program.kind == "algorithm" and not laid.measured and laid.size >= LARGE


@dataclass(frozen=True)
class Sheet:
    """What is known of a large study of closed forms; see gathered.Known.

    results: a row a point: status, reason, and of each quantity the cycles, seconds, what binds, and the terms.
    """

    plan: Layout
    results: pa.Table

    def __len__(self) -> int:
        return self.plan.size

    def number(self, status: Status) -> int:
        """How many points have that status."""
        return int(pyarrow.compute.sum(pyarrow.compute.equal(self.results["status"], status)).as_py() or 0)

    def reasons(self, status: Status) -> Counter[str]:
        """How many points have that status for which reason."""
        chosen = self.results.filter(pyarrow.compute.equal(self.results["status"], status))
        counted = chosen.group_by("reason").aggregate([([], "count_all")])
        return Counter(dict(zip(counted["reason"].to_pylist(), counted["count_all"].to_pylist(), strict=True)))

    def columns(self) -> Columns:
        """Times, what binds, and terms, as arrays."""
        places = Places(self.plan)
        cycles, bounds, terms = {}, {}, {}
        for quantity in self.plan.compute:
            cycles[quantity] = _numbers(self.results[f"{quantity}.cycles"])
            bounds[quantity] = _words(self.results[f"{quantity}.bound"])
            before = f"{quantity}.terms."
            names = [name for name in self.results.column_names if name.startswith(before)]
            terms[quantity] = {name.removeprefix(before): _numbers(self.results[name]) for name in names}
        return Columns(places.columns(), cycles, bounds, terms)

    def to_table(self) -> pa.Table:
        """An Arrow table, a row a point: axes, status, and the numbers of each quantity's result."""
        axes = Places(self.plan).columns()
        columns = {"number": pa.array(np.arange(len(self)))}
        for name, column in axes.items():
            columns[name] = array_of(list(column.values)).take(pa.array(column.places))
        for name in self.results.column_names:
            values = self.results[name]
            columns[name] = values.cast(pa.string()) if pa.types.is_dictionary(values.type) else values
        return pa.table(columns)

    def to_frame(self) -> "pandas.DataFrame":
        """The same as a pandas.DataFrame. Raises StudyError where pandas is not installed."""
        return frame(self)

    def save(self, path: str | Path) -> None:
        """Write the table to a .parquet file, provenance included, or to a .csv file. Raises OutputError."""
        save_table(self, path)

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON: the points as columns."""
        return {
            "program": self.plan.program.name,
            "study": self.plan.study.model_dump(by_alias=True, exclude_none=True),
            "axes": list(self.plan.axes),
            "compute": list(self.plan.compute),
            "columns": self.to_table().to_pydict(),
            "provenance": {**provenance(), "program": self.plan.program.digest},
        }


def sweep_sheet(laid: Layout, store: str | Path = ":memory:", watch: Watch | None = None) -> Sheet:
    """Compute what a store lacks of a large study of closed forms, in this process, and give all of it.

    store, watch: see sweep.sweep. Raises the errors of simtmm.errors; where every point is refused that of the first.
    """
    points, parts = PointsOf(laid), []
    with Store(store) as opened:
        there = opened.mended(opened.parts)
        run = opened.begin(laid, {**provenance(), "points": laid.size, "sources": computed_by()})
        for key, (begin, end) in _parts(laid).items():
            if watch:
                watch("points", begin, laid.size)
            part = _read(opened.part(key)) if key in there else None
            if part is None:
                begun = perf_counter()
                part = points.compute(begin, end)
                opened.put_part(key, _written(part), perf_counter() - begun, run)
            parts.append(part)
        if watch:
            watch("points", laid.size, laid.size)
    made = Sheet(laid, _together(parts))
    if made.number("skipped") == len(made):
        points.compute(0, min(PART, len(made)))  # parts that were there have no error
        if points.first_refusal:
            raise points.first_refusal
    return made


def read_sheet(laid: Layout, store: Store) -> Sheet:
    """What a store has of a large study of closed forms."""
    parts, there = [], store.parts()  # all of them are checked: one whose key is damaged would seem not to be there
    for key, (begin, end) in _parts(laid).items():
        part = _read(store.part(key)) if key in there else _open(laid, end - begin)
        if part is None:
            raise DamageError.of_row(store.path, "parts", (key,))
        parts.append(part)
    return Sheet(laid, _together(parts))


def points_left(laid: Layout, store: Store) -> int:
    """How many points are in parts that a store lacks."""
    there = store.parts()
    return sum(end - begin for key, (begin, end) in _parts(laid).items() if key not in there)


def _parts(laid: Layout) -> dict[str, tuple[int, int]]:
    """The first point of each part, and the one behind its last, by a key of its content."""
    content = [
        computed_by(),
        laid.program.digest,
        laid.study.parameters,
        laid.changes,
        [[name, machine.name, machine.digest()] for name, machine in laid.machines.items()],
        [[[entry.name, entry.values] for entry in group] for group in laid.groups],
        laid.drawn,
        laid.compute,
        laid.study.constraints,
    ]
    whole = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]
    bounds = ((begin, min(begin + PART, laid.size)) for begin in range(0, laid.size, PART))
    return {f"{whole} {begin} {end}": (begin, end) for begin, end in bounds}


def _open(laid: Layout, size: int) -> pa.Table:
    """A part that nobody has computed yet."""
    columns = {"status": pa.array(["open"] * size), "reason": pa.array([""] * size)}
    for quantity in laid.compute:
        columns[f"{quantity}.cycles"] = pa.nulls(size, pa.float64())
        columns[f"{quantity}.bound"] = pa.nulls(size, pa.dictionary(pa.int32(), pa.string()))
    return pa.table(columns)


def _written(part: pa.Table) -> bytes:
    target = io.BytesIO()
    pyarrow.parquet.write_table(part, target, compression="zstd", compression_level=1)
    return target.getvalue()


def _read(document: bytes | None) -> pa.Table | None:
    """A part from its document; None for what is none, which a store that had no checksums may have."""
    try:
        return None if document is None else pyarrow.parquet.read_table(io.BytesIO(document))
    except (OSError, pa.ArrowException):
        return None


def _together(parts: list[pa.Table]) -> pa.Table:
    return pa.concat_tables(parts, promote_options="default").unify_dictionaries()


def _numbers(values: pa.ChunkedArray) -> npt.NDArray[np.float64]:
    return np.asarray(values.to_numpy(), dtype=np.float64)  # null is nan


def _words(values: pa.ChunkedArray) -> Column:
    """Of one dictionary in all chunks."""
    whole = values.combine_chunks()
    places = whole.indices.fill_null(-1).to_numpy().astype(np.int64)
    return Column(tuple(whole.dictionary.to_pylist()), places)
