"""How values are spelled beside plain numbers: sizes, as 72MiB, rates, as 2.52GHz, and factors, as x0.5."""

import re
from collections.abc import Mapping
from typing import Any

from simtmm.errors import MachineError, shown

UNITS = {"B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
DIGITS = 12  # significant, of a value that is a factor times another
BYTE_KEYS = ("resources.shared_memory", "memory.tlb.page", "memory_bytes")  # whose values may be sizes
CACHES = ("memory.l1", "memory.shared_l1", "memory.l2", "memory.last_level")  # whose sets may be given by a size
WHOLE = "whole"  # a file's key: nothing is taken from its family, which it names for readers alone

PREFIXES = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}  # of a rate
LEAST_RATE = 1e6  # in hertz or bytes a second: a smaller number was meant in another unit
_RATE = re.compile(r"(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)\s*(?:([kMGT]?)(Hz|B/s))?", re.IGNORECASE)
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMG]?i?B)", re.IGNORECASE)
_FACTOR = re.compile(r"x\s*(\d+\.?\d*(?:e[+-]?\d+)?|\.\d+)")
_TURNED = re.compile(r"(\d+\.?\d*|\.\d+)\s*x")  # somebody's 0.5x


def size_in_bytes(where: str, value: object) -> int | None:
    """The bytes of a text as 96KiB; None for what is no size. Raises MachineError for one that is no whole number.

    where: what messages call it.
    value: what stands in a file, a text or anything else.
    """
    found = _SIZE.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    named = {unit.lower(): factor for unit, factor in UNITS.items()}
    if (factor := named.get(found[2].lower())) is None:
        raise MachineError(f"{where} = {value}: must be in {', '.join(UNITS)} (1 KiB is 1024 bytes)")
    size = float(found[1]) * factor
    if size != int(size) or size < 1:
        raise MachineError(f"{where} = {value}: must be a whole number of bytes, at least 1")
    return int(size)


def rate(where: str, text: str, unit: str) -> float:
    """A rate, as 2.52e9 or 2.52GHz. unit: "Hz" or "B/s". Raises MachineError for another unit, and one far too small.

    where: what messages call it.
    text: a number with or without its unit.
    """
    found = _RATE.fullmatch(text.strip())
    prefixes = {prefix.lower(): factor for prefix, factor in PREFIXES.items()}
    if found and (found[3] or unit).lower() == unit.lower():
        number = float(found[1]) * prefixes[(found[2] or "").lower()]
        if LEAST_RATE <= number < float("inf"):
            return number
    raise MachineError(f"{where} {text}: must be in {unit}, at least {LEAST_RATE:.0e}, as 1.7e9 or 1.7G{unit}")


def factor_of(value: object) -> float | None:
    """The factor of a text as x0.5; None for anything else.

    value: what stands in a file, a text or anything else.
    """
    found = _FACTOR.fullmatch(value.strip()) if isinstance(value, str) else None
    return float(found[1]) if found else None


def refuse_turned(where: str, value: object) -> None:
    """Raises MachineError for a text as 0.5x, which was meant as a factor. where: what the message calls it."""
    if isinstance(value, str) and (found := _TURNED.fullmatch(value.strip())):
        raise MachineError(f"{where} = {value}: write a multiple as x{found[1]}")


def times(where: str, present: object, factor: float) -> int | float:
    """A value times a factor; a whole number stays one where it can. Raises MachineError where there is no number."""
    if isinstance(present, bool) or not isinstance(present, (int, float)):
        has = "has no value" if present is None else f"is {shown(present)}"
        raise MachineError(f"{where} = x{factor:g}: must be a multiple of a number, but {where.split()[-1]} {has}")
    product = float(f"{present * factor:.{DIGITS}g}")
    return int(product) if isinstance(present, int) and product.is_integer() else product


def with_sizes(tables: Mapping[str, Any], origin: str) -> dict[str, Any]:
    """Nested tables of a machine with numbers instead of sizes: bytes, and for `size` of a cache its sets.

    A source of the size becomes one of the sets. Raises MachineError.
    """
    spelled = dict(tables)
    for key in BYTE_KEYS:
        spelled = _with_bytes(spelled, key.split("."), f"{origin}: {key}")
    memory = spelled.get("memory")
    for key in CACHES:
        last = key.split(".")[1]
        if not isinstance(memory, Mapping) or not isinstance(memory.get(last), Mapping) or "size" not in memory[last]:
            continue
        memory = {**memory, last: _with_sets(memory, memory[last], f"{origin}: {key}")}
        spelled["memory"] = memory
        if isinstance(spelled.get("sources"), Mapping) and f"{key}.size" in spelled["sources"]:
            spelled["sources"] = {
                (f"{key}.sets" if name == f"{key}.size" else name): size for name, size in spelled["sources"].items()
            }
    return spelled


def _with_bytes(table: Mapping[str, Any], keys: list[str], where: str) -> dict[str, Any]:
    """A table in which the value at the end of these keys is in bytes, if it is there and a size."""
    first, *rest = keys
    inner = table.get(first)
    if rest:
        return {**table, first: _with_bytes(inner, rest, where)} if isinstance(inner, Mapping) else dict(table)
    size = size_in_bytes(where, inner)
    return dict(table) if size is None else {**table, first: size}


def _with_sets(memory: Mapping[str, Any], cache: Mapping[str, Any], where: str) -> dict[str, Any]:
    """A cache's table with `sets` instead of `size`."""
    if "sets" in cache:
        raise MachineError(f"{where}: size and sets: give only one of them")
    size = size_in_bytes(f"{where}.size", cache["size"])
    if size is None:
        raise MachineError(f"{where}.size = {shown(cache['size'])}: must be a size, as 72MiB or 96KiB")
    numbers = (cache.get("ways"), memory.get("chunk_words"), memory.get("word_bytes", 4))
    if any(isinstance(number, bool) or not isinstance(number, int) or number < 1 for number in numbers):
        raise MachineError(f"{where}.size = {cache['size']}: needs {where.split()[-1]}.ways and memory.chunk_words")
    line = numbers[0] * numbers[1] * numbers[2]  # type: ignore[operator]  # of whole numbers, by the line above
    if size < line:
        raise MachineError(f"{where}.size = {cache['size']}: must be at least a set, {line} bytes")
    return {"sets": round(size / line), **{key: value for key, value in cache.items() if key != "size"}}
