"""`simtmm report`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.files import check_writable


def report(
    study: Annotated[
        Path, typer.Argument(help="a study's store (.sqlite), a study (.toml), or a table of points (.parquet, .csv)")
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="the page")] = Path("report.html"),
    axis: Annotated[
        list[str] | None, typer.Option(metavar="COLUMN", help="of a table: a column that was chosen; repeatable")
    ] = None,
    title: Annotated[str | None, typer.Option(help="the page's; the program's name if left out")] = None,
) -> None:
    """Write a study as one HTML file, with plots to point at and zoom, and its table; it needs no network."""
    import dataclasses

    from simtmm.report.page import load_table, write_page

    check_writable(output)
    table = load_table(study, axis)
    if title is not None:
        table = dataclasses.replace(table, title=title)
    write_page(output, table)
    print(f"{output}: {len(table):,} rows, {len(table.columns)} columns")
