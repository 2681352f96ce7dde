"""Stored trials, with everything that decides them as the key, so that a search can continue where it stopped."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any

from simtmm.analysis.tuning.trial import Subject, Trial
from simtmm.cuda.compilers.release import compilers_key
from simtmm.errors import MachineError, StudyError
from simtmm.provenance import sources
from simtmm.study.design.axes import Value
from simtmm.study.design.content import kernel_digest, launches_digest

TABLE = "CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, trial TEXT NOT NULL) WITHOUT ROWID"
FIND = "SELECT trial FROM trials WHERE key = ?"
LEAST = -1.0  # in the place of a precision, where a least time is all that is known
DECIDE = (  # parts of the package by which trials differ
    "cuda", "engine", "kernel.py", "machine", "model", "parameter", "program.py", "recorder", "sampling", "trace",
    "workload", "native", "analysis/tuning",
)  # fmt: skip


def content_of(source: str, subject: Subject) -> str:
    """A hash of all parts of the kernel. Raises KernelError and CompilerError."""
    kernel = subject.kernel
    return launches_digest(Path(source), kernel) if kernel.sources else kernel_digest(kernel.folder)


class KeptTrials:
    """The trials of one subject, in an SQLite file that others may share."""

    def __init__(self, path: str | Path, subject: Subject, content: str) -> None:
        """Raises StudyError for a file that can't be used."""
        self._path, self._subject = path, subject
        about = [content, subject.form, list(subject.models), sources(*DECIDE), compilers_key()]
        self._about = json.dumps(about)
        try:
            self._file = sqlite3.connect(path, isolation_level=None, timeout=60)
            tables = {name for (name,) in self._file.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            if tables and "trials" not in tables:
                raise StudyError(f"--store {path}: is not a store of tuning results: use another file")
            self._file.execute(TABLE)
        except sqlite3.Error as error:
            raise StudyError(f"--store {path}: can't be used as a store ({error})") from None

    def __enter__(self) -> "KeptTrials":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def find(self, configuration: Mapping[str, Value], precision: float | None = None) -> Trial | None:
        """The most precise trial of a configuration; with a precision the one for which that was requested.

        Raises StudyError for one that is damaged.
        """
        try:
            key = self._key(configuration, precision)
        except MachineError:  # a machine that can't be: its trial tells why
            return None
        try:
            with closing(self._file.execute(FIND, [key])) as rows:
                row = rows.fetchone()
        except sqlite3.Error as error:
            raise StudyError(f"--store {self._path}: can't be read ({error})") from None
        if row is None:
            return None
        try:
            return _trial(json.loads(row[0]), configuration)
        except (ValueError, TypeError, AttributeError, RecursionError):
            raise StudyError(f"--store {self._path}: has a damaged trial: use another file") from None

    def keep(self, trial: Trial) -> None:
        """Keep a trial, as that of its precision and instead of a less precise one.

        What did not run is tried again next time: it may have been for want of a compiler or of memory.
        """
        if trial.status != "done":
            return
        self._insert(trial, (None, trial.precision))

    def keep_least(self, configuration: Mapping[str, Value], cycles: float) -> None:
        """Keep what a configuration takes at least."""
        self._insert(Trial(configuration, "bounded", least=cycles), (LEAST,))

    def find_least(self, configuration: Mapping[str, Value]) -> float | None:
        """What a configuration takes at least [cycles], where that was kept. Raises StudyError for what is damaged."""
        known = self.find(configuration, LEAST)
        return None if known is None else known.least

    def _insert(self, trial: Trial, precisions: tuple[float | None, ...]) -> None:
        document = json.dumps(trial.to_dict())
        rows = [(self._key(trial.configuration, precision), document) for precision in precisions]
        try:
            self._file.executemany("INSERT OR REPLACE INTO trials VALUES (?, ?)", rows)
        except sqlite3.Error as error:
            raise StudyError(f"--store {self._path}: can't be written ({error})") from None

    def _key(self, configuration: Mapping[str, Value], precision: float | None) -> str:
        subject = self._subject
        values = subject.kernel.resolve(subject.parameters_of(configuration))
        machine = subject.machine_of(configuration)
        target = machine.compute_capability  # what is compiled for, which is not in the digest
        of = [machine.digest(), target, values, *([] if precision is None else [precision])]
        return hashlib.sha256(f"{self._about}{json.dumps(of, sort_keys=True)}".encode()).hexdigest()


def _trial(document: dict[str, Any], configuration: Mapping[str, Value]) -> Trial:
    """The trial of a document. Raises TypeError where a value is of another kind than a trial's."""
    trial = Trial(**{**document, "configuration": dict(configuration)})
    numbers = [
        trial.cycles,
        trial.error,
        trial.precision,
        trial.least,
        *trial.predictions.values(),
        *trial.counted.values(),
    ]
    numbers += [] if trial.seconds is None else [trial.seconds]
    whole, texts = [trial.registers, trial.shared_bytes, trial.blocks], [trial.status, trial.reason, trial.bound]
    for values, kinds in ((numbers, (int, float)), (whole, (int,)), (texts, (str,))):
        if not all(type(value) in kinds for value in values):
            raise TypeError
    return trial
