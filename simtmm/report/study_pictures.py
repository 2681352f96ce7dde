"""Pictures of a study: curves over an axis, or a heat map over two."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simtmm.errors import OutputError, nearest
from simtmm.report.compare import SERIES
from simtmm.report.page import Table
from simtmm.report.pictures import curves, heat_map, is_number, tick

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
    for name in (across, *filter(None, (up, by)), *values):
        if name not in table.columns:
            raise OutputError(f"{table.title}: {name!r}: no such column{nearest(name, table.columns)}")
    chosen = list(values) or _times(table, rows)
    places = [name for name in (across, up, by) if name]
    seen = [tuple(table.columns[name][row] for name in places) for row in rows]
    if len(set(seen)) < len(seen):
        others = ", ".join(name for name in varying if name not in places)
        raise OutputError(
            f"{table.title}: several rows have the same {', '.join(places)}: {others or 'more'} varies too"
        )
    units = {name.rpartition(".")[2]: name for name in chosen}
    unit = {"seconds": "s", "cycles": "cycles"}.get(next(iter(units)), "") if len(units) == 1 else ""
    if up:
        if by or len(chosen) > 1:
            raise OutputError(f"{table.title}: a heat map shows one column, and no lines")
        xs, ys = (sorted({table.columns[name][row] for row in rows}, key=_order) for name in (across, up))
        x_place, y_place = ({value: place for place, value in enumerate(axis)} for axis in (xs, ys))
        cells = np.full((len(ys), len(xs)), np.nan)
        for row in rows:
            value = table.columns[chosen[0]][row]
            at = y_place[table.columns[up][row]], x_place[table.columns[across][row]]
            cells[at] = value if is_number(value) else np.nan
        return heat_map(
            xs,
            ys,
            cells,
            _label(table, across),
            _label(table, up),
            f"{chosen[0]} ({unit})" if unit else chosen[0],
            table.title,
            unit,
        )
    if not _numbers(table, across, rows):
        raise OutputError(f"{table.title}: {across}: must be numbers to draw curves over them")
    ordered = sorted(rows, key=lambda row: float(cast(float, table.columns[across][row])))
    x = list(dict.fromkeys(float(cast(float, table.columns[across][row])) for row in ordered))
    place = {value: index for index, value in enumerate(x)}
    lines: dict[str, list[float | None]] = {}
    for name in chosen:
        for row in ordered:
            which = f"{by} = {tick(table.columns[by][row])}" if by else ""
            model = name.partition(".")[0] if len(units) == 1 else name
            told = ", ".join(filter(None, (SERIES.get(model, model) if len(chosen) > 1 or not by else "", which)))
            line = lines.setdefault(told, [None] * len(x))
            line[place[float(cast(float, table.columns[across][row]))]] = _number(table.columns[name][row])
    label = ("time" if unit == "s" else f"time ({unit})") if unit else ", ".join(chosen)
    return curves(x, lines, _label(table, across), label, table.title, unit)


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
