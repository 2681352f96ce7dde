"""Registers that decide how threads go on in a loop; the others, such as a count of its trips, may change for ever.

A register decides if it may go into an address, a condition, what is stored or handed to others, by whatever way: a
closure over all instructions of the loop, whatever their order. It is only asked for loops of the kernel itself, which
a thread enters in one activation alone: it has left one for good when it has left it.
"""

from functools import lru_cache

from simtmm.cuda.execution.translation.function_code import FunctionCode
from simtmm.cuda.ptx.flow.basic_blocks import components, ends_block
from simtmm.cuda.ptx.flow.loops import loops
from simtmm.cuda.ptx.flow.registers import read
from simtmm.cuda.ptx.flow.spinning import closure
from simtmm.cuda.ptx.syntax import Instruction

# What gives a register a value by other registers of its thread, and does nothing else.
_COMPUTES = {
    "add", "sub", "mul", "mad", "mul24", "mad24", "fma", "div", "rem", "sad", "abs", "neg", "min", "max", "rcp", "sqrt",
    "rsqrt", "sin", "cos", "lg2", "ex2", "tanh", "copysign", "setp", "set", "selp", "slct", "testp", "and", "or", "xor",
    "not", "cnot", "lop3", "shl", "shr", "shf", "bfe", "bfi", "bfind", "bmsk", "brev", "clz", "popc", "fns", "szext",
    "prmt", "cvt", "mov", "cvta",
}  # fmt: skip


def computes(instruction: Instruction) -> bool:
    """Whether an instruction gives registers values by others of its thread, and does nothing else."""
    return instruction.opcode in _COMPUTES and not instruction.has("cc") and not ends_block(instruction)


@lru_cache(64)
def loop_of(code: FunctionCode, number: int) -> frozenset[int]:
    """The blocks of a function between which a thread at one of them may go for ever; empty where it can't."""
    blocks = code.flow.blocks
    edges = [block.targets for block in blocks]
    for component in components(range(len(blocks)), edges, set(range(len(blocks))), 0):
        if number in component:
            is_loop = len(component) > 1 or number in edges[number]
            return frozenset(component) if is_loop else frozenset()
    return frozenset()


def loops_around(code: FunctionCode, number: int) -> tuple[frozenset[int], ...]:
    """The loops that a block of a function is in, the innermost first."""
    return tuple(loop.members for loop in reversed(loops(code.flow.blocks)) if number in loop.members)


@lru_cache(64)
def deciding(code: FunctionCode, loop: frozenset[int]) -> frozenset[str]:
    """The registers that decide how a thread goes on in a loop."""
    instructions = [each for number in loop for each in code.flow.blocks[number].instructions]
    found = {name for each in instructions if not computes(each) for name in read(each)}
    return closure([each for each in instructions if computes(each)], found)
