"""Launches on the pages raw and details of Nsight Compute, and in a trace of Nsight Systems.

A row of the raw page is a launch, with a column for each metric and a row of units above; a row of the details page is
a metric of a launch, under its label or (`--print-metric-name`, `--metrics`) its name. Up to 2021 the pages had no
columns for grid and block, only metrics of them.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simtmm.errors import StudyError, shown
from simtmm.measurement.nsight.counters import METRICS
from simtmm.measurement.nsight.device import COLUMNS, LABELS, UNKNOWN, Device, device_of
from simtmm.measurement.nsight.exports import Table
from simtmm.measurement.nsight.names import without_parameters
from simtmm.measurement.nsight.numbers import PLAIN, SECONDS, check_decimal_points, number

KERNEL, GRID, BLOCK = "Kernel Name", "Grid Size", "Block Size"
_DIMENSIONS = {GRID: "launch__grid_dim_{}", BLOCK: "launch__block_dim_{}"}
_TOTALS = {GRID: "launch__grid_size", BLOCK: "launch__block_size"}
_NOT_MEASURED = {"", "n/a", "nan", "-nan", "(!) n/a", "(!) nan"}


@dataclass(frozen=True)
class NsightLaunch:
    """A launch.

    kernel: its name without parameters. grid, block: three sizes each, or one, their product; none where the export has
    none. values: those of METRICS it has. name: as the export has it. device: the GPU. number: of the launch in its
    report, "" where the export has none. place: the file's line, for messages.
    """

    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    values: Mapping[str, float]
    name: str = ""
    device: Device = UNKNOWN
    number: str = ""
    place: str = ""


def raw_launches(path: str, table: Table) -> list[NsightLaunch]:
    """The launches of a raw page. Raises StudyError.

    path: of the file, for messages.
    table: the page.
    """
    _check_columns(path, table)
    (_, units), *rows = table.records() if table.rows else [(0, {"ID": "0"})]
    if units["ID"]:
        raise StudyError(f"{path}: has no row of units under its columns (ncu --csv --page raw)")
    measured = [name for name, unit in units.items() if unit]
    launches = []
    for line, row in rows:
        check_decimal_points(f"{path}:{line}", [(name, row[name]) for name in measured])
        launches.append(_launch(f"{path}:{line}", row, units))
    return launches


def _values(where: str, row: Mapping[str, str], units: Mapping[str, str]) -> dict[str, float]:
    values = {}
    for name, metric in METRICS.items():
        if all(_is_measured(row.get(column, "")) for column in metric.raw):
            values[name] = sum(
                number(f"{where}: {each}", row[each], units[each], metric.units, metric.is_whole) for each in metric.raw
            )
    return values


def details_launches(path: str, table: Table) -> list[NsightLaunch]:
    """The launches of a details page. Raises StudyError.

    path: of the file, for messages.
    table: the page.
    """
    _check_columns(path, table, "Metric Unit", "Metric Value")
    launches: dict[str, tuple[int, dict[str, str], dict[str, str]]] = {}
    labels = {metric.details: metric.raw[0] for metric in METRICS.values() if metric.details}
    wanted = {column for metric in METRICS.values() for column in metric.raw}
    wanted |= {*_TOTALS.values(), *(each.format(axis) for each in _DIMENSIONS.values() for axis in "xyz")}
    wanted |= set(COLUMNS)
    labels |= _TOTALS | LABELS
    for line, row in table.records():
        own = {name: row[name] for name in ("ID", KERNEL, GRID, BLOCK, *COLUMNS) if name in row}
        _, metrics, units = launches.setdefault(row["ID"], (line, own, {}))
        check_decimal_points(f"{path}:{line}", [(row["Metric Name"], row["Metric Value"])])
        name = _metric(row["Metric Name"], labels, wanted)
        if name is not None and _is_measured(row["Metric Value"]):
            metrics[name], units[name] = row["Metric Value"], row["Metric Unit"]
    return [_launch(f"{path}:{line}", metrics, units) for line, metrics, units in launches.values()]


def _metric(text: str, labels: Mapping[str, str], wanted: set[str]) -> str | None:
    """The name of the metric that a cell names: by its label, its name, or both."""
    if text in labels:
        return labels[text]
    return next((each for each in re.split(r"[\s()\[\]]+", text) if each in wanted), None)


def trace_launches(path: str, table: Table) -> list[NsightLaunch]:
    """The kernels of a trace of Nsight Systems, in order of time; copies and fills are left out. Raises StudyError.

    path: of the file, for messages.
    table: of the report cuda_gpu_trace.
    """
    duration = next(name for name in table.columns if re.match(r"Duration ?\(", name))
    launches = []
    for line, row in table.records():
        where = f"{path}:{line}"
        sizes = [row.get(name, "") for name in ("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ")]
        if not any(sizes):  # a copy
            continue
        for name, text in zip(("GrdX", "GrdY", "GrdZ", "BlkX", "BlkY", "BlkZ"), sizes, strict=True):
            if re.fullmatch(r"\d{1,10}", text) is None:
                raise StudyError(f"{where}: {name} = {shown(text)}: must be a whole number")
        grid, block = tuple(map(int, sizes[:3])), tuple(map(int, sizes[3:]))
        seconds = number(f"{where}: {duration}", row[duration], unit_of(duration), SECONDS)
        kernel = without_parameters(row["Name"])
        launches.append(NsightLaunch(kernel, grid, block, {"seconds": seconds}, row["Name"], device_of(row, {})))
    return launches


def unit_of(column: str) -> str:
    """The unit in the name of a column of Nsight Systems: "ns" of "Avg (ns)"."""
    return column.rpartition("(")[2].removesuffix(")")


def _check_columns(path: str, table: Table, *others: str) -> None:
    for name in (KERNEL, *others):
        if name not in table.columns:
            raise StudyError(f"{path}:{table.line}: has no column {name!r}; Nsight's pages raw and details have it")


def _is_measured(text: str) -> bool:
    return text.lower() not in _NOT_MEASURED


def _launch(where: str, row: Mapping[str, str], units: Mapping[str, str]) -> NsightLaunch:
    values = _values(where, row, units)
    grid, block = (_sizes(where, row, column) for column in (GRID, BLOCK))
    name = row[KERNEL]
    return NsightLaunch(without_parameters(name), grid, block, values, name, device_of(row, units), row["ID"], where)


def _sizes(where: str, row: Mapping[str, str], column: str) -> tuple[int, ...]:
    """Three sizes, or their product, or none; those that differ are refused."""
    text = row.get(column, "")
    parts = [row.get(_DIMENSIONS[column].format(axis), "") for axis in "xyz"]
    total = row.get(_TOTALS[column], "")
    if text:
        found = re.fullmatch(r"\(? *(\d{1,10}) *[,x] *(\d{1,10}) *[,x] *(\d{1,10}) *\)?", text)
        if found is None:
            raise StudyError(f"{where}: {column} = {shown(text)}: must be three sizes, as (256, 1, 1)")
        sizes: tuple[int, ...] = tuple(int(size) for size in found.groups())
    elif all(parts):
        sizes = tuple(
            _whole(f"{where}: {_DIMENSIONS[column].format(axis)}", part)
            for axis, part in zip("xyz", parts, strict=True)
        )
    elif total:
        return (_whole(f"{where}: {_TOTALS[column]}", total),)
    else:
        return ()
    if total and math.prod(sizes) != _whole(f"{where}: {_TOTALS[column]}", total):
        raise StudyError(f"{where}: {column} = {shown(text)}: must be {total} altogether, as {_TOTALS[column]} says")
    return sizes


def _whole(where: str, text: str) -> int:
    return int(number(where, text, "", PLAIN, is_whole=True))


def of_shape(launch: NsightLaunch, grid: Sequence[int], block: Sequence[int]) -> bool:
    """Whether a launch may have this grid and block: what the export says of them is so.

    launch: of an export.
    grid, block: three sizes each.
    """
    pairs = ((launch.grid, grid), (launch.block, block))
    return all(
        not own or (tuple(own) == tuple(other) if len(own) == len(other) else own[0] == math.prod(other))
        for own, other in pairs
    )
