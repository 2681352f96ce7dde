"""The command line: each subcommand parses its words, makes one library call, and prints what comes of it."""

import json
import math
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import KernelError, MachineError
from simtmm.files import check_writable, written_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simtmm.machine import Machine

app = typer.Typer(
    name="simtmm",
    help="Simulate real CUDA kernels on highly-threaded machines, and see whether threads hide the latency of memory.",
    epilog="Exit status: 0 done, 2 the input is wrong (one line says what), 130 interrupted.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

PIPE_WIDTH = 200  # columns that tables may take where no terminal says how many there are

MachineOption = Annotated[str, typer.Option("--machine", "-m", metavar="NAME|FILE", help="a machine (see `machines`)")]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", help="change a machine's key, as memory.latency=800; repeatable"),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="NAME=VALUE", help="a kernel's parameter (see `kernels NAME`); repeatable"),
]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON document and nothing else")]
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="write the JSON document there")
]


@app.command()
def run(
    source: Annotated[
        str | None,
        typer.Argument(help="a kernel, a trace (.parquet) or a workload (.json); the shipped trace if left out"),
    ] = None,
    machine: MachineOption = "gtx280",
    set_: SetOption = None,
    param: ParamOption = None,
    engine: Annotated[str, typer.Option(help="fast (compiled) or reference (SimPy)")] = "fast",
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """Simulate a kernel, trace or workload on a machine, beside what the models predict."""
    if output is not None:
        check_writable(output)
    chosen = _machine(machine, set_)
    from simtmm.report.progress import watching
    from simtmm.report.run import describe
    from simtmm.study.run import run as run_study

    with watching() as watch:
        done = run_study(source, chosen, _parameters(param), engine, watch)
    _show(describe(done), done.to_dict(), as_json, output)


@app.command()
def record(
    kernel: Annotated[str, typer.Argument(help="a kernel's name or folder")],
    param: ParamOption = None,
    on: Annotated[str, typer.Option("--on", help="where to record: cpu")] = "cpu",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="the trace; KERNEL.parquet if left out"),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Run a kernel, check its answer, and write the trace of what its threads do."""
    from simtmm.kernel import load_kernel
    from simtmm.record import record as record_kernel
    from simtmm.report.progress import watching

    loaded = load_kernel(kernel)
    path = output or Path(f"{loaded.name}.parquet")
    with watching() as watch:
        trace = record_kernel(
            loaded, _parameters(param), on, output=path, progress=lambda done: watch("recording", done, None)
        )
    info = trace.info
    line = f"{path}: {info.kernel}, {len(info.launches)} launches, {info.events:,} events, digest {info.digest}"
    document = {**info.to_dict(), "path": str(path)}
    _show([line], document, as_json, None)


@app.command()
def machines(
    name: Annotated[str | None, typer.Argument(help="show this one, with the source of each value")] = None,
    set_: SetOption = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """List the machines, or show one with where its values come from."""
    from simtmm.machine import load_machine, machine_files
    from simtmm.report import listing

    if name is None:
        found = {each: load_machine(path) for each, path in machine_files().items()}
        document: Any = {each: listing.machine_document(machine) for each, machine in found.items()}
        _show(listing.describe_machines(found), document, as_json, output)
    else:
        machine = _machine(name, set_)
        _show(listing.describe_machine(machine), listing.machine_document(machine), as_json, output)


@app.command()
def kernels(
    name: Annotated[str | None, typer.Argument(help="show this one: parameters, source, paper")] = None,
    as_json: JsonOption = False,
    output: OutputOption = None,
) -> None:
    """List the kernels, or show one."""
    from simtmm.kernel import kernel_folders, load_kernel
    from simtmm.report import listing

    if name is None:
        found = {each: load_kernel(folder) for each, folder in kernel_folders().items()}
        document: Any = {each: listing.kernel_document(kernel) for each, kernel in found.items()}
        _show(listing.describe_kernels(found), document, as_json, output)
    else:
        kernel = load_kernel(name)
        _show(listing.describe_kernel(kernel), listing.kernel_document(kernel), as_json, output)


def _version(wanted: bool) -> None:
    if wanted:
        from simtmm.provenance import VERSION

        print(f"simtmm {VERSION}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="print the version")
    ] = False,
) -> None:
    pass


def _machine(name: str, changes: list[str] | None) -> "Machine":
    from simtmm.machine import load_machine

    machine = load_machine(name)
    values = dict(_pair(change, "--set", MachineError) for change in changes or [])
    return machine.replace({key: _value(text) for key, text in values.items()}) if values else machine


def _parameters(words: list[str] | None) -> dict[str, str]:
    return dict(_pair(word, "--param", KernelError) for word in words or [])


def _pair(word: str, option: str, error: type[Exception]) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise error(f"{option} {word}: must be of the form {'KEY' if option == '--set' else 'NAME'}=VALUE")
    return key.strip(), value.strip()


def _value(text: str) -> Any:
    """A TOML value; `none` for no value; any other word is a text."""
    if text == "none":
        return None
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):  # no TOML, or numbers and nestings that Python refuses to read
        return text


def _show(parts: "Iterable[RenderableType]", document: Any, as_json: bool, output: Path | None) -> None:
    """Print the report or the document; write the document to a file if one was named."""
    if as_json or output is not None:
        text = json.dumps(_finite(document), indent=2, allow_nan=False)
        if output is not None:
            with written_whole(output) as temporary:
                temporary.write_text(text + "\n", encoding="utf-8")
        if as_json:
            print(text)
            return
    from rich.console import Console

    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(part)
        return
    console = Console(highlight=False, width=PIPE_WIDTH)
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=True)
    for line in captured.get().splitlines():
        print(line.rstrip())


def _finite(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
