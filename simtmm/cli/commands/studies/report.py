"""`simtmm sweep report`."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import KernelPathOption
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.errors import OutputError
from simtmm.files import check_writable
from simtmm.requests.files import checked
from simtmm.requests.values import pairs

if TYPE_CHECKING:
    from rich.console import RenderableType

DEFAULT_PAGE = Path("report.html")


@dataclass(frozen=True, kw_only=True)
class PictureOptions:
    """A picture in place of the page."""

    picture: Annotated[
        Path | None,
        typer.Option("--picture", metavar="FILE", help="draw curves or maps instead: .png, .svg or .pdf"),
    ] = None
    across: Annotated[
        str | None, typer.Option("--across", metavar="COLUMN", help="of a picture: the horizontal axis")
    ] = None
    up: Annotated[
        str | None,
        typer.Option("--up", metavar="COLUMN", help="of a picture: the second axis; makes it a heat map"),
    ] = None
    value: Annotated[
        list[str] | None,
        typer.Option(
            "--value",
            metavar="NAME",
            help="of a picture: a quantity (simulated), a ratio (simulated/tmm), a column, or winner; repeatable",
        ),
    ] = None
    by: Annotated[
        str | None, typer.Option("--by", metavar="COLUMN", help="of a picture: a line for each of its values")
    ] = None
    where: Annotated[
        list[str] | None,
        typer.Option("--where", metavar="COLUMN=VALUE", help="of a picture: only these rows; repeatable"),
    ] = None
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="x|y|xy|none",
            help="of curves: which axes are logarithmic; default: decided by the values",
        ),
    ] = None

    @property
    def rows(self) -> dict[str, str]:
        """The values of columns that rows must have. Raises OutputError."""
        return pairs(self.where, "--where", OutputError)

    def check(self) -> None:
        """Raise OutputError for options of a picture without one."""
        given = {
            "--across": self.across,
            "--up": self.up,
            "--value": self.value,
            "--by": self.by,
            "--where": self.where,
            "--log": self.log,
        }
        unused = [option for option, value in given.items() if value]
        if self.picture is None and unused:
            raise OutputError(f"{', '.join(unused)}: needs --picture")


@grouped
def report(
    study: Annotated[
        Path,
        typer.Argument(
            metavar="STUDY", help="a study's store (.sqlite), a study (.toml), or a table of points (.parquet, .csv)"
        ),
    ],
    options: PictureOptions,
    axis: Annotated[
        list[str] | None,
        typer.Option("--axis", metavar="COLUMN", help="of a table: a column to treat as an axis; repeatable"),
    ] = None,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="the page's title; default: the program's name")
    ] = None,
    kernel_path: KernelPathOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, output_option("the page there (.html); default: report.html", callback=checked)
    ] = None,
) -> None:
    """Write a study as one HTML page, or draw a picture.

    The page has interactive plots and the table of all points; it needs no network.
    """
    import dataclasses

    from rich.text import Text

    from simtmm.report.page import EARLIER, load_table, write_page

    options.check()
    picture = options.picture
    page = output or (DEFAULT_PAGE if picture is None else None)
    if page is not None:
        check_writable(page)
    if picture is not None:
        from simtmm.report.pictures import files
        from simtmm.report.pictures.study import picture_of

        files.check(picture)
    lines: list[RenderableType] = []
    table = load_table(study, axis)
    if title is not None:
        table = dataclasses.replace(table, title=title)
    if picture is not None:
        drawn = picture_of(
            table, options.across, options.up, options.value or (), options.by, options.rows, options.log, title
        )
        files.write(picture, drawn)
        lines.append(Text(f"{picture}: {len(table):,} rows"))
    if page is not None:
        write_page(page, table)
        lines.append(Text(f"{page}: {len(table):,} rows, {len(table.columns)} columns"))
    if EARLIER in table.about:
        lines.append(Text(table.about[EARLIER]))
    written = {"page": page and str(page), "picture": picture and str(picture)}
    show(lines, {**written, "rows": len(table), "columns": list(table.columns)}, as_json, None)
