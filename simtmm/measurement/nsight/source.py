"""Counters by source line and by instruction: the source page of Nsight Compute.

`ncu -i FILE --csv --page source --print-source cuda`, `sass` or `cuda,sass` prints a table for each launch, or for each
file of one, below rows that name the kernel and the file. Names of columns are those of Nsight Compute's documentation
("Source Page", "Source Metrics" of its metrics reference), with the spellings of earlier releases. No table here was
printed by a GPU's profiler.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simtmm.errors import StudyError, shown
from simtmm.measurement.nsight.exports import Table
from simtmm.measurement.nsight.names import without_parameters
from simtmm.measurement.nsight.numbers import check_decimal_points, number

SAMPLES = "samples"
COLUMNS: Mapping[str, tuple[str, ...]] = {
    SAMPLES: (
        "warp stall sampling (all samples)",
        "warp stall sampling (all cycles)",
        "sampling data (all)",
        "samples",
    ),
    "instructions": ("instructions executed", "inst_executed"),
    "thread_instructions": ("thread instructions executed", "thread_inst_executed"),
    "lines": ("l1 tag requests global", "memory_l1_tag_requests_global"),
    "shared_wavefronts": ("l1 wavefronts shared", "memory_l1_wavefronts_shared"),
}
"""Of each quantity the names of its column, in small letters and without a "# " before."""

_LINE = ("line no", "line number", "line")
_ADDRESS = ("address", "offset", "pc")
_NOT_MEASURED = {"", "-", "n/a", "nan", "(!) n/a"}


@dataclass(frozen=True)
class SourceRow:
    """What was measured at a line of source, or of an instruction.

    place: the file's line, for messages. line: of the source, from 1 on, 0 for an instruction alone. text: of it.
    values: those of COLUMNS.
    """

    place: str
    line: int
    text: str
    values: Mapping[str, float]


@dataclass(frozen=True)
class SourcePage:
    """A kernel's lines of a source file, or its instructions.

    name: the kernel's, as the export has it, "" where it has none. kernel: the same without parameters. file: of the
    source, "" where the export names none. is_code: whether rows are machine instructions without lines of source.
    """

    name: str
    kernel: str
    file: str
    is_code: bool
    rows: tuple[SourceRow, ...]


def source_page(path: str, table: Table) -> SourcePage:
    """A table of a source page. Raises StudyError, the line and the column named.

    path: of the file, for messages.
    table: of the export.
    """
    plain = [re.sub(r"^# +", "", name.lower()) for name in table.columns]
    address = _first(plain, _ADDRESS)
    sources = [place for place, name in enumerate(plain) if name in ("source", "sass")]
    line_at = _first(plain, _LINE)
    if line_at is None and plain[0] == "#" and (address is None or len(sources) > 1):
        line_at = 0
    found = {name: place for name, spelt in COLUMNS.items() if (place := _first(plain, spelt)) is not None}
    if not found:
        known = "# Samples, Instructions Executed, L1 Tag Requests Global"
        raise StudyError(f"{path}:{table.line}: has no column with a counter: must have one as {known}")
    rows = []
    for line, cells in table.rows:
        where = f"{path}:{line}"
        filled = [*cells, *[""] * (len(table.columns) - len(cells))]
        check_decimal_points(where, [(table.columns[place], filled[place]) for place in found.values()])
        values = {
            column: number(f"{where}: {table.columns[place]}", filled[place], "", {"": 1.0}, is_whole=True)
            for column, place in found.items()
            if filled[place].lower() not in _NOT_MEASURED
        }
        number_of_line = 0 if line_at is None else _line(f"{where}: {table.columns[line_at]}", filled[line_at])
        row = SourceRow(where, number_of_line, filled[sources[0]], values)
        rows.append((address is not None and bool(filled[address]), row))
    is_code = line_at is None
    name = table.above.get("Kernel Name") or table.above.get("Function Name") or table.above.get("Function", "")
    file = next((table.above[each] for each in ("File Path", "File Name", "File") if each in table.above), "")
    merged = tuple(row for _, row in rows) if is_code else _of_lines(rows)
    return SourcePage(name, without_parameters(name), file, is_code, merged)


def _of_lines(rows: Sequence[tuple[bool, SourceRow]]) -> tuple[SourceRow, ...]:
    """A row for each line, with its own values or, where it has none, the sums of its instructions'.

    rows: whether each is of an instruction. One that names no line belongs to the line before it.
    """
    lines: dict[int, SourceRow] = {}
    sums: dict[int, dict[str, float]] = {}
    current = 0
    for is_instruction, row in rows:
        current = row.line or current
        if not is_instruction or current not in lines:
            lines[current] = SourceRow(row.place, current, row.text, {} if is_instruction else row.values)
        if is_instruction:
            own = sums.setdefault(current, {})
            for name, value in row.values.items():
                own[name] = own.get(name, 0.0) + value
    return tuple(
        SourceRow(row.place, line, row.text, {**sums.get(line, {}), **row.values})
        for line, row in lines.items()
        if line
    )


def _first(names: Sequence[str], wanted: Sequence[str]) -> int | None:
    return next((names.index(each) for each in wanted if each in names), None)


def _line(where: str, text: str) -> int:
    if text == "":
        return 0
    if re.fullmatch(r"\d{1,9}", text) is None:
        raise StudyError(f"{where} = {shown(text)}: must be the number of a line")
    return int(text)
