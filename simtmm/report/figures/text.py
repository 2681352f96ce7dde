"""Figures of the papers on a terminal, and the list of all of them."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from simtmm.report.text import number, table
from simtmm.validation import cases
from simtmm.validation.figures import ITEMS, Item
from simtmm.validation.figures.figure import Figure

MOST_ROWS = 40  # of a figure on a terminal


def describe_figures(figures: Sequence[Figure]) -> Iterator[RenderableType]:
    """Of each figure its values, and what was fitted."""
    for place, figure in enumerate(figures):
        if place:
            yield ""
        yield Text(f"{figure.name}: {figure.title} ({figure.source})", style="bold")
        yield Text(f"fitted: {figure.fitted}")
        yield Text(f"predicted: {figure.predicted}")
        yield ""
        columns, rows = figure.table()
        yield table("", columns, [[_cell(cell) for cell in row] for row in rows[:MOST_ROWS]], left=(0, 1))
        if len(rows) > MOST_ROWS:
            yield Text(f"and {len(rows) - MOST_ROWS} more rows: -o FOLDER writes all")
        yield from (Text(note) for note in figure.notes)


def describe_list() -> Iterator[RenderableType]:
    """All that can be reproduced, and why the others can't."""
    yield Text("Tables of docs/accuracy.md, compared with measurements:", style="bold")
    for name in cases.REPRODUCTIONS:
        yield Text(f"  {name}{' (only if named: takes NVIDIA compilers)' if name in cases.ONLY_IF_NAMED else ''}")
    yield Text("Figures and tables of the papers (000 and 002: ma, asap; 001: rehman; 004: tmm):", style="bold")
    yield from (Text(f"  {item.name:18} {title(item)}") for item in ITEMS.values() if item.makes or _as_other(item))
    yield Text("Not reproduced:", style="bold")
    yield from (Text(f"  {item.name:18} {reason(item)}") for item in ITEMS.values() if reason(item))


def listed() -> Mapping[str, object]:
    """The same for JSON."""
    return {
        "tables": list(cases.REPRODUCTIONS),
        "figures": [
            {"name": item.name, "title": title(item)} for item in ITEMS.values() if item.makes or _as_other(item)
        ],
        "not_made": [{"name": item.name, "reason": reason(item)} for item in ITEMS.values() if reason(item)],
    }


def title(item: Item) -> str:
    """What an item is, in a line."""
    return f"the same as {item.same}" if item.same else item.title


def reason(item: Item) -> str:
    """Why an item is not reproduced; "" for one that is."""
    return ITEMS[item.same or item.name].reason


def _as_other(item: Item) -> bool:
    return bool(item.same and ITEMS[item.same].makes)


def _cell(cell: str | float) -> str:
    if isinstance(cell, str):
        return cell
    return number(cell) if abs(cell) >= 1000 else f"{cell:.4g}"
