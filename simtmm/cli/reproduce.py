"""`simtmm reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.sweep import WorkersOption
from simtmm.cli.words import JsonOption, show

DIFFERS = 1  # exit status
HELD = Path("docs")  # where the project keeps its own


def reproduce(
    name: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="reproductions (see --list); all but convolution-counters if left out"),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FOLDER", help="write accuracy.md there, and accuracy/ with data and pictures"
        ),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="write nothing; compare with what lies in FOLDER, docs if left out")
    ] = False,
    list_: Annotated[bool, typer.Option("--list", help="print the reproductions' names")] = False,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Simulate what was measured on real machines, and tell how far the simulation and the models are off.

    Exit status: 0 done; 1, with --check, a figure in FOLDER is stale or worse than promised (a line each says which); 2
    wrong input.
    """
    from simtmm.report.accuracy import folder as accuracy_folder
    from simtmm.report.accuracy import tables as report
    from simtmm.report.progress import watching
    from simtmm.validation import cases as study

    chosen = study.known(name or (study.REPRODUCTIONS if list_ else ()))
    if list_:
        show(chosen, list(chosen), as_json, None)
        return
    folder = output or HELD
    if check:
        accuracy_folder.check_is_there(folder)
    elif output is not None:
        accuracy_folder.check_can_write(output)
    with watching() as watch:
        made = study.reproduce(chosen, watch, workers)
    tables = [table for of in made.values() for table in of]
    document = {"tables": [table.to_dict() for table in tables]}
    if check:
        found = accuracy_folder.check(folder, made)
        show(report.describe_check(found, tables, str(folder)), {**document, "differences": found}, as_json, None)
        if found:
            raise typer.Exit(DIFFERS)
        return
    if output is not None:
        accuracy_folder.write(output, made)
    show(report.describe_accuracy(tables), document, as_json, None)
