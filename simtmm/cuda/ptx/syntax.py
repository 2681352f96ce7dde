"""The parts of a PTX module, as written: variables, functions, instructions and their operands.

Names of variables, registers and labels are unique within a function: the parser renames what an inner scope
declares anew.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeAlias


@dataclass(frozen=True)
class Location:
    """A place in the user's source, of a `.loc` directive; column 0: unknown.

    file: an index of the module's files. function: the function it was inlined from, "" for none. inlined_at: where
    that was called, None if it was not inlined.
    """

    file: int
    line: int
    column: int = 0
    function: str = ""
    inlined_at: "Location | None" = None


@dataclass(frozen=True)
class Register:
    """A register, or a special register such as %tid.x."""

    name: str


@dataclass(frozen=True)
class Immediate:
    """A number as written: a whole number, or the bits of a floating-point number of so many bits."""

    value: int
    float_bits: int = 0


@dataclass(frozen=True)
class Symbol:
    """The address of a variable, a function or a label, and an offset in bytes."""

    name: str
    offset: int = 0


@dataclass(frozen=True)
class Address:
    """What stands in brackets: base plus offset, and coordinates of textures behind it."""

    base: "Register | Symbol | Immediate"
    offset: int = 0
    rest: "tuple[Operand, ...]" = ()


@dataclass(frozen=True)
class Vector:
    """Operands in braces."""

    parts: "tuple[Operand, ...]"


@dataclass(frozen=True)
class Negated:
    """!p, a predicate the other way round."""

    register: Register


@dataclass(frozen=True)
class Pair:
    """d|p: two destinations."""

    first: "Operand"
    second: "Operand"


@dataclass(frozen=True)
class Part:
    """Bytes or halves of a register, of video instructions: which is "b0", "h1", "b7654"."""

    register: Register
    which: str


@dataclass(frozen=True)
class Sink:
    """_: a destination that nobody wants, or an operand left out."""


@dataclass(frozen=True)
class Group:
    """Operands in parentheses, of a call."""

    parts: "tuple[Operand, ...]"


Operand: TypeAlias = Register | Immediate | Symbol | Address | Vector | Negated | Pair | Part | Sink | Group


@dataclass(frozen=True)
class Issue:
    """What an instruction that stands for the machine's own costs its warp, and waits for.

    work: the class of the machine's instruction, None for what is none of its own: a part of another. stall: cycles,
    beyond one, until the warp may issue its next. needs: scoreboards that must be clear before it. gives: scoreboards
    that its load sets. commits: whether it makes a group of the copies so far. in_flight: how many of the latest groups
    it leaves under way where it waits for the others, else None. result: where a scoreboard tells that its value is
    there, though it loads nothing, the class that its latency goes by and the scoreboard. operand_cycles: beyond one,
    that it takes to read its registers. recorded: whether its access is one. address: of the
    machine's instruction, of what stands for all of it.
    """

    work: str | None = None
    stall: int = 0
    needs: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    commits: bool = False
    in_flight: int | None = None
    result: tuple[str, str] | None = None
    operand_cycles: int = 0
    recorded: bool = False
    address: int = -1


@dataclass(frozen=True)
class Instruction:
    """An instruction.

    opcode: such as "add". modifiers: such as ("rn", "f32"), in order. guard: the predicate that decides who takes
    part, None for everyone. line: of the PTX text, from 1. location: of the user's source, if known. text: as it is
    written, on one line. issue: where it carries out an instruction of the machine, what that is to its warp. start,
    end: where it stands in the PTX text, its guard and its semicolon included; -1 for what stands in none.
    """

    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    guard: Register | Negated | None
    line: int
    location: Location | None
    text: str
    issue: Issue | None = None
    start: int = field(default=-1, compare=False)
    end: int = field(default=-1, compare=False)

    @cached_property
    def name(self) -> str:
        """Opcode and modifiers, as written."""
        return ".".join((self.opcode, *self.modifiers))

    def has(self, *modifiers: str) -> bool:
        """Whether it has one of these modifiers."""
        return any(modifier in self.modifiers for modifier in modifiers)


@dataclass(frozen=True)
class Pointer:
    """An address that a variable holds from the start, or a byte of one.

    offset, size: where it stands in the variable [bytes]. symbol: whose address. is_generic: whether it is a generic
    address. shift: bits of the address that are left out below what is held.
    """

    offset: int
    size: int
    symbol: Symbol
    is_generic: bool
    shift: int = 0

    def held(self, address: int) -> bytes:
        """What stands there of the address that the symbol has."""
        return ((address + self.symbol.offset) >> self.shift & (1 << 8 * self.size) - 1).to_bytes(self.size, "little")


@dataclass(frozen=True)
class Variable:
    """A variable of a state space.

    space: "global", "const", "shared", "local" or "param". type: of an element, such as "f32" or "b8". align, size:
    of all of it [bytes]; size 0 for an array without a size. initial: what it holds at first, None for zeros;
    pointers: where addresses of symbols stand. element_bytes: of what an index counts; 0 for
    what is no array of one dimension.
    """

    name: str
    space: str
    type: str
    align: int
    size: int
    initial: bytes | None = None
    pointers: "tuple[Pointer, ...]" = ()
    extern: bool = False
    element_bytes: int = 0


@dataclass(frozen=True)
class Label:
    """A place to jump to. start: where it stands in the PTX text."""

    name: str
    start: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Prototype:
    """The parameters and returned values of functions that are called through a pointer."""

    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]


@dataclass(frozen=True)
class Function:
    """An entry (a kernel) or a device function.

    registers: the type of each. variables: those of its own, demoted ones of shared memory as well. body: instructions
    and labels, in order; None for a function that is declared only. tables: branch and call targets by label.
    bounds: directives such as maxntid. opening: where the brace of its body stands in the PTX text.
    """

    name: str
    entry: bool
    returns: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    registers: Mapping[str, str]
    variables: tuple[Variable, ...]
    body: "tuple[Instruction | Label, ...] | None"
    tables: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    prototypes: Mapping[str, Prototype] = field(default_factory=dict)
    bounds: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    line: int = 0
    opening: int = field(default=-1, compare=False)


@dataclass(frozen=True)
class Module:
    """A PTX module.

    target: such as "sm_90". files: the paths of `.file` directives, by index. variables: of the module, by name.
    functions: by name; bodies are parsed when they are needed.
    """

    version: tuple[int, int]
    target: str
    files: Mapping[int, str]
    variables: Mapping[str, Variable]
    functions: "Mapping[str, Function]"

    @property
    def entries(self) -> tuple[str, ...]:
        """The names of its kernels."""
        return tuple(name for name, function in self.functions.items() if function.entry)

    def is_defined(self, name: str) -> bool:
        """Whether a function has a body."""
        return self.functions[name].body is not None

    def functions_at(self, lines: Collection[int]) -> Iterable[str]:
        """The names of its functions in whose text some of these lines are, or of more.

        lines: of the PTX text, from 1.
        """
        del lines
        return self.functions
