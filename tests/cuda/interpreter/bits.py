"""Logic, shifts, bit fields, permutations and moves."""

from simtmm.cuda.ptx.syntax import Immediate, Instruction, Pair, Vector
from tests.cuda.interpreter.opcodes import numbers, opcode, sources
from tests.cuda.interpreter.thread import Thread, signed, whole
from tests.cuda.interpreter.types import bits_of


@opcode("and", "or", "xor", "not", "cnot")
def logic(thread: Thread, instruction: Instruction) -> None:
    """Bit by bit; cnot is 1 for zero and 0 for all else."""
    kind = instruction.modifiers[-1]
    values = sources(thread, instruction, *[kind] * (len(instruction.operands) - 1))
    match instruction.opcode:
        case "and":
            result = values[0] & values[1]
        case "or":
            result = values[0] | values[1]
        case "xor":
            result = values[0] ^ values[1]
        case "not":
            result = ~values[0]
        case _:
            result = int(values[0] == 0)
    thread.write(instruction.operands[0], kind, result)


@opcode("lop3")
def table_of_three(thread: Thread, instruction: Instruction) -> None:
    """Bit i of the result is the bit of the table at (a_i, b_i, c_i); d|p: whether d isn't zero, with q."""
    a, b, c, table = (thread.read(each, "b32") for each in instruction.operands[1:5])
    result = 0
    for bit in range(32):
        at = (a >> bit & 1) << 2 | (b >> bit & 1) << 1 | (c >> bit & 1)
        result |= (table >> at & 1) << bit
    target = instruction.operands[0]
    if isinstance(target, Pair):
        other = thread.read(instruction.operands[5], "pred")
        some = int(result != 0)
        thread.write(target.second, "pred", some & other if instruction.has("and") else some | other)
        target = target.first
    thread.write(target, "b32", result)


@opcode("shl", "shr")
def shift(thread: Thread, instruction: Instruction) -> None:
    """By as many places as an unsigned number says, at most the width."""
    kind = instruction.modifiers[-1]
    value = whole(thread.read(instruction.operands[1], kind), kind)
    places = min(thread.read(instruction.operands[2], "u32"), bits_of(kind))
    thread.write(instruction.operands[0], kind, value << places if instruction.opcode == "shl" else value >> places)


@opcode("shf")
def funnel_shift(thread: Thread, instruction: Instruction) -> None:
    """The upper word of b:a shifted left, or the lower one shifted right; by 0 to 32 (clamp) or 31 (wrap)."""
    low, high, places = sources(thread, instruction, "b32", "b32", "u32")
    places = min(places, 32) if instruction.has("clamp") else places & 31
    both = high << 32 | low
    thread.write(instruction.operands[0], "b32", both << places >> 32 if instruction.has("l") else both >> places)


@opcode("popc", "clz")
def counts(thread: Thread, instruction: Instruction) -> None:
    """Ones, or zeros in front."""
    kind = instruction.modifiers[-1]
    (value,) = sources(thread, instruction, kind)
    count = value.bit_count() if instruction.opcode == "popc" else bits_of(kind) - value.bit_length()
    thread.write(instruction.operands[0], "u32", count)


@opcode("bfind")
def find_bit(thread: Thread, instruction: Instruction) -> None:
    """The highest one; of signed numbers the highest bit unlike the sign. All ones where there is none."""
    kind = instruction.modifiers[-1]
    (value,) = numbers(thread, instruction, kind)
    place = (~value if value < 0 else value).bit_length() - 1
    if instruction.has("shiftamt") and place >= 0:
        place = bits_of(kind) - 1 - place
    thread.write(instruction.operands[0], "u32", place)


@opcode("fns")
def find_nth_set(thread: Thread, instruction: Instruction) -> None:
    """The place of the n-th one from a place on, upwards or downwards; n = 0: the place itself, if set."""
    mask, base, offset = numbers(thread, instruction, "b32", "u32", "s32")
    places = [at for at in range(32) if mask >> at & 1]
    if offset == 0:
        found = [base] if base in places else []
    elif offset > 0:
        found = [at for at in places if at >= base][offset - 1 : offset]
    else:
        found = [at for at in reversed(places) if at <= base][-offset - 1 : -offset]
    thread.write(instruction.operands[0], "b32", found[0] if found else -1)


@opcode("brev")
def reverse(thread: Thread, instruction: Instruction) -> None:
    """Bits in the other order."""
    kind = instruction.modifiers[-1]
    (value,) = sources(thread, instruction, kind)
    thread.write(instruction.operands[0], kind, int(f"{value:0{bits_of(kind)}b}"[::-1], 2))


