"""What is wrong with a machine's tables, in one line: key = value: what is allowed."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic_core import ErrorDetails

from simtmm.errors import MachineError, nearest, shown
from simtmm.machine.spelled import CACHES

# What other simulators and papers call it
WORDS_ELSEWHERE = {"gto": "greedy-oldest", "lrr": "round-robin", "rr": "round-robin", "old": "oldest", "fcfs": "fifo"}


def one_line(error: ErrorDetails, known: Iterable[str]) -> str:
    """A complaint of pydantic's in that form. known: all keys, dotted."""
    key = ".".join(str(part) for part in error["loc"])
    match error["type"]:
        case "extra_forbidden":
            keys = list(known)
            parent = key.rpartition(".")[0]
            siblings = [other.removeprefix(f"{parent}.").split(".")[0] for other in keys if other.startswith(parent)]
            return f"{key}: unknown key{nearest(key, keys, siblings)}"
        case "missing":
            return f"{key}: is missing"
        case "literal_error":
            meant = WORDS_ELSEWHERE.get(str(error["input"]).casefold())
            hint = f" (that is {meant!r} here)" if meant and repr(meant) in error["ctx"]["expected"] else ""
            return f"{key} = {shown(error['input'])}: must be {error['ctx']['expected']}{hint}"
        case "value_error" if not key:  # raised by a rule of the machine's own, which names the key
            return str(error["ctx"]["error"])
        case "value_error":
            return f"{key} = {shown(error['input'])}: {error['ctx']['error']}"
        case "model_type" | "dict_type" | "model_attributes_type":
            if key in CACHES and isinstance(error["input"], int | float | str):
                size = f"{key}={error['input'] if str(error['input']).isdecimal() else 40}MiB"
                return f"{key} = {shown(error['input'])}: must be a table of keys, or with --set a size, as {size}"
            return f"{key} = {shown(error['input'])}: must be a table of keys"
        case "string_type":
            return f"{key} = {shown(error['input'])}: must be a text"
        case _:
            return f"{key} = {shown(error['input'])}: {error['msg']}"


def refuse_bytes(tables: Mapping[str, Any], origin: str, parent: str = "") -> None:
    """Raise MachineError for a key or text with bytes that are no UTF-8, of a command line: no file holds them."""
    for key, value in tables.items():
        if _has_bytes(key):
            raise MachineError(f"{origin}: {parent}{key}: unknown key: must be a text in UTF-8")
        if _has_bytes(value):
            raise MachineError(f"{origin}: {parent}{key} = {shown(value)}: must be a text in UTF-8")
        if isinstance(value, Mapping):
            refuse_bytes(value, origin, f"{parent}{key}.")


def _has_bytes(value: object) -> bool:
    return isinstance(value, str) and not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)
