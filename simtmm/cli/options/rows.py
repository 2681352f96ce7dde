"""Options for where the time goes: a row for each line of the source, array, launch or reason, and a page."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import OutputError, nearest, shown
from simtmm.requests.files import DOCUMENT, checked_form
from simtmm.requests.run import BY

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run
    from simtmm.report.explain_page.heat import MeasuredLines

PAGE, TABLE = ".html", ".csv"


def _checked_by(by: str | None) -> str | None:
    """What --by names. Raises OutputError."""
    if by is not None and by not in BY:
        raise OutputError(f"--by {shown(by)}: unknown{nearest(by, BY)}")
    return by


def checked_output(path: Path | None) -> Path | None:
    """The file of -o. Raises OutputError."""
    return checked_form(path, "-o", (DOCUMENT, PAGE, TABLE))


def _checked_page(path: Path | None) -> Path | None:
    return checked_form(path, "--html", (PAGE,))


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """What takes the time, in place of the report or in a page."""

    lines: Annotated[
        bool,
        typer.Option(
            "--lines", help="print the source line by line, with why warps stalled there, instead of the report"
        ),
    ] = False
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="the same by line, array, launch or reason",
            callback=_checked_by,
            autocompletion=lambda: list(BY),
        ),
    ] = None
    top: Annotated[int | None, typer.Option("--top", min=1, metavar="N", help="only the N hottest rows")] = None
    counts: Annotated[
        bool, typer.Option("--counts", help="add the counts of each: instructions, bytes, hits, bandwidth")
    ] = False
    instructions: Annotated[
        bool, typer.Option("--instructions/--no-instructions", help="show the compiled code below each line")
    ] = False
    sass: Annotated[bool, typer.Option("--sass", help="show the machine's instructions (SASS) below each line")] = False
    ptx: Annotated[bool, typer.Option("--ptx", help="show the PTX below each line")] = False
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE",
            help="write everything as a page: source, instructions, timeline, roofline",
            callback=_checked_page,
        ),
    ] = None

    @property
    def code(self) -> list[str]:
        """The kinds of code below each line."""
        return [name for name, wanted in (("sass", self.sass), ("ptx", self.ptx)) if wanted]

    @property
    def shown(self) -> str | None:
        """What a row is for; None for the report."""
        if self.by is not None:
            return self.by
        wanted = self.lines or self.top is not None or self.counts or self.instructions or self.code
        return "line" if wanted else None

    def given(self) -> list[str]:
        """The names of those that are given."""
        values = {"--lines": self.lines, "--by": self.by, "--top": self.top, "--counts": self.counts,
                  "--instructions": self.instructions, "--sass": self.sass, "--ptx": self.ptx,
                  "--html": self.html}  # fmt: skip
        return [option for option, value in values.items() if value]

    def report(self, done: "Run") -> tuple[list[Any], dict[str, Any]]:
        """The report of a run, and what is added to its document."""
        from simtmm.report.explain import document, explained
        from simtmm.report.run import describe
        from simtmm.report.stalls import MOST_LINES

        by = self.shown
        if by is None:
            return [*describe(done)], {}
        whole = self.lines or self.instructions or self.code
        top = self.top if whole or self.top is not None else MOST_LINES
        return (
            [*explained(done, by, top, self.instructions, self.counts, self.code)],
            {"by": by, "rows": document(done, by)},
        )

    def write(self, done: "Run", output: Path | None, profiled: "MeasuredLines | None" = None) -> Path | None:
        """Write the page, and what -o asks for; gives the file that is left for the document.

        profiled: what a GPU's profiler says of lines, for the page.
        """
        from simtmm.files import write_text, written_whole
        from simtmm.report.explain import document
        from simtmm.report.text import csv_of

        for page in {self.html, output if output is not None and output.suffix == PAGE else None} - {None}:
            from simtmm.report.explain_page import write_explanation

            assert page is not None
            write_explanation(page, done, profiled=profiled)
        if output is not None and output.suffix == TABLE:
            with written_whole(output) as temporary:
                write_text(temporary, csv_of(document(done, self.shown or "line")))
        return None if output is not None and output.suffix in (PAGE, TABLE) else output

    def makes_page(self, output: Path | None) -> bool:
        """Whether a page is written, which shows what happened over time."""
        return self.html is not None or (output is not None and output.suffix == PAGE)
