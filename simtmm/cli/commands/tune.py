"""`simtmm tune`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.commands.advise import show_advice
from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, PictureOption
from simtmm.errors import StudyError
from simtmm.requests.files import checked, printing
from simtmm.requests.study_options import interrupted
from simtmm.requests.tune import TuneRequest


@grouped
def tune(
    request: TuneRequest,
    environment: EnvironmentOptions,
    result: DocumentOptions,
    top: Annotated[int, typer.Option("--top", metavar="N", min=1, help="number of configurations to list")] = 10,
    t4: Annotated[
        Path | None,
        typer.Option("--t4", metavar="FILE", help="write the results as Kernel Tuner's T4", callback=checked),
    ] = None,
    picture: PictureOption = None,
) -> None:
    """Find a kernel's fastest configuration by simulation.

    Choose among launch shapes, constants, variants and machine keys, or minimise any expression, by samples of growing
    precision. Without --over, choose threads per block and blocks, compared with the models' choice. Every result is
    stored; repeat the command to resume.
    """
    if picture is not None:
        from simtmm.report.pictures import files

        if len(request.minimise or ()) < 2:
            raise StudyError("--picture: shows a Pareto front: give --minimise twice")
        files.check(picture)
    if t4 is None and request.is_of_shape:
        show_advice(request.shape, result)
        return
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.report.progress import watching

    try:
        with watching(at_once=True) as watch, printing(result.as_json):
            watch("configurations", 0, None)  # before what is slow to load
            tuned = request.tuned(watch)
    except Unfinished as part:
        from simtmm.report.studies.tune import describe_tuned

        if not result.as_json:
            DocumentOptions().show(describe_tuned(part.results, top), None)
        raise interrupted(part, "configurations") from None
    if t4 is not None:
        from simtmm.analysis.tuning.t4 import write_results

        write_results(tuned, t4)
    if picture is not None:
        from simtmm.report.pictures.pareto import pareto

        files.write(picture, pareto(tuned))
    from simtmm.report.studies.tune import describe_tuned

    result.show(describe_tuned(tuned, top), tuned.to_dict())
