"""`simtmm compare`."""

from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from simtmm.cli.sweep import FAILED, KeptOption, interrupted
from simtmm.cli.words import (
    FormOption,
    JsonOption,
    KernelMemoryOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    OutputOption,
    SetOption,
    chosen_machine,
    machine_for,
    numbers_of,
    parameters_of,
    printing,
    show,
    warn_of_traces,
)
from simtmm.errors import OutputError
from simtmm.files import check_writable


def compare(
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SOURCE]...", help="kernels, launches (.toml) and traces (.parquet); what was measured if left out"
        ),
    ] = None,
    machine: Annotated[
        list[str] | None,
        typer.Option(
            "--machine",
            "-m",
            metavar="NAME|FILE",
            help="a machine; repeatable; gtx280 if left out, h100-sxm for compiled kernels",
        ),
    ] = None,
    set_: SetOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option("--param", "-p", metavar="NAME=VALUE,...", help="values of a parameter; repeatable"),
    ] = None,
    form: FormOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    model: Annotated[
        list[str] | None, typer.Option("--model", metavar="NAME", help="all if left out; repeatable")
    ] = None,
    measured: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="measured times, CSV or JSON; repeatable")
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(metavar="SERIES", help="simulated, measured or a model; measured if there are such times"),
    ] = None,
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=VALUE", help="a1 and a0 of the calibrated model; fitted if left out"),
    ] = None,
    unit: Annotated[str, typer.Option(help="of a1 and a0: cycles or s")] = "cycles",
    engine: Annotated[str, typer.Option(help="fast (compiled) or reference (SimPy)")] = "fast",
    store: KeptOption = None,
    workers: Annotated[
        int | None, typer.Option("--workers", "-j", metavar="N", help="processes on this machine; 1 if left out")
    ] = 1,
    latex: Annotated[bool, typer.Option("--latex", help="print LaTeX tables")] = False,
    as_csv: Annotated[bool, typer.Option("--csv", help="print a row a case and series")] = False,
    picture: Annotated[Path | None, typer.Option(metavar="FILE", help="draw a picture: .png, .svg or .pdf")] = None,
    kind: Annotated[str, typer.Option(help="of picture: scatter, curves, stacks, roofline or ratios")] = "scatter",
    log: Annotated[
        str | None,
        typer.Option(metavar="x|y|xy|none", help="of picture: which axes are logarithmic; as suits it if left out"),
    ] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Simulated, modelled and measured times side by side, over kernels, sizes and machines.

    Every finished case is kept; the same command goes on where it was stopped. Exit status 1: some cases failed.
    """
    if latex + as_csv + as_json > 1:
        raise OutputError("--latex, --csv, --json: one of them at a time")
    for path in (output, store):
        if path is not None:
            check_writable(path)
    if picture is not None:
        from simtmm.report.pictures import comparison, files

        files.check(picture)
        draw = comparison.compared(kind, log)
    elif log is not None:
        raise OutputError("--log: of a picture, so --picture must be given too")
    from simtmm.machine.changed import suffix

    names = machine or list(dict.fromkeys(machine_for(each, None, form) for each in source or ()))[:1]
    chosen = [(Path(name).stem if name.endswith(".toml") else name, chosen_machine(name, set_)) for name in names]
    machines = {f"{name}{suffix(changed.changes)}": changed for name, changed in chosen}
    from simtmm.analysis import compare as study
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.measurement.timings import load_timings
    from simtmm.report import compare as report
    from simtmm.report.progress import watching

    times = [time for path in measured or () for time in load_timings(path)]
    warn_of_traces(source or (), [made.cores.warp_width for made in machines.values()])
    try:
        with watching() as watch, printing(as_json or as_csv or latex):
            made = study.compare(
                source or (),
                machines,
                _values_of(param),
                model or (),
                times,
                reference,
                numbers_of(constant, "--constant"),
                cast(Literal["s", "cycles"], unit),
                engine,
                watch,
                form,
                store,
                workers,
            )
    except Unfinished as part:
        if not (latex or as_csv or as_json):
            show(report.describe_comparison(part.made), None, False, None)
        raise interrupted(part, "cases") from None
    if picture is not None:
        files.write(picture, draw(made))
    if latex or as_csv:  # as it is: a terminal's width must not fold it
        print((report.comparison_latex if latex else report.comparison_csv)(made).rstrip("\n"))
    show([] if latex or as_csv else report.describe_comparison(made), made.to_dict(), as_json, output)
    if any(one.status == "failed" for one in made.absent):
        raise typer.Exit(FAILED)


def _values_of(words: list[str] | None) -> dict[str, list[str]]:
    """The values of each parameter in NAME=VALUE,... words."""
    values: dict[str, list[str]] = {}
    for word in words or []:
        for name, text in parameters_of([word]).items():
            values.setdefault(name, []).extend(value.strip() for value in text.split(","))
    return values
