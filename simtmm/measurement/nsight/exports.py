"""The tables in what Nsight Compute and Nsight Systems export as CSV; a file of another form is refused in one line."""

import codecs
import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simtmm.documents import MOST_ROWS, read_bytes
from simtmm.errors import StudyError, shown

RAW, DETAILS, SOURCE = "raw", "details", "source"  # pages of Nsight Compute
KERNEL_SUMS, TRACE, MEMORY_SUMS = "cuda_gpu_kern_sum", "cuda_gpu_trace", "cuda_gpu_mem_time_sum"  # of Nsight Systems

NCU = "ncu -i FILE.ncu-rep --csv --page raw"
NSYS = f"nsys stats --report {KERNEL_SUMS} --format csv"
ALLOWED = f"must be CSV of Nsight Compute ({NCU}, details or source) or Nsight Systems ({NSYS}, or {TRACE})"
_REPORTS = {".ncu-rep": NCU, ".nsight-cuprof-report": NCU, ".nsys-rep": NSYS, ".qdrep": NSYS, ".sqlite": NSYS}
_SIGNS = {b"NVR\0": NCU, b"SQLite format 3\0": NSYS}  # what such files begin with
_TIME = r"\((?:ns|us|ms|s|sec|nsec|usec|msec)\)"  # nsys stats --timeunit
_OTHERS = {
    "Invocations": "a summary (--print-summary): leave that option out",
    "Num Calls": f"a sum of calls on the host: {NSYS} has the kernels",
    "Style": f"a sum of ranges: {NSYS} has the kernels",
    "T-Pri": f"a trace of calls on the host: nsys stats --report {TRACE} --format csv has the kernels",
    "Total (MB)": f"a sum of sizes: nsys stats --report {MEMORY_SUMS} --format csv has the times",
}


@dataclass
class Table:
    """A table of an export.

    kind: RAW, DETAILS, SOURCE, KERNEL_SUMS, TRACE or MEMORY_SUMS. line: of the file, that of its columns' names.
    above: the names and values that stand above a table of a source page. rows: (line of the file, cells) of each.
    """

    kind: str
    line: int
    columns: tuple[str, ...]
    above: Mapping[str, str]
    rows: list[tuple[int, Sequence[str]]] = field(default_factory=list)

    def records(self) -> Iterator[tuple[int, dict[str, str]]]:
        """Each row by column, with its line of the file; of columns that have the same name, the first."""
        first = {name: place for place, name in reversed([*enumerate(self.columns)])}
        for line, cells in self.rows:
            yield line, {name: cells[place] if place < len(cells) else "" for name, place in first.items()}


def read_tables(path: str | Path) -> list[Table]:
    """The tables of an export, in its order. Raises StudyError, naming the file and the line.

    path: of the file.
    """
    text = _text(path)
    tables: list[Table] = []
    above: dict[str, str] = {}
    open_table: Table | None = None
    other = ""
    for line, cells in _rows(path, text):
        kind = _kind(cells)
        if kind is not None:
            open_table = Table(kind, line, tuple(cells), above)
            tables.append(open_table)
            above = {}
        elif _stands_above(cells):
            open_table = None
            above[cells[0].removesuffix(":")] = cells[1]
        elif not any(cells) and len(cells) < 2:
            open_table = None
        elif open_table is not None and not cells[0].startswith("=="):
            if len(cells) > len(open_table.columns):
                raise StudyError(f"{path}:{line}: has {len(cells)} cells: must have at most {len(open_table.columns)}")
            open_table.rows.append((line, cells))
        elif open_table is None:
            other = other or next(
                (f"{path}:{line}: is {words}" for each, words in _OTHERS.items() if each in cells), ""
            )
    if not tables:
        raise StudyError(other or _no_export(path, text))
    return tables


def _kind(cells: Sequence[str]) -> str | None:
    """The kind of table that a row of names begins; None for another row."""
    names = set(cells)
    times = {
        each for each in ("Total Time", "Start", "Duration") if any(re.match(f"{each} ?{_TIME}$", n) for n in cells)
    }
    if cells[:1] == ["ID"]:
        return DETAILS if "Metric Name" in names else RAW
    if names & {"Source", "SASS"} and names & {"#", "Line No", "Line Number", "Line", "Address"}:
        return SOURCE
    if "Total Time" in times and "Operation" in names:
        return MEMORY_SUMS
    if {"Instances", "Name"} <= names and "Total Time" in times:
        return KERNEL_SUMS
    if {"Start", "Duration"} <= times and "Name" in names and "GrdX" in names:
        return TRACE
    return None


def _stands_above(cells: Sequence[str]) -> bool:
    """Whether a row is a name and its value above a table of a source page."""
    known = ("Kernel Name", "Function Name", "File Path", "File Name", "File", "Function")
    return len([cell for cell in cells if cell]) == len(("name", "value")) and cells[0].removesuffix(":") in known


def _text(path: str | Path) -> str:
    content = read_bytes(path, StudyError)
    suffix = Path(path).suffix.lower()
    command = next((command for sign, command in _SIGNS.items() if content.startswith(sign)), _REPORTS.get(suffix))
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):  # as PowerShell writes it
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as failure:
            raise StudyError(f"{path}: is not CSV (not UTF-16: {failure.reason})") from None
    if b"\0" in content or command is not None:
        commands = command or f"{NCU}; {NSYS}"
        raise StudyError(f"{path}: is a report, not CSV: export it with {commands.replace('FILE.ncu-rep', 'FILE')}")
    if not content.strip():
        raise StudyError(f"{path}: is empty: {ALLOWED}")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise StudyError(f"{path}:{line}: is not UTF-8 ({failure.reason}): export it with LC_ALL=C.UTF-8") from None
    if text.count("\n") > MOST_ROWS:
        raise StudyError(f"{path}: has {text.count(chr(10)):,} lines: must have at most {MOST_ROWS:,}")
    return text


def _rows(path: str | Path, text: str) -> Iterator[tuple[int, list[str]]]:
    """Each row with the line of the file that it begins in."""
    reader = csv.reader(text.splitlines(keepends=True))
    before = 0
    try:
        for cells in reader:
            yield before + 1, [cell.strip() for cell in cells]
            before = reader.line_num
    except csv.Error as failure:
        raise StudyError(f"{path}:{reader.line_num}: is not CSV ({failure})") from None


def _no_export(path: str | Path, text: str) -> str:
    begin = re.search(r'^"?ID"?[;\t]|^"?Time ?\(%\)"?[;\t]|^"?#"?[;\t]', text, re.MULTILINE)
    if begin is not None:
        line = text.count("\n", 0, begin.start()) + 1
        between = shown(begin[0][-1])
        return f"{path}:{line}: columns are separated by {between}: must be commas, as ncu and nsys write them"
    return f"{path}: is no export of a profiler: {ALLOWED}"
