"""All that exports of profilers say of a program, whatever pages and reports they are."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from simtmm.errors import StudyError
from simtmm.measurement.nsight.counters import COUNTED
from simtmm.measurement.nsight.exports import DETAILS, KERNEL_SUMS, MEMORY_SUMS, RAW, SOURCE, TRACE, Table, read_tables
from simtmm.measurement.nsight.launches import NsightLaunch, details_launches, raw_launches, trace_launches
from simtmm.measurement.nsight.source import SourcePage, source_page
from simtmm.measurement.nsight.systems import TimeSum, time_sums

COMPUTE, SYSTEMS = "Nsight Compute", "Nsight Systems"
ROUNDED = 0.006  # of a value: the details page has three digits
_LAUNCHES = {RAW: raw_launches, DETAILS: details_launches, TRACE: trace_launches}


@dataclass(frozen=True)
class Profile:
    """What exports say.

    launches: each with the tool that measured it, in order. pages: counters by line. sums: times of kernels. copies:
    times of copies and fills.
    """

    launches: tuple[tuple[str, NsightLaunch], ...] = ()
    pages: tuple[SourcePage, ...] = ()
    sums: tuple[TimeSum, ...] = ()
    copies: tuple[TimeSum, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.launches or self.pages or self.sums or self.copies)


def load_profile(paths: Sequence[str | Path]) -> Profile:
    """What files of exports say together. Raises StudyError, naming the file, the line and the column.

    paths: CSV of Nsight Compute's pages raw, details and source, and of Nsight Systems' reports.
    """
    launches: list[tuple[str, NsightLaunch]] = []
    pages: list[SourcePage] = []
    sums: list[TimeSum] = []
    copies: list[TimeSum] = []
    for path in map(str, paths):
        earlier = len(launches)
        tables = read_tables(path)
        for table in tables:
            if table.kind in _LAUNCHES:
                tool = SYSTEMS if table.kind == TRACE else COMPUTE
                _add(launches, tool, _LAUNCHES[table.kind](path, table), earlier)
            elif table.kind == SOURCE:
                pages.append(source_page(path, table))
            else:
                (copies if table.kind == MEMORY_SUMS else sums).extend(_sums(path, table))
        if all(len(table.rows) <= (table.kind == RAW) for table in tables):  # a row of units at most
            raise StudyError(f"{path}: has no launch")
    return Profile(tuple(launches), tuple(pages), tuple(sums), tuple(copies))


def _add(launches: list[tuple[str, NsightLaunch]], tool: str, new: Sequence[NsightLaunch], earlier: int) -> None:
    """Add launches; one that an earlier file has, as another page of the same report does, gets more values.

    earlier: how many launches earlier files have.
    """
    known = {(tool, each.number, each.name): place for place, (tool, each) in enumerate(launches[:earlier])}
    for each in new:
        place = known.get((tool, each.number, each.name)) if each.number else None
        if place is None:
            launches.append((tool, each))
            continue
        first = launches[place][1]
        for name in first.values.keys() & each.values.keys():
            near = ROUNDED * COUNTED[name].is_share
            if not math.isclose(first.values[name], each.values[name], rel_tol=ROUNDED, abs_tol=near):
                raise StudyError(
                    f"{each.place}: {name} = {each.values[name]:g} and in {first.place} {first.values[name]:g}: "
                    "pages must be of one report"
                )
        launches[place] = (
            tool,
            replace(each, values={**each.values, **first.values}, device=first.device.beside(each.device)),
        )


def _sums(path: str, table: Table) -> list[TimeSum]:
    assert table.kind in (KERNEL_SUMS, MEMORY_SUMS)
    return time_sums(path, table)


def load_nsight(path: str | Path) -> tuple[NsightLaunch, ...]:
    """The launches of an export, in order. Raises StudyError, the line and the column named, also without a launch.

    path: of the file.
    """
    found = tuple(launch for _, launch in load_profile([path]).launches)
    if not found:
        raise StudyError(f"{path}: has no launch")
    return found
