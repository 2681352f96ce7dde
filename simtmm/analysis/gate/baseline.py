"""A baseline: the result of each kernel of a gate, as stored in a file."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import isfinite
from pathlib import Path
from typing import Any

from simtmm.analysis.run.outcome import Run
from simtmm.documents import read_json
from simtmm.errors import SavedRunError, shown
from simtmm.files import write_text, written_whole
from simtmm.provenance import VERSION, computed_by, provenance

SCHEMA, FORMAT = "simtmm-baseline", 1


@dataclass(frozen=True)
class Timed:
    """What came of a kernel. machine: its name; machine_digest: of its values.

    seconds: simulated time on the device, None for a machine without a clock. cycles: the same.
    cause, line: what binds it by the verdict, and where; "" where no line has it. behind: the cause that the line is of
    where the first has none, such as too few blocks; else "".
    compiled_by: of compiled kernels, which release made which kind of code. words: of kernels.toml, by dotted key.
    """

    machine: str
    machine_digest: str
    seconds: float | None
    cycles: float
    cause: str
    line: str
    compiled_by: tuple[str, ...]
    words: Mapping[str, str]
    behind: str = ""

    @classmethod
    def of(cls, done: Run, words: Mapping[str, str]) -> "Timed":
        """From a run.

        done: the run.
        """
        return cls(
            done.machine.name,
            done.machine.digest(),
            done.result.seconds,
            done.result.cycles,
            done.verdict.cause,
            str(done.verdict.where or ""),
            tuple(dict.fromkeys(f"{each.compiler}, {each.instructions}" for each in done.schedules)),
            words,
            "" if done.verdict.behind is None else done.verdict.behind.cause,
        )

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {**asdict(self), "compiled_by": list(self.compiled_by)}


@dataclass(frozen=True)
class Baseline:
    """Kernels by name. simtmm: the version that ran them; code: a hash of its sources that decide a time."""

    simtmm: str
    code: str
    kernels: Mapping[str, Timed]

    def write(self, path: str | Path) -> None:
        """Write it, whole or not at all. Raises OutputError."""
        document = {
            "schema": SCHEMA,
            "version": FORMAT,
            "provenance": {**provenance(), "simtmm": self.simtmm, "code": self.code},
            "kernels": {name: kernel.to_dict() for name, kernel in self.kernels.items()},
        }
        text = json.dumps(document, indent=2, allow_nan=False)
        with written_whole(path) as temporary:
            write_text(temporary, f"{text}\n")


def new_baseline(kernels: Mapping[str, Timed]) -> Baseline:
    """A baseline of what this simtmm ran.

    kernels: what was timed, by the kernel's name in the file.
    """
    return Baseline(VERSION, computed_by(), kernels)


def load_baseline(path: str | Path, to_replace: bool = False) -> Baseline:
    """The baseline in a file. Raises SavedRunError, with file, key, value and what is allowed.

    to_replace: one of another version will do as well, as none of it.
    """
    document = read_json(path, SavedRunError)
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        found = shown(document.get("schema")) if isinstance(document, dict) else "none"
        raise SavedRunError(f"{path}: schema = {found}: must be {SCHEMA!r}, as `simtmm diff --baseline` writes it")
    if to_replace:
        return new_baseline({})
    if type(document.get("version")) is not int or document["version"] != FORMAT:
        raise SavedRunError(
            f"{path}: version = {shown(document.get('version'))}: must be {FORMAT}: rewrite it with --update"
        )
    about = _table(document, "provenance", f"{path}: ")
    kernels = _table(document, "kernels", f"{path}: ")
    return Baseline(
        _text(about, "simtmm", f"{path}: provenance."),
        _text(about, "code", f"{path}: provenance."),
        {name: _timed(_table(kernels, name, f"{path}: kernels."), f"{path}: kernels.{name}.") for name in kernels},
    )


def _timed(table: Mapping[str, Any], where: str) -> Timed:
    compiled_by, words = table.get("compiled_by"), _table(table, "words", where)
    if not isinstance(compiled_by, list) or not all(isinstance(each, str) for each in compiled_by):
        raise SavedRunError(f"{where}compiled_by = {shown(compiled_by)}: must be a list of texts")
    seconds = None if table.get("seconds", 0) is None else _number(table, "seconds", where, " or null")
    return Timed(
        _text(table, "machine", where),
        _text(table, "machine_digest", where),
        seconds,
        _number(table, "cycles", where),
        _text(table, "cause", where),
        _text(table, "line", where),
        tuple(compiled_by),
        {key: _text(words, key, f"{where}words.") for key in words},
        _text({"behind": "", **table}, "behind", where),  # baselines before 0.8 have none
    )


def _number(table: Mapping[str, Any], key: str, where: str, more: str = "") -> float:
    value = table.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and value >= 0):
        raise SavedRunError(f"{where}{key} = {shown(value)}: must be a number of at least 0{more}")
    return float(value)


def _text(table: Mapping[str, Any], key: str, where: str) -> str:
    value = table.get(key)
    if not isinstance(value, str):
        raise SavedRunError(f"{where}{key} = {shown(value)}: must be a text")
    return value


def _table(table: Mapping[str, Any], key: str, where: str) -> dict[str, Any]:
    value = table.get(key)
    if not isinstance(value, dict):
        raise SavedRunError(f"{where}{key} = {shown(value)}: must be an object")
    return value
