"""Micro-kernels as measured on a GPU: a table of what a repetition took, written and read."""

import csv
from collections.abc import Mapping
from pathlib import Path

from simtmm.documents import as_float, read_csv
from simtmm.errors import StudyError, nearest, shown
from simtmm.measurement.micro.programs import by_file, pairs
from simtmm.measurement.micro.table import rows
from simtmm.result import Measurement

NAME, CYCLES = "name", "cycles"
COLUMNS = ("gpu", "clock_mhz", NAME, "repetition", CYCLES, "bytes_per_cycle")


def micro_table(measurements: Mapping[str, Measurement], gpu: str) -> list[str]:
    """Lines of CSV, as `load_measured` reads them; none where no micro-kernel was measured.

    measurements: of files' programs, by the names of these without `.cu`.
    """
    lines = [",".join(COLUMNS)]
    for source, of in by_file().items():
        each = measurements.get(source.removesuffix(".cu"))
        if each is None or len(each.launches) != 1 + 2 * len(of):  # by another version of the table
            continue
        clock, scale = each.device["clock_hz"], int(each.parameters["scale"])
        times = [launch.seconds.median * clock for launch in each.launches]
        for row, (fewer, more) in zip(of, pairs(times), strict=True):
            if (cycles := row.of_one(fewer, more, scale)) > 0:
                moved = f"{row.bytes / cycles:.1f}" if row.bytes else ""
                lines.append(f"{gpu},{clock / 1e6:.1f},{row.name},{row.repetition},{cycles:.4g},{moved}")
    return lines if len(lines) > 1 else []


def load_measured(path: str | Path) -> dict[str, float]:
    """Cycles of a repetition by the micro-kernel's name, from a CSV file with the columns name and cycles.

    Raises StudyError, the line named.
    """
    table = csv.DictReader(line for line in read_csv(path, StudyError).splitlines() if not line.startswith("#"))
    known, found = [row.name for row in rows()], {}
    for column in (NAME, CYCLES):
        if column not in (table.fieldnames or ()):
            raise StudyError(f"{path}: has no column {column!r}")
    for row in table:
        name, place = row[NAME], f"{path}: line {table.line_num}"
        if name not in known:
            raise StudyError(f"{place}: name = {shown(name)}: no such micro-kernel{nearest(str(name), known)}")
        try:
            found[name] = as_float(row[CYCLES])
        except (TypeError, ValueError):
            raise StudyError(f"{place}: cycles = {shown(row[CYCLES])}: must be a number above 0") from None
        if not 0 < found[name] < float("inf"):
            raise StudyError(f"{place}: cycles = {shown(row[CYCLES])}: must be a number above 0")
    return found
