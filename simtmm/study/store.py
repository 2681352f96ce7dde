"""Store: where a study is kept, an SQLite file. Whatever has been committed outlives a kill at any moment.

Tables: `points` (a row a point, with a column for each axis), `results` (a row a point and quantity, the document as
JSON), `parts` (of large studies of closed forms), `skipped` (points that a machine can't hold, say, with the reason),
`failures`, `runs` (provenance: which simtmm, which command) and `study` (the study file as it was last run, its paths
made whole). A result is kept by the key of its point's content, so it serves every study in which the same point
occurs.
"""

import functools
import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from simtmm.errors import StudyError, shown_error
from simtmm.study.axes import Value
from simtmm.study.layout import Layout
from simtmm.study.plan import Plan, Point

APPLICATION = 0x746D6D53  # "tmmS", so that no other program's database is written to
SCHEMA = 1
PATIENCE = 60.0  # seconds to wait for another process that writes
TABLES = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL);
CREATE TABLE points (
    point TEXT PRIMARY KEY, number INTEGER NOT NULL, program TEXT NOT NULL, parameters TEXT NOT NULL,
    machine_name TEXT, machine_digest TEXT, excluded TEXT NOT NULL
);
CREATE TABLE results (
    point TEXT NOT NULL, quantity TEXT NOT NULL, document TEXT NOT NULL, seconds REAL NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, PRIMARY KEY (point, quantity)
) WITHOUT ROWID;
CREATE TABLE skipped (point TEXT PRIMARY KEY, reason TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs);
CREATE TABLE failures (
    point TEXT NOT NULL, quantity TEXT NOT NULL, error TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs,
    PRIMARY KEY (point, quantity)
);
"""
# Of large studies of closed forms (sheet.py), as Parquet; not in stores that older versions made
PARTS = """
CREATE TABLE IF NOT EXISTS parts (
    part TEXT PRIMARY KEY, document BLOB NOT NULL, seconds REAL NOT NULL, run INTEGER NOT NULL REFERENCES runs
)"""
FIXED = ("point", "number", "program", "parameters", "machine_name", "machine_digest", "excluded")
Documents = dict[str, dict[str, Any]]  # by quantity

Given = ParamSpec("Given")
Made = TypeVar("Made")


def _in_words(method: "Callable[Concatenate[Store, Given], Made]") -> "Callable[Concatenate[Store, Given], Made]":
    """What SQLite refuses in a store that could be opened, a damaged page or a full disk, as a StudyError."""

    @functools.wraps(method)
    def told(self: "Store", /, *given: Given.args, **named: Given.kwargs) -> Made:
        try:
            return method(self, *given, **named)
        except sqlite3.Error as error:
            raise StudyError(f"{self.path}: can't be read or written ({shown_error(error)})") from None

    return told


class Store:
    """An open store. A context manager; `path` may be ":memory:" for one that is not kept."""

    def __init__(self, path: str | Path, make: bool = True) -> None:
        """Open a store, or make one where there is none. Raises StudyError for what is no store."""
        self.path = str(path)
        if not make and not Path(path).is_file():
            raise StudyError(f"{path}: there is no such store")
        try:
            self._database = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None)
        except sqlite3.Error as error:
            raise StudyError(f"{path}: can't be opened ({shown_error(error)})") from None
        try:
            self._open()
        except sqlite3.DatabaseError as error:
            self._database.close()
            raise StudyError(f"{path}: is no store of a study ({shown_error(error)})") from None
        except StudyError:
            self._database.close()
            raise

    def _open(self) -> None:
        pragma = self._database.execute
        application, schema = (pragma(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = not pragma("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if not (empty and application == 0) and application != APPLICATION:
            raise StudyError(f"{self.path}: is a database, but no store of a study")
        if not empty and schema != SCHEMA:
            raise StudyError(f"{self.path}: has schema {schema}, this simtmm has {SCHEMA}: take another file")
        pragma("PRAGMA journal_mode = WAL")
        pragma("PRAGMA synchronous = NORMAL")  # safe for a killed process; the system's crash may cost the last points
        with self._transaction():
            if not pragma("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                pragma(f"PRAGMA application_id = {APPLICATION}")
                pragma(f"PRAGMA user_version = {SCHEMA}")
                for statement in TABLES.split(";\n"):
                    pragma(statement)
            pragma(PARTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close it; the write-ahead log is folded into the file."""
        self._database.close()

    @_in_words
    def begin(self, plan: Layout, provenance: Mapping[str, Any]) -> int:
        """Write down what is to be run, and by what; gives the run's number, which results are put in with."""
        with self._transaction():
            has = {row[1] for row in self._database.execute("PRAGMA table_info(points)")}
            for name in _columns(plan.axes):
                if name not in has:
                    self._database.execute(f"ALTER TABLE points ADD COLUMN {_quoted(name)}")
            for point in plan.points if isinstance(plan, Plan) else ():
                self._put_point(plan, point)
            document = plan.located().model_dump_json(by_alias=True)
            self._database.execute("INSERT OR REPLACE INTO study VALUES (1, ?)", (document,))
            made = self._database.execute("INSERT INTO runs (document) VALUES (?)", (_json(dict(provenance)),))
            return int(made.lastrowid or 0)

    def _put_point(self, plan: Layout, point: Point) -> None:
        machine = point.machine
        values: dict[str, Value] = {
            "point": point.key,
            "number": point.number,
            "program": plan.program.name,
            "parameters": _json(dict(point.parameters)),
            "machine_name": machine.name if machine else None,
            "machine_digest": machine.digest() if machine else None,
            "excluded": point.skipped,
            **dict(zip(_columns(plan.axes), (point.axes.get(name) for name in plan.axes), strict=True)),
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
        """Keep what came of a point, all of it or nothing. seconds: that it took."""
        with self._transaction():
            for quantity, document in results.items():
                self._database.execute(
                    "INSERT OR REPLACE INTO results VALUES (?, ?, ?, ?, ?)",
                    (point, quantity, _json(document), seconds, run),
                )
                self._database.execute("DELETE FROM failures WHERE point = ? AND quantity = ?", (point, quantity))
            for quantity, error in failures.items():
                self._database.execute(
                    "INSERT OR REPLACE INTO failures VALUES (?, ?, ?, ?)", (point, quantity, error, run)
                )

    @_in_words
    def put_part(self, part: str, document: bytes, seconds: float, run: int) -> None:
        """Keep a part of a large study of closed forms."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO parts VALUES (?, ?, ?, ?)", (part, document, seconds, run))

    @_in_words
    def part(self, part: str) -> bytes | None:
        """A part that is there."""
        row = self._database.execute("SELECT document FROM parts WHERE part = ?", (part,)).fetchone()
        return None if row is None else bytes(row[0])

    @_in_words
    def parts(self) -> set[str]:
        """Those that are there."""
        return {row[0] for row in self._database.execute("SELECT part FROM parts")}

    @_in_words
    def skip(self, point: str, reason: str, run: int) -> None:
        """Keep that a point can't be, and why."""
        with self._transaction():
            self._database.execute("INSERT OR REPLACE INTO skipped VALUES (?, ?, ?)", (point, reason, run))

    @_in_words
    def forget_failures(self, points: Iterable[str]) -> None:
        """What failed before is tried again."""
        with self._transaction():
            self._database.executemany("DELETE FROM failures WHERE point = ?", ((point,) for point in points))

    @_in_words
    def results(self) -> dict[str, Documents]:
        """What is there, by point and quantity."""
        found: dict[str, Documents] = {}
        for point, quantity, document in self._database.execute("SELECT point, quantity, document FROM results"):
            found.setdefault(point, {})[quantity] = json.loads(document)
        return found

    @_in_words
    def finished(self) -> dict[str, set[str]]:
        """The quantities that are there, by point."""
        found: dict[str, set[str]] = {}
        for point, quantity in self._database.execute("SELECT point, quantity FROM results"):
            found.setdefault(point, set()).add(quantity)
        return found

    @_in_words
    def skipped(self) -> dict[str, str]:
        """Points that can't be, with the reason."""
        return dict(self._database.execute("SELECT point, reason FROM skipped"))

    @_in_words
    def failures(self) -> dict[str, dict[str, str]]:
        """Errors by point and quantity; the empty quantity stands for all."""
        found: dict[str, dict[str, str]] = {}
        for point, quantity, error in self._database.execute("SELECT point, quantity, error FROM failures"):
            found.setdefault(point, {})[quantity] = error
        return found

    @_in_words
    def mean_seconds(self) -> float | None:
        """What a point has taken on average; None before the first."""
        row = self._database.execute(
            "SELECT avg(seconds) FROM (SELECT max(seconds) AS seconds FROM results GROUP BY point)"
        )
        found = row.fetchone()[0]
        return None if found is None else float(found)

    @_in_words
    def runs(self) -> list[dict[str, Any]]:
        """The provenance of every run, the first one first."""
        return [json.loads(row[0]) for row in self._database.execute("SELECT document FROM runs ORDER BY id")]

    @_in_words
    def study(self) -> dict[str, Any] | None:
        """The study as it was last run."""
        row = self._database.execute("SELECT document FROM study").fetchone()
        return None if row is None else dict(json.loads(row[0]))

    def _transaction(self) -> "_Transaction":
        return _Transaction(self._database)


class _Transaction:
    """Takes the write lock at once, so that two processes wait for one another and do not fail."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def __enter__(self) -> None:
        self._database.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if kind is None:
            self._database.execute("COMMIT")
        elif self._database.in_transaction:  # a full disk has taken it back already
            self._database.execute("ROLLBACK")


def _columns(axes: Sequence[str]) -> list[str]:
    """The columns of axes: their names, or axis_NAME for what SQLite, blind to capitals, would take for another."""
    return [f"axis_{name}" if name.lower() in FIXED or name != name.lower() else name for name in axes]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _json(document: object) -> str:
    return json.dumps(document, default=str)
