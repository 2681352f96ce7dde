"""Closed forms: a study of an algorithm of the papers as columns, computed and kept a part at a time.

A part is so many points in the study's order. It is stored whole, by a key of the study's content, and is not computed
again. No point is an object, unless it is asked for as one.
"""

import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

import pyarrow as pa
import pyarrow.parquet

from simtmm.model.algorithms import find
from simtmm.model.algorithms.times import predict_algorithm
from simtmm.model.series import MEASURED
from simtmm.parallel.tasks import Executor
from simtmm.provenance import computed_by
from simtmm.study.design.design import Design
from simtmm.study.design.points import Point, points_of
from simtmm.study.design.subject import THREADS, VARIANT
from simtmm.study.evaluation.closed_form_times import ClosedFormTimes
from simtmm.study.evaluation.identity import earlier_identities, run_says
from simtmm.study.evaluation.measured_times import Measured, measured_times
from simtmm.study.forecast import Estimate, Left
from simtmm.study.results import COMPUTED_BY, LARGE, Results, Row
from simtmm.study.store.damage import DamageError
from simtmm.study.store.store import Begin, Store
from simtmm.watch import Watch

PART = 1 << 16


class ClosedForms:
    """The points of a study of closed forms."""

    def __init__(self, design: Design) -> None:
        self.design = design
        self._times = ClosedFormTimes(design)

    def compute(
        self,
        store: Store,
        begin: Begin,
        measured: Measured,
        workers: int | None = None,
        cluster: Executor | None = None,
        watch: Watch | None = None,
    ) -> Results:
        """Compute what the store lacks, in this process, and give all of it.

        begin: called with what the run says of itself, gives the run's number in the store.
        measured: as `measured` gives it.
        workers, cluster: not needed; closed forms take less time than the handing over.
        watch: called with ("points", done, in all).

        Raises the error of the first point where every point is refused.
        """
        size, there = self.design.size, store.mended(store.parts)
        says = {"points": size, **run_says(self.design, store)}
        # A store that is complete is not written to
        complete = not measured and there >= set(self._parts) and store.has(self.design)
        run = None if complete else begin(says, ())
        for key, document in measured.items():
            store.put(key, {MEASURED: document}, {}, run or 0)
        parts = []
        for key, (first, end) in self._parts.items():
            if watch:
                watch("points", first, size)
            part = _read(store.part(key)) if key in there else None
            if part is None:
                begun = perf_counter()
                part = self._computed(first, end)
                run = run or begin(says, ())
                store.put_part(key, _written(part), perf_counter() - begun, run)
            parts.append(part)
        if watch:
            watch("points", size, size)
        results = self._results(parts, store)
        if results.number("skipped") == len(results):
            self._computed(0, min(PART, size))  # parts that were there have no error
            self.design.named(self._refuse)
        return results

    def _computed(self, first: int, end: int) -> pa.Table:
        """The points from the first up to the end. Raises the errors of constraints, the study's file named."""
        return self.design.named(lambda: self._times.compute(first, end))

    def _refuse(self) -> None:
        if self._times.first_refusal:
            raise self._times.first_refusal

    def measured(self) -> Measured:
        """The measured times that stand beside points, by their keys. Raises StudyError."""
        return measured_times(self.design, self._points) if self.design.measured else {}

    def results(self, store: Store) -> Results:
        """What a store has. Raises DamageError."""
        parts, there = [], store.parts()  # all are checked: one whose key is damaged would seem not to be there
        earlier = [
            (one, list(self._parts_by(one.program, one.sources)))
            for one in earlier_identities(self.design.subject, store)
        ]
        for place, (key, (first, end)) in enumerate(self._parts.items()):
            by = None if key in there else next((one for one, keys in earlier if keys[place] in there), None)
            if by is not None:
                key = list(self._parts_by(by.program, by.sources))[place]
            part = _read(store.part(key)) if key in there else _open(self.design, end - first)
            if part is None:
                raise DamageError.of_row(store.path, "parts", (key,))
            if by is not None:
                computed_by_column = pa.array([by.in_words(self.design.subject.digest)] * len(part))
                part = part.append_column(COMPUTED_BY, computed_by_column)
            parts.append(part)
        return self._results(parts, store)

    def left(self, store: Store) -> Left:
        """What a store lacks; which points are ruled out shows in computing alone."""
        there = store.parts()
        lacking = sum(end - first for key, (first, end) in self._parts.items() if key not in there)
        return Left(excluded=0, stored=self.design.size - lacking, to_compute=lacking)

    def estimate(self, store: Store, left: Left, workers: int) -> Estimate:
        """How long it takes to compute what a store lacks: from the first points."""
        size = self.design.size
        tried = min(LARGE, size)
        begun = perf_counter()
        first = self._computed(0, tried)
        seconds = (perf_counter() - begun) * left.to_compute / tried
        return Estimate(
            seconds, f"the first {tried:,} points", first["status"].to_pylist().count("skipped") * size // tried
        )

    @cached_property
    def _points(self) -> tuple[Point, ...]:
        return points_of(self.design)

    @cached_property
    def _parts(self) -> dict[str, tuple[int, int]]:
        """The first point of each part, and the one behind its last, by a key of its content."""
        return self._parts_by(self.design.subject.digest, computed_by())

    def _parts_by(self, program: str, sources: str) -> dict[str, tuple[int, int]]:
        """The same by other equations and sources of simtmm."""
        design = self.design
        content = [
            sources,
            program,
            design.study.parameters,
            design.changes,
            [[name, machine.name, machine.digest()] for name, machine in design.machines.items()],
            [[[entry.name, entry.values] for entry in group] for group in design.groups],
            design.drawn,
            design.compute,
            design.study.constraints,
        ]
        whole = hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()[:32]
        bounds = ((first, min(first + PART, design.size)) for first in range(0, design.size, PART))
        return {f"{whole} {first} {end}": (first, end) for first, end in bounds}

    def _results(self, parts: list[pa.Table], store: Store) -> Results:
        table = pa.concat_tables(parts, promote_options="default").unify_dictionaries()
        beside: list[Mapping[str, Any]] = []
        if self.design.measured:
            results = store.results()
            beside = [results.get(point.key, {}).get(MEASURED, {}) for point in self._points]
            for name in ("seconds", "cycles", "times"):
                values = pa.array([document.get(name) for document in beside])
                table = table.append_column(f"{MEASURED}.{name}", values)
        return Results(self.design, table, lambda: self._rows(table, beside))

    def _rows(self, table: pa.Table, beside: Sequence[Mapping[str, Any]]) -> tuple[Row, ...]:
        """The points, an object each."""
        rows = []
        named = table[COMPUTED_BY].to_pylist() if COMPUTED_BY in table.column_names else [None] * len(table)
        for place, (point, status, reason, by) in enumerate(
            zip(self._points, table["status"].to_pylist(), table["reason"].to_pylist(), named, strict=True)
        ):
            found: dict[str, Mapping[str, Any]] = {}
            if status == "done":
                found = self._kept(table, place) if by else self._documents(point)
            if beside and beside[point.number]:
                found[MEASURED] = beside[point.number]
            rows.append(Row(point, status, reason, found, by or ""))
        return tuple(rows)

    def _kept(self, table: pa.Table, place: int) -> dict[str, Mapping[str, Any]]:
        """The same of a point that earlier equations computed: what its part has."""
        numbers = ("cycles", "seconds", "bound")
        return {
            quantity: {
                name: table[f"{quantity}.{name}"][place].as_py()
                for name in numbers
                if f"{quantity}.{name}" in table.column_names
            }
            for quantity in self.design.compute
        }

    def _documents(self, point: Point) -> dict[str, Mapping[str, Any]]:
        """What the models say of a point, with all symbols, which no table has."""
        assert point.machine is not None
        given = {name: value for name, value in point.parameters.items() if name not in (THREADS, VARIANT)}
        threads, variant = (point.parameters.get(name) for name in (THREADS, VARIANT))
        predictions = predict_algorithm(find(self.design.subject.source), point.machine, given, threads, variant)
        return {
            quantity: predictions[quantity].to_dict() for quantity in self.design.compute if quantity in predictions
        }


def _open(design: Design, size: int) -> pa.Table:
    """A part that nobody has computed yet."""
    columns = {"status": pa.array(["open"] * size), "reason": pa.array([""] * size)}
    for quantity in design.compute:
        columns[f"{quantity}.cycles"] = pa.nulls(size, pa.float64())
    return pa.table(columns)


def _written(part: pa.Table) -> bytes:
    target = io.BytesIO()
    pyarrow.parquet.write_table(part, target, compression="zstd", compression_level=1)
    return target.getvalue()


def _read(document: bytes | None) -> pa.Table | None:
    """A part from its document; None for what is none, which a store that had no checksums may have."""
    try:
        return None if document is None else pyarrow.parquet.read_table(io.BytesIO(document))
    except (OSError, pa.ArrowException, UnicodeDecodeError):
        return None
