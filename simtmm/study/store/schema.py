"""Schema: the tables of a store, the checksums of their rows, and how a store of an older schema is brought forward."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from hashlib import blake2b
from typing import Any

APPLICATION = 0x746D6D53  # "tmmS", so that no other program's database is written to
SCHEMA = 2  # 1 had no checksums, and at first no table `parts`

# Rows that simtmm reads again have a checksum of all their columns. `points` is for people who read with SQL.
RUNS = "CREATE TABLE runs (id INTEGER PRIMARY KEY, document TEXT NOT NULL, checksum BLOB NOT NULL)"
STUDY = "CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL, checksum BLOB NOT NULL)"
POINTS = """
CREATE TABLE points (
    point TEXT PRIMARY KEY, number INTEGER NOT NULL, program TEXT NOT NULL, parameters TEXT NOT NULL,
    machine_name TEXT, machine_digest TEXT, excluded TEXT NOT NULL
)"""
RESULTS = """
CREATE TABLE results (
    point TEXT NOT NULL, quantity TEXT NOT NULL, document TEXT NOT NULL, seconds REAL NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, checksum BLOB NOT NULL, PRIMARY KEY (point, quantity)
) WITHOUT ROWID"""
PARTS = """
CREATE TABLE parts (
    part TEXT PRIMARY KEY, document BLOB NOT NULL, seconds REAL NOT NULL, run INTEGER NOT NULL REFERENCES runs,
    checksum BLOB NOT NULL
)"""  # of large studies of closed forms (sheet.py), as Parquet
SKIPPED = """
CREATE TABLE skipped (
    point TEXT PRIMARY KEY, reason TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs, checksum BLOB NOT NULL
)"""
FAILURES = """
CREATE TABLE failures (
    point TEXT NOT NULL, quantity TEXT NOT NULL, error TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs,
    checksum BLOB NOT NULL, PRIMARY KEY (point, quantity)
)"""
COLUMNS = {  # that a checksum is of: the key first, what may be long last
    "runs": ("id", "document"),
    "study": ("id", "document"),
    "results": ("point", "quantity", "seconds", "run", "document"),
    "parts": ("part", "seconds", "run", "document"),
    "skipped": ("point", "run", "reason"),
    "failures": ("point", "quantity", "run", "error"),
}
SELECT = {table: f"SELECT {', '.join(names)}, checksum FROM {table}" for table, names in COLUMNS.items()}
INSERT = {
    table: f"INSERT OR REPLACE INTO {table} ({', '.join(names)}, checksum) VALUES ({'?, ' * len(names)}?)"
    for table, names in COLUMNS.items()
}
# The last value needs no quotes to differ from the others, which saves a third of the time
WRITTEN = {table: f"{table} {'%a ' * (len(names) - 1)}%s" for table, names in COLUMNS.items()}
NEEDED = {  # what a result is read for, by quantity; "" stands for models
    "simulated": {"cycles", "time"},
    "measured": {"cycles", "seconds"},
    "": {"cycles", "bound", "terms"},
}
KEYS = {table: names[: 2 if "quantity" in names else 1] for table, names in COLUMNS.items()}

Cells = tuple[Any, ...]  # the values of a row, in the order of COLUMNS


def checksum(table: str, row: Cells) -> bytes:
    """Of a row as it will be read: a REAL is a float."""
    if isinstance(row[-1], bytes):
        row = (*row[:-1], blake2b(row[-1]).hexdigest())
    return blake2b((WRITTEN[table] % row).encode("utf-8", "surrogateescape"), digest_size=16).digest()


def rows(database: sqlite3.Connection, table: str, where: str = "", *given: str) -> Iterator[tuple[Cells, bool]]:
    """The rows of a table, and whether each is what was written. where: which, with a ? for each of `given`."""
    for row in database.execute(f"{SELECT[table]} {where}", given):
        own = row[:-1]
        yield own, row[-1] == checksum(table, own)


def put_rows(database: sqlite3.Connection, table: str, rows: Iterable[Cells]) -> None:
    """Write rows instead of those with their keys."""
    database.executemany(INSERT[table], [(*row, checksum(table, row)) for row in rows])


def text(stored: bytes) -> str:
    """Text of a store as Python's; what is damaged to be no Unicode still differs from all else."""
    return stored.decode("utf-8", "surrogateescape")


