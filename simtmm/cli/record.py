"""`simtmm record`."""

from pathlib import Path
from typing import Annotated

import typer

from simtmm.cli.words import (
    ArgumentOption,
    BlockOption,
    CompilerOption,
    FormOption,
    GridOption,
    JsonOption,
    KernelMemoryOption,
    KernelOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    ParamOption,
    SharedOption,
    chosen_machine,
    launched,
    parameters_of,
    printing,
    show,
)

RACES_SHOWN = 20


def record(
    source: Annotated[
        str, typer.Argument(metavar="KERNEL", help="a kernel's name or folder, a CUDA file (.cu) or launches (.toml)")
    ],
    param: ParamOption = None,
    grid: GridOption = None,
    block: BlockOption = None,
    arg: ArgumentOption = None,
    kernel: KernelOption = None,
    shared: SharedOption = 0,
    compile_: CompilerOption = None,
    form: FormOption = None,
    machine: Annotated[
        str | None,
        typer.Option(
            "--machine", "-m", metavar="NAME|FILE", help="compile for its architecture; one of today if left out"
        ),
    ] = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    on: Annotated[str, typer.Option("--on", help="where to record: cpu or gpu")] = "cpu",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="the trace; KERNEL.parquet if left out"),
    ] = None,
    races: Annotated[
        bool, typer.Option("--races", help=f"look for races as well, and list the first {RACES_SHOWN}")
    ] = False,
    most_events: Annotated[
        int | None, typer.Option("--most-events", min=1, help="more are an error; without limit if left out")
    ] = None,
    sample_blocks: Annotated[
        int | None, typer.Option("--sample-blocks", min=1, help="record only so many blocks of a launch, evenly spread")
    ] = None,
    device_memory: Annotated[
        int | None, typer.Option("--device-memory", metavar="BYTES", min=1, help="of a GPU that a recording may take")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a kernel, check its answer, and write the trace of what its threads do."""
    from simtmm.program import architecture_for
    from simtmm.recorder import record as record_kernel
    from simtmm.recorder.sources import opened_kernel
    from simtmm.report.progress import watching

    program = launched(source, grid, block, arg, kernel, shared, compile_)
    assert program is not None
    loaded = opened_kernel(program) if isinstance(program, str) else program
    architecture = architecture_for(loaded, chosen_machine(machine, None), form)[0] if machine else None
    path = output or Path(f"{loaded.name}.parquet")
    with watching(), printing(as_json):
        trace = record_kernel(
            loaded,
            parameters_of(param),
            on,
            output=path,
            races=races,
            most_events=most_events,
            sample_blocks=sample_blocks,
            device_memory=device_memory,
            form=form,
            architecture=architecture,
        )
    info = trace.info
    line = f"{path}: {info.kernel}, {len(info.launches)} launches, {info.events:,} events, digest {info.digest}"
    if info.sampling is not None:
        left_out, blocks = sum(info.sampling.left_out), sum(launch.blocks for launch in info.launches)
        line += f"; {left_out:,} of {blocks:,} blocks left out"
    document = {**info.to_dict(), "path": str(path)}
    if trace.races is not None:
        document["races"] = trace.races.to_dict(RACES_SHOWN)
    show([line, *(trace.races.lines(RACES_SHOWN) if trace.races is not None else [])], document, as_json, None)
