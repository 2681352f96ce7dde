"""What the subcommands share: options, and what words on the command line mean."""

import itertools
import json
import math
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from simtmm.documents import parsed_toml
from simtmm.errors import KernelError, MachineError, ModelError, StudyError, escaped
from simtmm.files import KERNEL_MEMORY, KERNEL_PATH, KERNEL_TIMEOUT, MACHINE_PATH, is_folder, written_whole
from simtmm.renamed import MACHINE_KEYS, told

if TYPE_CHECKING:
    from rich.console import RenderableType

    from simtmm.kernel import Kernel
    from simtmm.machine import Machine

Value = TypeVar("Value")

FORMS = {"--set": "KEY=VALUE", "--vary": "KEY=RANGE", "--link": "KEY=RANGE;KEY=RANGE", "--draw": "KEY=LOW:HIGH"}
PIPE_WIDTH = 200  # columns that tables may take where no terminal says how many there are

MachineOption = Annotated[str, typer.Option("--machine", "-m", metavar="NAME|FILE", help="a machine (see `machines`)")]
NoMachineOption = Annotated[
    str | None,
    typer.Option(
        "--machine",
        "-m",
        metavar="NAME|FILE",
        help="a machine (see `machines`); gtx280 if left out, h100-sxm for a kernel that is recorded as compiled",
        show_default=False,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="change a machine's key, as memory.latency=800, =x0.5 or memory.l2=40MiB; repeatable",
    ),
]
ParamOption = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="NAME=VALUE", help="a kernel's parameter (see `kernels NAME`); repeatable"),
]


GridOption = Annotated[
    str | None, typer.Option("--grid", metavar="SIZES", help="blocks of a launch of a .cu file, as 3907 or 64x64")
]
BlockOption = Annotated[
    str | None, typer.Option("--block", metavar="SIZES", help="threads of a block, as 256 or 16x16")
]
ArgumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--arg",
        metavar="NAME=VALUE",
        help="an argument: a number, random:float32:1000, zeros:int32:64x64, or a file (.npy); repeatable",
    ),
]
KernelOption = Annotated[
    str | None, typer.Option("--kernel", metavar="NAME", help="which kernel of a file, where it has several")
]
SharedOption = Annotated[int, typer.Option("--shared", metavar="BYTES", min=0, help="dynamic shared memory of a block")]
CompilerOption = Annotated[
    list[str] | None,
    typer.Option("--compile", metavar="OPTION", help="for the compiler, as --compile=-DN=4; repeatable"),
]
FormOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        metavar="FORM",
        help="record a kernel as written (what its macros mark), compiled (the machine's instructions) or ptx; "
        "written where it has macros",
    ),
]
DEFAULT_MACHINE, DEFAULT_GPU = "gtx280", "h100-sxm"  # for what the papers measured, and for compiled kernels


def launched(
    source: str | None,
    grid: str | None,
    block: str | None,
    arguments: list[str] | None,
    kernel: str | None,
    shared: int,
    options: list[str] | None,
) -> "str | Kernel | None":
    """A file of device code with how it is launched, as a Kernel; any other source as it is. Raises KernelError."""
    from simtmm.recorder.sources import DEVICE_CODE

    if source is not None and Path(source).suffix in DEVICE_CODE:
        from simtmm.recorder.compiled.cuda_file import cuda_program

        return cuda_program(source, grid, block, arguments or [], kernel=kernel, shared=shared, options=options or [])
    told = {"--grid": grid, "--block": block, "--arg": arguments, "--kernel": kernel, "--shared": shared,
            "--compile": options}  # fmt: skip
    for name, value in told.items():
        if value:
            what = f"{source}" if source is not None else "the shipped trace"
            raise KernelError(f"{name}: is for a file of device code ({', '.join(DEVICE_CODE)}), and not for {what}")
    return source


