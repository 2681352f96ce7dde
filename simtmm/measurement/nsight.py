"""What Nsight Compute measured of kernels, from its exports: `ncu --csv --page raw` or `--page details`.

A row of the raw page is a launch, with a column for each metric and a row of units above; a row of the details page is
a
metric of a launch. Numbers have commas, and units that follow the size of the number.
"""

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.documents import read_csv
from simtmm.errors import StudyError, shown

SECONDS = {
    "s": 1.0,
    "second": 1.0,
    "ms": 1e-3,
    "msecond": 1e-3,
    "us": 1e-6,
    "usecond": 1e-6,
    "ns": 1e-9,
    "nsecond": 1e-9,
}
BYTES = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}
PERCENT = {"%": 0.01}
PLAIN = {"": 1.0, "inst": 1.0, "cycle": 1.0, "sector": 1.0, "sectors": 1.0, "request": 1.0, "Kcycle": 1e3}
LAUNCH = ("Kernel Name", "Grid Size", "Block Size")

Units = Mapping[str, float]


@dataclass(frozen=True)
class Metric:
    """A quantity. raw: its columns on the raw page, added up. details: its name on the details page, if it is there.

    units: what the words for its unit stand for, in seconds, bytes or shares of 1.
    """

    raw: tuple[str, ...]
    details: str | None
    units: Units


METRICS: Mapping[str, Metric] = {
    "seconds": Metric(("gpu__time_duration.sum",), "Duration", SECONDS),
    "instructions": Metric(("smsp__inst_executed.sum",), "Executed Instructions", PLAIN),
    "requests": Metric(
        ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
        None,
        PLAIN,
    ),
    "lines": Metric(("memory_l1_tag_requests_global",), None, PLAIN),
    "bank_conflicts": Metric(("l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",), None, PLAIN),
    "l2_hit_rate_of_loads": Metric(("lts__t_sector_op_read_hit_rate.pct",), None, PERCENT),
    "bytes_read": Metric(("dram__bytes_read.sum",), None, BYTES),
    "occupancy": Metric(("sm__warps_active.avg.pct_of_peak_sustained_active",), "Achieved Occupancy", PERCENT),
}


@dataclass(frozen=True)
class NsightLaunch:
    """A launch. kernel: its name without parameters. grid, block: three sizes each. values: those of METRICS it has."""

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    values: Mapping[str, float]


def load_nsight(path: str | Path) -> tuple[NsightLaunch, ...]:
    """The launches of an export, in order. Raises StudyError, the line and the column named."""
    text = read_csv(path, StudyError)
    lines = text.splitlines(keepends=True)
    begin = next((number for number, line in enumerate(lines) if line.startswith('"ID",')), None)
    if begin is None:
        raise StudyError(
            f'{path}: is not an export of Nsight Compute: a line must begin with "ID" (ncu --csv --page raw)'
        )
    table = csv.DictReader(io.StringIO("".join(lines[begin:])))
    rows = [(begin + table.line_num, row) for row in table]
    columns = set(table.fieldnames or ())
    for name in LAUNCH:
        if name not in columns:
            raise StudyError(f"{path}:{begin + 1}: has no column {name!r}; Nsight's pages raw and details have it")
    read = _details if "Metric Name" in columns else _raw
    found = tuple(read(str(path), rows))
    if not found:
        raise StudyError(f"{path}: has no launch")
    return found


def _raw(path: str, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> list[NsightLaunch]:
    if not rows or rows[0][1]["ID"]:
        raise StudyError(f"{path}: has no row of units under its columns (ncu --csv --page raw)")
    units = rows[0][1]
    launches = []
    for line, row in rows[1:]:
        values = {}
        for name, metric in METRICS.items():
            if all(row.get(column) for column in metric.raw):
                parts = [_number(f"{path}:{line}: {each}", row[each], units[each], metric.units) for each in metric.raw]
                values[name] = sum(parts)
        launches.append(_launch(f"{path}:{line}", row, values))
    return launches


def _details(path: str, rows: Sequence[tuple[int, Mapping[str, Any]]]) -> list[NsightLaunch]:
    known = {metric.details: (name, metric) for name, metric in METRICS.items() if metric.details}
    launches: dict[str, tuple[str, Mapping[str, Any], dict[str, float]]] = {}
    for line, row in rows:
        where = f"{path}:{line}"
        _, _, values = launches.setdefault(row["ID"], (where, row, {}))
        if row["Metric Name"] in known:
            name, metric = known[row["Metric Name"]]
            place = f"{where}: {row['Metric Name']}"
            values[name] = _number(place, row["Metric Value"], row["Metric Unit"], metric.units)
    return [_launch(*each) for each in launches.values()]


def _launch(where: str, row: Mapping[str, Any], values: Mapping[str, float]) -> NsightLaunch:
    grid, block = (_sizes(f"{where}: {column}", row[column]) for column in LAUNCH[1:])
    name = str(row[LAUNCH[0]]).removeprefix("void ").partition("(")[0].strip()
    return NsightLaunch(name, grid, block, values)


def _sizes(where: str, text: Any) -> tuple[int, ...]:
    found = re.fullmatch(r"\((\d{1,10}), (\d{1,10}), (\d{1,10})\)", str(text))
    if found is None:
        raise StudyError(f"{where} = {shown(text)}: must be three sizes, as (256, 1, 1)")
    return tuple(int(size) for size in found.groups())


def _number(where: str, text: Any, unit: Any, units: Units) -> float:
    if unit not in units:
        raise StudyError(f"{where}: unit {shown(unit)}: must be one of {', '.join(filter(None, units))}")
    if re.fullmatch(r"-?[\d,]{1,30}(\.\d{1,30})?", str(text)) is None:
        raise StudyError(f"{where} = {shown(text)}: must be a number")
    return float(str(text).replace(",", "")) * units[unit]


@dataclass(frozen=True)
class Counted:
    """A quantity of a launch. words: as a table has it. of: its value, of a row of the launch and of its seconds.

    show: a value as a table has it. is_share: whether it is a part of 1, so that differences are points of a hundred.
    """

    words: str
    of: Callable[[Mapping[str, Any], float | None], float | None]
    show: Callable[[float], str]
    is_share: bool = False


def _row(name: str) -> Callable[[Mapping[str, Any], float | None], float | None]:
    return lambda row, seconds: row.get(name)


COUNTED: Mapping[str, Counted] = {
    "seconds": Counted("time, us", lambda row, seconds: seconds, lambda value: f"{value * 1e6:,.2f}"),
    "instructions": Counted("instructions of warps", _row("instructions"), lambda value: f"{value:,.0f}"),
    "requests": Counted("global requests", _row("requests"), lambda value: f"{value:,.0f}"),
    "lines": Counted("lines of requests", _row("chunks"), lambda value: f"{value:,.0f}"),
    "bank_conflicts": Counted("bank conflicts", _row("conflicts"), lambda value: f"{value:,.0f}"),
    "l2_hit_rate_of_loads": Counted(
        "L2 hits of loads", _row("l2_hit_rate"), lambda value: f"{100 * value:.0f} %", True
    ),
    "bytes_read": Counted("bytes from memory", _row("memory_bytes"), lambda value: f"{value:,.0f}"),
    "occupancy": Counted("occupancy", _row("achieved_occupancy"), lambda value: f"{100 * value:.0f} %", True),
}
