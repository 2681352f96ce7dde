"""`simtmm record measure`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.options.environment import KernelPathOption
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import JsonOption, output_option, show
from simtmm.errors import StudyError
from simtmm.files import check_writable
from simtmm.requests.completion import complete_kernel
from simtmm.requests.kernel_file import LaunchOptions
from simtmm.requests.machine import machine_option
from simtmm.requests.values import parameters_of


@grouped
def measure(  # noqa: PLR0913, PLR0917 - each is an option of the command
    launch: LaunchOptions,
    source: Annotated[
        str | None,
        typer.Argument(
            metavar="SOURCE",
            help="a kernel's name or folder, a CUDA file (.cu) or launches (.toml); not with --all",
            autocompletion=complete_kernel,
        ),
    ] = None,
    kernel_path: KernelPathOption = None,
    repeat: Annotated[
        int | None,
        typer.Option("--repeat", metavar="N", min=1, help="number of timed runs; default: 50, or 20 with --all"),
    ] = None,
    warm: Annotated[bool, typer.Option("--warm", help="keep the caches as the previous run left them")] = False,
    machine: Annotated[str | None, machine_option("the GPU's name in comparisons", "NAME")] = None,
    everything: Annotated[
        bool,
        typer.Option(
            "--all", help="all kernels: compare traces, take times, run benchmarks for calibration and micro-kernels"
        ),
    ] = False,
    minutes: Annotated[
        float, typer.Option("--minutes", metavar="N", min=0, help="with --all: start nothing new after this long")
    ] = 8.0,
    only: Annotated[
        str | None,
        typer.Option(
            "--only", metavar="KINDS", help="with --all: only these, of parity,benchmarks,micro,compiled,times"
        ),
    ] = None,
    as_json: JsonOption = False,
    output: Annotated[
        Path | None, output_option("the JSON document there; with --all, into this folder; default: traces")
    ] = None,
) -> None:
    """Time a kernel on a GPU, and check its answer.

    With --all, do everything that needs a GPU in one run.
    """
    from simtmm.report.progress import watching

    if everything:
        if source is not None or launch != LaunchOptions():
            raise StudyError("measure --all: takes no kernel or parameters: it measures all kernels")
        from simtmm.measurement.campaign import measure_all
        from simtmm.report.measurements.measure import describe_all

        kinds = None if only is None else only.split(",")
        with watching() as watch:
            outcomes = measure_all(output or Path("traces"), minutes, repeat, machine, watch, only=kinds)
        show(describe_all(outcomes), [outcome.to_dict() for outcome in outcomes], as_json, None)
        return
    if only is not None:
        raise StudyError("measure --only: needs --all")
    program = launch.launched(source)
    if program is None:
        raise StudyError("measure: needs a kernel, or --all")
    if output is not None:
        check_writable(output)
    from simtmm.measurement.measure import REPEAT
    from simtmm.measurement.measure import measure as measure_kernel
    from simtmm.report.measurements.measure import describe_measurement

    parameters = parameters_of(launch.parameters)
    measured = measure_kernel(
        program, parameters, repeat=repeat or REPEAT, cold=not warm, machine=machine, form=launch.form
    )
    show(describe_measurement(measured), measured.to_dict(), as_json, output)
