"""What a picture of a study shows: columns, quantities, and ratios of two, by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simtmm.errors import OutputError, nearest
from simtmm.model.series import all_series, label
from simtmm.report.page import Table
from simtmm.report.pictures.axes import is_number

TIMES = {"seconds": "s", "cycles": "cycles"}  # columns' last words, and their units, the better first


@dataclass(frozen=True)
class Quantity:
    """Values that are drawn.

    name: of its column, or of a ratio as it was given. values: a row of the table each, None where there is none.
    unit: "s", "cycles", "ratio", or "" for what is no time. series: the way to tell a time whose it is; else "".
    """

    name: str
    values: Sequence[float | None]
    unit: str
    series: str = ""

    @property
    def told(self) -> str:
        """What a picture calls it."""
        if self.unit == "ratio":
            return " / ".join(label(part.strip().rpartition(".")[0] or part.strip()) for part in self.name.split("/"))
        return self.name


def quantity(table: Table, rows: Sequence[int], name: str) -> Quantity:
    """What a name means: a column, a quantity of which there are times, or a ratio of two as `simulated/tmm`.

    rows: those that are drawn. Raises OutputError for a name of none.
    """
    if name in table.columns:
        series, _, last = name.rpartition(".")
        unit = TIMES.get(last, "")
        return Quantity(name, _values(table, name), unit, series if unit and series in all_series() else "")
    above, slash, below = name.partition("/")
    if slash:
        return _ratio(table, rows, name, above.strip(), below.strip())
    for column in _times_of(table, name):
        if has_numbers(table, column, rows):
            return quantity(table, rows, column)
    raise OutputError(f"{table.title}: {name!r}: no such column{nearest(name, _names(table))}")


def times(table: Table, rows: Sequence[int]) -> list[Quantity]:
    """All times, in seconds where they are known. Raises OutputError where there are none."""
    for last in TIMES:
        found = [name for name in table.columns if name.rpartition(".")[2] == last]
        known = [quantity(table, rows, name) for name in found if has_numbers(table, name, rows)]
        if known:
            return known
    raise OutputError(f"{table.title}: there are no times: name a column to draw")


def has_numbers(table: Table, name: str, rows: Sequence[int]) -> bool:
    """Whether a column has a number in any of these rows."""
    return any(is_number(table.columns[name][row]) for row in rows)


def _ratio(table: Table, rows: Sequence[int], name: str, above: str, below: str) -> Quantity:
    for part in (above, below):
        if part not in table.columns and not _times_of(table, part):
            raise OutputError(f"{table.title}: {name}: {part!r}: no such column{nearest(part, _names(table))}")
    for last in TIMES:  # a ratio of times is one of the same unit
        pair = [part if part in table.columns else f"{part}.{last}" for part in (above, below)]
        units = {TIMES.get(column.rpartition(".")[2], "") for column in pair}
        if len(units) == 1 and all(column in table.columns and has_numbers(table, column, rows) for column in pair):
            values = [_over(*both) for both in zip(*(_values(table, column) for column in pair), strict=True)]
            if any(values[row] is not None for row in rows):
                return Quantity(name, values, "ratio")
    raise OutputError(f"{table.title}: {name}: no row has both numbers above 0, in one unit")


def _over(above: float | None, below: float | None) -> float | None:
    return above / below if above is not None and below is not None and above > 0 and below > 0 else None


def _times_of(table: Table, name: str) -> list[str]:
    return [f"{name}.{last}" for last in TIMES if f"{name}.{last}" in table.columns]


def _names(table: Table) -> list[str]:
    """What can be named: columns and quantities."""
    kinds = [name.rpartition(".")[0] for name in table.columns if name.rpartition(".")[2] in TIMES]
    return [*table.columns, *dict.fromkeys(kind for kind in kinds if kind)]


def _values(table: Table, name: str) -> list[float | None]:
    return [_number(value) for value in table.columns[name]]


def _number(value: Any) -> float | None:
    return float(value) if is_number(value) else None
