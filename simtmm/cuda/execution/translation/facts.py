"""What follows from a program's code, found once: programs launch the same kernel a thousand times."""

import functools
from collections.abc import Callable, Iterator
from typing import TypeVar
from weakref import WeakKeyDictionary

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx.syntax import Instruction

Fact = TypeVar("Fact")


def fact(find: Callable[[Program], Fact]) -> Callable[[Program], Fact]:
    """A function that looks through the code of a program, as one that does so once for each of them.

    find: the function.
    """
    known: WeakKeyDictionary[Program, Fact] = WeakKeyDictionary()

    @functools.wraps(find)
    def of(program: Program) -> Fact:
        if program not in known:
            known[program] = find(program)
        return known[program]

    return of


def instructions_of(program: Program) -> Iterator[Instruction]:
    """All instructions of a kernel and of the functions that it may call.

    program: the kernel's.
    """
    return (each for code in program.codes for block in code.flow.blocks for each in block.instructions)
