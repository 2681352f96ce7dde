"""`simtmm explain`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from simtmm.cli.environment import EnvironmentOptions
from simtmm.cli.grouped import grouped
from simtmm.cli.machine import MachineOptions
from simtmm.cli.output import DOCUMENT, JsonOption, checked_form, output_option, printing, show
from simtmm.cli.program import ProgramOptions, select
from simtmm.errors import OutputError, nearest, shown
from simtmm.files import write_text, written_whole

PAGE, TABLE = ".html", ".csv"
LONG = 2_000_000  # operations: a page of more is without what happens over time, which takes 50 bytes for each
BY = ("line", "array", "launch", "reason")

TopOption = Annotated[int | None, typer.Option("--top", min=1, metavar="N", help="only the N hottest of them")]
CountsOption = Annotated[
    bool, typer.Option("--counts", help="counts of each as well: instructions, bytes, hits, bandwidth")
]
WhatIfOption = Annotated[bool, typer.Option("--what-if/--no-what-if", help="try what would help, for 3 s at most")]


def _checked_by(by: str | None) -> str | None:
    """What --by names. Raises OutputError."""
    if by is not None and by not in BY:
        raise OutputError(f"--by {shown(by)}: must be one of {', '.join(BY)}{nearest(by, BY)}")
    return by


def by_option(what: str) -> Any:
    """The option --by."""
    return typer.Option(
        "--by",
        metavar="WHAT",
        help=f"{what}: line, array, launch or reason",
        callback=_checked_by,
        autocompletion=lambda: list(BY),
    )


@dataclass(frozen=True, kw_only=True)
class RowOptions:
    """What stands in the rows of an explanation."""

    by: Annotated[str, by_option("what a row is for")] = "line"
    top: TopOption = None
    counts: CountsOption = False
    instructions: Annotated[
        bool, typer.Option("--instructions/--no-instructions", help="the compiled code of each line below it")
    ] = False
    sass: Annotated[bool, typer.Option("--sass", help="the machine's instructions of each line below it")] = False
    ptx: Annotated[bool, typer.Option("--ptx", help="likewise PTX")] = False

    @property
    def code(self) -> list[str]:
        """The kinds of code below each line."""
        return [name for name, wanted in (("sass", self.sass), ("ptx", self.ptx)) if wanted]


def _checked_form(path: Path | None) -> Path | None:
    return checked_form(path, "-o", (PAGE, TABLE, DOCUMENT))


@grouped
def explain(
    machine: MachineOptions,
    program: ProgramOptions,
    environment: EnvironmentOptions,
    rows: RowOptions,
    what_if: WhatIfOption = True,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None,
        output_option("a page (.html), the rows (.csv), or the JSON document (.json) there", callback=_checked_form),
    ] = None,
) -> None:
    """Explain where a program's time goes, line by line.

    Each line of its source, array or launch stands with the reasons for which warps waited there.
    """
    from simtmm.report.explain import document, explained
    from simtmm.report.text import csv_of

    is_page = output is not None and output.suffix == PAGE
    selected = select(program, machine)
    opened = selected.opened(as_json)
    from simtmm.analysis.run import run
    from simtmm.cli.values import parameters_of
    from simtmm.report.progress import watching

    with watching() as watch, printing(as_json):
        done = run(
            opened.program,
            selected.machine,
            parameters_of(program.param),
            "auto",
            watch,
            timeline=is_page,
            form=program.form,
            what_if=what_if,
            timeline_limit=LONG,
        )
    table = document(done, rows.by)
    if output is not None and is_page:
        from simtmm.report.explain_page import write_explanation

        write_explanation(output, done)
        output = None
    elif output is not None and output.suffix == TABLE:
        with written_whole(output) as temporary:
            write_text(temporary, csv_of(table))
        output = None
    show(
        explained(done, rows.by, rows.top, rows.instructions, rows.counts, rows.code),
        {**done.to_dict(), "by": rows.by, "rows": table, **opened.document},
        as_json,
        output,
    )
    opened.end()
