"""`simtmm sweep threads`."""

from typing import Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, warn_of_traces
from simtmm.requests.completion import complete_kernel
from simtmm.requests.kernel_file import FormOption, ParamOption
from simtmm.requests.machine import MachineOptions
from simtmm.requests.values import parameters_of


@grouped
def threads(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="a kernel, launches (.toml), or a trace (.parquet)", autocompletion=complete_kernel
        ),
    ],
    *,
    machine: MachineOptions,
    param: ParamOption = None,
    form: FormOption = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", metavar="SHARE", help="how much longer a run may take than without latency")
    ] = 0.05,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Find how many threads per core hide the latency.

    It searches by simulation, and adds what the TMM says.
    """
    chosen = machine.chosen_for(source, form)
    warn_of_traces([source], [chosen.cores.warp_width])
    from simtmm.analysis.threads_needed import threads_needed
    from simtmm.report.papers.threads_needed import describe_threads
    from simtmm.report.progress import watching

    with watching() as watch:
        needed = threads_needed(source, chosen, parameters_of(param), tolerance, watch, form)
    result.show(describe_threads(needed), needed.to_dict())
