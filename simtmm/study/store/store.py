"""Store: a study in an SQLite file. Whatever has been committed outlives a kill at any moment.

Tables: `points` (a row for each point, with a column for each axis), `results` (a row for each point and quantity, the
document as
JSON), `parts` (of large studies of closed forms), `skipped` (points that a machine can't hold, say, with the reason),
`failures`, `runs` (provenance: which simtmm, which command) and `study` (the study file as it was last run, its paths
made whole). A result is stored under the key of its point's content, so it serves every study in which the same point
occurs. Each row that is read again has a checksum (schema.py): one that is not what was written is never told, but
refused with a DamageError; `mend` takes such rows away, so that a sweep computes anew what was in them.
"""

import functools
import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from simtmm.documents import parsed_json
from simtmm.errors import SimtmmError, StudyError, shown, shown_error
from simtmm.study.design.axes import Value
from simtmm.study.design.design import Design
from simtmm.study.design.points import Point
from simtmm.study.store import schema
from simtmm.study.store.damage import AGAIN, DamageError, described, problem, written_anew
from simtmm.study.store.file import REFUSALS, StoreFile

logger = logging.getLogger("simtmm")

FIXED = ("point", "number", "program", "parameters", "machine_name", "machine_digest", "excluded")
Documents = dict[str, dict[str, Any]]  # by quantity
Begin = Callable[[Mapping[str, Any], Sequence[Point]], int]  # of a run: what it says of itself, points; its number

Given = ParamSpec("Given")
Made = TypeVar("Made")


def _in_words(method: "Callable[Concatenate[Store, Given], Made]") -> "Callable[Concatenate[Store, Given], Made]":
    """What SQLite refuses in a store that could be opened, a damaged page or a full disk, as a StudyError."""

    @functools.wraps(method)
    def told(self: "Store", /, *given: Given.args, **named: Given.kwargs) -> Made:
        try:
            return method(self, *given, **named)
        except REFUSALS as error:
            raise StudyError(f"{self.path}: can't be read or written ({shown_error(error)})") from None

    return told


