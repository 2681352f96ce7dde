"""`simtmm sweep`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, warn_of_traces
from simtmm.errors import StudyError
from simtmm.files import check_writable, is_file
from simtmm.requests.completion import complete_axis, complete_quantity, complete_study
from simtmm.requests.files import checked_all, printing
from simtmm.requests.kernel_file import ParamOption
from simtmm.requests.machine import SetOption, machine_option
from simtmm.requests.sampling import SampleOptions
from simtmm.requests.study_options import FAILED, ClusterOption, WorkersOption, engine_option, resumable
from simtmm.requests.values import changes_of, parameters_of, ranges_of

if TYPE_CHECKING:
    from simtmm.study.design.design import Design

SAMPLES = 100


@dataclass(frozen=True, kw_only=True)
class AxisOptions:
    """What is varied, and which of the points are left."""

    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=RANGE",
            help="an axis: LOW:HIGH[:step|linear|log|times:N] or A,B,C; repeatable",
            autocompletion=complete_axis,
        ),
    ] = None
    link: Annotated[
        list[str] | None,
        typer.Option(
            "--link", metavar="KEY=RANGE;KEY=RANGE", help="axes that vary together, value by value; repeatable"
        ),
    ] = None
    draw: Annotated[
        list[str] | None,
        typer.Option(
            "--draw",
            metavar="KEY=LOW:HIGH[:log]",
            help="a sampled axis; repeatable",
            autocompletion=complete_axis,
        ),
    ] = None
    samples: Annotated[
        int | None, typer.Option("--samples", metavar="N", help="number of points that --draw draws; default: 100")
    ] = None
    method: Annotated[
        str | None,
        typer.Option("--method", metavar="NAME", help="how --draw samples: latin-hypercube (default) or random"),
    ] = None
    seed: Annotated[int | None, typer.Option("--seed", metavar="N", help="seed of --draw; default: 0")] = None
    where: Annotated[
        list[str] | None,
        typer.Option(
            "--where",
            metavar="CONDITION",
            help="skip points that do not meet it, e.g. 'threads <= 512'; repeatable",
        ),
    ] = None

    def tables(self) -> dict[str, Any]:
        """What a study file would hold of them. Raises StudyError."""
        given = {"points": self.samples, "method": self.method, "seed": self.seed}
        sampling = {key: value for key, value in given.items() if value is not None}
        if sampling and not self.draw:
            raise StudyError("--samples, --method, --seed: of sampled axes, so --draw must be given too")
        sample = {"points": SAMPLES, **sampling, "axes": ranges_of(self.draw, "--draw")}
        return {
            "axes": ranges_of(self.vary, "--vary"),
            "linked": [ranges_of(words.split(";"), "--link") for words in self.link or []],
            "sample": sample if self.draw else None,
            "constraints": self.where,
        }


@dataclass(frozen=True, kw_only=True)
class PointOptions:
    """What is computed at each point."""

    machine: Annotated[list[str] | None, machine_option("a machine; repeat it to make an axis")] = None
    set_: SetOption = None
    param: ParamOption = None
    compute: Annotated[
        list[str] | None,
        typer.Option(
            "--compute",
            metavar="NAME",
            help="simulated, or a model (see `run --models-only`); repeatable",
            autocompletion=complete_quantity,
        ),
    ] = None
    kind: Annotated[
        str | None, typer.Option("--kind", metavar="KIND", help="the kind of SOURCE: kernel, trace or algorithm")
    ] = None
    engine: Annotated[str | None, engine_option()] = None
    measured: Annotated[
        list[Path] | None,
        typer.Option("--measured", metavar="FILE", help="measured times, CSV or JSON; repeatable"),
    ] = None

    def tables(self) -> dict[str, Any]:
        """What a study file would hold of them."""
        return {
            "machines": self.machine,
            "set": changes_of(self.set_),
            "parameters": parameters_of(self.param),
            "compute": self.compute,
            "kind": self.kind,
            "engine": self.engine,
            "measured": [str(path) for path in self.measured or []],
        }


@dataclass(frozen=True, kw_only=True)
class StoreOptions:
    """Where points are computed and kept."""

    store: Annotated[
        Path | None,
        typer.Option(
            "--store", metavar="FILE", help="the SQLite file that keeps the points; default: named after the study"
        ),
    ] = None
    rule: Annotated[
        list[Path] | None,
        typer.Option(
            "--rule",
            metavar="FILE",
            help="Python functions, named as values of scheduling.scheduler; repeatable",
        ),
    ] = None
    workers: WorkersOption = None
    cluster: ClusterOption = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count the points, estimate the time, and stop")] = False
    export: Annotated[
        list[Path] | None,
        typer.Option(
            "--export",
            metavar="FILE",
            help="write the points as .parquet or .csv; repeatable",
            callback=checked_all,
        ),
    ] = None


@grouped
def sweep(
    source: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE...",
            help="a study file (.toml); or kernels and traces (.parquet), or an algorithm of the papers",
            autocompletion=complete_study,
        ),
    ],
    points: PointOptions,
    sampling: SampleOptions,
    axes: AxisOptions,
    keeping: StoreOptions,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Run a program over ranges of parameters and machine keys.

    Every finished point is kept; repeat the command to resume. The report says what mattered: knees, elasticities, and
    what binds where. Exit status 1: some points failed.
    """
    from simtmm.report.progress import watching
    from simtmm.report.sweep import describe_forecast, describe_study
    from simtmm.study.design.rules import rules_in
    from simtmm.study.findings import findings
    from simtmm.study.results import check_format
    from simtmm.study.sweep import forecast
    from simtmm.study.sweep import sweep as run_sweep

    for path in keeping.export or []:
        check_format(path)
    design = _design(source, points, sampling, axes)
    if keeping.rule:
        design = replace(design, rules=rules_in(keeping.rule))
    store = keeping.store or Path(f"{'-'.join(Path(name).stem for name in source)}.sqlite")
    if not is_file(store):  # one that is complete need not be writable
        check_writable(store)
    warn_of_traces(design.subject.sources)
    if keeping.dry_run:
        with watching() as watch:
            watch("estimating", 0, None)
            estimate = forecast(design, store, keeping.workers)
        result.show(describe_forecast(estimate, str(store)), estimate.to_dict())
        return
    with watching() as watch, printing(result.as_json), resumable(store):
        done = run_sweep(design, store, keeping.workers, keeping.cluster, watch)
    for target in keeping.export or []:
        done.save(target)
    found = findings(done)
    document = {**done.to_dict(), "answers": found.to_dict(), "store": str(store)}
    result.show(describe_study(done, found, str(store)), document)
    if done.number("failed"):
        raise typer.Exit(FAILED)


FLAGS = {  # of tables of a study file whose options are called otherwise
    "axes": "vary", "linked": "link", "sample": "draw", "constraints": "where", "parameters": "param",
    "machines": "machine", "sample_error": "sample",
}  # fmt: skip


def _design(sources: list[str], points: PointOptions, sampling: SampleOptions, axes: AxisOptions) -> "Design":
    """The study that a file holds, or that the options describe. Raises StudyError where both are given."""
    from simtmm.recorder.sources import refuse_files
    from simtmm.study.design.design import design_file, design_of
    from simtmm.study.design.study_file import study_of

    given = {key: value for key, value in {**points.tables(), **sampling.tables(), **axes.tables()}.items() if value}
    for each in sources:
        refuse_files(each, "sweep")
    source, *others = sources
    if others or Path(source).suffix != ".toml":
        return design_of(study_of({"program": sources if others else source, **given}, "options"))
    if given:
        names = ", ".join(f"--{FLAGS.get(key, key)}" for key in given)
        raise StudyError(f"{source}: {names}: can't be given beside a study file, which holds all of it")
    return design_file(source)
