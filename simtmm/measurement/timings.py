"""Measured times from files: CSV or JSON, from any source; the papers' ship with simtmm and go by name.

CSV: lines of comment that begin with #, if any, and a header with kernel, machine, seconds, and either `parameters`
("n=4096;threads=128") or a column for each parameter.
JSON: a list of objects (or one under "measurements") with "kernel", "machine", "seconds" and "parameters".
"""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from simtmm.documents import as_float, duplicates, read_csv, read_json
from simtmm.errors import StudyError, nearest, shown
from simtmm.files import data_folders, is_there
from simtmm.renamed import KERNELS, PARAMETERS, with_new_names

FIXED = ("kernel", "machine", "seconds", "parameters")


@dataclass(frozen=True)
class Timing:
    """A time that somebody measured. parameters: those that are given; the others don't matter."""

    kernel: str
    machine: str
    seconds: float
    parameters: Mapping[str, Any] = field(default_factory=dict)
    origin: str = field(default="", compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {**vars(self), "parameters": dict(self.parameters)}


def load_timings(path: str | Path) -> list[Timing]:
    """The times in a file (.json, else CSV), or those that ship with simtmm under a name (`shipped_timings`).

    Raises StudyError, the place named.
    """
    if not is_there(path) and (shipped := shipped_timings()):
        name = str(path)
        if name in shipped:
            path = shipped[name]
        elif Path(name).name == name and Path(name).suffix not in (".csv", ".json"):
            known = nearest(name, shipped)
            raise StudyError(f"{name}: not a file, and not measured times that ship with simtmm{known}")
    return _from_json(path) if Path(path).suffix == ".json" else _from_csv(read_csv(path, StudyError), str(path))


def shipped_timings() -> dict[str, Path]:
    """The files of measured times that ship with simtmm, by name: those of traces/measured with a column of seconds."""
    found: dict[str, Path] = {}
    for folder in data_folders("traces"):
        for path in sorted((folder / "measured").glob("*.csv")):
            if path.stem not in found and has_seconds(path):
                found[path.stem] = path
    return found


def has_seconds(path: str | Path) -> bool:
    """Whether a CSV file has the columns of measured times.

    path: the file.
    """
    header = next((line for line in read_csv(path, StudyError).splitlines() if not line.startswith("#")), "")
    return {"kernel", "machine", "seconds"} <= set(header.split(","))


def matching(
    measured: Sequence[Timing], kernel: str, parameters: Mapping[str, Any], machines: Iterable[str]
) -> list[int]:
    """Indexes of the times of this kernel on a machine of one of these names, whose parameters are all like these.

    measured: times of a file.
    kernel: its name.
    parameters: values by name, as texts or numbers.
    machines: names that the machine goes by.
    """
    names = {name.lower() for name in machines}
    return [
        index
        for index, time in enumerate(measured)
        if time.kernel == kernel
        and time.machine.lower() in names
        and all(name in parameters and _same(value, parameters[name]) for name, value in time.parameters.items())
    ]


def _same(one: Any, other: Any) -> bool:
    try:
        return float(one) == float(other)
    except (TypeError, ValueError):
        return str(one) == str(other)


def _from_csv(text: str, path: str) -> list[Timing]:
    lines = text.splitlines(keepends=True)
    comments = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    try:
        return _rows("".join(lines[comments:]), path, comments)
    except csv.Error as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None


def _rows(text: str, path: str, comments: int) -> list[Timing]:
    """The times in the rows of a CSV file. comments: lines before them. Raises StudyError and csv.Error."""
    table = csv.DictReader(io.StringIO(text))
    header = table.fieldnames or []
    for name in ("kernel", "machine", "seconds"):
        if name not in header:
            raise StudyError(
                f"{path}: line {comments + 1}: column {name!r} is missing; kernel, machine and seconds are required"
            )
    if twice := duplicates(header):
        raise StudyError(f"{path}: line {comments + 1}: column {shown(twice[0])}: appears more than once")
    times = []
    for row in table:
        place = f"{path}: line {comments + table.line_num}"
        if None in row or None in row.values():
            raise StudyError(f"{place}: must have {len(header)} columns, like the header")
        parameters = {name: value.strip() for name, value in row.items() if name not in FIXED and value.strip()}
        for word in (row.get("parameters") or "").replace(";", " ").split():
            name, equals, value = word.partition("=")
            if not equals or not name:
                raise StudyError(f"{place}: parameters = {shown(word)}: must be NAME=VALUE, separated by ;")
            parameters[name] = value
        times.append(_measured({**row, "parameters": parameters}, place))
    return times


def _from_json(path: str | Path) -> list[Timing]:
    document = read_json(path, StudyError)
    entries = document.get("measurements", document) if isinstance(document, dict) else document
    if isinstance(entries, dict):
        entries = [entries]
    if not isinstance(entries, list):
        raise StudyError(f"{path}: must be a list of measured times")
    return [_measured(entry, f"{path}: [{index}]") for index, entry in enumerate(entries)]


def _seconds(given: Any) -> float:
    try:
        return math.nan if isinstance(given, bool) else as_float(given)
    except (TypeError, ValueError):
        return math.nan


def _name(given: Any, where: str) -> str:
    """A name, or that of an object that has one. Raises StudyError."""
    name = given.get("name") if isinstance(given, Mapping) else given
    if not isinstance(name, str) or not name.strip():
        raise StudyError(f"{where} = {shown(given)}: must be a name")
    return name.strip()


def _measured(entry: Any, place: str) -> Timing:
    if not isinstance(entry, Mapping):
        raise StudyError(f"{place}: {shown(entry)}: must be an object with kernel, machine, seconds and parameters")
    for name in ("kernel", "machine", "seconds"):
        if name not in entry:
            raise StudyError(f"{place}: {name}: is missing")
    kernel, machine = (_name(entry[key], f"{place}: {key}") for key in ("kernel", "machine"))
    parameters = entry.get("parameters") or {}
    if not isinstance(parameters, Mapping):
        raise StudyError(f"{place}: parameters = {shown(parameters)}: must be an object")
    given = entry["seconds"]
    each = [_seconds(number) for number in given] if isinstance(given, list) else [_seconds(given)]  # of repetitions
    if not each or not all(0 < number < math.inf for number in each):
        raise StudyError(f"{place}: seconds = {shown(given)}: must be a number above 0")
    seconds = median(each)
    kernel = KERNELS.get(kernel, kernel)
    try:
        named = with_new_names(parameters, PARAMETERS.get(kernel, {}))
    except ValueError as error:
        raise StudyError(f"{place}: parameters.{error}") from None
    return Timing(kernel, machine, seconds, named, place)
