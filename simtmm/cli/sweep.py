"""`simtmm sweep`."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.cli.words import (
    JsonOption,
    KernelMemoryOption,
    KernelPathOption,
    KernelTimeoutOption,
    MachinePathOption,
    OutputOption,
    ParamOption,
    SetOption,
    changes_of,
    parameters_of,
    printing,
    ranges_of,
    show,
    warn_of_traces,
)
from simtmm.errors import StudyError
from simtmm.files import check_writable

if TYPE_CHECKING:
    from simtmm.analysis.unfinished import Unfinished
    from simtmm.study.design.design import Design

FAILED = 1  # exit status
SAMPLES = 100

WorkersOption = Annotated[
    int | None, typer.Option("--workers", "-j", metavar="N", help="processes on this machine; one a core if left out")
]
ClusterOption = Annotated[
    str | None, typer.Option(metavar="ADDRESS", help="a Dask cluster: tcp://HOST:PORT, or local:N for N workers here")
]
StoreOption = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="the SQLite file that keeps the points; named after the study if left out"),
]

KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="keep what is simulated in this SQLite file, to go on from; in the user's cache folder if left out",
    ),
]


def sweep(
    source: Annotated[
        str, typer.Argument(help="a study file (.toml), or a kernel, a trace (.parquet) or an algorithm of the papers")
    ],
    machine: Annotated[
        list[str] | None,
        typer.Option("--machine", "-m", metavar="NAME|FILE", help="a machine; repeatable, and then an axis"),
    ] = None,
    set_: SetOption = None,
    param: ParamOption = None,
    kernel_path: KernelPathOption = None,
    machine_path: MachinePathOption = None,
    kernel_timeout: KernelTimeoutOption = None,
    kernel_memory: KernelMemoryOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=RANGE", help="an axis: LOW:HIGH[:step|linear|log|times:N] or A,B,C; repeatable"),
    ] = None,
    link: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=RANGE;KEY=RANGE", help="axes that go together, value by value; repeatable"),
    ] = None,
    draw: Annotated[
        list[str] | None, typer.Option(metavar="KEY=LOW:HIGH[:log]", help="a sampled axis; repeatable")
    ] = None,
    samples: Annotated[
        int | None, typer.Option(metavar="N", help="how many points --draw draws; 100 if left out")
    ] = None,
    method: Annotated[str | None, typer.Option(help="of --draw: latin-hypercube, as if left out, or random")] = None,
    seed: Annotated[int | None, typer.Option(help="of --draw; 0 if left out")] = None,
    compute: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="simulated or a model (see `predict`); repeatable")
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(
            metavar="CONDITION", help="points that do not meet it are skipped, as 'threads <= 512'; repeatable"
        ),
    ] = None,
    kind: Annotated[str | None, typer.Option(help="what SOURCE is: kernel, trace or algorithm")] = None,
    engine: Annotated[str | None, typer.Option(help="fast (compiled) or reference (SimPy)")] = None,
    measured: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="measured times, CSV or JSON; repeatable")
    ] = None,
    store: StoreOption = None,
    workers: WorkersOption = None,
    cluster: ClusterOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="count the points, estimate the time, and stop")] = False,
    export: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="write the points as .parquet or .csv; repeatable")
    ] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Run a kernel, trace or algorithm over ranges of machine keys and parameters, and tell what mattered.

    Every finished point is kept; the same command goes on where it was stopped. Exit status 1: some points failed.
    """
    from simtmm.recorder.sources import refuse_files
    from simtmm.report.progress import watching
    from simtmm.report.sweep import describe_forecast, describe_study
    from simtmm.study.design.design import design_file, design_of
    from simtmm.study.design.study_file import study_of
    from simtmm.study.findings import findings
    from simtmm.study.results import check_format
    from simtmm.study.sweep import forecast
    from simtmm.study.sweep import sweep as run_sweep

    for path in [*([output] if output else []), *(export or [])]:
        check_writable(path)
    for path in export or []:
        check_format(path)
    words: dict[str, Any] = {"points": samples, "method": method, "seed": seed}
    sampled: dict[str, Any] = {"points": SAMPLES} | {key: value for key, value in words.items() if value is not None}
    if not draw and any(value is not None for value in words.values()):
        raise StudyError("--samples, --method, --seed: of sampled axes, so --draw must be given too")
    sampled["axes"] = ranges_of(draw, "--draw")
    tables: dict[str, Any] = {
        "machines": machine,
        "set": changes_of(set_),
        "parameters": parameters_of(param),
        "axes": ranges_of(vary, "--vary"),
        "linked": [ranges_of(words.split(";"), "--link") for words in link or []],
        "sample": sampled if draw else None,
        "compute": compute,
        "constraints": where,
        "kind": kind,
        "engine": engine,
        "measured": [str(path) for path in measured or []],
    }
    given = {key: value for key, value in tables.items() if value}
    design: Design
    refuse_files(source, "sweep")
    if Path(source).suffix == ".toml":
        if given:
            flags = {"axes": "vary", "linked": "link", "sample": "draw", "constraints": "where", "parameters": "param"}
            names = ", ".join(f"--{flags.get(key, key.removesuffix('s'))}" for key in given)
            raise StudyError(f"{source}: {names}: can't be given beside a study file, which says it all")
        design = design_file(source)
    else:
        design = design_of(study_of({"program": source, **given}, "options"))
    path = store or Path(f"{Path(source).stem}.sqlite")
    check_writable(path)
    warn_of_traces([design.subject.source])
    if dry_run:
        with watching() as watch:
            watch("estimating", 0, None)
            told = forecast(design, path, workers)
        show(describe_forecast(told, str(path)), told.to_dict(), as_json, output)
        return
    with watching() as watch, printing(as_json), resumable(path):
        done = run_sweep(design, path, workers, cluster, watch)
    for target in export or []:
        done.save(target)
    found = findings(done)
    document = {**done.to_dict(), "answers": found.to_dict(), "store": str(path)}
    show(describe_study(done, found, str(path)), document, as_json, output)
    if done.number("failed"):
        raise typer.Exit(FAILED)


def interrupted(part: "Unfinished[Any]", what: str) -> KeyboardInterrupt:
    """Say how much is done and kept; gives what is to be raised."""
    print(f"simtmm: {part.done} of {part.total} {what} are done; the same command goes on from there", file=sys.stderr)
    return KeyboardInterrupt()


class resumable:  # noqa: N801 - reads as a function, as the context managers of contextlib
    """Says, when a sweep is interrupted, where what is done has been kept, if anywhere."""

    def __init__(self, path: Path | None) -> None:
        self._path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is KeyboardInterrupt and self._path is not None:
            print(f"simtmm: what is done is in {self._path}; the same command goes on from there", file=sys.stderr)
