"""Equations of the papers and fitted constants as a person reads them."""

import csv
import io
from collections.abc import Iterator
from typing import Any

from rich.console import RenderableType
from rich.text import Text

from simtmm.analysis.prediction.equations import Evaluated, Fitted
from simtmm.model.applications.catalogue import EQUATIONS
from simtmm.report.text import number, table

MOST_ROWS = 60  # of a table on a terminal


def describe_equations() -> Iterator[RenderableType]:
    """All of them, with their symbols."""
    rows = [
        [each.name, ", ".join(symbol.name for symbol in each.symbols), each.title, each.source]
        for each in EQUATIONS.values()
    ]
    yield table("", ("equation", "symbols", "what it gives", "source"), rows, left=(0, 1, 2, 3))


def describe_evaluated(evaluated: Evaluated) -> Iterator[RenderableType]:
    """The symbols that stay the same, and a row for each point."""
    yield Text(f"{evaluated.equation.name}: {evaluated.equation.title} ({evaluated.equation.source})", style="bold")
    meaning = {symbol.name: symbol for symbol in evaluated.equation.symbols}
    for name, column in evaluated.symbols.items():
        if name not in evaluated.varied:
            symbol = meaning[name]
            yield Text(f"  {name} = {_shown(column[0])}{symbol.unit and ' ' + symbol.unit}   {symbol.meaning}")
    columns, rows = _rows(evaluated)
    yield table("", columns, [[_shown(cell) for cell in row] for row in rows[:MOST_ROWS]])
    if len(rows) > MOST_ROWS:
        yield Text(f"and {len(rows) - MOST_ROWS} more: --csv prints all")


def evaluated_csv(evaluated: Evaluated) -> str:
    """A row a point: the symbols that vary, and the values."""
    text = io.StringIO()
    columns, rows = _rows(evaluated)
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([str(cell).lower() if isinstance(cell, bool) else f"{cell:.12g}" for cell in row] for row in rows)
    return text.getvalue()


def describe_fitted(fitted: Fitted) -> Iterator[RenderableType]:
    """The constants, and how well the line fits."""
    line = fitted.cache.line if fitted.cache else fitted.line
    assert line is not None
    yield Text(f"{fitted.file}: {fitted.rows} rows, time over {fitted.x}", style="bold")
    if fitted.cache:
        yield Text(f"G = {fitted.cache.G:.6g}, if no access hits; {fitted.cache.hit_time:.6g} if all do")
    else:
        yield Text(f"a1 = {line.a1:.6g}, a0 = {line.a0:.6g}")
    r_squared = "none, as times do not vary" if line.r_squared is None else f"{line.r_squared:.4f}"
    yield Text(f"r^2 = {r_squared}; largest residual {max(abs(line.residuals)):.4g}")
    yield Text("Fitted to these times, so they do not test it.")


def _rows(evaluated: Evaluated) -> tuple[list[str], list[list[Any]]]:
    units = evaluated.equation.units
    columns = [
        *evaluated.varied,
        *(f"{name} ({units[name]})" if units.get(name) else name for name in evaluated.values),
    ]
    cells = [evaluated.symbols[name].tolist() for name in evaluated.varied] + [
        of.tolist() for of in evaluated.values.values()
    ]
    return columns, [list(row) for row in zip(*cells, strict=True)]


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return number(float(value)) if 1e-2 <= abs(value) < 1e7 or value == 0 else f"{value:.5g}"