def machine_for(source: "str | Kernel | None", machine: str | None, form: str | None) -> str:
    """The machine that was named; if none was, a GPU of today for what is recorded as compiled."""
    from simtmm.recorder.sources import is_plain_folder

    if machine is not None:
        return machine
    compiled = form in ("compiled", "ptx") or not isinstance(source, (str, type(None))) or str(source).endswith(".toml")
    if isinstance(source, str) and form is None and is_folder(Path(source)):
        compiled = is_plain_folder(Path(source))
    return DEFAULT_GPU if compiled else DEFAULT_MACHINE


def _look_there(folders: list[Path] | None) -> list[Path] | None:
    """Find kernels in these folders first, here and in processes that are started from here."""
    for folder in folders or []:
        if not is_folder(folder):
            raise KernelError(f"--kernel-path {folder}: there is no such folder")
        try:
            own = (folder / "kernel.cu").is_file()
            next(folder.iterdir(), None)
        except OSError as error:
            raise KernelError(f"--kernel-path {folder}: can't be read ({error.strerror})") from None
        if own:
            raise KernelError(f"--kernel-path {folder}: is a kernel itself; name the folder that it lies in")
    return _led_by(KERNEL_PATH, folders)


def _led_by(variable: str, folders: list[Path] | None) -> list[Path] | None:
    """These folders before those that the environment variable names."""
    if folders:
        named = [str(folder.resolve()) for folder in folders]
        os.environ[variable] = os.pathsep.join([*named, os.environ.get(variable, "")])
    return folders


def _machines_there(folders: list[Path] | None) -> list[Path] | None:
    """Find machines in these folders first, here and in processes that are started from here."""
    for folder in folders or []:
        if not is_folder(folder):
            raise MachineError(f"--machine-path {folder}: there is no such folder")
    return _led_by(MACHINE_PATH, folders)


KernelPathOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--kernel-path",
        metavar="FOLDER",
        callback=_look_there,
        help=f"find kernels by name in this folder first (see also {KERNEL_PATH}); repeatable",
    ),
]

MachinePathOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--machine-path",
        metavar="FOLDER",
        callback=_machines_there,
        help=f"find machines by name in this folder first (see also {MACHINE_PATH}); repeatable",
    ),
]


def _no_longer(seconds: float | None) -> float | None:
    """Let kernels run no longer than that without recording anything, here and in processes started from here."""
    if seconds is not None:
        if not 0 < seconds < math.inf:
            raise KernelError(f"--kernel-timeout {seconds:g}: must be a number of seconds above 0")
        os.environ[KERNEL_TIMEOUT] = str(seconds)
    return seconds


def _no_more(most: int | None) -> int | None:
    """Let kernels take no more memory than that, here and in processes started from here."""
    if most is not None:
        os.environ[KERNEL_MEMORY] = str(most)
    return most


KernelTimeoutOption = Annotated[
    float | None,
    typer.Option(
        "--kernel-timeout",
        metavar="SECONDS",
        callback=_no_longer,
        help=f"end a kernel as written that records nothing for so long; 60 if left out (see also {KERNEL_TIMEOUT})",
    ),
]
KernelMemoryOption = Annotated[
    int | None,
    typer.Option(
        "--kernel-memory",
        metavar="BYTES",
        min=1,
        callback=_no_more,
        help=f"end one that takes more memory of its own; half of what is free if left out (see also {KERNEL_MEMORY})",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON document and nothing else")]
SourceArgument = Annotated[
    str | None,
    typer.Argument(
        help="a kernel, a CUDA file (.cu), launches (.toml), a trace (.parquet) or a workload (.json); the shipped "
        "trace if left out"
    ),
]
WhatIfOption = Annotated[
    bool,
    typer.Option("--what-if/--no-what-if", help="try what would help, for 3 s at most"),
]
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="write the JSON document there")
]


