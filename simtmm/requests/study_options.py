"""Options of commands that simulate many points, and what is printed when they are interrupted."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simtmm.requests.completion import complete_model
from simtmm.requests.files import checked

if TYPE_CHECKING:
    from simtmm.analysis.unfinished import Unfinished

FAILED = 1  # exit status
ENGINES = ("fast", "reference")


def engine_option(what: str = "fast (compiled) or reference (SimPy)") -> Any:
    """The option --engine.

    what: its help.
    """
    return typer.Option("--engine", metavar="NAME", help=what, autocompletion=lambda: list(ENGINES))


def model_option(what: str = "only this model; default: all; repeatable") -> Any:
    """The option --model.

    what: its help.
    """
    return typer.Option("--model", metavar="NAME", help=what, autocompletion=complete_model)


def workers_option(default: str = "one per core") -> Any:
    """The option --workers. default: how many there are if it is left out."""
    return typer.Option("--workers", "-j", metavar="N", help=f"processes on this machine; default: {default}")


EngineOption = Annotated[str, engine_option()]
WorkersOption = Annotated[int | None, workers_option()]
ClusterOption = Annotated[
    str | None,
    typer.Option("--cluster", metavar="ADDRESS", help="a Dask cluster: tcp://HOST:PORT, or local:N for N workers here"),
]
KeptOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        metavar="FILE",
        help="keep results in this SQLite file, to resume from; default: in the user's cache folder",
        callback=checked,
    ),
]


def interrupted(part: "Unfinished[Any]", what: str) -> KeyboardInterrupt:
    """Print how much is done and kept; gives what is to be raised.

    part: what is done.
    what: what messages call it.
    """
    print(
        f"simtmm: {part.done} of {part.total} {what} are done; the same command continues from there", file=sys.stderr
    )
    return KeyboardInterrupt()


class resumable:  # noqa: N801 - reads as a function, as the context managers of contextlib
    """Prints, when a sweep is interrupted, where its points are stored, if anywhere.

    elsewhere: where that is without a path, in words.
    """

    def __init__(self, path: Path | None, elsewhere: str = "") -> None:
        self._where = elsewhere if path is None else str(path)

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is KeyboardInterrupt and self._where:
            print(
                f"simtmm: results so far are in {self._where}; the same command continues from there", file=sys.stderr
            )
