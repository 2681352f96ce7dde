"""Where a command writes its report and its document: standard output and files."""

import itertools
import json
import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.errors import escaped
from simtmm.files import written_whole
from simtmm.requests.files import checked

if TYPE_CHECKING:
    from rich.console import RenderableType

PIPE_WIDTH = 200  # columns that tables may take where no terminal says how many there are


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


def show(parts: "Iterable[RenderableType]", document: Any, as_json: bool, output: Path | None) -> None:
    """Print the report or the document; write the document to a file if one was named.

    document: what JSON holds, or a function that makes it, where that takes long.
    """
    if as_json or output is not None:
        made = document() if callable(document) else document
        text = json.dumps(_finite(made), indent=2, allow_nan=False)
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
