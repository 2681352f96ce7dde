"""Stores as they were, and as they must not be."""

import os
import sqlite3
from contextlib import closing, contextmanager

import pytest

from simtmm.study.store.schema import APPLICATION, COLUMNS

NOBODY = 65534
SCHEMA_1 = """
CREATE TABLE runs (id INTEGER PRIMARY KEY, document TEXT NOT NULL);
CREATE TABLE study (id INTEGER PRIMARY KEY CHECK (id = 1), document TEXT NOT NULL);
CREATE TABLE results (
    point TEXT NOT NULL, quantity TEXT NOT NULL, document TEXT NOT NULL, seconds REAL NOT NULL,
    run INTEGER NOT NULL REFERENCES runs, PRIMARY KEY (point, quantity)
) WITHOUT ROWID;
CREATE TABLE skipped (point TEXT PRIMARY KEY, reason TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs);
CREATE TABLE failures (
    point TEXT NOT NULL, quantity TEXT NOT NULL, error TEXT NOT NULL, run INTEGER NOT NULL REFERENCES runs,
    PRIMARY KEY (point, quantity)
);
CREATE TABLE parts (
    part TEXT PRIMARY KEY, document BLOB NOT NULL, seconds REAL NOT NULL, run INTEGER NOT NULL REFERENCES runs
);
"""


def executed(path, statement, *given):
    """Rows of a statement on a store, as any program could make it."""
    with closing(sqlite3.connect(path)) as database, database:
        return database.execute(statement, given).fetchall()


def brought_back(path):
    """Make of a store one of schema 1, which had no checksums."""
    old = path.with_suffix(".old")
    with closing(sqlite3.connect(old)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("ATTACH ? AS new", (str(path),))
        ((points,),) = database.execute("SELECT sql FROM new.sqlite_master WHERE name = 'points'")
        database.executescript(SCHEMA_1 + points)
        with database:
            for table, columns in {**COLUMNS, "points": "*"}.items():
                names, into = ("*", "") if columns == "*" else (", ".join(columns), f"({', '.join(columns)})")
                database.execute(f"INSERT INTO main.{table} {into} SELECT {names} FROM new.{table}")
        database.execute(f"PRAGMA application_id = {APPLICATION}")
        database.execute("PRAGMA user_version = 1")
    old.replace(path)


@contextmanager
def nothing_may_be_written(folder):
    """A context in which a folder and its files can only be read."""
    if os.geteuid() == 0 and not hasattr(os, "setresuid"):
        pytest.skip("root may write anywhere")
    paths = [*folder.iterdir(), folder]
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    root = os.geteuid() == 0
    if root:
        os.setresuid(NOBODY, NOBODY, 0)
    try:
        yield
    finally:
        if root:
            os.setresuid(0, 0, 0)
        for path in reversed(paths):
            path.chmod(0o755)