def warn_of_traces(sources: Iterable[str], warp_widths: Iterable[int] = ()) -> None:
    """Say on standard error what these, as far as they are traces, do not hold; for reports with no place for it.

    warp_widths: of the machines that they are lowered for.
    """
    from simtmm.program import kind_of
    from simtmm.trace.io import load_trace

    for source in sources:
        if kind_of(source) == "trace":
            info = load_trace(source).info
            told = [info.warnings, *(info.warnings_on(width) for width in sorted(set(warp_widths)))]
            for warning in dict.fromkeys(itertools.chain.from_iterable(told)):
                print(escaped(f"simtmm: warning: {source}: {warning}"), file=sys.stderr)


def numbers_of(words: list[str] | None, option: str) -> dict[str, float]:
    """NAME=VALUE words whose values are numbers."""
    numbers = {}
    for key, text in _pairs(words, option, ModelError).items():
        try:
            numbers[key] = float(text)
        except ValueError:
            raise ModelError(f"{option} {key}={text}: must be a number") from None
    return numbers


def chosen_machine(name: str, changes: list[str] | None) -> "Machine":
    """The machine of that name or file, with KEY=VALUE words applied."""
    from simtmm.machine import load_machine

    machine = load_machine(name)
    values = changes_of(changes)
    return machine.replace(values) if values else machine


def changes_of(words: list[str] | None) -> dict[str, Any]:
    """A machine's keys with new values from KEY=VALUE words."""
    values = dict(_pair(word, "--set", MachineError) for word in words or [])  # the last holds
    return _by_new_names({key: _value(text) for key, text in values.items()}, "--set", MachineError)


def ranges_of(words: list[str] | None, option: str) -> dict[str, str]:
    """KEY=RANGE words, the ranges as they stand. A key that comes twice is refused."""
    return _by_new_names(_pairs(words, option, StudyError), option, StudyError)


def _by_new_names(values: Mapping[str, Value], option: str, error: type[Exception]) -> dict[str, Value]:
    """The values by machine keys as they are called now. A key that comes by both its names is refused."""
    try:
        return told(option, values, MACHINE_KEYS)
    except ValueError as both:
        raise error(f"{option}: {both}") from None


def parameters_of(words: list[str] | None) -> dict[str, str]:
    """A kernel's parameters from NAME=VALUE words."""
    return _pairs(words, "--param", KernelError)


def _pairs(words: list[str] | None, option: str, error: type[Exception]) -> dict[str, str]:
    """NAME=VALUE words, each name once: of two values neither is silently left out."""
    values: dict[str, str] = {}
    for word in words or []:
        name, value = _pair(word, option, error)
        if name in values:
            raise error(f"{option} {name}: is there twice")
        values[name] = value
    return values


def _pair(word: str, option: str, error: type[Exception]) -> tuple[str, str]:
    key, equals, value = word.partition("=")
    if not equals or not key:
        raise error(f"{option} {word}: must be of the form {FORMS.get(option, 'NAME=VALUE')}")
    return key.strip(), value.strip()


def _value(text: str) -> Any:
    """A TOML value; `none` for no value; any other word is a text."""
    if text == "none":
        return None
    try:
        tables = parsed_toml(f"value = {text}")
    except ValueError:  # no TOML, or numbers and nestings that are not taken
        return text
    return tables["value"] if len(tables) == 1 else text  # behind the end of a line there may be more keys


def printing(as_json: bool) -> AbstractContextManager[object]:
    """What kernels print goes to standard output, and beside it where that is for one JSON document alone."""
    return redirect_stdout(sys.stderr) if as_json else nullcontext()


def show(parts: "Iterable[RenderableType]", document: Any, as_json: bool, output: Path | None) -> None:
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

    from simtmm.report.text import Escaped

    if sys.stdout.isatty():
        console = Console(highlight=False)
        for part in parts:
            console.print(Escaped(part))
        return
    console = Console(highlight=False, width=PIPE_WIDTH)
    with console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=True)
    for line in captured.get().splitlines():
        print(escaped(line.rstrip()))


def _finite(value: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
