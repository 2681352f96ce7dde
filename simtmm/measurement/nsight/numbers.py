"""Numbers of profilers' exports, with commas between thousands and units that follow their size."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from simtmm.errors import StudyError, shown

Units = Mapping[str, float]

SECONDS: Units = {
    "s": 1.0,
    "sec": 1.0,
    "second": 1.0,
    "ms": 1e-3,
    "msec": 1e-3,
    "msecond": 1e-3,
    "us": 1e-6,
    "usec": 1e-6,
    "usecond": 1e-6,
    "ns": 1e-9,
    "nsec": 1e-9,
    "nsecond": 1e-9,
}
BYTES: Units = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "Tbyte": 1e12}
PERCENT: Units = {"%": 0.01}
_COUNTED = ("inst", "cycle", "sector", "sectors", "request", "requests", "thread", "wavefront", "wavefronts")
PLAIN: Units = {"": 1.0, **{f"{prefix}{unit}": size for unit in _COUNTED for prefix, size in
                            {"": 1.0, "K": 1e3, "M": 1e6, "G": 1e9}.items()}}  # fmt: skip

_NUMBER = re.compile(r"-?(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?")
_DECIMAL_COMMA = re.compile(r"-?\d{1,30},(?:\d{1,2}|\d{4,30})|-?\d{1,3}(?:\.\d{3})+,\d{1,30}|-?\d{1,3}(?:\.\d{3}){2,}")
MOST = 1e30  # of a value
AGAIN = "export it again with LC_ALL=C"


def number(where: str, text: Any, unit: Any, units: Units, is_whole: bool = False) -> float:
    """A value in seconds, bytes, shares of 1 or plain. Raises StudyError.

    where: the file, line and column, in words.
    text, unit: of the export.
    units: those allowed, and what each stands for.
    is_whole: whether the value is a count, which must be a whole number.
    """
    if unit not in units:
        raise StudyError(f"{where}: unit {shown(unit)}: must be one of {', '.join(filter(None, units))}")
    cell = str(text)
    check_decimal_point(where, cell)
    if _NUMBER.fullmatch(cell) is None:
        raise StudyError(f"{where} = {shown(text)}: must be a number")
    # Units are chosen so that numbers are below 1,000: a comma without a point is a decimal one
    if "," in cell and "." not in cell and units[unit] != min(units.values()) and units in (SECONDS, BYTES):
        raise StudyError(f"{where} = {shown(cell)} {unit}: must have a decimal point, not a comma: {AGAIN}")
    value = float(cell.replace(",", "")) * units[unit]
    if not 0 <= value <= MOST:
        raise StudyError(f"{where} = {shown(cell)}: must be at least 0 and at most {MOST:g}")
    if is_whole and units[unit] == 1 and value != int(value):
        raise StudyError(f"{where} = {shown(cell)}: must be a whole number; where points stand for thousands, {AGAIN}")
    return value


def check_decimal_point(where: str, text: str) -> None:
    """Raise StudyError for a number that has a comma where others have a decimal point.

    where: the file, line and column, in words.
    text: of a cell.
    """
    if _DECIMAL_COMMA.fullmatch(text):
        raise StudyError(f"{where} = {shown(text)}: must have a decimal point, not a comma: {AGAIN}")


def check_decimal_points(where: str, cells: Iterable[tuple[str, str]]) -> None:
    """The same of all numbers of a row.

    where: the file and line.
    cells: (column, text) of each.
    """
    for column, text in cells:
        if "," in text:
            check_decimal_point(f"{where}: {column}", text)