class Store:
    """An open store. A context manager; `path` may be ":memory:" for one that is not kept."""

    def __init__(self, path: str | Path, make: bool = True) -> None:
        """Open a store.

        make: make one where there is none; else it is only to be read, and may lie where nothing can be written.
        Raises StudyError for what is no store.
        """
        self._file = StoreFile(path, make)
        self.path = self._file.path
        self._database = self._file.database

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if isinstance(error, SimtmmError) and self._has_nothing():
            self._file.discard()
        else:
            self.close()

    def _has_nothing(self) -> bool:
        """Whether no point of it was computed, or failed."""
        try:
            return not (self.finished() or self.parts() or self.failures() or self.skipped())
        except SimtmmError:
            return False

    def close(self) -> None:
        """Close it; the write-ahead log is folded into the file."""
        self._file.close()

    @_in_words
    def check(self) -> None:
        """Raise DamageError if the file or a row is damaged; not of results and parts, which are checked as they are
        read.
        """
        for table in ("study", "runs", "skipped", "failures"):
            for _ in self._rows(table):
                pass
        if found := problem(self._database):
            raise DamageError(f"{self.path}: is damaged ({found}): {AGAIN}")

    def mended(self, read: Callable[[], Made]) -> Made:
        """What `read` reads here, once what is damaged has been taken away, with a warning."""
        try:
            self.check()
            return read()
        except DamageError:
            self.mend()
            return read()

    @_in_words
    def mend(self) -> None:
        """Write the tables anew from the rows that are whole, and warn of the others.

        Raises StudyError where the file is damaged beyond that.
        """
        with self._file.transaction():
            before, lost = problem(self._database), written_anew(self._database)
            if after := problem(self._database):
                raise StudyError(f"{self.path}: is damaged ({after}) and can't be repaired: use another file")
        if before or any(lost.values()):  # else another process has mended it
            logger.warning("warning: %s: is damaged: %s; what was there is computed anew", self.path, described(lost))

    def _rows(self, table: str, *where: str) -> Iterator[tuple[Any, ...]]:
        """The rows of a table, or those `where`. Raises DamageError at one that is not what was written."""
        for row, whole in schema.rows(self._database, table, *where):
            if not whole:
                raise DamageError.of_row(self.path, table, row)
            yield row

    @_in_words
    def begin(self, design: Design | None, points: Sequence[Point], provenance: Mapping[str, Any]) -> int:
        """Write down what is to be run, and by what; gives the run's number, which results are put in with.

        design: None for what is no study, and only shares results with studies.
        points: for people who read with SQL; those of closed forms are in parts.
        provenance: versions, digests and the command.
        """
        with self._file.transaction():
            if design is not None:
                self._put_design(design, points)
            run = 1 + int(self._database.execute("SELECT coalesce(max(id), 0) FROM runs").fetchone()[0])
            schema.put_rows(self._database, "runs", [(run, schema.encoded(dict(provenance)))])
            return run

    def _put_design(self, design: Design, points: Sequence[Point]) -> None:
        has = {row[1] for row in self._database.execute("PRAGMA table_info(points)")}
        for name in _columns(design.axes):
            if name not in has:
                self._database.execute(f"ALTER TABLE points ADD COLUMN {_quoted(name)}")
        for point in points:
            self._put_point(design, point)
        schema.put_rows(self._database, "study", [(1, design.document())])

    def _put_point(self, design: Design, point: Point) -> None:
        machine = point.machine
        values: dict[str, Value] = {
            "point": point.key,
            "number": point.number,
            "program": design.subject.of(point.axes).name,
            "parameters": schema.encoded(dict(point.parameters)),
            "machine_name": machine.name if machine else None,
            "machine_digest": machine.digest() if machine else None,
            "excluded": point.skipped,
            **dict(zip(_columns(design.axes), (point.axes.get(name) for name in design.axes), strict=True)),
        }
        names = ", ".join(map(_quoted, values))
        updates = ", ".join(f"{_quoted(name)} = excluded.{_quoted(name)}" for name in values if name != "point")
        self._database.execute(
            f"INSERT INTO points ({names}) VALUES ({', '.join('?' * len(values))}) "
            f"ON CONFLICT (point) DO UPDATE SET {updates}",
            tuple(values.values()),
        )

    @_in_words
    def put(
        self,
        point: str,
        results: Mapping[str, Mapping[str, Any]],
        failures: Mapping[str, str],
        run: int,
        seconds: float = 0.0,
    ) -> None:
        """Keep what came of a point, all of it or nothing; a result without a number as a failure.

        seconds: that it took.
        point: its key.
        results: by what made each, its numbers by name.
        failures: by what failed, why.
        run: its number, as `begin` gave it.
        """
        encoded = {quantity: schema.encoded_result(document) for quantity, document in results.items()}
        there = [(point, quantity, float(seconds), run, text) for quantity, text in encoded.items() if text is not None]
        none = {quantity: "its result is not a number" for quantity, text in encoded.items() if text is None}
        failed = [(point, quantity, run, error) for quantity, error in {**failures, **none}.items()]
        with self._file.transaction():
            schema.put_rows(self._database, "results", there)
            self._database.executemany(
                "DELETE FROM failures WHERE point = ? AND quantity = ?", [row[:2] for row in there]
            )
            schema.put_rows(self._database, "failures", failed)

    @_in_words
    def put_part(self, part: str, document: bytes, seconds: float, run: int) -> None:
        """Keep a part of a large study of closed forms.

        part: its key.
        document: the part itself.
        seconds: that it took.
        run: its number, as `begin` gave it.
        """
        with self._file.transaction():
            schema.put_rows(self._database, "parts", [(part, float(seconds), run, document)])

    @_in_words
    def part(self, part: str) -> bytes | None:
        """A part that is there.

        part: its key.

        Raises DamageError.
        """
        found = next(self._rows("parts", "WHERE part = ?", part), None)
        return None if found is None else bytes(found[-1])

    @_in_words
    def parts(self) -> set[str]:
        """Those that are there. Raises DamageError."""
        return {row[0] for row in self._rows("parts")}

    @_in_words
    def skip(self, point: str, reason: str, run: int) -> None:
        """Keep that a point can't be, and why.

        point: its key.
        reason: why, in words.
        run: its number, as `begin` gave it.
        """
        with self._file.transaction():
            schema.put_rows(self._database, "skipped", [(point, run, reason)])

    @_in_words
    def forget_failures(self, points: Iterable[str]) -> None:
        """What failed before is tried again.

        points: their keys.
        """
        with self._file.transaction():
            self._database.executemany("DELETE FROM failures WHERE point = ?", ((point,) for point in points))

    @_in_words
    def results(self, verify: bool = True) -> dict[str, Documents]:
        """What is there, by point and quantity. verify: raise DamageError if a row is not what was written."""
        found: dict[str, Documents] = {}
        for row in self._rows("results") if verify else self._database.execute(schema.SELECT["results"]):
            try:
                found.setdefault(row[0], {})[row[1]] = schema.decoded(row[4])
            except (ValueError, RecursionError):
                raise DamageError.of_row(self.path, "results", row) from None
        return found

    @_in_words
    def finished(self) -> dict[str, set[str]]:
        """The quantities that are there, by point. Raises DamageError."""
        found: dict[str, set[str]] = {}
        for point, quantity, *_ in self._rows("results"):
            found.setdefault(point, set()).add(quantity)
        return found

    @_in_words
    def skipped(self) -> dict[str, str]:
        """Points that can't be, with the reason. Raises DamageError."""
        return {point: reason for point, _, reason in self._rows("skipped")}

    @_in_words
    def failures(self) -> dict[str, dict[str, str]]:
        """Errors by point and quantity; the empty quantity stands for all. Raises DamageError."""
        found: dict[str, dict[str, str]] = {}
        for point, quantity, _, error in self._rows("failures"):
            found.setdefault(point, {})[quantity] = error
        return found

    @_in_words
    def runs(self) -> list[dict[str, Any]]:
        """The provenance of every run, the first one first. Raises DamageError."""
        return list(self.runs_by_number().values())

    @_in_words
    def runs_by_number(self) -> dict[int, dict[str, Any]]:
        """The same by their numbers, some of which damage may have taken away. Raises DamageError."""
        return {number: self._said(document) for number, document in sorted(self._rows("runs"))}

    def has(self, design: Design) -> bool:
        """Whether the study that was last run is this one. Raises DamageError."""
        return bool(self.study() == parsed_json(design.document(), own=()))

    @_in_words
    def study(self) -> dict[str, Any] | None:
        """The study as it was last run. Raises DamageError."""
        found = next(self._rows("study"), None)
        return None if found is None else self._said(found[1])

    def _said(self, document: str) -> dict[str, Any]:
        """An object of JSON, which a store of another's making need not hold. Raises StudyError."""
        try:
            parsed = parsed_json(document, own=())
        except ValueError as error:
            raise StudyError(f"{self.path}: has invalid JSON ({shown_error(error)})") from None
        if not isinstance(parsed, dict):
            raise StudyError(f"{self.path}: has {shown(parsed)}: must be an object")
        return parsed


def _columns(axes: Sequence[str]) -> list[str]:
    """The columns of axes: their names, or axis_NAME for what SQLite, blind to capitals, would take for another."""
    return [f"axis_{name}" if name.lower() in FIXED or name != name.lower() else name for name in axes]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
