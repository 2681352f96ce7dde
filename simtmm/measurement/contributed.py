"""Rows that users with a GPU send: what its profiler measured of a launch, and what simtmm simulated.

A row is a quantity of a launch. It is data: nothing of it is executed, and no machine is fitted to it. A row that can't
be understood is refused with file, line, column, value and what is allowed.
"""

import csv
import io
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from simtmm.documents import read_csv
from simtmm.errors import StudyError, shown
from simtmm.files import is_there, write_text, written_whole
from simtmm.measurement.nsight import COMPUTE, COUNTED, SYSTEMS

HEAD = "# Measured by a profiler on a GPU, and simulated: seconds, bytes, shares of 1, counts (docs/counters.md)"
LARGEST = 1e18  # of a value
LONGEST = 300  # characters of a name

_NAME = re.compile(rf"[^\x00-\x1f\x7f]{{1,{LONGEST}}}")
_NO_MACHINE = re.compile(r"[\x00-\x1f\x7f/\\|`<>]|\.toml")  # tables look a machine up by its name: no path
_SIZES = re.compile(r"[1-9]\d{0,9}x[1-9]\d{0,9}x[1-9]\d{0,9}")
_DIGEST = re.compile(r"[0-9a-f]{8,64}")
_VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
_WHOLE = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"\d{1,30}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")


@dataclass(frozen=True)
class Contributed:
    """A quantity of a launch.

    machine: that was simulated, by its name, and machine_digest its digest. gpu: as the profiler names it, "" where it
    does not. kernel: without parameters. grid, block: "256x1x1". launch: its number in the run. quantity: of COUNTED.
    measured, simulated: in seconds, bytes, shares of 1 or counts. tool: the profiler. simtmm: the version.
    """

    machine: str
    machine_digest: str
    gpu: str
    kernel: str
    grid: str
    block: str
    launch: int
    quantity: str
    measured: float
    simulated: float
    tool: str
    simtmm: str


COLUMNS = tuple(each.name for each in fields(Contributed))

_ALLOWED: Mapping[str, tuple[Callable[[str], bool], str]] = {
    "machine": (
        lambda text: 0 < len(text.strip()) <= LONGEST and not _NO_MACHINE.search(text),
        f"a machine's name, of at most {LONGEST} characters, without / \\ | ` < > and .toml",
    ),
    "machine_digest": (lambda text: _DIGEST.fullmatch(text) is not None, "8 to 64 hexadecimal digits"),
    "gpu": (lambda text: not text or _NAME.fullmatch(text) is not None, f"a name of at most {LONGEST} characters"),
    "kernel": (lambda text: _NAME.fullmatch(text) is not None, f"a name of 1 to {LONGEST} characters"),
    "grid": (lambda text: _SIZES.fullmatch(text) is not None, "three sizes, as 256x1x1"),
    "block": (lambda text: _SIZES.fullmatch(text) is not None, "three sizes, as 256x1x1"),
    "launch": (lambda text: _WHOLE.fullmatch(text) is not None, "a whole number from 0 on"),
    "quantity": (lambda text: text in COUNTED, f"one of {', '.join(COUNTED)}"),
    "measured": (lambda text: _NUMBER.fullmatch(text) is not None, "a number from 0 on, with a decimal point"),
    "simulated": (lambda text: _NUMBER.fullmatch(text) is not None, "a number from 0 on, with a decimal point"),
    "tool": (lambda text: text in (COMPUTE, SYSTEMS), f"{COMPUTE} or {SYSTEMS}"),
    "simtmm": (lambda text: _VERSION.fullmatch(text) is not None, "a version, as 0.1.0"),
}


def load_contributed(path: str | Path) -> tuple[Contributed, ...]:
    """The rows of a file. Raises StudyError, the line and the column named.

    path: CSV with COLUMNS; lines before them that begin with # are comments.
    """
    lines = read_csv(path, StudyError).splitlines(keepends=True)
    begin = next((number for number, line in enumerate(lines) if not line.startswith("#")), len(lines))
    reader = csv.reader(io.StringIO("".join(lines[begin:]), newline=""))
    found: dict[Contributed, int] = {}
    try:
        head = next(reader, [])
        if tuple(head) != COLUMNS:
            raise StudyError(f"{path}:{begin + 1}: columns {shown(','.join(head))}: must be {','.join(COLUMNS)}")
        for cells in reader:
            line = begin + reader.line_num
            row = _row(f"{path}:{line}", cells)
            if row in found:
                raise StudyError(f"{path}:{line}: is a duplicate of line {found[row]}")
            found[row] = line
    except csv.Error as failure:
        raise StudyError(f"{path}:{begin + reader.line_num}: is not CSV ({failure})") from None
    if not found:
        raise StudyError(f"{path}: has no rows")
    return tuple(found)


def _row(where: str, cells: Sequence[str]) -> Contributed:
    if len(cells) != len(COLUMNS):
        raise StudyError(f"{where}: has {len(cells)} cells: must have {len(COLUMNS)}, as columns are named")
    texts = dict(zip(COLUMNS, cells, strict=True))
    for column, text in texts.items():
        is_allowed, words = _ALLOWED[column]
        if not is_allowed(text):
            raise StudyError(f"{where}: {column} = {shown(text)}: must be {words}")
    most = 1.0 if COUNTED[texts["quantity"]].is_share else LARGEST
    for column in ("measured", "simulated"):
        value = float(texts[column])
        if not value <= most or (texts["quantity"] == "seconds" and value == 0):
            least = "above 0" if texts["quantity"] == "seconds" else "at least 0"
            raise StudyError(f"{where}: {column} = {shown(texts[column])}: must be {least} and at most {most:g}")
    numbers = {"launch": int(texts["launch"]), **{each: float(texts[each]) for each in ("measured", "simulated")}}
    return Contributed(**{**texts, **numbers})  # type: ignore[arg-type]  # numbers are


def label_of(machine: str) -> str:
    """A machine's name as rows have it: what a row must not have is a hyphen, and what is too long is cut.

    machine: its name, with what was changed of it.
    """
    return _NO_MACHINE.sub("-", machine).strip()[:LONGEST] or "-"


def rows_of(path: str | Path) -> tuple[Contributed, ...]:
    """The rows of a file that more are added to; none where there is no file yet. Raises StudyError, as reading does.

    path: of the file.
    """
    return load_contributed(path) if is_there(path) else ()


def append_contributed(path: str | Path, rows: Iterable[Contributed]) -> int:
    """Add rows to a file, which is made if there is none, and give how many are new; rows that it has stay once.

    path: of the file.
    rows: to add.

    Raises StudyError for a file of another form, and for a row that it would not read again; OutputError.
    """
    before = rows_of(path)
    new = [row for row in dict.fromkeys(rows) if row not in set(before)]
    text = io.StringIO()
    text.write(f"{HEAD}\n")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for number, row in enumerate((*before, *new), start=1):
        cells = [_written(value) for value in astuple(row)]
        _row(f"row {number} for {path}", cells)
        writer.writerow(cells)
    with written_whole(path) as temporary:
        write_text(temporary, text.getvalue())
    return len(new)


def _written(value: object) -> str:
    if isinstance(value, float):
        assert math.isfinite(value)
        return f"{value:.9g}"
    return str(value)
