"""`simtmm report`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.words import JsonOption, KernelPathOption, show
from simtmm.errors import OutputError
from simtmm.files import check_writable

if TYPE_CHECKING:
    from rich.console import RenderableType

PAGE = Path("report.html")


def report(
    study: Annotated[
        Path, typer.Argument(help="a study's store (.sqlite), a study (.toml), or a table of points (.parquet, .csv)")
    ],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="the page; report.html if left out")
    ] = None,
    axis: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="of a table: a column that was chosen; repeatable")
    ] = None,
    title: Annotated[str | None, typer.Option(help="the page's; the program's name if left out")] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="draw curves or a heat map instead: .png, .svg or .pdf"),
    ] = None,
    across: Annotated[str | None, typer.Option(metavar="COLUMN", help="of a picture: the axis across")] = None,
    up: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="of a picture: the second axis; makes it a heat map")
    ] = None,
    value: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="of a picture: what is drawn: a quantity (simulated), a ratio (simulated/tmm) or a column; repeatable",
        ),
    ] = None,
    by: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="of a picture: a line for each of its values")
    ] = None,
    where: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN=VALUE", help="of a picture: only these rows; repeatable")
    ] = None,
    log: Annotated[
        str | None,
        typer.Option(metavar="x|y|xy|none", help="of curves: which axes are logarithmic; by the values if left out"),
    ] = None,
    kernel_path: KernelPathOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write a study as one HTML file, with plots to point at and zoom, and its table; it needs no network."""
    import dataclasses

    from rich.text import Text

    from simtmm.report.page import load_table, write_page

    given = {"--across": across, "--up": up, "--value": value, "--by": by, "--where": where, "--log": log}
    unused = [name for name, word in given.items() if word]
    if picture is None and unused:
        raise OutputError(f"{', '.join(unused)}: of a picture, so --picture must be given too")
    page = output or (PAGE if picture is None else None)
    if page is not None:
        check_writable(page)
    if picture is not None:
        from simtmm.report.pictures import files
        from simtmm.report.pictures.study import picture_of

        files.check(picture)
    told: list[RenderableType] = []
    table = load_table(study, axis)
    if title is not None:
        table = dataclasses.replace(table, title=title)
    if picture is not None:
        drawn = picture_of(table, across, up, value or (), by, _pairs(where), log, title)
        files.write(picture, drawn)
        told.append(Text(f"{picture}: {len(table):,} rows"))
    if page is not None:
        write_page(page, table)
        told.append(Text(f"{page}: {len(table):,} rows, {len(table.columns)} columns"))
    written = {"page": page and str(page), "picture": picture and str(picture)}
    show(told, {**written, "rows": len(table), "columns": list(table.columns)}, as_json, None)


def _pairs(words: list[str] | None) -> dict[str, str]:
    """COLUMN=VALUE words."""
    pairs = {}
    for word in words or []:
        column, equals, value = word.partition("=")
        if not equals or not column:
            raise OutputError(f"--where {word}: must be of the form COLUMN=VALUE")
        pairs[column.strip()] = value.strip()
    return pairs
