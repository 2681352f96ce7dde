"""The parts of a kernel's machine code, as nvdisasm writes them: instructions, operands, and what schedules them."""

from dataclasses import dataclass, field
from typing import TypeAlias

SCOREBOARDS = 6  # of a warp, by number


@dataclass(frozen=True)
class Control:
    """What the compiler tells the scheduler of an instruction.

    stall: cycles until the warp may issue its next one. yields: whether another warp should go first. written: the
    scoreboard that is set until the result is there, read: until the operands have been read; None for none. waits:
    scoreboards that must be clear before it issues.
    """

    stall: int
    yields: bool
    written: int | None
    read: int | None
    waits: tuple[int, ...]


@dataclass(frozen=True)
class Reg:
    """A register: "R4", "RZ", "UR4", "P0", "PT", "UP2", "B3".

    negative, absolute, inverted: what is done to its value before it is used (-, | |, ~ or !). part: what stands behind
    a dot, such as "64", "H0_H0", "B1", "X4"; "" for nothing. is_kept: whether it stays in the cache of operands, which
    makes it no other operand.
    """

    name: str
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""
    is_kept: bool = field(default=False, compare=False)

    @property
    def is_predicate(self) -> bool:
        """Whether it holds a condition."""
        return self.name.lstrip("U")[:1] == "P"

    @property
    def is_zero(self) -> bool:
        """Whether it always holds 0, or true."""
        return self.name in ("RZ", "URZ", "PT", "UPT", "SRZ")

    @property
    def number(self) -> int:
        """Which of its kind; 255 for RZ."""
        digits = self.name.lstrip("URPBS")
        return int(digits) if digits.isdecimal() else 255


@dataclass(frozen=True)
class Number:
    """A number as written: a whole one, or a real one.

    bits: of a NaN, of which there are many: the 32 that stand in the instruction; of 64 they are the upper half.
    """

    value: int | float
    bits: int | None = None


@dataclass(frozen=True)
class Constant:
    """What stands in a constant bank, at an offset and behind a register: c[0x3][R4+0x10]."""

    bank: int
    offset: int
    register: Reg | None = None
    negative: bool = False
    absolute: bool = False
    inverted: bool = False
    part: str = ""


@dataclass(frozen=True)
class Memory:
    """A place in memory: the sum of registers and a number. descriptor: the register that says how it is accessed."""

    registers: tuple[Reg, ...]
    offset: int
    descriptor: Reg | None = None


@dataclass(frozen=True)
class Descriptors:
    """Pairs of registers that describe matrices in shared memory, from a first one on: gdesc[UR4].tnspB.

    parts: what is done to the matrices.
    """

    register: str
    parts: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """A label."""

    name: str


@dataclass(frozen=True)
class Word:
    """A name that is not a register: SR_TID.X, 2D, SB0."""

    text: str


@dataclass(frozen=True)
class Boards:
    """Scoreboards by number: {5,4,0}."""

    numbers: tuple[int, ...]


Operand: TypeAlias = Reg | Number | Constant | Memory | Descriptors | Target | Word | Boards


@dataclass(frozen=True)
class MachineInstruction:
    """An instruction.

    address: in its section [bytes]. guard: the predicate that decides who takes part. opcode: "IADD3"; modifiers: what
    stands behind it, such as ("X",). targets: of a jump by a register, where it may lead. ptx_line: the line of PTX
    that it carries out, 0 where none is given. text: as it is written.
    """

    address: int
    guard: Reg | None
    opcode: str
    modifiers: tuple[str, ...]
    operands: tuple[Operand, ...]
    control: Control
    ptx_line: int
    text: str
    targets: tuple[str, ...] = ()

    def has(self, *modifiers: str) -> bool:
        """Whether it has one of these modifiers."""
        return any(modifier in self.modifiers for modifier in modifiers)


@dataclass(frozen=True)
class MachineLabel:
    """A place to jump to."""

    name: str
    address: int


@dataclass(frozen=True)
class Listing:
    """The machine code of a kernel, what it calls included: instructions and labels in order."""

    items: tuple[MachineInstruction | MachineLabel, ...]

    @property
    def instructions(self) -> tuple[MachineInstruction, ...]:
        """Without labels."""
        return tuple(item for item in self.items if isinstance(item, MachineInstruction))
