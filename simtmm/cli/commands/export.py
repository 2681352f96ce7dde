"""`simtmm record export`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.options.output import JsonOption, output_option, show

MERGED = "stretches of work were merged with the one before, so an import of it has another digest"


def export(
    source: Annotated[Path, typer.Argument(metavar="TRACE", help="a trace (.parquet) imported from Accel-Sim")],
    output: Annotated[Path, output_option("kernelslist.g and kernels' files there, new or empty", "FOLDER")],
    binary_version: Annotated[
        int,
        typer.Option(
            "--binary-version",
            metavar="NUMBER",
            min=10,
            max=999,
            help="the opcodes' architecture, which a trace does not record",
        ),
    ] = 80,
    as_json: JsonOption = False,
) -> None:
    """Write a trace as Accel-Sim files.

    The kernelslist.g and .traceg files; `record import` reads them back as the same trace.
    """
    from simtmm.trace.exporters import export_accelsim
    from simtmm.trace.io import load_trace

    trace = load_trace(source)
    exported = export_accelsim(trace, output, binary_version)
    kernels = len(exported.files) - 1
    line = f"{output}: {kernels} kernel{'s' * (kernels != 1)}, {exported.instructions:,} instructions of warps"
    lines = [line, *([f"warning: {exported.merged:,} {MERGED}"] if exported.merged else [])]
    document = {
        "files": [str(path) for path in exported.files],
        "instructions": exported.instructions,
        "merged": exported.merged,
        "digest": trace.info.digest,
    }
    show(lines, document, as_json, None)
