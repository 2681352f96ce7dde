"""Rows of a CSV file of measurements, and the numbers in them."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from simtmm.documents import duplicates, read_csv
from simtmm.errors import StudyError, nearest, shown

LEAST, MOST = (
    1e-9,
    1e15,
)  # of what is measured: cycles, KiB, MHz, GB/s, per cent; squares and ratios of them are numbers


def read_rows(path: str | Path, gpu: str | None, needed: Sequence[str]) -> list[dict[str, str]]:
    """The rows of a GPU in a CSV file with these columns; lines that begin with # are comments.

    gpu: what the column `gpu`, where there is one, must hold, as `chosen_gpu` takes it. Raises StudyError.
    """
    lines = io.StringIO(read_csv(path, StudyError), newline="")
    try:
        table = csv.DictReader(line for line in lines if not line.startswith("#"))
        rows = list(table)
    except csv.Error as error:
        raise StudyError(f"{path}: is not CSV ({error})") from None
    if twice := duplicates(table.fieldnames or ()):
        raise StudyError(f"{path}: column {shown(twice[0])}: appears more than once")
    if not rows:
        raise StudyError(f"{path}: has no rows")
    for column in needed:
        if column not in rows[0]:
            raise StudyError(f"{path}: has no column {column!r}{nearest(column, [str(name) for name in rows[0]])}")
    if "gpu" not in rows[0]:
        return rows
    chosen = chosen_gpu(path, gpu, {row["gpu"] or "" for row in rows})
    return [row for row in rows if (row["gpu"] or "") == chosen]


def chosen_gpu(path: str | Path, gpu: str | None, names: Iterable[str]) -> str:
    """The GPU of a file whose rows count. Raises StudyError, also where none is given and there are several.

    path: of the file, for messages.
    gpu: what it is called, in any file: one name or several with commas between them. a100_80 and A100-80 are one.
    names: of the file's GPUs.
    """
    known = sorted(set(names))
    if not known:
        raise StudyError(f"{path}: has no rows of such measurements")
    if gpu is None:
        if len(known) > 1:
            raise StudyError(f"{path}: has several GPUs: choose one of {', '.join(known)}")
        return known[0]
    wanted = {_spelled(name) for name in gpu.split(",")}
    alike = [name for name in known if _spelled(name) in wanted]
    if not alike:
        raise StudyError(f"{path}: gpu {shown(gpu)}: unknown{nearest(gpu.split(',')[0], known)}")
    if len(alike) > 1:
        raise StudyError(f"{path}: gpu {shown(gpu)}: may be any of {', '.join(alike)}")
    return alike[0]


def _spelled(name: str) -> str:
    return name.strip().replace("_", "-").casefold()


def positive_number(path: str | Path, row: Mapping[str, str], column: str) -> float:
    """A number above 0 of a row. Raises StudyError."""
    try:
        value = float(row[column] or "")
    except ValueError:
        value = 0.0
    if not LEAST <= value <= MOST:
        allowed = "must be a number above 0" if not value > 0 else f"must be from {LEAST:g} to {MOST:g}"
        raise StudyError(f"{path}: {column} = {shown(row[column])}: {allowed}")
    return value


def whole_number(path: str | Path, row: Mapping[str, str], column: str, least: int = 1) -> int:
    """A whole number from `least`, 0 or 1, on of a row. Raises StudyError."""
    if least == 0 and (row[column] or "").strip() == "0":
        return 0
    value = positive_number(path, row, column)
    if value != int(value):
        raise StudyError(f"{path}: {column} = {shown(row[column])}: must be a whole number of at least {least}")
    return int(value)
