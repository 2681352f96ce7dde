"""`simtmm sweep`."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simtmm.cli.options.environment import EnvironmentOptions
from simtmm.cli.options.grouped import grouped
from simtmm.cli.options.output import DocumentOptions, warn_of_traces
from simtmm.files import check_writable, is_file
from simtmm.requests.files import checked_all, printing
from simtmm.requests.study_options import FAILED, ClusterOption, WorkersOption, resumable
from simtmm.requests.sweep import SweepRequest

if TYPE_CHECKING:
    pass


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
    request: SweepRequest,
    keeping: StoreOptions,
    environment: EnvironmentOptions,
    result: DocumentOptions,
) -> None:
    """Run a program over ranges of parameters and machine keys.

    Every finished point is stored; repeat the command to resume. The report says what mattered: knees, elasticities,
    and
    what binds where. Exit status 1: some points failed.
    """
    from simtmm.report.progress import watching
    from simtmm.report.studies.sweep import describe_forecast, describe_study
    from simtmm.study.design.rules import rules_in
    from simtmm.study.findings import findings
    from simtmm.study.results import check_format
    from simtmm.study.sweep import forecast
    from simtmm.study.sweep import sweep as run_sweep

    for path in keeping.export or []:
        check_format(path)
    design = request.design()
    if keeping.rule:
        design = replace(design, rules=rules_in(keeping.rule))
    store = keeping.store or Path(f"{'-'.join(Path(name).stem for name in request.source)}.sqlite")
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
