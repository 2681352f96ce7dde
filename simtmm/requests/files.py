"""Files that a request writes, checked before anything is run; and where a program's own output goes."""

import sys
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from pathlib import Path

from simtmm.errors import OutputError, in_words
from simtmm.files import check_writable

DOCUMENT = ".json"  # the suffix of a file that a document is written to
TRACE = ".parquet"  # likewise of a trace


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

    option: as messages call it.
    suffixes: those that are known, as ".csv".

    Raises OutputError where it can't be, and for another suffix.
    """
    if path is not None and path.suffix and not path.name.endswith(suffixes):
        raise OutputError(f"{option} {path}: must end in {in_words(suffixes, 'or')}")
    return checked(path)


def checked_trace(path: Path | None) -> Path | None:
    """A trace that is to be written; no command would read one with another suffix. Raises OutputError for those."""
    if path is not None and path.suffix == DOCUMENT:
        raise OutputError(f"-o {path}: a trace is written as .parquet; --json prints its document")
    if path is not None and path.suffix not in ("", TRACE):
        raise OutputError(f"-o {path}: a trace must end in {TRACE}")
    return path


def printing(as_json: bool) -> AbstractContextManager[object]:
    """What kernels print goes to standard output, and beside it where that is for one JSON document alone.

    as_json: whether the result is printed as JSON.
    """
    return redirect_stdout(sys.stderr) if as_json else nullcontext()
