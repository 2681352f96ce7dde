"""Sums of times from Nsight Systems: of each kernel's launches, and of copies and fills.

`nsys stats --report cuda_gpu_kern_sum --format csv` (up to 2022 `gpukernsum`, by grid and block `cuda_gpu_kern_gb_sum`)
and `--report cuda_gpu_mem_time_sum` (`gpumemtimesum`). Units stand in the names of columns (`--timeunit`): up to 2021
in that of the total alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from simtmm.errors import StudyError, shown
from simtmm.measurement.nsight.exports import KERNEL_SUMS, Table
from simtmm.measurement.nsight.launches import unit_of
from simtmm.measurement.nsight.names import without_parameters
from simtmm.measurement.nsight.numbers import PLAIN, SECONDS, number

_NAMES = {"total": ("Total Time",), "mean": ("Avg", "Average"), "median": ("Med", "Median"),
          "least": ("Min", "Minimum"), "most": ("Max", "Maximum")}  # fmt: skip


@dataclass(frozen=True)
class TimeSum:
    """Times of a kernel's launches, or of copies in one direction.

    name: as the export has it: a kernel, or "[CUDA memcpy Host-to-Device]". kernel: the kernel without parameters, ""
    for copies. number: how many there were. seconds: "total", "mean", "median", "least", "most", those it has [s].
    grid, block: three sizes each; none where launches of any shape are added up. place: the file's line.
    """

    name: str
    kernel: str
    number: int
    seconds: Mapping[str, float]
    grid: tuple[int, ...] = ()
    block: tuple[int, ...] = ()
    place: str = ""


def time_sums(path: str, table: Table) -> list[TimeSum]:
    """The rows of a table of sums. Raises StudyError, the line and the column named.

    path: of the file, for messages.
    table: of the export, of kernels or of copies.
    """
    is_of_kernels = table.kind == KERNEL_SUMS
    name_at, number_at = ("Name", "Instances") if is_of_kernels else ("Operation", "Count")
    if number_at not in table.columns:
        raise StudyError(f"{path}:{table.line}: has no column {number_at!r}, as nsys stats writes it")
    columns = {
        name: column
        for name, spelt in _NAMES.items()
        for column in table.columns
        if re.sub(r" *\([^)]*\)$", "", column) in spelt
    }
    units = {name: unit_of(column) for name, column in columns.items() if "(" in column}
    found = []
    for line, row in table.records():
        where = f"{path}:{line}"
        seconds = {
            name: number(f"{where}: {column}", row[column], units.get(name, units["total"]), SECONDS)
            for name, column in columns.items()
            if row[column]
        }
        times = int(number(f"{where}: {number_at}", row[number_at], "", PLAIN, is_whole=True))
        grid, block = (_sizes(f"{where}: {each}", row.get(each, "")) for each in ("GridXYZ", "BlockXYZ"))
        kernel = without_parameters(row[name_at]) if is_of_kernels else ""
        found.append(TimeSum(row[name_at], kernel, times, seconds, grid, block, where))
    return found


def _sizes(where: str, text: str) -> tuple[int, ...]:
    if not text:
        return ()
    sizes = re.findall(r"\d{1,10}", text)
    if len(sizes) != len("xyz") or re.fullmatch(r"[\d\s,x()]+", text) is None:
        raise StudyError(f"{where} = {shown(text)}: must be three sizes, as 256 1 1")
    return tuple(map(int, sizes))
