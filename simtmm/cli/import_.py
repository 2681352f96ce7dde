"""`simtmm import`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import JsonOption, show


def import_(
    source: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="Accel-Sim's kernelslist.g, one .traceg, or NVBit's mem_trace; or .xz"),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="the trace")],
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="accelsim or mem-trace; found by the text if left out"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a trace of another tool's, with loads that overlap until their registers are read."""
    from simtmm.report.progress import watching
    from simtmm.trace.importers import import_trace

    with watching() as watch:
        trace = import_trace(
            source, format_, output=output, progress=lambda done, total: watch("importing", done, total)
        )
    info = trace.info
    launches = f"{len(info.launches)} launch{'es' * (len(info.launches) != 1)}"
    line = f"{output}: {info.kernel}, {launches}, {info.events:,} events, digest {info.digest}"
    document = {**info.to_dict(), "path": str(output)}
    show([line], document, as_json, None)
