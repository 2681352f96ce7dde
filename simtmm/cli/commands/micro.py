"""`simtmm machines micro`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions
from simtmm.requests.machine import DEFAULT_GPU, SetOption, chosen_machine, machine_option


@grouped
def micro(
    machine: Annotated[
        str | None, machine_option(f"an NVIDIA GPU, Volta or later (see `machines`); default: {DEFAULT_GPU}")
    ] = None,
    set_: SetOption = None,
    measured: Annotated[
        Path | None,
        typer.Option(
            "--measured", metavar="FILE", help="compare with a GPU's cycles: micro.csv of `record measure --all`"
        ),
    ] = None,
    *,
    result: DocumentOptions,
) -> None:
    """Compare micro-kernels of an SM with their limits.

    Loads, bank conflicts, ldmatrix, dependent instructions, barriers and atomics, simulated on an NVIDIA GPU.
    """
    from simtmm.analysis.micro import micro as simulated
    from simtmm.measurement.micro.measured import load_measured
    from simtmm.report.measurements.micro import describe_micro
    from simtmm.report.progress import watching

    chosen = chosen_machine(machine or DEFAULT_GPU, set_)
    known = load_measured(measured) if measured is not None else None
    with watching() as watch:
        found = simulated(chosen, known, watch)
    result.show(describe_micro(found), found.to_dict())
