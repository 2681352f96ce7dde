"""Declarations of variables and parameters."""

import struct
from collections.abc import Sequence
from math import prod

from simtmm.cuda.ptx.stream import TokenStream
from simtmm.cuda.ptx.syntax import Immediate, Symbol, Variable
from simtmm.cuda.ptx.tokens import number
from simtmm.cuda.ptx.types import bytes_of, is_type
from simtmm.errors import PtxError, shown

_SPECIAL = {".texref": 8, ".surfref": 8, ".samplerref": 8}


def parameters(stream: TokenStream) -> tuple[Variable, ...]:
    """Those in parentheses, which are next."""
    stream.expect("(")
    found: list[Variable] = []
    while not stream.accept(")"):
        space = stream.next().text
        if space not in (".param", ".reg"):
            raise PtxError(f"PTX line {stream.line}: {space} is no parameter")
        found.append(variable(stream, space[1:]))
        stream.accept(",")
    return tuple(found)


DEEPEST = 32
_TOO_MANY = "its initialiser has more values than there is room for"
MOST_BYTES, MOST_INITIAL = 1 << 40, 1 << 30  # of a variable


def variable(stream: TokenStream, space: str, extern: bool = False) -> Variable:
    """A variable, of which the space is taken already; the semicolon stays."""
    align, lanes, element = 0, 1, ""
    while (token := stream.peek()) is not None and token.kind == "modifier":
        text = stream.next().text
        if text == ".align":
            align = stream.whole()
        elif text in (".v2", ".v4", ".v8"):
            lanes = int(text[2:])
        elif text == ".attribute":
            stream.skip_group()
        elif text == ".ptr":
            while stream.peek_text() in (".global", ".shared", ".const", ".local", ".align"):
                if stream.next().text == ".align":
                    stream.next()
        elif text in _SPECIAL:
            element = "b64"
        elif is_type(text[1:]):
            element = text[1:]
        else:
            raise PtxError(f"PTX line {stream.line}: {text} is not known in a declaration")
    name = stream.next().text
    size = bytes_of(element) * lanes
    counts: list[int] = []  # of each dimension
    open_ended = False
    while stream.accept("["):
        if stream.accept("]"):
            open_ended = True
            counts.append(1)
            continue
        counts.append(number(stream.next().text).value)
        stream.expect("]")
    count = prod(counts)
    rows = [size * prod(counts[depth:]) for depth in range(1, len(counts) + 1)]
    initial, pointers = _initial(stream, element, rows) if stream.accept("=") else (None, ())
    if open_ended:
        count *= -(-len(initial) // max(1, size * count)) if initial is not None else 0
    if size * count > (MOST_BYTES if initial is None else MOST_INITIAL):
        raise PtxError(
            f"PTX line {stream.line}: {shown(name)}: {size * count:,} bytes are more than a GPU or a file has"
        )
    if initial is not None:
        if len(initial) > size * count:
            raise PtxError(f"PTX line {stream.line}: {shown(name)}: {_TOO_MANY}")
        initial = initial.ljust(size * count, b"\0")
    return Variable(name, space, element, align or size, size * count, initial, pointers, extern)


def _initial(
    stream: TokenStream, element: str, rows: Sequence[int]
) -> tuple[bytes, tuple[tuple[int, Symbol, bool], ...]]:
    """What a variable holds at first, and where addresses stand in it.

    rows: bytes of what a brace within the outermost holds, of one in that, and so on; the rest of a row is 0.
    """
    held = bytearray()
    pointers: list[tuple[int, Symbol, bool]] = []
    size = bytes_of(element)

    def take(depth: int = 0) -> None:
        if stream.accept("{"):
            if depth == DEEPEST:
                raise PtxError(f"PTX line {stream.line}: an initialiser may be nested {DEEPEST} deep")
            begin = len(held)
            while not stream.accept("}"):
                take(depth + 1)
                stream.accept(",")
            if 0 < depth <= len(rows):
                left = begin + rows[depth - 1] - len(held)
                if left < 0 or len(held) + left > MOST_INITIAL:
                    raise PtxError(f"PTX line {stream.line}: {_TOO_MANY}")
                held.extend(bytes(left))
            return
        negative = stream.accept("-")
        token = stream.next()
        if token.kind == "number":
            held.extend(_stored(number(token.text), element, negative))
            return
        generic = token.text == "generic"
        if generic:
            stream.expect("(")
            token = stream.next()
            stream.expect(")")
        if token.kind != "word" or size not in (4, 8):
            raise PtxError(f"PTX line {token.line}: {token.text!r} can't stand in an initialiser of .{element}")
        offset = 0
        if stream.accept("+"):
            offset = number(stream.next().text).value
        pointers.append((len(held), Symbol(token.text, offset), generic))
        held.extend(bytes(size))

    take()
    return bytes(held), tuple(pointers)


def _stored(value: Immediate, element: str, negative: bool) -> bytes:
    size = bytes_of(element)
    if value.float_bits and element in ("f32", "f64"):
        if value.float_bits // 8 == size:
            raw = value.value ^ (1 << (value.float_bits - 1) if negative else 0)
            return raw.to_bytes(size, "little")
        real = struct.unpack("<d", struct.pack("<Q", value.value))[0]
        try:
            return struct.pack("<f", -real if negative else real)
        except OverflowError:
            raise PtxError(f"{real!r}: does not fit .{element}") from None
    whole = -value.value if negative else value.value
    return (whole & ((1 << 8 * size) - 1)).to_bytes(size, "little")
