"""The table of opcodes: a function each, of the thread and the instruction."""

from collections.abc import Callable
from typing import TypeAlias

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.thread import Thread, whole
from tests.cuda.interpreter.types import bits_of

Handler: TypeAlias = Callable[[Thread, Instruction], None]

OPCODES: dict[str, Handler] = {}


def opcode(*names: str) -> Callable[[Handler], Handler]:
    """Let a function be that of these opcodes."""

    def register(handler: Handler) -> Handler:
        for name in names:
            if name in OPCODES:
                raise ValueError(f"{name} appears more than once")
            OPCODES[name] = handler
        return handler

    return register


def sources(thread: Thread, instruction: Instruction, *kinds: str) -> list[int]:
    """The bits of the operands behind the destination, each of its type."""
    return [thread.read(operand, kind) for operand, kind in zip(instruction.operands[1:], kinds, strict=True)]


def numbers(thread: Thread, instruction: Instruction, *kinds: str) -> list[int]:
    """The operands behind the destination as whole numbers."""
    return [whole(bits, kind) for bits, kind in zip(sources(thread, instruction, *kinds), kinds, strict=True)]


def clamped(number: int, kind: str) -> int:
    """The number of a type that is nearest."""
    width = bits_of(kind)
    low, high = (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "s" else (0, (1 << width) - 1)
    return min(max(number, low), high)
