"""`simtmm record import`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.files import is_file
from simtmm.requests.files import checked_trace


def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Accel-Sim's kernelslist.g, a single .traceg, or NVBit's mem_trace; plain or as .gz, .xz, .zst",
        ),
    ],
    output: Annotated[Path, output_option("the trace there (.parquet)", callback=checked_trace)],
    format_: Annotated[
        str | None,
        typer.Option("--format", metavar="NAME", help="accelsim or mem-trace; default: detected from the text"),
    ] = None,
    launches: Annotated[
        str | None, typer.Option("--launches", metavar="NUMBERS", help="import only these, counted from 0, e.g. 0-3,7")
    ] = None,
    sample_blocks: Annotated[
        int | None,
        typer.Option("--sample-blocks", metavar="N", min=1, help="import only N blocks of a launch, evenly spread"),
    ] = None,
    registers: Annotated[
        int | None,
        typer.Option("--registers", metavar="NUMBER", help="registers per thread, instead of the files' value"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Import a trace of Accel-Sim or NVBit.

    Loads overlap until their registers are read.
    """
    from simtmm.report.progress import watching
    from simtmm.trace.importers import import_trace

    replaced = is_file(output)
    with watching() as watch:
        trace = import_trace(
            source,
            format_,
            output=output,
            launches=launches,
            blocks=sample_blocks,
            registers=registers,
            progress=lambda done, total: watch("importing", done, total),
        )
    info = trace.info
    launched = f"{len(info.launches)} launch{'es' * (len(info.launches) != 1)}"
    line = f"{output}: {info.kernel}, {launched}, {info.events:,} events, digest {info.digest}"
    if replaced:
        line += "; it replaces the existing file"
    document = {**info.to_dict(), "path": str(output)}
    show([line, *_statistics(info.provenance["statistics"])], document, as_json, None)


def _statistics(found: Mapping[str, Any]) -> list[str]:
    accesses = ", ".join(f"{count:,} {space}" for space, count in found["accesses"].items())
    lines = [f"{found['warps']:,} warps; their accesses: {accesses}; {found['barriers']:,} barriers"]
    unknown = ", ".join(f"{opcode} {count:,}" for opcode, count in found["unknown_opcodes"].items())
    return [*lines, *([f"unknown opcodes, each counted as a compute instruction: {unknown}"] if unknown else [])]
