"""Matrices that the registers of a warp hold together.

Every fragment of m16n8 and m8n8 shapes follows one rule of the ISA's figures. With group = lane / 4, member = lane % 4,
and w elements in a register: element e of register r of A is in row group + 8 (r % 2) and column
member w + e + 4 w (r / 2); that of B is in row member w + e + 4 w r and column group; element i of C and D is in row
group + 8 (i / 2) and column 2 member + i % 2.
"""

import math
from fractions import Fraction

from simtmm.cuda.ptx.syntax import Instruction, Operand, Vector
from tests.cuda.interpreter import arithmetic
from tests.cuda.interpreter.formats import FORMATS, Value, decode, encode, exponent_of, is_special, power_of_two
from tests.cuda.interpreter.opcodes import clamped, opcode
from tests.cuda.interpreter.thread import Thread, space_of, whole
from tests.cuda.interpreter.types import bits_of, is_type
from tests.cuda.interpreter.warps import FULL, Gathered

Matrix = dict[tuple[int, int], Value]


def parts(operand: Operand) -> tuple[Operand, ...]:
    """The registers of a fragment."""
    return operand.parts if isinstance(operand, Vector) else (operand,)


def elements(thread: Thread, operand: Operand, kind: str) -> list[tuple[int, int, Value]]:
    """Register, element in it, and value, of a fragment; f64 and the s32 and f32 of C have one in each."""
    width = bits_of(kind)
    register = max(32, width)
    found = []
    for number, part in enumerate(parts(operand)):
        bits = thread.read(part, f"b{register}")
        for element in range(register // width):
            each = bits >> element * width & ((1 << width) - 1)
            value = decode(each, FORMATS[kind]) if kind in FORMATS else whole(each, kind)
            found.append((number, element, value))
    return found


def to_bits(value: Value, kind: str, saturate: bool = False) -> int:
    """An element of a result."""
    if kind in FORMATS:
        return encode(value, FORMATS[kind])
    number = int(value)
    return (clamped(number, kind) if saturate else number) & ((1 << bits_of(kind)) - 1)


def write_elements(thread: Thread, operand: Operand, kind: str, values: list[int]) -> None:
    """The elements of a fragment in order, given their bits."""
    width = bits_of(kind)
    each = max(32, width) // width
    for number, part in enumerate(parts(operand)):
        bits = sum(value << at * width for at, value in enumerate(values[each * number : each * number + each]))
        thread.write(part, f"b{max(32, width)}", bits)


def dot(pairs: list[tuple[Value, Value]], start: Value) -> Value:
    """start plus the sum of products, rounded by nothing."""
    total = start
    for a, b in pairs:
        if isinstance(a, int) and isinstance(b, int) and isinstance(total, int):
            total += a * b
        else:
            total = arithmetic.fused(a, b, total)
    return total


def in_turn(pairs: list[tuple[Value, Value]], start: Value) -> Value:
    """The same of f64: each product and sum rounded once."""
    total = start
    for pair in pairs:
        total = decode(encode(dot([pair], total), FORMATS["f64"]), FORMATS["f64"])
    return total


def tensor_sum(pairs: list[tuple[Value, Value]], start: Value, factors: tuple[str, str], kind: str) -> Value:
    """What a tensor core makes of it, as docs/ptx.md says. kind: of the sum."""
    known = dot(pairs, start)
    if is_special(known):
        return known
    parts = [(a, b, _exponent(a, factors[0]) + _exponent(b, factors[1])) for a, b in pairs if a and b]
    if start:
        parts.append((start, 1, _exponent(start, kind)))
    if not parts:
        return 0.0
    unit = power_of_two(max(exponent for _, _, exponent in parts) - 25)
    total = sum(int(Fraction(a) * Fraction(b) / unit) for a, b, _ in parts) * unit
    return _settled(total, kind)


def _settled(total: Value, kind: str) -> Value:
    """A sum in its type. f32 is cut off, but infinite where its exponents end."""
    if kind == "f32" and abs(total) >= power_of_two(128):
        return math.copysign(math.inf, total)
    return decode(encode(total or 0.0, FORMATS[kind], "rz" if kind == "f32" else "rn"), FORMATS[kind])


def _exponent(value: Value, kind: str) -> int:
    """Of a number that is not zero: no less than that of a normal one, and e4m3 and e5m2 become f16."""
    form = FORMATS["f16" if kind in ("e4m3", "e5m2") else kind]
    return max(exponent_of(abs(Fraction(value))), form.least_exponent)


def accumulated(
    pairs: list[tuple[Value, Value]], start: Value, kinds: tuple[str, str, str, str], short: bool = False
) -> Value:
    """start plus products. kinds: of the result, the factors and start; short: tf32 is summed by fours."""
    to, a, b, c = kinds
    if a not in FORMATS:
        return dot(pairs, start)
    if a == "f64":
        return in_turn(pairs, start)
    kind = "f32" if "f32" in (to, c) else "f16"
    if a in ("e4m3", "e5m2"):
        total: Value = 0.0
        for first in (0, 2):
            half = [pair for k, pair in enumerate(pairs) if k % 4 in (first, first + 1)]
            total = tensor_sum(half, total, (a, b), kind)
        return arithmetic.add(total, start)
    each = 4 if short and a == "tf32" else len(pairs)
    total = start
    for first in range(0, len(pairs), each):
        total = tensor_sum(pairs[first : first + each], total, (a, b), kind)
    return total


@opcode("mma")
def multiply_accumulate(thread: Thread, instruction: Instruction) -> None:
    """D = A B + C."""
    thread.warp.gather(thread, instruction, FULL, _multiplied)


def _multiplied(gathered: Gathered) -> None:
    instruction = next(iter(gathered.values()))[1]
    shape = next(each for each in instruction.modifiers if each.startswith("m") and each[1].isdigit())
    if (shape == "m8n8k4" and not instruction.has("f64")) or instruction.has("sp"):
        raise NotImplementedError(f"{instruction.name} is not known")
    depth = int(shape.partition("k")[2])
    to, a_kind, b_kind, c_kind = [each for each in instruction.modifiers if is_type(each)]
    a: Matrix = {}
    b: Matrix = {}
    sums: dict[tuple[int, int], Value] = {}
    for lane, (thread, own) in gathered.items():
        group, member = divmod(lane, 4)
        per = max(32, bits_of(a_kind)) // bits_of(a_kind)
        for register, element, value in elements(thread, own.operands[1], a_kind):
            a[group + 8 * (register % 2), member * per + element + 4 * per * (register // 2)] = value
        for register, element, value in elements(thread, own.operands[2], b_kind):
            b[member * per + element + 4 * per * register, group] = value
        for at, (_, _, value) in enumerate(elements(thread, own.operands[3], c_kind)):
            sums[group + 8 * (at // 2), 2 * member + at % 2] = value
    for lane, (thread, own) in gathered.items():
        group, member = divmod(lane, 4)
        results = []
        for at in range(4 if shape.startswith("m16") else 2):
            row, column = group + 8 * (at // 2), 2 * member + at % 2
            pairs = [(a[row, k], b[k, column]) for k in range(depth)]
            if instruction.has("popc"):
                combine = int.__xor__ if instruction.has("xor") else int.__and__
                pairs = [(combine(int(x) & 1, int(y) & 1), 1) for x, y in pairs]
            total = accumulated(pairs, sums[row, column], (to, a_kind, b_kind, c_kind))
            results.append(to_bits(total, to, instruction.has("satfinite")))
        write_elements(thread, own.operands[0], to, results)


def _rows(gathered: Gathered, operand: int) -> list[tuple[str, int]]:
    """The addresses of the eight rows of each matrix: those of lanes 0 to 7 are the first one's."""
    return [
        thread.address(instruction.operands[operand], space_of(instruction))
        for thread, instruction in gathered.values()
    ]


def _count(instruction: Instruction) -> int:
    return next(int(each[1:]) for each in instruction.modifiers if each in ("x1", "x2", "x4"))


@opcode("ldmatrix")
def load_matrix(thread: Thread, instruction: Instruction) -> None:
    """Matrices of 8 by 8 halves from rows of 16 bytes."""
    if not instruction.has("m8n8"):
        raise NotImplementedError(f"{instruction.name} is not known")
    thread.warp.gather(thread, instruction, FULL, _loaded)


def _places(instruction: Instruction, lane: int) -> list[tuple[int, int]]:
    """Row and column of the two elements of a lane's register."""
    group, member = divmod(lane, 4)
    straight = [(group, 2 * member), (group, 2 * member + 1)]
    return [(column, row) for row, column in straight] if instruction.has("trans") else straight


def _loaded(gathered: Gathered) -> None:
    rows = _rows(gathered, 1)
    for lane, (thread, instruction) in gathered.items():
        values = []
        for number in range(_count(instruction)):
            for row, column in _places(instruction, lane):
                space, address = rows[8 * number + row]
                _whole_row(address)
                values.append(thread.load(space, address + 2 * column, 2))
        write_elements(thread, instruction.operands[0], "b16", values)


def _whole_row(address: int) -> None:
    if address % 16:
        raise ValueError(f"a row at {address:#x}, which is not a multiple of 16")


@opcode("stmatrix")
def store_matrix(thread: Thread, instruction: Instruction) -> None:
    """The other way."""
    if not instruction.has("m8n8"):
        raise NotImplementedError(f"{instruction.name} is not known")
    thread.warp.gather(thread, instruction, FULL, _stored)


def _stored(gathered: Gathered) -> None:
    rows = _rows(gathered, 0)
    for lane, (thread, instruction) in gathered.items():
        for number, part in enumerate(parts(instruction.operands[1])):
            bits = thread.read(part, "b32")
            for at, (row, column) in enumerate(_places(instruction, lane)):
                space, address = rows[8 * number + row]
                _whole_row(address)
                thread.store(space, address + 2 * column, 2, bits >> 16 * at & 0xFFFF)


@opcode("movmatrix")
def transpose(thread: Thread, instruction: Instruction) -> None:
    """A matrix of 8 by 8 halves, rows for columns."""
    thread.warp.gather(thread, instruction, FULL, _transposed)


def _transposed(gathered: Gathered) -> None:
    held = {}
    for lane, (thread, instruction) in gathered.items():
        group, member = divmod(lane, 4)
        bits = thread.read(instruction.operands[1], "b32")
        held[group, 2 * member], held[group, 2 * member + 1] = bits & 0xFFFF, bits >> 16
    for lane, (thread, instruction) in gathered.items():
        group, member = divmod(lane, 4)
        thread.write(instruction.operands[0], "b32", held[2 * member, group] | held[2 * member + 1, group] << 16)
