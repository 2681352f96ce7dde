"""Operands of instructions."""

import re
from collections.abc import Callable, Mapping

from simtmm.cuda.ptx.stream import TokenStream
from simtmm.cuda.ptx.syntax import (
    Address,
    Group,
    Immediate,
    Negated,
    Operand,
    Pair,
    Part,
    Register,
    Sink,
    Symbol,
    Vector,
)
from simtmm.cuda.ptx.tokens import Token, number
from simtmm.errors import PtxError

DEEPEST = 8  # lists within one another; a tensor's coordinates take two
_PART = re.compile(r"\.([bh]\d+)")


class OperandParser:
    """Reads the operands of an instruction."""

    def __init__(self, stream: TokenStream, find: Callable[[str], str], registers: Mapping[str, str]) -> None:
        """find: the function's name of a name here. registers: those that are declared."""
        self._stream, self._find, self._registers = stream, find, registers
        self._depth = 0

    def all(self) -> tuple[Operand, ...]:
        """Up to the semicolon, which stays."""
        found: list[Operand] = []
        while not self._stream.at(";"):
            operand = self._operand()
            if self._stream.accept("|"):
                operand = Pair(operand, self._operand())
            found.append(operand)
            self._stream.accept(",")
        return tuple(found)

    def _operand(self) -> Operand:
        token = self._stream.next()
        match token.text:
            case "{":
                return Vector(self._list("}"))
            case "(":
                return Group(self._list(")"))
            case "[":
                return self._address()
            case "!":
                return Negated(Register(self._find(self._stream.next().text)))
            case "_":
                return Sink()
            case "-":
                return self._negative(self._stream.next())
            case _:
                operand = self._plain(token)
                part = _PART.fullmatch(self._stream.peek_text())
                if part is None or not isinstance(operand, Register):
                    return operand
                self._stream.next()
                return Part(operand, part.group(1))

    def _list(self, end: str) -> tuple[Operand, ...]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise PtxError(f"PTX line {self._stream.line}: operands may be nested {DEEPEST} deep")
        parts: list[Operand] = []
        while not self._stream.accept(end):
            parts.append(self._operand())
            self._stream.accept(",")
        self._depth -= 1
        return tuple(parts)

    def _plain(self, token: Token) -> Register | Symbol | Immediate:
        """A name or a number."""
        if token.kind == "number":
            return number(token.text)
        if token.kind != "word":
            raise PtxError(f"PTX line {token.line}: {token.text!r} is no operand")
        name = self._find(token.text)
        if name in self._registers or token.text.startswith("%") or token.text in ("WARP_SZ",):
            return Register(name)
        offset = 0
        while self._stream.at("+"):
            self._stream.next()
            offset += self._whole()
        return Symbol(name, offset)

    def _negative(self, token: Token) -> Immediate:
        if token.kind != "number":
            raise PtxError(f"PTX line {token.line}: -{token.text}: only a number may be negative here")
        value = number(token.text)
        if value.float_bits:
            return Immediate(value.value ^ (1 << (value.float_bits - 1)), value.float_bits)
        return Immediate(-value.value)

    def _whole(self) -> int:
        negative = self._stream.accept("-")
        value = number(self._stream.next().text).value
        return -value if negative else value

    def _address(self) -> Address:
        token = self._stream.next()
        base: Register | Symbol | Immediate
        base = Immediate(-number(self._stream.next().text).value) if token.text == "-" else self._plain(token)
        offset = 0
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset
        while self._stream.at("+") or self._stream.at("-"):
            sign = 1 if self._stream.next().text == "+" else -1
            offset += sign * self._whole()
        rest: list[Operand] = []
        while self._stream.accept(","):
            rest.append(self._operand())
        self._stream.expect("]")
        return Address(base, offset, tuple(rest))
