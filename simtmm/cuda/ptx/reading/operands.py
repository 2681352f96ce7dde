"""Operands of instructions."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from simtmm.cuda.ptx.reading.expressions import ADDITIVE, begins_constant, constant, is_name, whole_constant
from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import Token
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
    element_address: writes what computes the address of an element: of an array, an index, the bytes of an element, and
    an offset in bytes.
    """

    find: Callable[[str], str]
    registers: Mapping[str, str]
    vectors: Mapping[str, tuple[str, ...]]
    element_bytes: Callable[[str], int | None]
    element_address: Callable[[Symbol, Register, int, int], Register]


class OperandParser:
    """Reads the operands of an instruction."""

    def __init__(self, stream: TokenStream, names: Names, opcode: str) -> None:
        """opcode: of the instruction; in a call parentheses are lists, elsewhere those of constant expressions."""
        self._stream, self._names, self._opcode = stream, names, opcode
        self._depth = 0

    def all(self) -> tuple[Operand, ...]:
        """Up to the semicolon, which stays."""
        found: list[Operand] = []
        while not self._stream.at(";"):
            operand = self._operand()
            if self._stream.accept("|"):
                operand = Pair(operand, self._operand())
            found.append(operand)
            self._comma(";")
        return tuple(found)

    def _comma(self, end: str) -> None:
        """Take the comma between two operands."""
        if not self._stream.at(end):
            self._stream.expect(",")

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
            case _ if token.kind == "word" and self._stream.at("["):
                return self._element(token)
            case _:
                operand = self._name(token)
                part = _PART.fullmatch(self._stream.peek_text())
                if part is None or not isinstance(operand, Register):
                    return operand
                self._stream.next()
                return Part(operand, part.group(1))

    def _begins_constant(self) -> bool:
        if self._stream.at("!"):
            return not is_name(self._stream.peek(1))
        if self._stream.at("("):
            return not (self._opcode == "call" and self._depth == 0)
        return begins_constant(self._stream.peek())

    def _list(self, end: str) -> tuple[Operand, ...]:
        self._depth += 1
        if self._depth > DEEPEST:
            raise PtxError(f"PTX line {self._stream.line}: operands may be nested {DEEPEST} deep")
        parts: list[Operand] = []
        while not self._stream.accept(end):
            parts.append(self._operand())
            self._comma(end)
        self._depth -= 1
        return tuple(parts)

    def _name(self, token: Token) -> Register | Vector | Symbol:
        """A register, or the parts of a vector; the address of a variable, with what is added to it."""
        if token.kind != "word":
            raise PtxError(f"PTX line {token.line}: {token.text!r} is not an operand")
        name = self._names.find(_plain_part(token.text))
        if name in self._names.registers:
            return Register(name)
        if name in self._names.vectors:
            return Vector(tuple(map(Register, self._names.vectors[name])))
        if token.text in _TRIPLES:
            return Vector((*(Register(f"{name}.{axis}") for axis in "xyz"), Immediate(0)))
        if token.text.startswith("%"):
            return Register(_plain_part(token.text))
        return Symbol(name, whole_constant(self._stream) if self._stream.accept("+") else 0)

    def _element(self, token: Token) -> Operand:
        """An element of an array: in a load or a store what lies there, elsewhere its address.

        An index in a register takes instructions before this one, which compute the address.
        """
        name = self._names.find(token.text)
        size = self._names.element_bytes(name)
        if size is None:
            raise PtxError(
                f"PTX line {token.line}: {shown(token.text)}: an index must follow an array of one dimension"
            )
        self._stream.expect("[")
        register = ""
        if is_name(self._stream.peek()):
            register = self._names.find(self._stream.next().text)
            if register not in self._names.registers:
                raise PtxError(f"PTX line {token.line}: {shown(register)}: an index must be a register or a number")
        offset = 0
        if not register or self._stream.accept("+"):
            offset = size * whole_constant(self._stream)
        self._stream.expect("]")
        is_access = self._opcode in ("ld", "ldu", "st")
        if register:
            place = self._names.element_address(Symbol(name), Register(register), size, offset)
            return Address(place) if is_access else place
        return Address(Symbol(name), offset) if is_access else Symbol(name, offset)

    def _address(self) -> Address:
        base: Register | Symbol | Immediate
        if begins_constant(self._stream.peek()) or self._stream.at("("):
            base = Immediate(whole_constant(self._stream))
        else:
            named = self._name(self._stream.next())
            if isinstance(named, Vector):
                raise PtxError(f"PTX line {self._stream.line}: a vector is not an address")
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


def _plain_part(name: str) -> str:
    """A part of a vector by the name that registers have here: v.x for v.r."""
    return name[:-2] + _COLOURS[name[-2:]] if name[-2:] in _COLOURS else name
