"""The file of a store: opened as an SQLite database, created, brought forward or refused."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from types import TracebackType

from simtmm.errors import StudyError, shown_error
from simtmm.files import is_file
from simtmm.study.store import schema
from simtmm.temporary import own_prefix

# What SQLite refuses; Python can't read its words where they quote a damaged name
REFUSALS = (sqlite3.Error, UnicodeDecodeError)
OF_THE_DISK = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_BUSY", "SQLITE_PERM")
PATIENCE = 60.0  # seconds to wait for another process that writes
PAGE = 4096  # bytes: SQLite's, of which the first says what the file is


class StoreFile:
    """An open file of a store. path: as messages show it. database: the connection."""

    def __init__(self, path: str | Path, make: bool) -> None:
        """Open it. make: see Store. Raises StudyError for what is no store."""
        self.path = str(path)
        if not make and not is_file(path):
            raise StudyError(f"{path}: no such store")
        self._copy: TemporaryDirectory[str] | None = None
        self._is_new = make and self.path != ":memory:" and not os.path.lexists(self.path)
        try:
            self._connect(self.path if make or is_writable(Path(path)) else self._copied(), make)
        except REFUSALS as error:
            if make or self._copy is not None or not _is_of_the_disk(error):
                raise self._refused(error) from None
            self._connect_copy()

    def _connect(self, opened: str, make: bool) -> None:
        try:
            self.database = sqlite3.connect(opened, timeout=PATIENCE, isolation_level=None)
        except sqlite3.Error as error:
            self._forget_copy()
            raise StudyError(f"{self.path}: can't be opened ({shown_error(error)})") from None
        try:
            self._open(make)
        except BaseException:
            self.close()
            if self._is_new and _size(self.path) <= PAGE:  # a full disk: no table of it is there
                self._remove()
            raise

    def _connect_copy(self) -> None:
        """Read it where there is room for what SQLite writes beside it."""
        try:
            self._connect(self._copied(), False)
        except REFUSALS as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> StudyError:
        what = "can't be read or written" if _is_of_the_disk(error) else "is not a study's store"
        return StudyError(f"{self.path}: {what} ({shown_error(error)})")

    def close(self) -> None:
        """Close it; the write-ahead log is folded into the file."""
        self.database.close()
        self._forget_copy()

    def discard(self) -> None:
        """Close it, and remove it again where it was new and no other process has opened it meanwhile."""
        alone = False
        if self._is_new:
            with contextlib.suppress(sqlite3.Error):  # as of one that is open elsewhere, which keeps its log
                alone = self.database.execute("PRAGMA journal_mode = DELETE").fetchone()[0] == "delete"
        self.close()
        if alone:
            self._remove()

    def _remove(self) -> None:
        for path in (self.path, f"{self.path}-wal", f"{self.path}-shm"):
            with contextlib.suppress(OSError):
                os.unlink(path)

    def transaction(self) -> "Transaction":
        """A context in which all is written or nothing."""
        return Transaction(self.database)

    def _open(self, make: bool) -> None:
        pragma = self.database.execute
        self.database.text_factory = schema.text
        application, version = (pragma(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version"))
        empty = self._is_empty()
        if not (empty and application == 0) and application != schema.APPLICATION:
            raise StudyError(f"{self.path}: is a database, but not a study's store")
        if not empty and not 1 <= version <= schema.SCHEMA:
            raise StudyError(f"{self.path}: has schema {version}, this simtmm has {schema.SCHEMA}: use another file")
        if empty and not make:
            raise StudyError(f"{self.path}: is not a study's store (it is empty)")
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
        """A copy of what can't be written to, as SQLite writes next to the file that it reads; with the log that a
        killed process
        has left.
        """
        try:
            self._copy = TemporaryDirectory(prefix=own_prefix("store"))
            copy = str(Path(self._copy.name) / "copy")
            shutil.copyfile(self.path, copy)
            with contextlib.suppress(FileNotFoundError):
                shutil.copyfile(f"{self.path}-wal", f"{copy}-wal")
        except OSError as error:
            self._forget_copy()
            raise StudyError(
                f"{self.path}: can't be read (its folder is not writable, and a copy in {gettempdir()} can't be "
                f"written: {error.strerror or error})"
            ) from None
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


def _is_of_the_disk(error: Exception) -> bool:
    """Whether the disk refused, or another process was in the way, and not the content of the file."""
    return getattr(error, "sqlite_errorname", "").startswith(OF_THE_DISK)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def is_writable(path: Path) -> bool:
    """Whether SQLite can write to a file, and beside it."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
