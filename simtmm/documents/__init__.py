"""Files that users write, TOML, JSON, CSV and device code, read within bounds.

Whatever a file holds, it is read or refused in time.

Numbers are those that TOML has, whole ones of 64 bits among them; Python's parsers would take any, of which a text, a
floating-point number or a column of a store can't hold.
"""

import json
import math
import os
import re
import stat
import tomllib
from collections.abc import Collection, Sequence
from datetime import date, datetime, time
from pathlib import Path
from typing import Any, BinaryIO

from simtmm.errors import SimtmmError, shown, shown_error

COMMENT = r"//[^\n]*|/\*.*?(?:\*/|\Z)"
"""A comment of CUDA or PTX, "." being any character: one that is not closed ends with the text, and is not looked for
again from each place."""

LARGEST_FILE = 64 << 20  # bytes: a list of a million measured times
LARGEST_TOML = 4 << 20  # bytes: Python's parser reads about a megabyte a second
MOST_LINES = 1 << 19  # of TOML: the parser takes as long for an empty one as for one that says something
MOST_ROWS = 1 << 21  # of CSV: lines, of which Python's reader takes about two millions a second, empty ones too
LARGEST_CODE = 64 << 20  # bytes of code
MOST_CODE_LINES = 1 << 22  # of code
LONGEST_CODE_LINE = 1 << 20  # bytes, of CUDA: NVRTC takes half a minute for some lines of 4 MB
DEEPEST = 32  # tables and lists within one another; parts of a dotted key
LEAST_WHOLE, MOST_WHOLE = -(2**63), 2**64 - 1  # of 64 bits, with a sign or without

_DATES = (date, datetime, time)  # which TOML has, and no key here
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""  # of a dotted key
_LONG_KEY = re.compile(rf"(?<![\w-])(?:{_PART}){{{DEEPEST}}}")


def read_text(path: str | Path, form: str, error: type[SimtmmError], largest: int = LARGEST_FILE) -> str:
    """The text of a file, which may be a pipe, without a mark of its byte order. Raises `error`, naming the file.

    form: what it is to be, such as CSV. largest: how many bytes it may have; no more are read.
    """
    content = read_bytes(path, error, largest)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = content.count(b"\n", 0, failure.start) + 1
        raise error(f"{path}: is not {form} (line {line} is not UTF-8: {failure.reason})") from None


def read_bytes(path: str | Path, error: type[SimtmmError], largest: int = LARGEST_FILE) -> bytes:
    """What a file holds, which may be a pipe. Raises `error`, naming the file. largest: as of `read_text`."""
    try:
        with open(path, "rb", opener=_opened_at_once) as file:
            begun = _begun(file, path, error)
            content = begun + file.read(largest + 1 - len(begun))
    except OSError as failure:
        raise error(f"{path}: can't be read ({failure.strerror})") from None
    except ValueError as failure:  # a path that can't be one: with a zero byte
        raise error(f"{shown(str(path))}: can't be read ({failure})") from None
    if len(content) > largest:
        raise error(f"{path}: is too large: must be at most {largest >> 20} MiB")
    return content


def read_csv(path: str | Path, error: type[SimtmmError]) -> str:
    """The text of a CSV file. Raises `error`, naming the file."""
    text = read_text(path, "CSV", error)
    _check_lines(path, text, MOST_ROWS, error)
    return text


def read_code(path: str | Path, error: type[SimtmmError], longest: int = LARGEST_CODE) -> bytes:
    """What a file of code holds, CUDA, PTX or a script. Raises `error`, naming the file.

    longest: bytes that a line may have.
    """
    content = read_bytes(path, error, LARGEST_CODE)
    _check_lines(path, content, MOST_CODE_LINES, error)
    if len(content) > longest and max(map(len, content.split(b"\n"))) > longest:
        raise error(f"{path}: a line is too long: must be at most {longest >> 20} MiB")
    return content


def read_code_text(path: str | Path, error: type[SimtmmError], wrong: str = "strict") -> str:
    """The text of a file of CUDA, whose lines end as Python's do. Raises `error`, naming the file.

    wrong: what to do with bytes that are not UTF-8, as `bytes.decode` takes it; may raise UnicodeDecodeError.
    """
    text = read_code(path, error, LONGEST_CODE_LINE).decode("utf-8", wrong)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _check_lines(path: str | Path, text: str | bytes, most: int, error: type[SimtmmError]) -> None:
    lines = text.count("\n") if isinstance(text, str) else text.count(b"\n")
    if lines > most:
        raise error(f"{path}: has {lines:,} lines: must have at most {most:,}")


