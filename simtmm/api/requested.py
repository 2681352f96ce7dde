"""Requests from a function's arguments, which are those of the command line by name."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from simtmm.errors import KernelError, shown

Request = TypeVar("Request")

LISTS = ("compile", "build", "arguments", "where", "minimise", "compute", "model", "vary", "draw", "link", "measured")


def request_of(kind: type[Request], given: Mapping[str, Any]) -> Request:
    """A request of these arguments, by name; None and what is left out are as the command line has them.

    Raises KernelError for a text where several words are expected one by one.
    """
    known = {each.name for each in fields(kind)}  # type: ignore[arg-type]
    assert not given.keys() - known, given.keys() - known
    values = {name: _value(name, value) for name, value in given.items() if value is not None}
    return kind(**values)


def _value(name: str, value: Any) -> Any:
    if isinstance(value, Path):
        return str(value)
    if name in LISTS and isinstance(value, str):
        return [value]
    if name == "arguments":
        return [str(each) for each in value]
    if name == "host_time":
        return {True: "on", False: "off"}.get(value, value)
    if name in {"stop_after", "launch"}:
        return str(value)
    if name == "shared" and (not isinstance(value, int) or value < 0):
        raise KernelError(f"shared = {shown(value)}: must be a number of bytes, 0 or more")
    return value
