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
        str | None, machine_option(f"a GPU of NVIDIA, Volta or later (see `machines`); {DEFAULT_GPU} if left out")
    ] = None,
    set_: SetOption = None,
    measured: Annotated[
        Path | None,
        typer.Option("--measured", metavar="FILE", help="cycles on a GPU beside them: micro.csv of `measure --all`"),
    ] = None,
    *,
    result: DocumentOptions,
) -> None:
    """Set micro-kernels of a multiprocessor beside their limits.

    Loads, bank conflicts, ldmatrix, dependent instructions, barriers and atomics, simulated on a GPU of NVIDIA.
    """
    from simtmm.analysis.micro import micro as simulated
    from simtmm.measurement.micro.measured import load_measured
    from simtmm.report.micro import describe_micro
    from simtmm.report.progress import watching

    chosen = chosen_machine(machine or DEFAULT_GPU, set_)
    known = load_measured(measured) if measured is not None else None
    with watching() as watch:
        found = simulated(chosen, known, watch)
    result.show(describe_micro(found), found.to_dict())
