"""The body of a function: registers, variables, labels and instructions."""

import dataclasses
import re
from collections.abc import Mapping
from functools import cached_property

from simtmm.cuda.ptx.reading.declarations import parameters, variables
from simtmm.cuda.ptx.reading.elements import Elements
from simtmm.cuda.ptx.reading.expressions import STRONGEST, whole_constant
from simtmm.cuda.ptx.reading.locations import Locations
from simtmm.cuda.ptx.reading.operands import Names, OperandParser
from simtmm.cuda.ptx.reading.scopes import Scope, unique_name
from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.reading.tokens import tokens
from simtmm.cuda.ptx.syntax import (
    Function,
    Group,
    Instruction,
    Label,
    Negated,
    Prototype,
    Register,
    Symbol,
    Variable,
)
from simtmm.errors import PtxError, shown

_LEAVING = ("ret", "exit", "trap", "bra", "brx")
_GLOBAL = re.compile(r"\.(?:global|const)\s+\.")
MOST_STATEMENTS = 100_000  # of a function: some minutes of translation, and 10 KB each
MOST_REGISTERS = 1 << 20  # of one declaration; compilers number those of a kernel by the thousand


class BodyParser:
    """A function whose body is parsed when it is needed."""

    def __init__(  # noqa: PLR0913, PLR0917 - each is a part of the function
        self,
        text: str,
        body: tuple[int, int, int] | None,
        name: str,
        entry: bool,
        returns: tuple[Variable, ...],
        taken: tuple[Variable, ...],
        bounds: Mapping[str, tuple[int, ...]],
        strings: Mapping[str, str],
        line: int,
        outer: dict[str, Variable],
    ) -> None:
        """body: where it stands in the text: start, line, end. strings: names of inlined functions by label.

        outer: the variables of the module; those of global and constant memory that the body declares join them.
        """
        self.entry, self._outer = entry, outer
        self._text, self._body, self._strings = text, body, strings
        self._name, self._returns, self._taken, self._bounds, self._line = name, returns, taken, bounds, line

    @property
    def has_body(self) -> bool:
        """Whether it is defined here."""
        return self._body is not None

    @cached_property
    def lines(self) -> range:
        """Lines of the text that its body has; none of a function that is declared only."""
        if self._body is None:
            return range(0)
        start, line, end = self._body
        return range(line, line + self._text.count("\n", start, end) + 1)

    def renamed(self, name: str) -> "BodyParser":
        """The same function by another name."""
        return BodyParser(
            self._text, self._body, name, self.entry, self._returns, self._taken, self._bounds, self._strings,
            self._line, self._outer,
        )  # fmt: skip

    @property
    def declares_global(self) -> bool:
        """Whether its body may declare variables of global or constant memory, which live as long as the module."""
        return self._body is not None and bool(_GLOBAL.search(self._text, self._body[0], self._body[2]))

    def function(self) -> Function:
        """The function, parsed. Raises PtxError."""
        self._used: set[str] = set()
        self._labels: set[str] = set()
        self._scope = Scope(None, self._used, self._labels)
        self._jumps: list[tuple[int, Scope]] = []  # instructions that name labels
        self._registers: dict[str, str] = {}
        self._vectors: dict[str, tuple[str, ...]] = {}
        self._variables: list[Variable] = []
        self._instructions: list[Instruction | Label] = []
        self._tables: dict[str, tuple[tuple[str, ...], Scope]] = {}
        self._prototypes: dict[str, Prototype] = {}
        self._locations = Locations(self._strings)
        for parameter in (*self._returns, *self._taken):
            self._used.add(parameter.name)
            if parameter.space == "reg":
                self._registers[parameter.name] = parameter.type
        if self._body is not None:
            start, line, end = self._body
            if (statements := self._text.count(";", start, end)) > MOST_STATEMENTS:
                raise PtxError(f"{self._name}: has {statements:,} statements: must have at most {MOST_STATEMENTS:,}")
            stream = TokenStream(tokens(self._text, line, start, end))
            while stream.peek() is not None:
                self._statement(stream)
            self._end(end)
        self._name_targets()
        return Function(
            self._name,
            self.entry,
            self._returns,
            self._taken,
            self._registers,
            tuple(self._variables),
            tuple(self._instructions) if self._body is not None else None,
            {name: tuple(map(scope.find_label, labels)) for name, (labels, scope) in self._tables.items()},
            self._prototypes,
            self._bounds,
            self._line,
            self._body[0] - 1 if self._body is not None else -1,
        )

    def _end(self, place: int) -> None:
        """Let a function return whose end is passed; a kernel's threads leave there."""
        last = self._instructions[-1] if self._instructions else None
        is_last = isinstance(last, Instruction) and last.opcode in _LEAVING and last.guard is None
        if not self.entry and not is_last:
            line = last.line if isinstance(last, Instruction) else self._line
            self._instructions.append(Instruction("ret", (), (), None, line, None, "ret", start=place, end=place))

    def _statement(self, stream: TokenStream) -> None:
        token = stream.next()
        if token.text == "{":
            self._scope = Scope(self._scope, self._used, self._labels)
        elif token.text == "}":
            if self._scope.outer is None:
                raise PtxError(f"PTX line {token.line}: this brace closes nothing")
            self._scope = self._scope.outer
        elif token.text == ";":
            pass
        elif token.kind == "modifier":
            self._directive(token.text, stream)
        elif token.kind == "word" and stream.accept(":"):
            self._label(token.text, token.start, stream)
        else:
            self._instruction(token.text, token.line, token.start, stream)

    def _label(self, name: str, start: int, stream: TokenStream) -> None:
        match stream.peek_text():
            case ".branchtargets" | ".calltargets":
                stream.next()
                targets = []
                while not stream.accept(";"):
                    targets.append(stream.next().text)
                    stream.accept(",")
                self._tables[self._scope.declare_label(name)] = (tuple(targets), self._scope)
            case ".callprototype":
                stream.next()
                returns = parameters(stream) if stream.at("(") else ()
                stream.next()  # _
                taken = parameters(stream) if stream.at("(") else ()
                while not stream.accept(";"):
                    stream.next()
                self._prototypes[self._scope.declare_label(name)] = Prototype(returns, taken)
            case _:
                if self._scope.has_label(name):
                    raise PtxError(f"PTX line {stream.line}: label {shown(name)} appears more than once")
                self._instructions.append(Label(self._scope.declare_label(name), start))

    def _name_targets(self) -> None:
        """Let jumps name the labels of their own blocks in braces."""
        for number, scope in self._jumps:
            jump = self._instructions[number]
            assert isinstance(jump, Instruction)
            named = [operand for operand in jump.operands if not isinstance(operand, Group)]
            target = jump.operands[-1] if jump.operands else None
            if jump.opcode == "call" and len(named) < 2:  # the function alone, and no list of targets or prototype
                continue
            if isinstance(target, Symbol) and scope.find_label(target.name) != target.name:
                operands = (*jump.operands[:-1], Symbol(scope.find_label(target.name)))
                self._instructions[number] = dataclasses.replace(jump, operands=operands)

    def _find_register(self, name: str) -> str:
        """As scopes find names, except that names of labels stay unchanged."""
        found = self._scope.find(name)
        return found if found in self._registers else name

    def _directive(self, name: str, stream: TokenStream) -> None:
        match name:
            case ".loc":
                self._locations.read(stream)
                return
            case ".reg":
                self._declare_registers(stream)
            case ".local" | ".shared" | ".param" | ".global" | ".const":
                self._declare_variables(stream, name[1:])
            case ".pragma":
                stream.next()
            case _:
                raise PtxError(f"PTX line {stream.line}: {name} is not supported in a function")
        stream.expect(";")

    def _declare_variables(self, stream: TokenStream, space: str, is_extern: bool = False) -> None:
        line = stream.line
        for declared in variables(stream, space, is_extern):
            if space in ("global", "const"):
                # As the assembler calls them, so that its machine code can be read.
                unique = unique_name(f"$__{declared.name}__{line}", self._used)
                self._scope.declare(declared.name, unique)
                self._outer[unique] = dataclasses.replace(declared, name=unique)
            else:
                unique = self._scope.declare(declared.name)
                self._variables.append(dataclasses.replace(declared, name=unique))

    def _element_bytes(self, name: str) -> int | None:
        """Of an array by its name in the function; None for what is none."""
        own = next((each for each in self._variables if each.name == name), None) or self._outer.get(name)
        return own.element_bytes or None if own is not None else None

    def _declare_registers(self, stream: TokenStream) -> None:
        lanes, kind = 1, stream.next().text[1:]
        if kind in ("v2", "v4"):
            lanes, kind = int(kind[1:]), stream.next().text[1:]
        while True:
            name = stream.next().text
            names = [name]
            if stream.accept("<"):
                names = [f"{name}{number}" for number in range(self._count(stream))]
                stream.expect(">")
            for each in names:
                own = self._scope.declare(each)
                if lanes == 1:
                    self._registers[own] = kind
                    continue
                self._vectors[own] = tuple(self._scope.declare(f"{each}.{part}") for part in "xyzw"[:lanes])
                self._registers |= dict.fromkeys(self._vectors[own], kind)
            if not stream.accept(","):
                return

    def _count(self, stream: TokenStream) -> int:
        """Of registers that are declared at once."""
        count = whole_constant(stream, STRONGEST)
        if not 0 <= count <= MOST_REGISTERS:
            raise PtxError(f"PTX line {stream.line}: must be at most {MOST_REGISTERS:,} registers, not {shown(count)}")
        return count

    def _instruction(self, first: str, line: int, start: int, stream: TokenStream) -> None:
        guard: Register | Negated | None = None
        if first == "@":
            negative = stream.accept("!")
            predicate = Register(self._scope.find(stream.next().text))
            guard = Negated(predicate) if negative else predicate
            first = stream.next().text
        modifiers = []
        while (token := stream.peek()) is not None and token.kind == "modifier":
            modifiers.append(stream.next().text[1:])
        find = self._scope.find
        if first in ("bra", "brx"):
            find = self._find_register
        elements = Elements(self._registers)
        names = Names(find, self._registers, self._vectors, self._element_bytes, elements.address)
        operands = OperandParser(stream, names, first).all()
        end = stream.next()
        if end.text != ";":
            raise PtxError(f"PTX line {end.line}: ';' is expected, not {end.text!r}")
        text = " ".join(self._text[start : end.start].split())
        location = self._locations.current
        made = Instruction(
            first, tuple(modifiers), operands, guard, line, location, text, start=start, end=end.start + 1
        )
        self._instructions += [
            dataclasses.replace(made, opcode=each.opcode, modifiers=each.modifiers, operands=each.operands, guard=None)
            for each in elements.before
        ]
        if first in ("bra", "brx", "call"):
            self._jumps.append((len(self._instructions), self._scope))
        self._instructions.append(made)
