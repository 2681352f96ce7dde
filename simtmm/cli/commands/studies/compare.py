"""`simtmm sweep compare`."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal, cast

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, PictureOption, warn_of_traces
from simtmm.errors import OutputError
from simtmm.requests.completion import complete_kernel, complete_parameter
from simtmm.requests.files import printing
from simtmm.requests.kernel_file import FormOption
from simtmm.requests.machine import SetOption, StartOption, chosen_machine, default_machine, machine_option
from simtmm.requests.sampling import SampleOptions
from simtmm.requests.study_options import (
    FAILED,
    EngineOption,
    KeptOption,
    interrupted,
    model_option,
    workers_option,
)
from simtmm.requests.values import numbers_of, parameter_lists_of


@dataclass(frozen=True, kw_only=True)
class SeriesOptions:
    """What stands side by side."""

    model: Annotated[list[str] | None, model_option()] = None
    measured: Annotated[
        list[Path] | None,
        typer.Option(
            "--measured",
            metavar="FILE|NAME",
            help="measured times, CSV or JSON, or the papers' by name; repeatable",
        ),
    ] = None
    reference: Annotated[
        str | None,
        typer.Option(
            "--reference",
            metavar="SERIES",
            help="the series to compare with: simulated, measured or a model; default: measured, if there are measured "
            "times",
        ),
    ] = None
    constant: Annotated[
        list[str] | None,
        typer.Option("--constant", metavar="NAME=VALUE", help="a1 and a0 of the calibrated model; default: fitted"),
    ] = None
    unit: Annotated[str, typer.Option("--unit", metavar="cycles|s", help="unit of a1 and a0")] = "cycles"
    engine: EngineOption = "fast"
    rule: Annotated[
        list[str] | None,
        typer.Option(
            "--rule",
            metavar="FILE|NAME",
            help="scheduling rules to compare with a machine's own: Python functions, or a built-in one; repeatable",
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class FormatOptions:
    """What is printed and drawn in place of the report."""

    latex: Annotated[bool, typer.Option("--latex", help="print LaTeX tables")] = False
    as_csv: Annotated[bool, typer.Option("--csv", help="print a CSV row per case and series")] = False
    picture: PictureOption = None
    kind: Annotated[
        str,
        typer.Option("--kind", metavar="KIND", help="kind of picture: scatter, curves, stacks, roofline or ratios"),
    ] = "scatter"
    log: Annotated[
        str | None,
        typer.Option(
            "--log",
            metavar="x|y|xy|none",
            help="with --picture: which axes are logarithmic; default: the picture's own",
        ),
    ] = None


@grouped
def compare(  # noqa: PLR0913, PLR0917 - each is an option of the command
    environment: EnvironmentOptions,
    series: SeriesOptions,
    formats: FormatOptions,
    sampling: SampleOptions,
    result: DocumentOptions,
    source: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SOURCE",
            help="kernels, launches (.toml) and traces (.parquet); default: those with measured times",
            autocompletion=complete_kernel,
        ),
    ] = None,
    machine: Annotated[
        list[str] | None,
        machine_option("a machine; repeatable; default: gtx280, or h100-sxm for compiled kernels"),
    ] = None,
    set_: SetOption = None,
    start: StartOption = None,
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE,...",
            help="values of a parameter; repeatable",
            autocompletion=complete_parameter,
        ),
    ] = None,
    form: FormOption = None,
    store: KeptOption = None,
    workers: Annotated[int | None, workers_option("1")] = 1,
) -> None:
    """Compare simulated, modelled and measured times.

    Side by side, over kernels, sizes and machines. Every finished case is stored; repeat the command to resume.
    Exit status 1: some cases failed.
    """
    latex, as_csv, picture = formats.latex, formats.as_csv, formats.picture
    if latex + as_csv + result.as_json > 1:
        raise OutputError("--latex, --csv, --json: one of them at a time")
    if picture is not None:
        from simtmm.report.pictures import comparison, files

        files.check(picture)
        draw = comparison.compared(formats.kind, formats.log)
    elif formats.log is not None:
        raise OutputError("--log: needs --picture")
    from simtmm.machine.changed import suffix

    names = machine or list(dict.fromkeys(default_machine(each, form) for each in source or ()))[:1]
    machines = {}
    for name in names:
        changed = chosen_machine(name, set_, start)
        machines[f"{Path(name).stem if name.endswith('.toml') else name}{suffix(changed.changes)}"] = changed
    from simtmm.analysis.comparison import compare as study
    from simtmm.analysis.comparison.fitted_lines import Constants
    from simtmm.analysis.comparison.winners import contest
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.measurement.timings import load_timings
    from simtmm.report import compare as report
    from simtmm.report.progress import watching

    engine = sampling.simulator(series.engine)
    times = [time for path in series.measured or () for time in load_timings(path)]
    warn_of_traces(source or (), [each.cores.warp_width for each in machines.values()])
    try:
        with watching() as watch, printing(result.as_json or as_csv or latex):
            compared = study.compare(
                source or (),
                machines,
                parameter_lists_of(param),
                series.model or (),
                times,
                series.reference,
                Constants(numbers_of(series.constant, "--constant"), cast(Literal["s", "cycles"], series.unit)),
                engine,
                watch,
                form,
                store,
                workers,
                series.rule or (),
            )
    except Unfinished as part:
        if not (latex or as_csv or result.as_json):
            DocumentOptions().show(report.describe_comparison(part.results), None)
        raise interrupted(part, "cases") from None
    if picture is not None:
        files.write(picture, draw(compared))
    if latex or as_csv:  # as it is: a terminal's width must not fold it
        print((report.comparison_latex if latex else report.comparison_csv)(compared).rstrip("\n"))
    result.show(
        [] if latex or as_csv else report.describe_comparison(compared), {**compared.to_dict(), **contest(compared)}
    )
    if any(one.status == "failed" for one in compared.absent):
        raise typer.Exit(FAILED)
