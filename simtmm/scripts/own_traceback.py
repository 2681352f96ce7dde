"""A script's exception as Python prints it: with the frames of the script and of its libraries, and none of ours."""

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

OURS = Path(__file__).resolve().parents[1]


def print_traceback(error: BaseException, hook: Callable[..., Any]) -> None:
    """Tell an exception on standard error. hook: the script's own, where it has set one."""
    if hook is not sys.__excepthook__:
        hook(type(error), error, _behind_ours(error.__traceback__))
        return
    report = traceback.TracebackException.from_exception(error)
    _drop(report)
    for line in report.format():
        print(line, end="", file=sys.stderr)


def line_of(error: BaseException, path: str) -> str | None:
    """Where in the script an exception comes from, as "script.py, line 12"; None where the script has no part in it."""
    found = None
    for frame in traceback.walk_tb(error.__traceback__):
        if frame[0].f_code.co_filename == path:
            found = f"{path}, line {frame[1]}"
    return found


def _behind_ours(place: TracebackType | None) -> TracebackType | None:
    """The traceback from the first frame that is not ours."""
    while place is not None and _is_ours(place.tb_frame.f_code.co_filename):
        place = place.tb_next
    return place


def _is_ours(file: str) -> bool:
    return Path(file).is_absolute() and Path(file).is_relative_to(OURS)


def _drop(report: traceback.TracebackException) -> None:
    """Take our frames out of it, and of what led to it."""
    waiting, seen = [report], set[int]()
    while waiting:
        each = waiting.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        each.stack[:] = [frame for frame in each.stack if not _is_ours(frame.filename)]
        waiting += [other for other in (each.__cause__, each.__context__) if other is not None]
        waiting += getattr(each, "exceptions", None) or []
