"""`simtmm calibrate`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.words import JsonOption, MachinePathOption, SetOption, chosen_machine, show
from simtmm.errors import MachineError, StudyError
from simtmm.files import check_writable, is_folder

if TYPE_CHECKING:
    from collections.abc import Callable

    from simtmm.calibration.values import Calibration
    from simtmm.machine import Machine


def calibrate(
    latency: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="pointer chase (CSV): buffer_kib, median_cycles; clock_mhz, gpu"),
    ] = None,
    stream: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="over occupancy (CSV): block_size, blocks_per_sm, occupancy_pct, read_GBs, ..."
        ),
    ] = None,
    device: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="measure this GPU instead: CUDA's number, 0 for the first"),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="with --device: write latency.csv and stream.csv there")
    ] = None,
    gpu: Annotated[str | None, typer.Option(metavar="NAME", help="which GPU, where a file has several")] = None,
    machine: Annotated[
        str | None,
        typer.Option("--machine", "-m", metavar="NAME|FILE", help="where what was not measured comes from"),
    ] = None,
    set_: SetOption = None,
    name: Annotated[str | None, typer.Option(help="the machine's name; the output's or the GPU's if left out")] = None,
    machine_path: MachinePathOption = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="FILE", help="write the machine there (TOML)")
    ] = None,
) -> None:
    """Fit a machine to measurements: its values, which measurement each came from, and the error at each point."""
    if (latency is None) == (device is None):
        raise StudyError("calibrate: needs --latency FILE (and --stream FILE), or --device NUMBER, which measures both")
    for word, given in (("--stream", stream), ("--gpu", gpu)):
        if device is not None and given is not None:
            raise StudyError(f"calibrate: {word} {given}: does not go with --device, which measures")
    if device is None and keep is not None:
        raise StudyError(f"calibrate: --keep {keep}: goes with --device only")
    if output is not None:
        check_writable(output)
    if keep is not None and not is_folder(keep):
        raise StudyError(f"--keep {keep}: there is no such folder")
    base = chosen_machine(machine, set_) if machine is not None else None
    if base is None and set_:
        raise MachineError(f"--set {set_[0]}: changes a machine, so --machine must be given as well")
    from simtmm.report.calibrate import describe
    from simtmm.report.progress import watching

    called = name or (output.stem if output is not None else None) or gpu
    with watching() as watch:
        if latency is None:
            from simtmm.calibration.device import calibrate_device

            made = calibrate_device(device or 0, called, base, keep, watch=watch)
        else:
            made = _from_files(called or "calibrated", latency, stream, gpu, base, watch)
    if output is not None:
        made.save(output)
    show(describe(made), made.to_dict(), as_json, None)


def _from_files(
    name: str,
    latency: Path,
    stream: Path | None,
    gpu: str | None,
    base: "Machine | None",
    watch: "Callable[[str, int, int | None], None]",
) -> "Calibration":
    from simtmm.calibration.calibrate import calibrate as fit
    from simtmm.calibration.latency_levels import load_latency
    from simtmm.calibration.occupancy_curve import load_stream

    suffix = f", {gpu}" if gpu else ""
    measurements = {"latency": f"{latency.name}{suffix}"}
    if stream is not None:
        measurements["stream"] = f"{stream.name}{suffix}"
    points = load_stream(stream, gpu) if stream is not None else ()
    return fit(name, load_latency(latency, gpu), points, base, measurements, watch)
