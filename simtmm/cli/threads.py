"""`simtmm threads`."""

from typing import Annotated

import typer

from simtmm.cli.words import (
    FormOption,
    JsonOption,
    KernelMemoryOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    NoMachineOption,
    OutputOption,
    ParamOption,
    SetOption,
    chosen_machine,
    machine_for,
    parameters_of,
    show,
    warn_of_traces,
)
from simtmm.files import check_writable


def threads(
    source: Annotated[str, typer.Argument(help="a kernel, launches (.toml), or a trace (.parquet)")],
    machine: NoMachineOption = None,
    set_: SetOption = None,
    param: ParamOption = None,
    form: FormOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    tolerance: Annotated[float, typer.Option(help="how much longer than without latency a run may take")] = 0.05,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Find how many threads per core hide the latency: by simulation, searching, and by the TMM."""
    if output is not None:
        check_writable(output)
    chosen = chosen_machine(machine_for(source, machine, form), set_)
    warn_of_traces([source], [chosen.cores.warp_width])
    from simtmm.analysis.threads_needed import threads_needed
    from simtmm.report.advise import describe_threads
    from simtmm.report.progress import watching

    with watching() as watch:
        made = threads_needed(source, chosen, parameters_of(param), tolerance, watch, form)
    show(describe_threads(made), made.to_dict(), as_json, output)
