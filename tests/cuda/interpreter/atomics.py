"""Atomic operations: atom gives what was there, red doesn't."""

from simtmm.cuda.ptx.syntax import Instruction, Vector
from tests.cuda.interpreter import arithmetic
from tests.cuda.interpreter.accesses import aligned
from tests.cuda.interpreter.floating import PACKED
from tests.cuda.interpreter.formats import F32, FORMATS, decode, encode, flushed
from tests.cuda.interpreter.opcodes import opcode
from tests.cuda.interpreter.thread import Thread, generic, space_of, whole
from tests.cuda.interpreter.types import bits_of, bytes_of

_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")


@opcode("atom", "red")
def atomic(thread: Thread, instruction: Instruction) -> None:
    """Read, compute, write; of vectors an element after the other."""
    kind = instruction.modifiers[-1]
    operands = list(instruction.operands)
    target = operands.pop(0) if instruction.opcode == "atom" else None
    space, address = thread.address(operands.pop(0), space_of(instruction))
    operation = next(each for each in instruction.modifiers if each in _OPERATIONS)
    values = operands[: 2 if operation == "cas" else 1]
    vectors = [each.parts if isinstance(each, Vector) else (each,) for each in values]
    count = len(vectors[0]) if instruction.has("v2", "v4", "v8") else 1
    if count == 1:
        vectors = [(each,) for each in values]
    size = bytes_of(kind)
    aligned(space, address, size * count)
    flush = kind == "f32" and (generic(address)[0] if space == "generic" else space) == "global"
    before = []
    for at in range(count):
        given = [thread.read(vector[at], kind) for vector in vectors]
        old = thread.load(space, address + size * at, size)
        thread.store(space, address + size * at, size, _result(operation, kind, old, given, flush))
        before.append(old)
    if target is not None:
        parts = target.parts if isinstance(target, Vector) and count > 1 else (target,)
        for part, old in zip(parts, before, strict=True):
            thread.write(part, kind, old)


def _result(operation: str, kind: str, old: int, given: list[int], flush: bool) -> int:
    """What is stored. flush: subnormal numbers are zeros, which they are to additions of f32 in global memory."""
    mask = (1 << bits_of(kind)) - 1
    value = given[0]
    match operation:
        case "exch":
            return value
        case "cas":
            return given[1] if old == value else old
        case "and":
            return old & value
        case "or":
            return old | value
        case "xor":
            return old ^ value
        case "inc":
            return 0 if old >= value else old + 1
        case "dec":
            return value if old == 0 or old > value else old - 1
    part = PACKED.get(kind, kind)
    if part not in FORMATS:
        numbers = whole(old, kind), whole(value, kind)
        return {"add": sum, "min": min, "max": max}[operation](numbers) & mask
    form = FORMATS[part]
    result = 0
    for shift in range(0, bits_of(kind), form.bits):
        bits = [each >> shift & ((1 << form.bits) - 1) for each in (old, value)]
        if flush and form is F32:
            bits = [flushed(each, form) for each in bits]
        function = {"add": arithmetic.add, "min": arithmetic.least, "max": arithmetic.greatest}[operation]
        total = encode(function(*(decode(each, form) for each in bits)), form)
        result |= (flushed(total, form) if flush and form is F32 else total) << shift
    return result