def make(database: sqlite3.Connection) -> None:
    """Make the tables."""
    for statement in (RUNS, STUDY, POINTS, RESULTS, PARTS, SKIPPED, FAILURES):
        database.execute(statement)
    database.execute(f"PRAGMA application_id = {APPLICATION}")
    database.execute(f"PRAGMA user_version = {SCHEMA}")


def bring_forward(database: sqlite3.Connection) -> None:
    """Bring a store of schema 1 forward, within a transaction: its rows get the checksums of what they are now.

    Whether they are what was written nobody can tell; what can't have been written gets none, and so is damaged.
    """
    there = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    for table in [table for table in COLUMNS if table in there]:
        database.execute(f"ALTER TABLE {table} ADD COLUMN checksum BLOB NOT NULL DEFAULT x''")
        rows = [
            (checksum(table, row), *map(_bound, row[: len(KEYS[table])]))
            for row in database.execute(f"SELECT {', '.join(COLUMNS[table])} FROM {table}")
            if _is_likely(table, row)
        ]
        chosen = " AND ".join(f"{name} = {'?' if name == 'id' else 'CAST(? AS TEXT)'}" for name in KEYS[table])
        database.executemany(f"UPDATE {table} SET checksum = ? WHERE {chosen}", rows)
    if "parts" not in there:
        database.execute(PARTS)
    database.execute(f"PRAGMA user_version = {SCHEMA}")


def _is_likely(table: str, row: Cells) -> bool:
    """Whether a row can have been written by us."""
    if table not in ("results", "runs", "study"):
        return True
    try:
        document = decoded(row[-1])
    except (TypeError, ValueError, RecursionError):
        return False
    if table != "results":
        return isinstance(document, dict)
    return is_result(document) and NEEDED.get(row[1], NEEDED[""]) <= document.keys()


def _bound(value: Any) -> Any:
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


# Documents


def encoded(document: object) -> str:
    """A document as a store keeps it."""
    return _ENCODER.encode(document)


def encoded_result(document: Mapping[str, Any]) -> str | None:
    """A result as a store keeps it; None where it has something else instead of a number."""
    text = encoded(document)
    try:
        if "NaN" in text:  # of which a name may be a part
            decoded(text)
    except ValueError:
        return None
    return text if is_result(document) else None


def decoded(document: str) -> Any:
    """What a document holds. Raises ValueError or RecursionError for what is no JSON, or has a number that is none."""
    found, end = _DECODER.raw_decode(document)
    if end != len(document):
        raise ValueError("more than one value")
    return found


def is_result(document: Any) -> bool:
    """Whether its times and terms are numbers and its bound is a word, as far as it has them."""
    if not isinstance(document, Mapping) or not isinstance(document.get("bound", ""), str):
        return False
    numbers = [value for value in (document.get("cycles"), document.get("seconds")) if value is not None]
    for values in (document.get("time"), document.get("terms"), document.get("causes")):
        if values is not None:
            if not isinstance(values, Mapping):
                return False
            numbers += values.values()
    kinds = {*map(type, numbers)}
    return kinds <= {int, float} or all(issubclass(kind, int | float) and kind is not bool for kind in kinds)


def _number(constant: str) -> float:
    """Of NaN, Infinity and -Infinity those that are one: a time may be without bound."""
    if constant == "NaN":
        raise ValueError(constant)
    return float(constant)


_ENCODER = json.JSONEncoder(default=str)  # built once: json.dumps would make one for each document
_DECODER = json.JSONDecoder(parse_constant=_number)
