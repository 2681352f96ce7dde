"""Accesses, compared with the best that they could be: a row for each line and array."""

from collections.abc import Iterator

from rich.console import RenderableType

from simtmm.analysis.accesses import Access
from simtmm.analysis.run.outcome import Run
from simtmm.report.text import number, share, table

MOST = 30
HEADINGS = ("", "", "requests", "chunks a request", "at best", "passes", "at best", "used", "reuse", "would save")


def access_table(run: Run, top: int | None = None) -> Iterator[RenderableType]:
    """The hottest accesses. top: so many.

    run: that has them.
    """
    rows = run.accesses[: top or MOST]
    if not rows:
        return
    cells = [_cells(each) for each in rows]
    shown = [column for column in range(len(HEADINGS)) if column < 2 or any(row[column] for row in cells)]
    yield ""
    headings = [HEADINGS[column] for column in shown]
    yield table("Accesses, and at best", headings, [[row[column] for column in shown] for row in cells], (0, 1), gap=2)


def _cells(each: Access) -> tuple[str, ...]:
    place = f"{each.file}:{each.line}" if each.line else "no line"
    return (
        f"{place} ({each.array})" if each.array else place,
        each.kind.replace("_", " "),
        number(each.requests),
        _value(each.chunks),
        _value(each.ideal_chunks),
        _value(each.passes),
        _value(each.ideal_passes),
        "" if each.used is None else share(each.used, 1),
        _value(each.reuse),
        "" if each.saves is None else share(each.saves, 1),
    )


def _value(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"
