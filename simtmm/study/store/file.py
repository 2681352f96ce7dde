"""The file of a store: opened as an SQLite database, made or brought forward, or refused."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType

from simtmm.errors import StudyError, shown_error
from simtmm.files import is_file
from simtmm.study.store import schema

# What SQLite refuses; Python can't read its words where they quote a damaged name
REFUSALS = (sqlite3.Error, UnicodeDecodeError)
PATIENCE = 60.0  # seconds to wait for another process that writes


class StoreFile:
    """An open file of a store. path: as it is told. database: the connection."""

    def __init__(self, path: str | Path, make: bool) -> None:
        """Open it. make: see Store. Raises StudyError for what is no store."""
        self.path = str(path)
        if not make and not is_file(path):
            raise StudyError(f"{path}: there is no such store")
        self._copy: TemporaryDirectory[str] | None = None
        try:
            opened = self.path if make or _is_writable(Path(path)) else self._copied()
            self.database = sqlite3.connect(opened, timeout=PATIENCE, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            self._forget_copy()
            raise StudyError(f"{path}: can't be opened ({shown_error(error)})") from None
        try:
            self._open(make)
        except REFUSALS as error:
            self.close()
            raise StudyError(f"{path}: is no store of a study ({shown_error(error)})") from None
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close it; the write-ahead log is folded into the file."""
        self.database.close()
        self._forget_copy()

    def transaction(self) -> "Transaction":
        """A context in which all is written or nothing."""
        return Transaction(self.database)

    def _open(self, make: bool) -> None:
        pragma = self.database.execute
        self.database.text_factory = schema.text
        application, version = (pragma(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = self._is_empty()
        if not (empty and application == 0) and application != schema.APPLICATION:
            raise StudyError(f"{self.path}: is a database, but no store of a study")
        if not empty and not 1 <= version <= schema.SCHEMA:
            raise StudyError(f"{self.path}: has schema {version}, this simtmm has {schema.SCHEMA}: take another file")
        if empty and not make:
            raise StudyError(f"{self.path}: is no store of a study (it is empty)")
        pragma("PRAGMA journal_mode = WAL")
        pragma("PRAGMA synchronous = NORMAL")  # safe for a killed process; the system's crash may cost the last points
        if empty or version < schema.SCHEMA:
            with self.transaction():  # in which another process may have been before us
                if self._is_empty():
                    schema.make(self.database)
                elif pragma("PRAGMA user_version").fetchone()[0] < schema.SCHEMA:
                    schema.bring_forward(self.database)

    def _is_empty(self) -> bool:
        return not self.database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]

    def _copied(self) -> str:
        """A copy of what can't be written to, as SQLite writes beside what it reads; with the log that a killed process
        has left.
        """
        self._copy = TemporaryDirectory(prefix="simtmm-store-")
        copy = str(Path(self._copy.name) / "copy")
        shutil.copyfile(self.path, copy)
        with contextlib.suppress(FileNotFoundError):
            shutil.copyfile(f"{self.path}-wal", f"{copy}-wal")
        return copy

    def _forget_copy(self) -> None:
        if self._copy is not None:
            self._copy.cleanup()


class Transaction:
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


def _is_writable(path: Path) -> bool:
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
