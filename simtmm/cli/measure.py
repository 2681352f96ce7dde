"""`simtmm measure`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import JsonOption, KernelPathOption, ParamOption, parameters_of, show
from simtmm.errors import StudyError
from simtmm.files import check_writable


def measure(
    kernel: Annotated[str | None, typer.Argument(help="a kernel's name or folder; not with --all")] = None,
    param: ParamOption = None,
    kernel_path: KernelPathOption = None,
    repeat: Annotated[int | None, typer.Option(min=1, help="timed runs; 50, or 20 with --all")] = None,
    warm: Annotated[bool, typer.Option("--warm", help="leave the caches as the run before left them")] = False,
    machine: Annotated[
        str | None, typer.Option("--machine", "-m", metavar="NAME", help="what the GPU goes by in comparisons")
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="all kernels: traces compared, times, benchmarks for calibration")
    ] = False,
    minutes: Annotated[float, typer.Option(min=0, help="with --all: begin nothing after so many")] = 8.0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="the measurement; with --all a folder, traces if left out"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Time a kernel on a GPU, its answer checked; or all that needs a GPU in one go."""
    from simtmm.report.progress import watching

    if everything:
        if kernel is not None or param:
            raise StudyError("measure --all: takes no kernel and no parameters: it goes through all of them")
        from simtmm.measurement.campaign import measure_all
        from simtmm.report.measure import describe_all

        with watching() as watch:
            outcomes = measure_all(output or Path("traces"), minutes, repeat, machine, watch)
        show(describe_all(outcomes), [outcome.to_dict() for outcome in outcomes], as_json, None)
        return
    if kernel is None:
        raise StudyError("measure: needs a kernel, or --all")
    if output is not None:
        check_writable(output)
    from simtmm.measurement.measure import REPEAT
    from simtmm.measurement.measure import measure as measure_kernel
    from simtmm.report.measure import describe_measurement

    measured = measure_kernel(kernel, parameters_of(param), repeat=repeat or REPEAT, cold=not warm, machine=machine)
    show(describe_measurement(measured), measured.to_dict(), as_json, output)