def _opened_at_once(path: str, flags: int) -> int:
    """A file that is open, also where it is a pipe that nobody writes to."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def _begun(file: BinaryIO, path: str | Path, error: type[SimtmmError]) -> bytes:
    """What a pipe holds by now; from then on what is read from it is waited for. Raises `error` where nobody writes."""
    begun: bytes | None = b""
    if stat.S_ISFIFO(os.fstat(file.fileno()).st_mode):
        try:
            begun = os.read(file.fileno(), 1 << 16)
        except BlockingIOError:
            begun = None  # somebody is about to write
        if begun == b"":
            raise error(f"{path}: is a pipe without a writer: must be a file")
    os.set_blocking(file.fileno(), True)
    return begun or b""


def read_toml(path: str | Path, error: type[SimtmmError]) -> dict[str, Any]:
    """The tables of a TOML file. Raises `error`, naming the file."""
    text = read_text(path, "TOML", error, LARGEST_TOML)
    _check_lines(path, text, MOST_LINES, error)
    try:
        return parsed_toml(text)
    except ValueError as failure:
        raise error(f"{path}: is not TOML ({shown_error(failure)})") from None


def read_json(path: str | Path, error: type[SimtmmError], largest: int = LARGEST_FILE) -> Any:
    """The document in a JSON file, in which no key comes twice. Raises `error`, naming the file.

    largest: how many bytes it may have.
    """
    text = read_text(path, "JSON", error, largest)
    try:
        return parsed_json(text, once=True)
    except ValueError as failure:
        raise error(f"{path}: is not JSON ({shown_error(failure)})") from None


def parsed_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML text.

    text: of a document.

    Raises ValueError, in one line.
    """
    long = _LONG_KEY.search(text) if text.count(".") >= DEEPEST else None  # which takes the parser forever
    if long:
        line = text.count("\n", 0, long.start()) + 1
        raise ValueError(f"line {line}: {shown(long[0])}: a key must have at most {DEEPEST} parts")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"must be nested at most {DEEPEST} deep") from None
    _check(tables)
    return tables


def parsed_json(text: str | bytes, once: bool = False, own: Collection[str] | None = None) -> Any:
    """The document of a JSON text. Raises ValueError, in one line.

    once: a key that comes twice is refused. own: keys of the document under which whole numbers may be of any size, as
    Python's are that simtmm wrote there; all of them where that is empty.
    text: of a document, in UTF-8 if bytes.
    """
    try:
        document = json.loads(text, object_pairs_hook=_each_once if once else None)
    except RecursionError:
        raise ValueError(f"must be nested at most {DEEPEST} deep") from None
    if own is None:
        _check(document)
    else:
        _check(document, any_whole=True)
        if own and isinstance(document, dict):
            _check({key: value for key, value in document.items() if key not in own})
    return document


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if twice := duplicates([key for key, _ in pairs]):
        raise ValueError(f"key {shown(twice[0])} appears more than once")
    return dict(pairs)


def duplicates(names: Sequence[str]) -> list[str]:
    """The names that come more than once, each time but the first.

    names: in the order in which they stand.
    """
    seen: set[str] = set()
    found = []
    for name in names if len(set(names)) < len(names) else ():
        if name in seen:
            found.append(name)
        seen.add(name)
    return found


def _check(document: Any, any_whole: bool = False) -> None:
    """Raise ValueError for what nothing here takes: depths, dates, whole numbers of more than 64 bits."""
    level, depth = [document], 0
    while level:
        if depth > DEEPEST:
            raise ValueError(f"must be nested at most {DEEPEST} deep")
        inner: list[Any] = []
        for value in level:
            kind = type(value)
            if kind is dict:
                inner += value.values()
            elif kind is list:
                inner += value
            elif (kind is int and not any_whole and not LEAST_WHOLE <= value <= MOST_WHOLE) or kind in _DATES:
                allowed = "a number, a text, true or false, a list or a table"
                if kind is int:
                    allowed = "a whole number from -2^63 to 2^64 - 1"
                raise ValueError(f"{_key_of(document, value)} = {shown(value)}: must be {allowed}")
        level, depth = inner, depth + 1


def _key_of(document: Any, wanted: object) -> str:
    """Where in the document that very object stands, as `axes.n[0]`."""
    left = [("", document)]
    while left:
        place, value = left.pop()
        if value is wanted:
            return place.lstrip(".") or "the document"
        if isinstance(value, dict):
            left += [(f"{place}.{key}", inner) for key, inner in value.items()]
        elif isinstance(value, list):
            left += [(f"{place}[{index}]", inner) for index, inner in enumerate(value)]
    raise AssertionError(wanted)


def as_float(value: object) -> float:
    """The number as a floating-point one, infinite where it is too large for one.

    value: a number, or a text that reads as one.

    Raises TypeError and ValueError.
    """
    try:
        return float(value)  # type: ignore[arg-type]  # which raises TypeError
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # type: ignore[operator]  # a whole number: nothing else overflows
