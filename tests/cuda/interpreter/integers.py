"""Integer arithmetic."""

from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.floating import FLOATING
from tests.cuda.interpreter.formats import FORMATS
from tests.cuda.interpreter.opcodes import clamped, numbers, opcode, sources
from tests.cuda.interpreter.thread import Thread, signed, whole
from tests.cuda.interpreter.types import bits_of, is_type

_PAIRS = ("u16x2", "s16x2")


@opcode("add", "sub", "mul", "mad", "div", "rem", "abs", "neg", "min", "max")
def arithmetic(thread: Thread, instruction: Instruction) -> None:
    """What floating-point numbers have as well. The type may stand in front of .relu."""
    kind = [each for each in instruction.modifiers if is_type(each) or each in _PAIRS][-1]
    if kind in FORMATS or kind in ("f16x2", "bf16x2"):
        FLOATING[instruction.opcode](thread, instruction)
    elif kind in _PAIRS:
        _pairs(thread, instruction, kind[:3])
    elif instruction.opcode in ("mul", "mad"):
        _multiply(thread, instruction, kind)
    else:
        values = numbers(thread, instruction, *[kind] * (len(instruction.operands) - 1))
        thread.write(instruction.operands[0], kind, _result(thread, instruction, kind, values))


def _result(thread: Thread, instruction: Instruction, kind: str, values: list[int]) -> int:
    match instruction.opcode:
        case "add" | "sub":
            result = values[0] + values[1] if instruction.opcode == "add" else values[0] - values[1]
            if instruction.has("cc"):
                unsigned = [each & ((1 << bits_of(kind)) - 1) for each in values]
                if instruction.opcode == "add":
                    thread.carry = sum(unsigned) >> bits_of(kind)
                else:
                    thread.carry = int(unsigned[0] >= unsigned[1])  # nothing is borrowed
            return clamped(result, kind) if instruction.has("sat") else result
        case "div" | "rem":
            return _divide(instruction.opcode, *values)
        case "abs":
            return abs(values[0])
        case "neg":
            return -values[0]
        case "min":
            result = min(values)
        case _:
            result = max(values)
    return max(result, 0) if instruction.has("relu") else result


def _divide(opcode_name: str, a: int, b: int) -> int:
    """Towards zero; what a zero divisor gives is not specified: all ones, and the dividend for the remainder."""
    if b == 0:
        return -1 if opcode_name == "div" else a
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient if opcode_name == "div" else a - quotient * b


def _pairs(thread: Thread, instruction: Instruction, kind: str) -> None:
    words = sources(thread, instruction, *["b32"] * (len(instruction.operands) - 1))
    result = 0
    for shift in (0, 16):
        values = [whole(word >> shift, kind) for word in words]
        part = sum(values) if instruction.opcode == "add" else _result(thread, instruction, kind, values)
        result |= (part & 0xFFFF) << shift
    thread.write(instruction.operands[0], "b32", result)


def _multiply(thread: Thread, instruction: Instruction, kind: str) -> None:
    """mul and mad: the lower half of the product, the upper one, or all of it."""
    width = bits_of(kind)
    wide = instruction.has("wide")
    to = f"{kind[0]}{2 * width}" if wide else kind
    kinds = [kind, kind, to][: len(instruction.operands) - 1]
    values = numbers(thread, instruction, *kinds)
    product = values[0] * values[1]
    if instruction.has("hi"):
        product >>= width
    product = whole(product, to)
    if instruction.opcode == "mad":
        if instruction.has("cc"):
            mask = (1 << width) - 1
            thread.carry = ((product & mask) + (values[2] & mask)) >> width
        product += values[2]
        if instruction.has("sat"):
            product = clamped(product, to)
    thread.write(instruction.operands[0], to, product)


@opcode("addc", "subc")
def with_carry(thread: Thread, instruction: Instruction) -> None:
    """Sums and differences that take the carry, and set it with .cc."""
    kind = instruction.modifiers[-1]
    a, b = sources(thread, instruction, kind, kind)
    total = a + b + thread.carry if instruction.opcode == "addc" else a - b - 1 + thread.carry
    if instruction.has("cc"):  # of a difference it tells that nothing was borrowed
        thread.carry = total >> bits_of(kind) if instruction.opcode == "addc" else int(total >= 0)
    thread.write(instruction.operands[0], kind, total)


@opcode("madc")
def multiply_with_carry(thread: Thread, instruction: Instruction) -> None:
    """A half of a product, plus a number, plus the carry."""
    kind = instruction.modifiers[-1]
    width = bits_of(kind)
    a, b, c = numbers(thread, instruction, kind, kind, kind)
    mask = (1 << width) - 1
    half = (a * b >> width if instruction.has("hi") else a * b) & mask
    total = half + (c & mask) + thread.carry
    if instruction.has("cc"):
        thread.carry = total >> width
    thread.write(instruction.operands[0], kind, total)


@opcode("mul24", "mad24")
def of_24_bits(thread: Thread, instruction: Instruction) -> None:
    """Products of the lower 24 bits: 48 bits, of which .lo takes the lower 32 and .hi the upper 32."""
    kind = instruction.modifiers[-1]
    values = numbers(thread, instruction, *[kind] * (len(instruction.operands) - 1))
    a, b = (signed(each, 24) if kind[0] == "s" else each & 0xFFFFFF for each in values[:2])
    product = whole(a * b >> 16 if instruction.has("hi") else a * b, kind)
    if instruction.opcode == "mad24":
        product += values[2]
        if instruction.has("sat"):
            product = clamped(product, kind)
    thread.write(instruction.operands[0], kind, product)


@opcode("sad")
def absolute_difference(thread: Thread, instruction: Instruction) -> None:
    """c + |a - b|."""
    kind = instruction.modifiers[-1]
    a, b, c = numbers(thread, instruction, kind, kind, kind)
    thread.write(instruction.operands[0], kind, c + abs(a - b))


@opcode("dp4a", "dp2a")
def dot_product(thread: Thread, instruction: Instruction) -> None:
    """c plus four products of bytes, or two of the halves of a with the lower (upper) two bytes of b."""
    first, second = instruction.modifiers[-2:]
    a, b, c = sources(thread, instruction, "b32", "b32", "b32")
    total = whole(c, "s32" if "s32" in (first, second) else "u32")
    if instruction.opcode == "dp4a":
        for at in range(0, 32, 8):
            total += whole(a >> at, f"{first[0]}8") * whole(b >> at, f"{second[0]}8")
    else:
        start = 16 if instruction.has("hi") else 0
        for at in range(2):
            total += whole(a >> 16 * at, f"{first[0]}16") * whole(b >> start + 8 * at, f"{second[0]}8")
    thread.write(instruction.operands[0], "b32", total)