def _place(number: int, top: int) -> int:
    """A position or a length beyond 255, which the manual leaves open: of 32 bits its lowest byte, of 64 all of it."""
    return number if top == 63 else number & 0xFF


@opcode("bfe")
def extract(thread: Thread, instruction: Instruction) -> None:
    """A field of `length` bits from `position` on; what is beyond it is the field's sign, or zero."""
    kind = instruction.modifiers[-1]
    value, position, length = sources(thread, instruction, kind, "u32", "u32")
    top = bits_of(kind) - 1
    position, length = _place(position, top), _place(length, top)
    sign = value >> min(position + length - 1, top) & 1 if kind[0] == "s" and length else 0
    result = 0
    for bit in range(top + 1):
        inside = bit < length and position + bit <= top
        result |= (value >> position + bit & 1 if inside else sign) << bit
    thread.write(instruction.operands[0], kind, result)


@opcode("bfi")
def insert(thread: Thread, instruction: Instruction) -> None:
    """b with the lower bits of a in a field of `length` bits from `position` on."""
    kind = instruction.modifiers[-1]
    field, result, position, length = sources(thread, instruction, kind, kind, "u32", "u32")
    position, length = (_place(each, bits_of(kind) - 1) for each in (position, length))
    for bit in range(min(length, bits_of(kind) - position)):
        at = position + bit
        result = result & ~(1 << at) | (field >> bit & 1) << at
    thread.write(instruction.operands[0], kind, result)


@opcode("bmsk")
def mask(thread: Thread, instruction: Instruction) -> None:
    """Ones from a place on, so many."""
    place, count = sources(thread, instruction, "b32", "b32")
    if instruction.has("wrap"):
        place, count = place & 31, count & 31
    ones = ((1 << min(count, 32)) - 1) << place if place < 32 else 0
    thread.write(instruction.operands[0], "b32", ones)


@opcode("szext")
def extend(thread: Thread, instruction: Instruction) -> None:
    """The lower bits, extended by zeros or by their sign; none of them is 0."""
    kind = instruction.modifiers[-1]
    value, count = sources(thread, instruction, "b32", "b32")
    count = min(count, 32) if instruction.has("clamp") else count & 31
    kept = value & ((1 << count) - 1)
    thread.write(instruction.operands[0], kind, signed(kept, count) if kind[0] == "s" and count else kept)


# Bytes of the result, the highest first, for each value of the selector's two lower bits.
_PERMUTATIONS = {
    "f4e": ("3210", "4321", "5432", "6543"),
    "b4e": ("5670", "6701", "7012", "0123"),
    "rc8": ("0000", "1111", "2222", "3333"),
    "ecl": ("3210", "3211", "3222", "3333"),
    "ecr": ("0000", "1110", "2210", "3210"),
    "rc16": ("1010", "3232", "1010", "3232"),
}


@opcode("prmt")
def permute(thread: Thread, instruction: Instruction) -> None:
    """Four of the eight bytes of b:a; with bit 3 of a selector its byte is eight times the byte's sign."""
    low, high, selector = sources(thread, instruction, "b32", "b32", "b32")
    held = (high << 32 | low).to_bytes(8, "little")
    mode = instruction.modifiers[-1]
    if mode in _PERMUTATIONS:
        chosen = [int(digit) for digit in reversed(_PERMUTATIONS[mode][selector & 3])]
    else:
        chosen = [selector >> 4 * at & 15 for at in range(4)]
    found = [held[each & 7] if each < 8 else 255 * (held[each & 7] >> 7) for each in chosen]
    thread.write(instruction.operands[0], "b32", int.from_bytes(bytes(found), "little"))


@opcode("mov")
def move(thread: Thread, instruction: Instruction) -> None:
    """A value, an address, or parts to a whole and a whole to parts."""
    kind = instruction.modifiers[-1]
    source = instruction.operands[1]
    if isinstance(source, Immediate) and kind == "pred":
        source = Immediate(int(source.value != 0))
    if instruction.has("v2", "v4"):
        to = instruction.operands[0]
        assert isinstance(to, Vector)
        assert isinstance(source, Vector)
        values = [thread.read(each, kind) for each in source.parts]
        for each, bits in zip(to.parts, values, strict=False):  # %tid has three parts and a zero
            thread.write(each, kind, bits)
        return
    thread.write(instruction.operands[0], kind, thread.read(source, kind))
