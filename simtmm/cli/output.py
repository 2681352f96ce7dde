"""Where a command's report and its document go: standard output, and files."""

import itertools
import json
import math
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import OutputError, escaped
from simtmm.files import check_writable, written_whole

if TYPE_CHECKING:
    from rich.console import RenderableType

DOCUMENT = ".json"  # the suffix of a file that a document is written to
PIPE_WIDTH = 200  # columns that tables may take where no terminal says how many there are


def checked(path: Path | None) -> Path | None:
    """A file that is to be written, as far as one is named. Raises OutputError where it can't be."""
    if path is not None:
        check_writable(path)
    return path


def checked_all(paths: list[Path] | None) -> list[Path] | None:
    """Files that are to be written. Raises OutputError where one can't be."""
    for path in paths or ():
        check_writable(path)
    return paths


def checked_form(path: Path | None, option: str, suffixes: tuple[str, ...]) -> Path | None:
    """A file that is to be written in a form of its suffix; one without a suffix, as a pipe, is no mistake.

    Raises OutputError where it can't be, and for another suffix.
    """
    if path is not None and path.suffix and not path.name.endswith(suffixes):
        raise OutputError(f"{option} {path}: must be a file {' or '.join(suffixes)}")
    return checked(path)


def checked_trace(path: Path | None) -> Path | None:
    """A trace that is to be written. Raises OutputError for a suffix by which it would not be taken for one."""
    if path is not None and path.suffix == DOCUMENT:
        raise OutputError(f"-o {path}: a trace is written as .parquet; --json prints its document")
    return path


def output_option(what: str, metavar: str = "FILE", **settings: Any) -> Any:
    """The option -o: where a command writes what it is for. what: that, and in which forms by suffix."""
    return typer.Option("-o", "--output", metavar=metavar, help=f"write {what}", **settings)


JsonOption = Annotated[bool, typer.Option("--json", help="print one JSON document and nothing else")]
OutputOption = Annotated[Path | None, output_option("the JSON document there", callback=checked)]
PictureOption = Annotated[
    Path | None,
    typer.Option("--picture", metavar="FILE", help="draw it: .png, .svg or .pdf"),
]


@dataclass(frozen=True, kw_only=True)
class DocumentOptions:
    """A report for people on standard output, or one JSON document there and in a file."""

    as_json: JsonOption = False
    output: OutputOption = None

    def show(self, parts: "Iterable[RenderableType]", document: Any) -> None:
        """Print the report or the document, and write the document if a file was named."""
        show(parts, document, self.as_json, self.output)


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


def warn_of_traces(sources: Iterable[str], warp_widths: Iterable[int] = ()) -> None:
    """Warn on standard error of what traces among these do not hold; for reports that have no place for it.

    warp_widths: of the machines that they are lowered for.
    """
    from simtmm.program import kind_of
    from simtmm.trace.io import load_trace

    for source in sources:
        if kind_of(source) == "trace":
            info = load_trace(source).info
            warnings = [info.warnings, *(info.warnings_on(width) for width in sorted(set(warp_widths)))]
            for warning in dict.fromkeys(itertools.chain.from_iterable(warnings)):
                print(escaped(f"simtmm: warning: {source}: {warning}"), file=sys.stderr)
