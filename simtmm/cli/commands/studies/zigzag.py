"""`simtmm sweep zigzag`."""

import re
from typing import Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, PictureOption
from simtmm.errors import ModelError
from simtmm.requests.completion import complete_kernel
from simtmm.requests.kernel_file import FormOption, ParamOption
from simtmm.requests.machine import MachineOptions
from simtmm.requests.values import parameters_of

LONGEST = 9  # digits of a number of blocks


def _range_of(blocks: str) -> range:
    """The range of LOW:HIGH, both included."""
    match = re.fullmatch(rf"([0-9]{{1,{LONGEST}}}):([0-9]{{1,{LONGEST}}})", blocks)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise ModelError(f"--blocks {blocks}: must be LOW:HIGH, whole numbers from 1 to {10**LONGEST - 1:,}")
    return range(int(match[1]), int(match[2]) + 1)


@grouped
def zigzag(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="a kernel, launches (.toml), or a trace (.parquet)", autocompletion=complete_kernel
        ),
    ],
    *,
    machine: MachineOptions,
    blocks: Annotated[
        str, typer.Option("--blocks", metavar="LOW:HIGH", help="range of block counts, both ends included")
    ] = "1:100",
    param: ParamOption = None,
    form: FormOption = None,
    picture: PictureOption = None,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Show throughput over the number of blocks of a launch.

    It rises while blocks fill the core groups and falls with each new wave of them: Eq (5.13) of the dissertation, for
    the first launch of the program.
    """
    from simtmm.analysis.zigzag import sweep_blocks
    from simtmm.report.papers.predict import describe_zigzag
    from simtmm.report.progress import watching

    if picture is not None:
        from simtmm.report.pictures import files

        files.check(picture)
    chosen, parameters = machine.chosen_for(source, form), parameters_of(param)
    with watching():
        kernel, found = sweep_blocks(source, chosen, parameters, _range_of(blocks), form=form)
    if picture is not None:
        from simtmm.report.pictures import charts
        from simtmm.report.pictures.titles import titled

        files.write(picture, charts.zigzag(found, titled(kernel, parameters, chosen.name)))
    result.show(
        describe_zigzag(kernel, found, chosen.name), {"kernel": kernel, "machine": chosen.name, **found.to_dict()}
    )
