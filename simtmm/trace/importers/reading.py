"""Text files of other tools, plain or packed, in blocks of whole lines; and the messages for a damaged one."""

import contextlib
import gzip
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from simtmm.errors import TraceError, shown, shown_error

Text = npt.NDArray[np.uint8]
Advance = Callable[[int], None]  # called with the bytes of the file that were read since the last call

BLOCK_BYTES = 1 << 20
MOST_LINE = 1 << 20  # bytes; the longest line of any of the formats has some hundred
NEWLINE = 10
MAGIC = {"xz": b"\xfd7zXZ\0", "gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}  # with which packed files begin
PACKED = (".xz", ".gz", ".zst")  # what their names end with


class _UnpackingError(Exception):
    """A packed file that is not whole."""


class DamagedError(TraceError):
    """A line that is not what it must be."""

    def __init__(self, path: Path, line: int, expected: str, found: str | None = None) -> None:
        what = "" if found is None else f", not {shown(found) if found else 'the end of the line'}"
        super().__init__(f"{path}: line {line}: expected {expected}{what}")


def blocks(path: Path, advance: Advance | None = None, ended: bytes | None = None) -> Iterator[tuple[Text, int]]:
    """The file as blocks of whole lines, each with the number of its first line, from 1.

    Each block ends with a newline, the last one too. ended: a regular expression; a last line in which it is found
    must end with a newline of its own, or it was cut. Raises TraceError for that, for a file that can't be read or
    unpacked, and for a line of more than MOST_LINE bytes.
    """
    line = 1
    rest = b""
    try:
        for piece in _pieces(path, advance):
            joined = rest + piece
            cut = joined.rfind(b"\n") + 1
            rest = joined[cut:]
            if cut:
                text = np.frombuffer(joined, dtype=np.uint8, count=cut)
                yield text, line
                line += int(np.count_nonzero(text == NEWLINE))
            if len(rest) > MOST_LINE:
                raise DamagedError(path, line, f"lines of at most {MOST_LINE} bytes, not a longer one")
    except _UnpackingError as error:
        raise _not_whole(path, line, error) from None
    if ended is not None and re.search(ended, rest):
        raise DamagedError(path, line, "the end of the line, not that of the file")
    if rest:
        yield np.frombuffer(rest + b"\n", dtype=np.uint8), line


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of the file's text. Raises TraceError."""
    head = b""
    try:
        for piece in _pieces(path, None):
            head += piece
            if len(head) >= size:
                break
    except _UnpackingError as error:
        raise _not_whole(path, 1 + head.count(b"\n"), error) from None
    return head[:size]


def _not_whole(path: Path, line: int, error: Exception) -> TraceError:
    return TraceError(f"{path}: line {line}: expected more: is not a whole {error}")


def size_of(path: Path) -> int:
    """Bytes of the file as it lies on disk. Raises TraceError unless it is a file that can be read twice."""
    try:
        if path.exists() and not path.is_file():
            raise TraceError(f"{path}: is not a regular file: an import reads it twice")
        return path.stat().st_size
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror})") from None


def token(text: Text, position: int) -> str:
    """The word at a position of a block."""
    stop = position
    while stop < len(text) and text[stop] > 32:
        stop += 1
    return _decoded(text[position:stop])


def rest_of_line(text: Text, position: int) -> str:
    """What the line has from a position of a block on, without blanks around it."""
    return _decoded(text[position : position + int(np.argmax(text[position:] == NEWLINE))]).strip()


def _decoded(text: Text) -> str:
    return text.tobytes().decode("utf-8", "surrogateescape")


def unpacked_name(name: str) -> str:
    """The name that a file has without its packing."""
    return next((name.removesuffix(suffix) for suffix in PACKED if name.endswith(suffix)), name)


def _pieces(path: Path, advance: Advance | None) -> Iterator[bytes]:
    """The text of a file in pieces. Raises TraceError, and _UnpackingError for a packed file that is not whole."""
    size_of(path)
    try:
        with contextlib.ExitStack() as stack:
            raw = stack.enter_context(path.open("rb"))
            head = raw.read(max(map(len, MAGIC.values())))
            raw.seek(0)
            packing = next((name for name, magic in MAGIC.items() if head.startswith(magic)), None)
            file: IO[bytes] = stack.enter_context(_unpacked(raw, packing)) if packing else raw
            done = 0
            while piece := _read(file, packing):
                yield piece
                if advance:
                    advance(raw.tell() - done)
                    done = raw.tell()
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror or error})") from None


def _unpacked(raw: IO[bytes], packing: str) -> Any:
    if packing == "zstd":
        return pa.CompressedInputStream(pa.PythonFile(raw, mode="r"), "zstd")
    return lzma.open(raw) if packing == "xz" else gzip.open(raw)


def _read(file: IO[bytes], packing: str | None) -> bytes:
    try:
        return file.read(BLOCK_BYTES)
    except (lzma.LZMAError, zlib.error, EOFError) as error:
        raise _UnpackingError(f"{packing} file ({shown_error(error)})") from None
    except OSError as error:
        if error.errno is not None:  # of the computer's; those who unpack have none
            raise
        raise _UnpackingError(f"{packing} file ({shown_error(error)})") from None
