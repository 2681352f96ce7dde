"""Parts of a report as HTML: what Jupyter shows of a value."""

from collections.abc import Iterable, Iterator
from html import escape

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from simtmm.display import Displayed
from simtmm.errors import escaped
from simtmm.report.notebook.parts import parts_of

LETTER = 6  # pixels for each # of a terminal's bar


def html_of(value: Displayed) -> str:
    """All parts of a value's report, below one another."""
    return f"<div>{''.join(_html(part) for part in parts_of(value))}</div>"


def _html(part: RenderableType) -> str:
    if isinstance(part, Table):
        return _table(part)
    text = part.plain if isinstance(part, Text) else str(part)
    word = "strong" if isinstance(part, Text) and "bold" in str(part.style) else "span"
    return f"<p style='margin:0.3em 0'><{word}>{_escaped(text)}</{word}></p>" if text else ""


def _table(table: Table) -> str:
    """A table with its title above; a row of headers where the report shows one."""
    columns = table.columns
    sides = [f" style='text-align:{column.justify}'" for column in columns]
    title = (
        f"<caption style='text-align:left;font-weight:bold'>{_escaped(table.title)}</caption>" if table.title else ""
    )
    head = _row("th", [column.header for column in columns], sides) if table.show_header else ""
    body = "".join(_row("td", cells, sides) for cells in zip(*(column.cells for column in columns), strict=True))
    return f"<table>{title}{f'<thead>{head}</thead>' if head else ''}<tbody>{body}</tbody></table>"


def _row(tag: str, cells: Iterable[RenderableType], sides: Iterable[str]) -> str:
    def written() -> Iterator[str]:
        for cell, side in zip(cells, sides, strict=True):
            yield f"<{tag}{side}>{_bar(cell) or _escaped(cell)}</{tag}>"

    return f"<tr>{''.join(written())}</tr>"


def _bar(part: RenderableType) -> str:
    """A bar that a terminal shows as a row of #, drawn; "" for any other part."""
    text = (part.plain if isinstance(part, Text) else str(part)).rstrip()
    if not text or text.strip("#"):
        return ""
    return f"<div style='background:#3b7dd8;height:0.8em;width:{len(text) * LETTER}px'></div>"


def _escaped(part: RenderableType) -> str:
    """Names come from data and may hold anything: they do nothing to a page or a terminal."""
    return escape(escaped(part.plain if isinstance(part, Text) else str(part)))
