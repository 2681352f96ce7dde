"""Operands of instructions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simtmm.cuda.ptx.expressions import ADDITIVE, WARP_SIZE, begins_constant, constant, whole_constant
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
from simtmm.cuda.ptx.tokens import Token
from simtmm.errors import PtxError, shown

DEEPEST = 8  # lists within one another; a tensor's coordinates take two
_PART = re.compile(r"\.([bh]\d+)")
_COLOURS = {".r": ".x", ".g": ".y", ".b": ".z", ".a": ".w"}  # other names of a vector's parts
_TRIPLES = ("%tid", "%ntid", "%ctaid", "%nctaid", "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid")


@dataclass(frozen=True)
class Names:
    """What names mean where an operand stands.

    find: the function's name of a name here. registers: those that are declared. vectors: the registers of those that
    are declared as vectors. element_bytes: of an array by its name in the function, None for what is no variable.
    """

    find: Callable[[str], str]
    registers: Mapping[str, str]
    vectors: Mapping[str, tuple[str, ...]]
    element_bytes: Callable[[str], int | None]


class OperandParser:
    """Reads the operands of an instruction."""

    def __init__(self, stream: TokenStream, names: Names, is_call: bool = False) -> None:
        """is_call: whether parentheses are lists, as in a call: elsewhere they are those of constant expressions."""
        self._stream, self._names, self._is_call = stream, names, is_call
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
        if self._begins_constant():
            found = constant(self._stream)
            assert isinstance(found, Immediate)
            return found
        token = self._stream.next()
        match token.text:
            case "{":
                return Vector(self._list("}"))
            case "(":
                return Group(self._list(")"))
            case "[":
                return self._address()
            case "!":
                return Negated(Register(self._names.find(self._stream.next().text)))
            case "_":
                return Sink()
            case _:
                operand = self._name(token)
                part = _PART.fullmatch(self._stream.peek_text())
                if part is None or not isinstance(operand, Register):
                    return operand
                self._stream.next()
                return Part(operand, part.group(1))

    def _begins_constant(self) -> bool:
        if self._stream.at("!"):
            return not _is_name(self._stream.peek(1))
        if self._stream.at("("):
            return not (self._is_call and self._depth == 0)
        return begins_constant(self._stream.peek())

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

    def _name(self, token: Token) -> Register | Vector | Symbol:
        """A register, or the parts of a vector; the address of a variable, with what is added to it."""
        if token.kind != "word":
            raise PtxError(f"PTX line {token.line}: {token.text!r} is no operand")
        name = self._names.find(_plain_part(token.text))
        if name in self._names.registers:
            return Register(name)
        if name in self._names.vectors:
            return Vector(tuple(map(Register, self._names.vectors[name])))
        if token.text in _TRIPLES:
            return Vector((*(Register(f"{name}.{axis}") for axis in "xyz"), Immediate(0)))
        if token.text.startswith("%"):
            return Register(_plain_part(token.text))
        offset = self._element(token, name) if self._stream.at("[") else 0
        if self._stream.accept("+"):
            offset += whole_constant(self._stream)
        return Symbol(name, offset)

    def _element(self, token: Token, name: str) -> int:
        """Where an element of an array begins that an index in brackets names [bytes]."""
        self._stream.expect("[")
        size = self._names.element_bytes(name)
        if size is None:
            raise PtxError(
                f"PTX line {token.line}: {shown(token.text)}: an index stands behind a variable's name alone"
            )
        if not begins_constant(self._stream.peek()) and not self._stream.at("("):
            raise PtxError(
                f"PTX line {token.line}: {token.text}[{self._stream.peek_text()}: must be a number; "
                "an index in a register is not run here"
            )
        index = whole_constant(self._stream)
        self._stream.expect("]")
        return index * size

    def _address(self) -> Address:
        base: Register | Symbol | Immediate
        if begins_constant(self._stream.peek()) or self._stream.at("("):
            base = Immediate(whole_constant(self._stream))
        else:
            named = self._name(self._stream.next())
            if isinstance(named, Vector):
                raise PtxError(f"PTX line {self._stream.line}: a vector is no address")
            base = named
        offset = 0
        if self._stream.accept("+"):
            offset = whole_constant(self._stream)
        elif self._stream.at("-"):
            offset = whole_constant(self._stream, ADDITIVE)
        if isinstance(base, Symbol):
            base, offset = Symbol(base.name), base.offset + offset
        rest: list[Operand] = []
        while self._stream.accept(","):
            rest.append(self._operand())
        self._stream.expect("]")
        return Address(base, offset, tuple(rest))


def _is_name(token: Token | None) -> bool:
    return token is not None and token.kind == "word" and token.text != WARP_SIZE


def _plain_part(name: str) -> str:
    """A part of a vector by the name that registers have here: v.x for v.r."""
    return name[:-2] + _COLOURS[name[-2:]] if name[-2:] in _COLOURS else name
