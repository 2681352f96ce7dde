"""Pictures of a study: curves over an axis, a heat map over two, or winner maps of several programs."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from simtmm.errors import OutputError, nearest
from simtmm.model.series import all_series, label
from simtmm.report.page import Table
from simtmm.report.pictures.axes import check_log, is_number, tick
from simtmm.report.pictures.charts import curves, heat_map
from simtmm.report.pictures.looks import MARKERS, check_apart, look_for_value, looks_of
from simtmm.report.pictures.quantities import Quantity, quantity, times
from simtmm.report.pictures.titles import titled
from simtmm.report.pictures.winner_map import winner_map, winner_maps
from simtmm.study.design.programs import PROGRAM

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MACHINE = "machine"  # the axis of them
WINNER = "winner"  # what is drawn of several programs
FEWER = "choose some with --where or --value, or draw a heat map with --up"


def picture_of(
    table: Table,
    across: str | None = None,
    up: str | None = None,
    values: Sequence[str] = (),
    by: str | None = None,
    where: Mapping[str, str] | None = None,
    log: str | None = None,
    title: str | None = None,
) -> "Figure":
    """A study's table: curves over an axis, a heat map over two, or winner maps.

    across: the axis, the first that varies and has numbers if left out. up: the second axis of a heat map. values: what
    is drawn, of a heat map one: columns, quantities ("simulated") or ratios of them ("simulated/tmm", by a colour that
    is white at 1); the times if left out. With "winner" among them, which program is fastest, a map a series: those
    that are named beside it, or all; `up` is then the second axis that varies if left out.
    by: an axis that has a line for each of its values. where: the rows that are
    taken, by the values of axes. log: which axes of curves are logarithmic, "x", "y", "xy" or "none"; found out if left
    out. title: says program, machine and what does not vary if left out.

    Raises OutputError for names that are none, for too many lines to distinguish, and where several rows would have
    one place: then another axis varies, and `by` or `where` must say which of its values.
    """
    rows = _rows_where(table, where or {})
    varying = [name for name in table.axes if len({table.columns[name][row] for row in rows}) > 1]
    across = across or next((name for name in varying if name != up and _numbers(table, name, rows)), "")
    wants_winners = WINNER in values
    if wants_winners:
        by = _checked_for_winners(table, by, log)
        up = up or next((name for name in varying if name not in (across, by)), None)
        values = [name for name in values if name != WINNER]
    if not across:
        raise OutputError(f"{table.title}: no numeric axis varies: name a column for the horizontal axis")
    places = [name for name in (across, up, by) if name]
    for name in dict.fromkeys((across, *places)):
        if name not in table.columns:
            raise OutputError(f"{table.title}: {name!r}: no such column{nearest(name, table.columns)}")
    chosen = [quantity(table, rows, name) for name in dict.fromkeys(values)] or times(table, rows)
    seen = [tuple(table.columns[name][row] for name in places) for row in rows]
    if len(set(seen)) < len(seen):
        others = ", ".join(name for name in varying if name not in places)
        raise OutputError(
            f"{table.title}: several rows have the same {', '.join(places)}: {others or 'more'} also varies"
        )
    check_log(log)
    shown = _title(table, rows, varying) if title is None else title
    if wants_winners:
        if not up:
            raise OutputError(f"{table.title}: a winner map has two axes, and only {across} varies besides {by}")
        return _winner_maps(table, rows, across, up, chosen, shown)
    if up:
        if by or len(chosen) > 1:
            raise OutputError(f"{table.title}: a heat map shows one column and no lines")
        if log is not None:
            raise OutputError(f"{table.title}: log {log}: is for curves; a heat map has a cell for each value")
        return _heat_map(table, rows, across, up, chosen[0], shown)
    if not _numbers(table, across, rows):
        raise OutputError(f"{table.title}: {across}: must be numbers to draw curves over them")
    return _curves(table, rows, across, chosen, by, shown, log)


def _heat_map(table: Table, rows: Sequence[int], across: str, up: str, drawn: Quantity, title: str) -> "Figure":
    x, y = (sorted({table.columns[name][row] for row in rows}, key=_order) for name in (across, up))
    x_place, y_place = ({value: place for place, value in enumerate(axis)} for axis in (x, y))
    cells = np.full((len(y), len(x)), np.nan)
    for row in rows:
        at = y_place[table.columns[up][row]], x_place[table.columns[across][row]]
        cells[at] = drawn.values[row]  # None becomes nan
    label = f"{drawn.told} ({drawn.unit})" if drawn.unit in ("s", "cycles") else drawn.told
    return heat_map(x, y, cells, _label(table, across), _label(table, up), label, title, drawn.unit)


def _checked_for_winners(table: Table, by: str | None, log: str | None) -> str:
    """The axis of programs. Raises OutputError where a winner map has none, or is asked for lines or log axes."""
    if PROGRAM not in table.axes:
        raise OutputError(f"{table.title}: {WINNER}: needs several programs, but the study has no axis {PROGRAM}")
    if by or log is not None:
        raise OutputError(f"{table.title}: a winner map has no lines and a cell for each value: leave out by and log")
    return PROGRAM


def _winner_maps(
    table: Table, rows: Sequence[int], across: str, up: str, chosen: Sequence[Quantity], title: str
) -> "Figure":
    for drawn in chosen:
        if drawn.unit not in ("s", "cycles") or not drawn.series:
            raise OutputError(
                f"{table.title}: {drawn.name}: {WINNER} compares times: must be a series, such as simulated"
            )
    x, y = (sorted({table.columns[name][row] for row in rows}, key=_order) for name in (across, up))
    programs = [str(table.columns[PROGRAM][row]) for row in rows]
    places = [(table.columns[across][row], table.columns[up][row]) for row in rows]
    maps = [winner_map(drawn.series, programs, places, [drawn.values[row] for row in rows]) for drawn in chosen]
    return winner_maps(maps, list(dict.fromkeys(programs)), x, y, _label(table, across), _label(table, up), title)


def _curves(
    table: Table,
    rows: Sequence[int],
    across: str,
    chosen: Sequence[Quantity],
    by: str | None,
    title: str,
    log: str | None,
) -> "Figure":
    at = {row: float(cast(float, table.columns[across][row])) for row in rows}
    x = sorted(set(at.values()))
    place = {value: index for index, value in enumerate(x)}
    alike = len({drawn.unit for drawn in chosen}) == 1
    if not alike and "ratio" in {drawn.unit for drawn in chosen}:
        raise OutputError(f"{table.title}: a ratio and a quantity that is not a ratio have no common axis")
    unit = chosen[0].unit if alike else ""
    lines: dict[str, list[float | None]] = {}
    of: dict[str, tuple[str, Any]] = {}  # whose a line is: a series, and a value of `by`
    for drawn in chosen:
        series = drawn.series if alike and drawn.series else drawn.told
        series = series.partition(".")[0] if unit in ("s", "cycles") else series
        for row in sorted(rows, key=at.__getitem__):
            value = table.columns[by][row] if by else None
            line = _line(series, f"{by} = {tick(value)}" if by else "", len(chosen) == 1)
            of.setdefault(line, (series, value))
            lines.setdefault(line, [None] * len(x))[place[at[row]]] = drawn.values[row]
    if unit == "ratio":
        y_label = chosen[0].told if len(chosen) == 1 else "ratio"
    elif unit:
        whose = f"{label(chosen[0].series)} " if by and len(chosen) == 1 and chosen[0].series else ""
        y_label = f"{whose}time" if unit == "s" else f"{whose}time ({unit})"
    else:
        y_label = ", ".join(drawn.told for drawn in chosen)
    looks = _looks(list(of), of, by, len(chosen), table.title)
    scale = table.scales.get(across)
    return curves(x, lines, _label(table, across), y_label, title, unit, log, scale, looks)


def _looks(
    names: Sequence[str], of: Mapping[str, tuple[str, Any]], by: str | None, chosen: int, where: str
) -> dict[str, dict[str, Any]]:
    """How each line is drawn: its series' look, its value's where there is one series, or colour and dash of the series
    with a marker for the value.
    """
    known = all(of[name][0] in all_series() for name in names)
    if not by or chosen == 1 or not known:
        return looks_of(names, where, FEWER)
    values = list(dict.fromkeys(value for _, value in of.values()))
    check_apart(len(values), len(MARKERS), f"values of {by}", where, FEWER)
    looks = {name: look_for_value(of[name][0], values.index(of[name][1])) for name in names}
    check_apart(len(looks), len({str(style) for style in looks.values()}), "lines", where, FEWER)
    return looks


def _title(table: Table, rows: Sequence[int], varying: Sequence[str]) -> str:
    """The table's, and what all of its rows have in common: values, and the machine with its changes."""
    one = {name: table.columns[name][rows[0]] for name in table.axes if name not in varying} if rows else {}
    fixed = {**table.fixed, **one}
    machine = str(fixed.pop(MACHINE, ""))
    return titled(table.title, fixed, machine)


def _line(series: str, value: str, alone: bool) -> str:
    """A line's name: its series, by which it gets its look, the value of the axis that it is for, or both."""
    if not value:
        return series
    return value if alone else f"{label(series)}, {value}"


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


def _numbers(table: Table, name: str, rows: Sequence[int]) -> bool:
    return all(is_number(table.columns[name][row]) for row in rows)


def _order(value: Any) -> tuple[bool, Any]:
    """Numbers, then words."""
    return (not is_number(value), value if is_number(value) else str(value))
