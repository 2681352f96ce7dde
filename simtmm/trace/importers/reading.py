"""Text files of other tools, plain or packed with xz, in blocks of whole lines; and what is said of a damaged one."""

import lzma
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError, shown, shown_error

Text = npt.NDArray[np.uint8]
Advance = Callable[[int], None]  # called with the bytes of the file that were read since the last call

BLOCK_BYTES = 1 << 20
MOST_LINE = 1 << 20  # bytes; the longest line of any of the formats has some hundred
NEWLINE = 10
XZ_MAGIC = b"\xfd7zXZ\0"


class Damaged(TraceError):
    """A line that is not what it must be."""

    def __init__(self, path: Path, line: int, expected: str, found: str | None = None) -> None:
        what = "" if found is None else f", not {shown(found) if found else 'the end of the line'}"
        super().__init__(f"{path}: line {line}: expected {expected}{what}")


def blocks(path: Path, advance: Advance | None = None) -> Iterator[tuple[Text, int]]:
    """The file as blocks of whole lines, each with the number of its first line, from 1.

    Each block ends with a newline, the last one too. Raises TraceError for a file that can't be read or unpacked,
    and for a line of more than MOST_LINE bytes.
    """
    line = 1
    rest = b""
    for piece in _pieces(path, advance, lambda: line + rest.count(b"\n")):
        joined = rest + piece
        cut = joined.rfind(b"\n") + 1
        rest = joined[cut:]
        if cut:
            text = np.frombuffer(joined, dtype=np.uint8, count=cut)
            yield text, line
            line += int(np.count_nonzero(text == NEWLINE))
        if len(rest) > MOST_LINE:
            raise Damaged(path, line, f"lines of at most {MOST_LINE} bytes, not a longer one")
    if rest:
        yield np.frombuffer(rest + b"\n", dtype=np.uint8), line


def beginning(path: Path, size: int) -> bytes:
    """The first bytes of the file's text. Raises TraceError."""
    head = b""
    for piece in _pieces(path, None, lambda: 1):
        head += piece
        if len(head) >= size:
            break
    return head[:size]


def size_of(path: Path) -> int:
    """Bytes of the file as it lies on disk. Raises TraceError unless it is a file that can be read twice."""
    try:
        if path.exists() and not path.is_file():
            raise TraceError(f"{path}: is no file: an import reads it twice, which takes one on disk")
        return path.stat().st_size
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror})") from None


def token(text: Text, position: int) -> str:
    """The word at a position of a block, as an error shows it."""
    stop = position
    while stop < len(text) and text[stop] > 32:
        stop += 1
    return text[position : min(stop, position + 200)].tobytes().decode("utf-8", "surrogateescape")


def _pieces(path: Path, advance: Advance | None, line: Callable[[], int]) -> Iterator[bytes]:
    """The text of a file in pieces."""
    size_of(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(XZ_MAGIC)) == XZ_MAGIC
            raw.seek(0)
            file: IO[bytes] = lzma.open(raw) if packed else raw
            done = 0
            while piece := file.read(BLOCK_BYTES):
                yield piece
                if advance:
                    with suppress(OSError):
                        advance(raw.tell() - done)
                        done = raw.tell()
    except (lzma.LZMAError, EOFError) as error:
        raise TraceError(
            f"{path}: line {line()}: expected more: is not a whole xz file ({shown_error(error)})"
        ) from None
    except OSError as error:
        raise TraceError(f"{path}: can't be read ({error.strerror or error})") from None
