"""Loops in which threads wait for what others write: what they look at, and where a turn of theirs may end.

Turns end where a loop comes round. Of one that takes and gives back till it has got something, `while (atomicAdd(n, 1)
>= most) atomicSub(n, 1);`, a compiler makes a loop that gives back first and then takes: where it comes round each
thread holds what it has taken in vain, and those that hold enough keep each other out for ever. Turns of such a loop
have to end between the two as well, now and then.
"""

from collections.abc import Iterable, Sequence

from simtmm.cuda.ptx.flow.basic_blocks import Block, ControlFlow, communicates
from simtmm.cuda.ptx.flow.loops import loops
from simtmm.cuda.ptx.flow.registers import read, written
from simtmm.cuda.ptx.isa import row_of
from simtmm.cuda.ptx.syntax import Function, Instruction


def closure(instructions: Sequence[Instruction], names: set[str]) -> frozenset[str]:
    """Registers, and those that may go into them by some instructions, whatever their order."""
    sources: dict[str, set[str]] = {}
    for each in instructions:
        for name in written(each):
            sources.setdefault(name, set()).update(read(each))
    found, pending = set(names), list(names)
    while pending:
        more = sources.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return frozenset(found)


def spun_upon(blocks: Sequence[Block], loop: Iterable[int]) -> list[Instruction]:
    """The instructions of a loop whose data may decide whether it is left."""
    members = frozenset(loop)
    instructions = [each for number in members for each in blocks[number].instructions]
    leaving = [
        blocks[number].instructions[-1]
        for number in members
        if blocks[number].instructions and any(target not in members for target in blocks[number].targets)
    ]
    passing = [each for each in instructions if not row_of(each.opcode).memory]
    deciders = closure(passing, {name for each in leaving for name in read(each)})
    return [each for each in instructions if row_of(each.opcode).memory and deciders & {*written(each)}]


def turn_ends(function: Function, flow: ControlFlow) -> frozenset[int]:
    """The instructions, by id, behind which turns may end: what a loop that waits writes for others, if that is more
    than one thing; of a function that is called, whose callers may be such loops, all that it writes for others.
    """
    every = [each for block in flow.blocks for each in block.instructions]
    if not function.entry:
        return frozenset(id(each) for each in every if _tells(each))
    found: set[int] = set()
    if sum(_tells(each) or each.opcode == "call" for each in every) < 2:
        return frozenset()
    for loop in loops(flow.blocks):
        instructions = [each for number in loop.members for each in flow.blocks[number].instructions]
        told = [each for each in instructions if _tells(each)]
        calls = sum(each.opcode == "call" for each in instructions)  # of functions that may do either
        if len(told) + calls > 1 and (calls or any(map(communicates, spun_upon(flow.blocks, loop.members)))):
            found |= {id(each) for each in told}
    return frozenset(found)


def _tells(instruction: Instruction) -> bool:
    """Whether it writes, in memory and in a step of a trace of its own, what others look at while they wait."""
    if instruction.issue is not None and not instruction.issue.recorded:
        return False
    return instruction.opcode in ("atom", "red") or (instruction.opcode == "st" and communicates(instruction))
