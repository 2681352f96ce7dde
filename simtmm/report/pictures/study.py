"""Pictures of a study: curves over an axis, or a heat map over two."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simtmm.errors import OutputError, nearest
from simtmm.model.series import label
from simtmm.report.page import Table
from simtmm.report.pictures.axes import is_number, tick
from simtmm.report.pictures.charts import curves, heat_map

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def picture_of(
    table: Table,
    across: str | None = None,
    up: str | None = None,
    values: Sequence[str] = (),
    by: str | None = None,
    where: Mapping[str, str] | None = None,
) -> "Figure":
    """A study's table: curves over an axis, or a heat map over two.

    across: the axis, the first that varies and has numbers if left out. up: the second axis of a heat map. values: the
    columns that are drawn, of a heat map one; a time if left out. by: an axis that has a line for each of its values.
    where: the rows that are taken, by the values of axes. Raises OutputError for names that are none, and where several
    rows would have one place: then another axis varies, and `by` or `where` must say which of its values.
    """
    rows = _rows_where(table, where or {})
    varying = [name for name in table.axes if len({table.columns[name][row] for row in rows}) > 1]
    across = across or next((name for name in varying if _numbers(table, name, rows)), "")
    places = [name for name in (across, up, by) if name]
    for name in dict.fromkeys((across, *places, *values)):
        if name not in table.columns:
            raise OutputError(f"{table.title}: {name!r}: no such column{nearest(name, table.columns)}")
    chosen = list(values) or _times(table, rows)
    seen = [tuple(table.columns[name][row] for name in places) for row in rows]
    if len(set(seen)) < len(seen):
        others = ", ".join(name for name in varying if name not in places)
        raise OutputError(
            f"{table.title}: several rows have the same {', '.join(places)}: {others or 'more'} varies too"
        )
    if up:
        if by or len(chosen) > 1:
            raise OutputError(f"{table.title}: a heat map shows one column, and no lines")
        return _heat_map(table, rows, across, up, chosen[0])
    if not _numbers(table, across, rows):
        raise OutputError(f"{table.title}: {across}: must be numbers to draw curves over them")
    return _curves(table, rows, across, chosen, by)


def _heat_map(table: Table, rows: Sequence[int], across: str, up: str, column: str) -> "Figure":
    x, y = (sorted({table.columns[name][row] for row in rows}, key=_order) for name in (across, up))
    x_place, y_place = ({value: place for place, value in enumerate(axis)} for axis in (x, y))
    cells = np.full((len(y), len(x)), np.nan)
    for row in rows:
        at = y_place[table.columns[up][row]], x_place[table.columns[across][row]]
        cells[at] = _number(table.columns[column][row])  # None becomes nan
    unit = _unit([column])
    told = f"{column} ({unit})" if unit else column
    return heat_map(x, y, cells, _label(table, across), _label(table, up), told, table.title, unit)


def _curves(table: Table, rows: Sequence[int], across: str, chosen: Sequence[str], by: str | None) -> "Figure":
    at = {row: float(cast(float, table.columns[across][row])) for row in rows}
    x = sorted(set(at.values()))
    place = {value: index for index, value in enumerate(x)}
    lines: dict[str, list[float | None]] = {}
    for name in chosen:
        series = name.partition(".")[0] if len({column.rpartition(".")[2] for column in chosen}) == 1 else name
        for row in sorted(rows, key=at.__getitem__):
            told = _line(series, f"{by} = {tick(table.columns[by][row])}" if by else "", len(chosen) == 1)
            lines.setdefault(told, [None] * len(x))[place[at[row]]] = _number(table.columns[name][row])
    unit = _unit(chosen)
    y_label = ("time" if unit == "s" else f"time ({unit})") if unit else ", ".join(chosen)
    return curves(x, lines, _label(table, across), y_label, table.title, unit)


def _line(series: str, value: str, alone: bool) -> str:
    """A line's name: its series, by which it gets its look, the value of the axis that it is for, or both."""
    if not value:
        return series
    return value if alone else f"{label(series)}, {value}"


def _unit(columns: Sequence[str]) -> str:
    """What the columns are in: "s", "cycles", or "" where they are no times or not all alike."""
    kinds = {name.rpartition(".")[2] for name in columns}
    return {"seconds": "s", "cycles": "cycles"}.get(kinds.pop(), "") if len(kinds) == 1 else ""


def _label(table: Table, name: str) -> str:
    return f"{name} ({table.units[name]})" if name in table.units else name


def _rows_where(table: Table, where: Mapping[str, str]) -> list[int]:
    rows = list(range(len(table)))
    for name, value in where.items():
        if name not in table.columns:
            raise OutputError(f"{table.title}: {name!r}: no such column{nearest(name, table.columns)}")
        rows = [row for row in rows if value in (str(table.columns[name][row]), tick(table.columns[name][row]))]
        if not rows:
            there = ", ".join(dict.fromkeys(tick(each) for each in table.columns[name]))
            raise OutputError(f"{table.title}: no row has {name} = {value}; there are {there}")
    return rows


def _times(table: Table, rows: Sequence[int]) -> list[str]:
    """The columns that are times, in seconds where they are known."""
    for suffix in ("seconds", "cycles"):
        found = [name for name in table.columns if name.rpartition(".")[2] == suffix]
        known = [name for name in found if any(is_number(table.columns[name][row]) for row in rows)]
        if known:
            return known
    raise OutputError(f"{table.title}: there are no times: name a column to draw")


def _numbers(table: Table, name: str, rows: Sequence[int]) -> bool:
    return all(is_number(table.columns[name][row]) for row in rows)


def _number(value: Any) -> float | None:
    return float(value) if is_number(value) else None


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers, then words."""
    return (not is_number(value), value if is_number(value) else str(value))
