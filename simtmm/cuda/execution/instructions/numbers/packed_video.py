"""Video instructions of two halves or four bytes at once: vadd2, vabsdiff4 and their like."""

from simtmm.cuda.execution.instructions.numbers.integer import is_signed
from simtmm.cuda.execution.instructions.numbers.video import bounded, compared, computed, constant, field
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value
from simtmm.cuda.ptx.syntax import Instruction, Operand, Part
from simtmm.cuda.ptx.types import is_type

_OPCODES = ("vadd", "vsub", "vavrg", "vabsdiff", "vmin", "vmax", "vset")


def _places(context: Context, operand: Operand, letter: str, count: int, first: int) -> tuple[Operand, list[int]]:
    """The register of an operand, and which parts of a and b it names, from the lowest on."""
    if not isinstance(operand, Part):
        return operand, [first + n for n in range(count)]
    digits = [int(digit) for digit in operand.which[1:]]
    if operand.which[0] != letter or len(digits) != count or max(digits) >= 2 * count:
        raise context.refuse(f"has .{operand.which}, which is no choice of {count} parts")
    return operand.register, digits[::-1]


def _mask(context: Context, operand: Operand, letter: str, count: int) -> tuple[Operand, list[int]]:
    """The register that is written, and its parts that are."""
    if not isinstance(operand, Part):
        return operand, list(range(count))
    digits = [int(digit) for digit in operand.which[1:]]
    if operand.which[0] != letter or max(digits) >= count:
        raise context.refuse(f"has .{operand.which}, which is no part of its result")
    return operand.register, digits


def packed(context: Context, instruction: Instruction) -> None:
    """Compute each part separately; .add sums the parts and the third operand."""
    emit = context.emit
    opcode, count = instruction.opcode[:-1], int(instruction.opcode[-1])
    width, letter = 32 // count, "h" if count == 2 else "b"
    operands = instruction.operands
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if opcode == "vset":
        kinds = ["u32", *kinds]
    if len(kinds) != 3 or len(operands) < 4:
        raise context.refuse("needs the types of the result and of both operands, and a third operand")
    a, b = _places(context, operands[1], letter, count, 0), _places(context, operands[2], letter, count, count)
    # Both choose among the parts of a, and behind them those of b.
    registers = [context.read(register, "i64") for register, _ in (a, b)]
    to, written = _mask(context, operands[0], letter, count)

    def part(place: int, kind: str) -> Value:
        return field(context, registers[place // count], place % count * width, width, is_signed(kind))

    third = context.read(operands[3], "i64", is_signed(kinds[0]))
    sums = instruction.has("add")
    mask = sum(((1 << width) - 1) << (n * width) for n in written)
    result = third if sums else emit.binary("and", third, constant(context, ~mask))
    for n in sorted(written):
        one, other = part(a[1][n], kinds[1]), part(b[1][n], kinds[2])
        if opcode == "vset":
            found = compared(context, instruction, one, other)
        else:
            found = computed(context, opcode, one, other)
        if instruction.has("sat"):
            found = bounded(context, found, width, is_signed(kinds[0]))
        if sums:
            result = emit.binary("add", result, found)
            continue
        low = emit.binary("and", found, constant(context, (1 << width) - 1))
        result = emit.binary("or", result, emit.binary("shl", low, constant(context, n * width)))
    context.write(to, emit.resize(result, "i32", False))


HANDLERS = {f"{opcode}{count}": packed for opcode in _OPCODES for count in (2, 4)}
