"""Constant expressions: operators of C on whole numbers of 64 bits, floating-point numbers and addresses of variables.

A whole number is signed (.s64) unless it has the suffix U, does not fit, or is what ~, % or .u64 gives; an operation is
on unsigned numbers if one of its operands is. Shifts go by the lowest six bits of their count, as ptxas has it.
"""

import operator
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import Token, number
from simtmm.cuda.ptx.syntax import Immediate, Symbol
from simtmm.errors import PtxError, shown

DEEPEST = 8  # parentheses and the like within one another
WARP_SIZE = "WARP_SZ"
# What stands weaker comes first; ?: is weaker than all.
_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", "<=", ">", ">="), ("<<", ">>"), ("+", "-"),
    ("*", "/", "%"),
)  # fmt: skip
ADDITIVE = 8  # the level of sums
STRONGEST = len(_LEVELS)  # and that of one number, with a sign
_COMPARISONS: Mapping[str, Callable[[float, float], bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_REAL: Mapping[str, Callable[[float, float], float]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
}  # fmt: skip
_WHOLE: Mapping[str, Callable[[int, int], int]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": lambda a, b: abs(a) // abs(b) * (-1) ** (a * b < 0),
    "%": operator.mod, "|": operator.or_, "^": operator.xor, "&": operator.and_,
}  # fmt: skip


@dataclass(frozen=True)
class _Value:
    """A whole number of 64 bits, or a real one, or an address: a number of bytes behind a symbol.

    bits: of a 0f constant, which stands alone.
    """

    number: int | float
    is_signed: bool = True
    symbol: str = ""
    bits: int = 0

    @property
    def is_real(self) -> bool:
        return isinstance(self.number, float)


def begins_constant(token: Token | None) -> bool:
    """Whether a constant expression may begin so; a name, a parenthesis and ! may begin something else as well."""
    return token is not None and (token.kind == "number" or token.text in ("-", "+", "~", WARP_SIZE))


def constant(stream: TokenStream, find: Callable[[str], str] | None = None, level: int = -1) -> Immediate | Symbol:
    """A constant expression, which is next. Raises PtxError.

    find: the names of variables, whose addresses may stand in it; None where none may. level: of the weakest operator
    that belongs to it, by its place in a list; -1 for all.
    """
    value = _Reader(stream, find).read(level)
    if value.symbol:
        return Symbol(value.symbol, int(value.number))
    if value.bits:
        return Immediate(value.bits & 0xFFFFFFFF, 32)
    if isinstance(value.number, float):
        return Immediate(struct.unpack("<Q", struct.pack("<d", value.number))[0], 64)
    return Immediate(value.number)


def whole_constant(stream: TokenStream, level: int = -1) -> int:
    """Likewise, of a whole number."""
    line = stream.line
    value = constant(stream, None, level)
    if not isinstance(value, Immediate) or value.float_bits:
        raise PtxError(f"PTX line {line}: a whole number is expected")
    return value.value


class _Reader:
    def __init__(self, stream: TokenStream, find: Callable[[str], str] | None) -> None:
        self._stream, self._find, self._depth = stream, find, 0

    def read(self, level: int = -1) -> _Value:
        """An expression of operators of a level, or stronger ones."""
        self._depth += 1
        if self._depth > DEEPEST * (STRONGEST + 2):
            raise PtxError(f"PTX line {self._stream.line}: operands may be nested {DEEPEST} deep")
        found = self._choice() if level < 0 else self._binary(level)
        self._depth -= 1
        return found

    def _choice(self) -> _Value:
        condition = self.read(0)
        if not self._stream.accept("?"):
            return condition
        true = self.read()
        self._stream.expect(":")
        false = self.read()
        return true if self._truth(condition) else false

    def _binary(self, level: int) -> _Value:
        if level == STRONGEST:
            return self._unary()
        left = self.read(level + 1)
        while self._stream.peek_text() in _LEVELS[level]:
            what = self._stream.next().text
            left = self._joined(what, left, self.read(level + 1))
        return left

    def _unary(self) -> _Value:
        stream = self._stream
        token = stream.next()
        match token.text:
            case "-" if self._find is None and is_name(stream.peek()):
                raise PtxError(
                    f"PTX line {token.line}: -{shown(stream.peek_text())}: only a number may be negative here"
                )
            case "-" | "+":
                value = self.read(STRONGEST)
                self._plain(value, token.text)
                if token.text == "+":
                    return value
                if value.bits:
                    return _Value(0, bits=value.bits ^ (1 << 31))
                return _real(-value.number) if value.is_real else _whole(-int(value.number), value.is_signed)
            case "!":
                return _whole(not self._truth(self.read(STRONGEST)))
            case "~":
                return _whole(~self._integer(self.read(STRONGEST)), False)
            case "(" if stream.peek_text() in (".s64", ".u64"):
                is_signed = stream.next().text == ".s64"
                stream.expect(")")
                return _whole(self._integer(self.read(STRONGEST)), is_signed)
            case "(":
                value = self.read()
                stream.expect(")")
                return value
            case text if text == WARP_SIZE:
                return _whole(32)
        return self._leaf(token)

    def _leaf(self, token: Token) -> _Value:
        if token.kind == "number":
            try:
                value = number(token.text)
            except PtxError as error:
                raise PtxError(f"PTX line {token.line}: {error}") from None
            if value.float_bits == 32:
                return _Value(0, bits=value.value | 1 << 32)
            if value.float_bits:
                return _real(struct.unpack("<d", struct.pack("<Q", value.value))[0])
            return _whole(value.value, not (value.value >> 63 or token.text.endswith("U")))
        if token.kind == "word" and self._find is not None:
            return _Value(0, symbol=self._find(token.text))
        raise PtxError(f"PTX line {token.line}: {shown(token.text)} is not an operand")

    def _joined(self, what: str, left: _Value, right: _Value) -> _Value:
        line = self._stream.line
        if left.symbol and not right.symbol and not right.is_real and what in "+-":
            number_ = int(right.number)
            return _Value(int(left.number) + (number_ if what == "+" else -number_), symbol=left.symbol)
        self._plain(left, what)
        self._plain(right, what)
        if left.bits or right.bits or left.is_real != right.is_real:
            raise PtxError(
                f"PTX line {line}: {what}: both numbers must be whole, or both floating-point ones of 64 bits"
            )
        if what in _COMPARISONS:
            a, b = left.number, right.number
            if not left.is_real and not (left.is_signed and right.is_signed):
                a, b = _unsigned(a), _unsigned(b)
            return _whole(_COMPARISONS[what](a, b))
        if what in "/%" and not right.number:
            raise PtxError(f"PTX line {line}: {what}: a constant is divided by 0")
        if left.is_real:
            if what not in _REAL:
                raise PtxError(f"PTX line {line}: {what}: needs whole numbers")
            return _real(_REAL[what](left.number, right.number))
        a, b = int(left.number), int(right.number)
        if what in ("<<", ">>"):
            places = b & 63
            return _whole(a << places if what == "<<" else a >> places, left.is_signed)
        if what in ("&&", "||"):
            return _whole(bool(a and b) if what == "&&" else bool(a or b))
        is_signed = left.is_signed and right.is_signed and what != "%"
        if not is_signed:
            a, b = int(_unsigned(a)), int(_unsigned(b))
        return _whole(_WHOLE[what](a, b), is_signed)

    def _plain(self, value: _Value, what: str) -> None:
        if value.symbol:
            raise PtxError(
                f"PTX line {self._stream.line}: {what} {value.symbol}: only a number may be added to an address"
            )

    def _integer(self, value: _Value) -> int:
        if value.symbol or value.bits or value.is_real:
            raise PtxError(f"PTX line {self._stream.line}: a whole number is expected in a constant expression")
        return int(value.number)

    def _truth(self, value: _Value) -> bool:
        return bool(self._integer(value))


def is_name(token: Token | None) -> bool:
    """Whether a token names something that is no constant."""
    return token is not None and token.kind == "word" and token.text != WARP_SIZE


def _whole(value: int, is_signed: bool = True) -> _Value:
    """A number as 64 bits hold it."""
    bits = int(value) & ((1 << 64) - 1)
    return _Value(bits - (1 << 64) if is_signed and bits >> 63 else bits, is_signed)


def _real(value: float) -> _Value:
    return _Value(float(value))


def _unsigned(value: float) -> float:
    return int(value) & ((1 << 64) - 1)
