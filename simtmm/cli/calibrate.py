"""`simtmm calibrate`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import JsonOption, SetOption, chosen_machine, show
from simtmm.errors import MachineError
from simtmm.files import check_writable


def calibrate(
    latency: Annotated[
        Path, typer.Option(metavar="FILE", help="pointer chase (CSV): buffer_kib, median_cycles; clock_mhz, gpu")
    ],
    stream: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="over occupancy (CSV): block_size, blocks_per_sm, occupancy_pct, read_GBs, ..."
        ),
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help="which GPU, where a file has several")] = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", "-m", metavar="NAME|FILE", help="where what was not measured comes from"),
    ] = None,
    set_: SetOption = None,
    name: Annotated[str | None, typer.Option(help="the machine's name; the output's or the GPU's if left out")] = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write the machine there (TOML)")
    ] = None,
) -> None:
    """Fit a machine to measurements: its values, which measurement each came from, and the error at each point."""
    if output is not None:
        check_writable(output)
    base = chosen_machine(machine, set_) if machine is not None else None
    if base is None and set_:
        raise MachineError(f"--set {set_[0]}: changes a machine, so --machine must be given as well")
    from simtmm.report.calibrate import describe
    from simtmm.report.progress import watching
    from simtmm.study.calibrate import calibrate as fit
    from simtmm.study.latency_levels import load_latency
    from simtmm.study.occupancy_curve import load_stream

    called = name or (output.stem if output is not None else None) or gpu or "calibrated"
    chased = load_latency(latency, gpu)
    points = load_stream(stream, gpu) if stream is not None else ()
    suffix = f", {gpu}" if gpu else ""
    measurements = {"latency": f"{latency.name}{suffix}"}
    if stream is not None:
        measurements["stream"] = f"{stream.name}{suffix}"
    with watching() as watch:
        made = fit(called, chased, points, base, measurements, watch)
    if output is not None:
        made.save(output)
    show(describe(made), made.to_dict(), as_json, None)
