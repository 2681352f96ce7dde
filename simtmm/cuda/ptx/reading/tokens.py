"""PTX text as tokens, each with its line."""

import re
import struct
from collections.abc import Iterator
from typing import NamedTuple

from simtmm.cuda.ptx.syntax import Immediate
from simtmm.errors import PtxError, shown

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\f\v]+|//[^\n]*)
    |(?P<newline>\n)
    |(?P<comment>/\*.*?\*/)
    |(?P<string>"(?:[^"\\]|\\.)*")
    |(?P<number>0[fF][0-9a-fA-F]{8}|0[dD][0-9a-fA-F]{16}|0[xX][0-9a-fA-F]+U?|0[bB][01]+U?
        |\d+\.\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?(?![\w:])|\d+[eE][+-]?\d+|\d+U?)
    |(?P<word>[%$_A-Za-z][\w$]*(?:\.[xyzw](?![\w:])|\.[rgba](?![\w:.]))?)
    |(?P<modifier>\.[\w:]+)
    |(?P<mark><<|>>|<=|>=|==|!=|&&|\|\||[{}()\[\],;:|!+\-*/=<>@&~^?])""",
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """kind: "string", "number", "word", "modifier" or "mark"; start: its place in the text."""

    kind: str
    text: str
    line: int
    start: int


def tokens(text: str, line: int = 1, start: int = 0, end: int | None = None) -> Iterator[Token]:
    """The tokens of a stretch of text, whose first line has that number. Raises PtxError."""
    position, end = start, len(text) if end is None else end
    match_at = _TOKEN.match
    while position < end:
        found = match_at(text, position, end)
        if found is None:
            raise PtxError(f"PTX line {line}: {text[position : position + 20]!r} is not PTX")
        kind, position = found.lastgroup, found.end()
        if kind == "newline":
            line += 1
        elif kind == "comment":
            line += found.group().count("\n")
        elif kind != "space":
            assert kind is not None
            yield Token(kind, found.group(), line, found.start())


def number(text: str) -> Immediate:
    """The value of a number token. Raises PtxError for what is none."""
    try:
        value = _number(text)
    except ValueError:
        raise PtxError(f"{shown(text)}: a number is expected") from None
    if value.value >> 64:
        raise PtxError(f"{shown(text)}: a number of at most 64 bits is expected")
    return value


def _number(text: str) -> Immediate:
    if text[:2] in ("0f", "0F"):
        return Immediate(int(text[2:], 16), 32)
    if text[:2] in ("0d", "0D"):
        return Immediate(int(text[2:], 16), 64)
    digits = text.rstrip("U")
    if "." in digits or ("e" in digits.lower() and digits[:2].lower() != "0x"):
        return Immediate(struct.unpack("<Q", struct.pack("<d", float(digits)))[0], 64)
    if digits[:2].lower() in ("0x", "0b"):
        return Immediate(int(digits, 0))
    return Immediate(int(digits, 8) if len(digits) > 1 and digits[0] == "0" else int(digits))
