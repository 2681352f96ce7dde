"""Declarations of variables and parameters."""

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from simtmm.cuda.ptx.reading.expressions import WARP_SIZE, constant, whole_constant
from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import number
from simtmm.cuda.ptx.syntax import Immediate, Pointer, Symbol, Variable
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
            raise PtxError(f"PTX line {stream.line}: {space} is not a parameter")
        found.append(variable(stream, space[1:]))
        stream.accept(",")
    return tuple(found)


DEEPEST = 32
_TOO_MANY = "its initialiser has more values than elements"
MOST_BYTES, MOST_INITIAL = 1 << 40, 1 << 30  # of a variable


def variables(stream: TokenStream, space: str, extern: bool = False) -> list[Variable]:
    """Variables of one type, commas between them, of which the space is taken already; the semicolon stays."""
    kind = _kind(stream)
    found = [_named(stream, space, kind, extern)]
    while stream.accept(","):
        found.append(_named(stream, space, kind, extern))
    return found


def variable(stream: TokenStream, space: str) -> Variable:
    """A variable, likewise, by itself."""
    return _named(stream, space, _kind(stream), False)


@dataclass(frozen=True)
class _Kind:
    """What stands in front of names: alignment [bytes], 0 for that of the type; elements of a vector; their type."""

    align: int
    lanes: int
    element: str


def _kind(stream: TokenStream) -> _Kind:
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
            raise PtxError(f"PTX line {stream.line}: {text} is not supported in a declaration")
    if not element:
        raise PtxError(f"PTX line {stream.line}: a declaration lacks its type")
    return _Kind(align, lanes, element)


def _named(stream: TokenStream, space: str, kind: _Kind, extern: bool) -> Variable:
    name = stream.next().text
    align, element = kind.align, kind.element
    size = bytes_of(element) * kind.lanes
    counts: list[int] = []  # of each dimension
    open_ended = False
    while stream.accept("["):
        if stream.accept("]"):
            open_ended = True
            counts.append(1)
            continue
        counts.append(_count(stream))
        stream.expect("]")
    count = prod(counts)
    rows = [size * prod(counts[depth:]) for depth in range(1, len(counts) + 1)]
    initial, pointers = _initial(stream, element, rows) if stream.accept("=") else (None, ())
    if initial is not None and space not in ("global", "const"):
        raise PtxError(f"PTX line {stream.line}: {shown(name)}: only .global and .const may have an initialiser")
    if open_ended:
        count *= -(-len(initial) // max(1, size * count)) if initial is not None else 0
    if size * count > (MOST_BYTES if initial is None else MOST_INITIAL):
        raise PtxError(f"PTX line {stream.line}: {shown(name)}: {size * count:,} bytes are more than a GPU has")
    if initial is not None:
        if len(initial) > size * count:
            raise PtxError(f"PTX line {stream.line}: {shown(name)}: {_TOO_MANY}")
        initial = initial.ljust(size * count, b"\0")
    element_bytes = bytes_of(element) if len(counts) == 1 else 0
    return Variable(name, space, element, align or size, size * count, initial, pointers, extern, element_bytes)


def _count(stream: TokenStream) -> int:
    """Of the elements of an array."""
    count = whole_constant(stream)
    if count < 0:
        raise PtxError(f"PTX line {stream.line}: an array of {shown(count)} elements")
    return count


def _initial(stream: TokenStream, element: str, rows: Sequence[int]) -> tuple[bytes, tuple[Pointer, ...]]:
    """What a variable holds at first, and where addresses stand in it.

    rows: bytes of what a brace within the outermost holds, of one in that, and so on; the rest of a row is 0.
    """
    held = bytearray()
    pointers: list[Pointer] = []

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
        pointer = _pointer(stream, element, len(held))
        if pointer is not None:
            pointers.append(pointer)
            held.extend(bytes(pointer.size))
            return
        value = constant(stream)
        assert isinstance(value, Immediate)
        held.extend(_stored(value, element))

    take()
    return bytes(held), tuple(pointers)


def _pointer(stream: TokenStream, element: str, at: int) -> Pointer | None:
    """An address, if one is next: of a symbol, generic(symbol), with what is added to it; or a byte of one, as in
    0xFF00(symbol).
    """
    token, size, mask = stream.peek(), bytes_of(element), 0
    behind = stream.peek(1)
    if token is not None and token.kind == "number" and behind is not None and behind.text == "(":
        mask = number(stream.next().text).value
        stream.expect("(")
        token = stream.peek()
    if token is None or token.kind != "word" or token.text == WARP_SIZE:
        if mask:
            raise PtxError(f"PTX line {stream.line}: the name of a variable or a function is expected in parentheses")
        return None
    if size not in (4, 8) and not mask:
        raise PtxError(f"PTX line {token.line}: {token.text!r} can't stand in an initialiser of .{element}")
    shift = (mask & -mask).bit_length() - 1 if mask else 0
    if mask and (size != 1 or mask != 0xFF << shift or shift % 8 or shift > 56):
        raise PtxError(f"PTX line {token.line}: mask {mask:#x} of an address: must be a byte, in an array of bytes")
    is_generic = stream.next().text == "generic"
    if is_generic:
        stream.expect("(")
        token = stream.next()
        stream.expect(")")
    offset = whole_constant(stream) if stream.accept("+") else 0
    if mask:
        stream.expect(")")
    return Pointer(at, size, Symbol(token.text, offset), is_generic, shift)


def _stored(value: Immediate, element: str) -> bytes:
    size = bytes_of(element)
    if value.float_bits and element in ("f32", "f64"):
        return (real_bits(value, 8 * size)).to_bytes(size, "little")
    return (value.value & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def real_bits(value: Immediate, width: int) -> int:
    """The bits of a floating-point constant in another width. Raises PtxError for one that is too large for it."""
    if value.float_bits == width:
        return value.value
    real = struct.unpack({32: "<f", 64: "<d"}[value.float_bits], value.value.to_bytes(value.float_bits // 8, "little"))[
        0
    ]
    try:
        return int.from_bytes(struct.pack({16: "<e", 32: "<f", 64: "<d"}[width], real), "little")
    except OverflowError:
        raise PtxError(f"{real!r}: does not fit .f{width}") from None
