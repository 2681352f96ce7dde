"""SIMD video instructions: two halves or four bytes of a word, each for itself, or added up."""

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.comparisons import compare
from tests.cuda.interpreter.opcodes import clamped, opcode
from tests.cuda.interpreter.thread import Thread, whole

_NAMES = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")


def _lane(name: str, instruction: Instruction, a: int, b: int) -> int:
    match name:
        case "vadd":
            return a + b
        case "vsub":
            return a - b
        case "vavrg":
            return (a + b + int(a + b >= 0)) >> 1
        case "vabsdiff":
            return abs(a - b)
        case "vmin":
            return min(a, b)
        case "vmax":
            return max(a, b)
    return int(compare(instruction.modifiers[2], a, b))


@opcode(*(f"{name}{lanes}" for name in _NAMES for lanes in (2, 4)))
def video(thread: Thread, instruction: Instruction) -> None:
    """A word of results; .sat keeps each in range, .add gives their sum plus the third operand."""
    name, lanes = instruction.opcode[:-1], int(instruction.opcode[-1])
    width = 32 // lanes
    types = [each for each in instruction.modifiers if each in ("u32", "s32")]
    to, first, second = types if len(types) == 3 else ("u32", *types)
    a, b, *rest = (thread.read(operand, "b32") for operand in instruction.operands[1:])
    results = []
    for shift in range(0, 32, width):
        left, right = whole(a >> shift, f"{first[0]}{width}"), whole(b >> shift, f"{second[0]}{width}")
        results.append(_lane(name, instruction, left, right))
    if instruction.has("sat"):
        results = [clamped(each, f"{to[0]}{width}") for each in results]
    if instruction.has("add"):
        total = sum(results) + rest[0]
    else:
        total = sum((each & ((1 << width) - 1)) << at * width for at, each in enumerate(results))
    thread.write(instruction.operands[0], "b32", total)
