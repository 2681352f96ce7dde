"""`simtmm record`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import JsonOption, ParamOption, parameters_of, show


def record(
    kernel: Annotated[str, typer.Argument(help="a kernel's name or folder")],
    param: ParamOption = None,
    on: Annotated[str, typer.Option("--on", help="where to record: cpu")] = "cpu",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="the trace; KERNEL.parquet if left out"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a kernel, check its answer, and write the trace of what its threads do."""
    from simtmm.kernel import load_kernel
    from simtmm.record import record as record_kernel
    from simtmm.report.progress import watching

    loaded = load_kernel(kernel)
    path = output or Path(f"{loaded.name}.parquet")
    with watching() as watch:
        trace = record_kernel(
            loaded, parameters_of(param), on, output=path, progress=lambda done: watch("recording", done, None)
        )
    info = trace.info
    line = f"{path}: {info.kernel}, {len(info.launches)} launches, {info.events:,} events, digest {info.digest}"
    document = {**info.to_dict(), "path": str(path)}
    show([line], document, as_json, None)
