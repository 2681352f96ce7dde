"""Damage: what in a store is not what was written, and how the rest is put right."""

import sqlite3

from simtmm.errors import StudyError, shown
from simtmm.study.store import schema

AGAIN = "run the sweep again to recompute what is lost"
LOST = {"lost": "its row was damaged"}  # the provenance of a run of which nothing else is known


class DamageError(StudyError):
    """A store in which something is not what was written."""

    @classmethod
    def of_row(cls, path: str, table: str, row: tuple[object, ...]) -> "DamageError":
        """row: as it was read, the key first."""
        key = " ".join(map(str, row[: len(schema.KEYS[table])]))
        return cls(f"{path}: table {table}, row {shown(key)}: is damaged: {AGAIN}")


def problem(database: sqlite3.Connection) -> str:
    """What SQLite finds wrong with a file beside the content of its rows; empty where that is nothing."""
    found = str(database.execute("PRAGMA integrity_check(1)").fetchone()[0])
    return "" if found == "ok" else " ".join(found.split())


def written_anew(database: sqlite3.Connection) -> dict[str, int]:
    """Fill the tables of a store, within a transaction, with those of their rows that are whole; so indices, and the
    order of rows by their keys, are right again. Gives how many of each table are not whole.
    """
    lost = {}
    for table in schema.COLUMNS:
        found = list(schema.rows(database, table))
        lost[table] = sum(not whole for _, whole in found)
        database.execute(f"DELETE FROM {table}")
        schema.put_rows(database, table, (row for row, whole in found if whole))
    database.execute("CREATE TEMP TABLE kept AS SELECT * FROM points")
    database.execute("DELETE FROM points")
    database.execute("INSERT OR IGNORE INTO points SELECT * FROM kept")
    database.execute("DROP TABLE kept")
    runs = " UNION ".join(f"SELECT run FROM {table}" for table, names in schema.COLUMNS.items() if "run" in names)
    missing = database.execute(f"SELECT run FROM ({runs}) WHERE run NOT IN (SELECT id FROM runs)").fetchall()
    # so that no other takes their numbers
    schema.put_rows(database, "runs", [(run, schema.encoded(LOST)) for (run,) in missing])
    return lost


def described(lost: dict[str, int]) -> str:
    """How many rows of which tables are lost; where there are none, what else was written anew."""
    parts = [f"{number:,} row{'s' * (number != 1)} of {table}" for table, number in lost.items() if number]
    return ", ".join(parts) or "pages of the file"
