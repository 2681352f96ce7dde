"""`simtmm paper reproduce`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.requests.study_options import WorkersOption

DIFFERS = 1  # exit status
HELD = Path("docs")  # where the project keeps its own


ALL = "all"


def reproduce(  # noqa: C901 - what is asked for is listed, checked or written
    name: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="NAME",
            help="tables compared with measurements, figures and tables of the papers (see --list), or all; default: "
            "the tables, except those that need NVIDIA's compilers",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        output_option("accuracy.md with accuracy/ there, and of figures index.md with figures/", "FOLDER"),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="write nothing; compare tables with those in FOLDER; default: docs")
    ] = False,
    list_: Annotated[
        bool, typer.Option("--list", help="print all names, and why the others are not reproduced")
    ] = False,
    workers: WorkersOption = None,
    as_json: JsonOption = False,
) -> None:
    """Reproduce measurements and the papers' figures.

    This simulates and models what was measured on real machines, and what the papers show. The tables say how far off
    simulation and models are.

    With -o each is written as it is done, and the same command resumes where it was ended.

    Exit status: 0 done; 1, with --check, a figure in FOLDER is stale or worse than promised (one line names each); 2
    wrong input.
    """
    from simtmm.errors import StudyError, nearest
    from simtmm.report.accuracy import folder as accuracy_folder
    from simtmm.report.accuracy import tables as report
    from simtmm.report.figures import folder as figure_folder
    from simtmm.report.figures import text
    from simtmm.report.papers.reproducing import reproduced_into
    from simtmm.report.progress import watching
    from simtmm.validation import cases as study
    from simtmm.validation import figures as papers

    names = list(name or ())
    for each in names:
        if each not in (ALL, *papers.ITEMS, *study.REPRODUCTIONS):
            near = nearest(each, study.REPRODUCTIONS)
            figures = "" if "did you mean" in near else f"; figures: {', '.join(papers.drawable_names())}"
            raise StudyError(f"reproduction {each!r}: unknown{near}{figures}")
    wanted = [each for each in names if each in papers.ITEMS]
    measured = [each for each in names if each not in papers.ITEMS and each != ALL]
    if ALL in names:
        wanted, chosen = list(papers.drawable_names()), study.known(())
    else:
        chosen = study.known(measured) if measured or not wanted else ()
    papers.makers(wanted)
    if list_:
        show(text.describe_list(), text.listed(), as_json, None)
        return
    if check and wanted:
        raise StudyError(f"--check: compares tables with measurements, but {wanted[0]} is a figure")
    folder = output or HELD
    if check:
        accuracy_folder.check_is_there(folder)
    elif output is not None:
        if wanted:
            figure_folder.check_can_write(output)
            figure_folder.make(output)
        if chosen:
            accuracy_folder.check_can_write(output)
    with watching() as watch:
        reproduced, drawn = reproduced_into(None if check else output, chosen, wanted, names, watch, workers)
    tables = [table for of in reproduced.values() for table in of]
    document = {"tables": [table.to_dict() for table in tables]}
    if wanted:
        document["figures"] = [figure.to_dict() for figure in drawn.values()]
    if check:
        found = accuracy_folder.check(folder, reproduced)
        show(report.describe_check(found, tables, str(folder)), {**document, "differences": found}, as_json, None)
        if found:
            raise typer.Exit(DIFFERS)
        return
    parts = [*report.describe_accuracy(tables), *text.describe_figures(list(drawn.values()))]
    show(parts, document, as_json, None)
