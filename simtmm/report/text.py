"""How numbers read, and the plain tables of all reports."""

import csv
import io
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from simtmm.errors import escaped

NO_VALUE = "-"
LONG = 1e12  # from here on `short` shows a number with its exponent


class Escaped:
    """A part of a report for a terminal: names from data, which may hold anything, do nothing to it."""

    def __init__(self, part: RenderableType) -> None:
        """part: what is shown."""
        self._part = part

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Segment]:
        for segment in console.render(self._part, options):
            yield segment if segment.control else Segment(escaped(segment.text), segment.style)


def number(value: float) -> str:
    """1,234,567 or, below a hundred, with a fraction: 12.5."""
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"


def short(value: float) -> str:
    """A number of which most is clear without its digits: `number`, and with an exponent where it is very large."""
    return number(value) if abs(value) < LONG else f"{value:.4g}"


def seconds(value: float | None) -> str:
    """With the unit that leaves one to three digits before the point: 12.3 us."""
    if value is None:
        return NO_VALUE
    for factor, unit in ((1, "s"), (1e-3, "ms"), (1e-6, "us")):
        if float(f"{value / factor:.3g}") >= 1:  # rounded, so that 0.9996 s is 1 s and not 1e+03 ms
            return f"{value / factor:.3g} {unit}"
    return f"{value / 1e-9:.3g} ns"


def rate(value: float, unit: str) -> str:
    """With the letter that leaves one to three digits before the point: 1.34 T bytes/s as 1.34 TB/s."""
    short_unit = unit.replace("bytes", "B")
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")):
        if float(f"{value / factor:.3g}") >= 1:
            gap = "" if short_unit.startswith("B") else " "
            return f"{value / factor:.3g} {letter}{gap}{short_unit}"
    return f"{value:.3g} {short_unit}"


def share(part: float, whole: float) -> str:
    """62 %; below one per cent, 0.3 %."""
    percent = 100 * part / whole if whole else 0.0
    return f"{percent:.0f} %" if percent >= 1 or percent == 0 else f"{percent:.1f} %"


def bar(part: float, whole: float, width: int = 24) -> str:
    """A bar as long as the part is of the whole."""
    return "#" * round(width * part / whole) if whole else ""


def table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[str]], left: Sequence[int] = (0,), gap: int = 3
) -> Table:
    """A table without lines; the columns in `left` are set flush left, the others right. gap: blanks between them."""
    rendered = Table(
        title=Text(title, style="bold"),
        title_justify="left",
        box=None,
        pad_edge=False,
        padding=(0, gap, 0, 0),
        show_header=any(columns),
        header_style="dim",
    )
    for index, column in enumerate(columns):
        rendered.add_column(column, justify="left" if index in left else "right", overflow="fold")
    for row in rows:
        rendered.add_row(*(Text(cell) for cell, _ in zip(row, columns, strict=True)))
    return rendered


def csv_of(rows: Sequence[Mapping[str, object]]) -> str:
    """A row each, with a header; nothing where there are no rows.

    rows: values by column.
    """
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
