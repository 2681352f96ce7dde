"""Logic, shifts and permutations."""

from simtmm.cuda.execution.instructions.numbers.integer import is_signed, operands
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, bits, lanes
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Pair
from simtmm.cuda.ptx.types import bits_of


def bitwise(context: Context, instruction: Instruction) -> None:
    """and, or, xor of numbers and predicates."""
    a, b = _either(context, instruction)
    context.write(instruction.operands[0], context.emit.binary(instruction.opcode, a, b))


def _either(context: Context, instruction: Instruction) -> list[Value]:
    if context.type_of() == "pred":
        return [context.predicate(operand) for operand in instruction.operands[1:]]
    return operands(context, instruction, len(instruction.operands) - 1, context.type_of())


def complement(context: Context, instruction: Instruction) -> None:
    """not, and cnot: 1 for 0, else 0."""
    (a,) = _either(context, instruction)
    emit = context.emit
    if instruction.opcode == "not":
        context.write(instruction.operands[0], emit.invert(a))
    else:
        context.write(
            instruction.operands[0],
            emit.resize(emit.compare("icmp eq", a, emit.constant(0, a.type)), f"i{bits(a.type)}", False),
        )


def by_table(context: Context, instruction: Instruction) -> None:
    """lop3: any function of three bits, by its table; with .and or .or whether any bit is set, and a predicate."""
    table = instruction.operands[4]
    if not isinstance(table, Immediate):
        raise context.refuse("needs a table that is a number")
    emit = context.emit
    a, b, c = operands(context, instruction, 3, "b32")
    result = emit.constant(0, a.type)

    # Of c, by what a and b are: 0, 1, c or its complement; then of b, then of a.
    def of_c(low: int) -> Value:
        return [emit.constant(0, a.type), emit.invert(c), c, emit.constant(-1, a.type)][low]

    def choose(by: Value, if_set: Value, if_not: Value) -> Value:
        difference = emit.binary("xor", if_set, if_not)
        return emit.binary("xor", emit.binary("and", difference, by), if_not)

    def of_bc(quarter: int) -> Value:
        return choose(b, of_c(quarter >> 2 & 3), of_c(quarter & 3))

    result = choose(a, of_bc(table.value >> 4 & 15), of_bc(table.value & 15))
    to = instruction.operands[0]
    if not isinstance(to, Pair):
        context.write(to, result)
        return
    how = next((m for m in instruction.modifiers if m in ("and", "or")), None)
    if how is None or len(instruction.operands) != 6:
        raise context.refuse("gives a predicate without .and or .or of another")
    some = emit.compare("icmp ne", result, emit.constant(0, result.type))
    combined = emit.binary(how, some, context.predicate(instruction.operands[5]))
    context.write(to.first, result)
    context.write(to.second, combined)


def shift(context: Context, instruction: Instruction) -> None:
    """shl and shr; by more than the width gives 0, or the sign."""
    kind, emit = context.type_of(), context.emit
    (a,) = operands(context, instruction, 1, kind)
    width = bits_of(kind)
    amount = context.read(instruction.operands[2], "i32")
    limit = emit.constant(width - 1, amount.type)
    beyond = emit.compare("icmp ugt", amount, limit)
    safe = emit.resize(emit.intrinsic("llvm.umin", amount.type, amount, limit), f"i{width}", False)
    if instruction.opcode == "shr" and is_signed(kind):
        context.write(instruction.operands[0], emit.binary("ashr", a, safe))
        return
    found = emit.binary("shl" if instruction.opcode == "shl" else "lshr", a, safe)
    context.write(instruction.operands[0], emit.select(beyond, emit.constant(0, a.type), found))


def funnel_shift(context: Context, instruction: Instruction) -> None:
    """shf: a shift of two registers as one number."""
    emit = context.emit
    a, b, c = operands(context, instruction, 3, "b32")
    most = emit.constant(32, c.type)
    if instruction.has("wrap"):
        c = emit.binary("and", c, emit.constant(31, c.type))
    else:
        c = emit.intrinsic("llvm.umin", c.type, c, most)
    wide = emit.binary(
        "or",
        emit.binary("shl", emit.resize(b, "i64", False), emit.constant(32, lanes("i64"))),
        emit.resize(a, "i64", False),
    )
    by = emit.resize(c, "i64", False)
    if instruction.has("l"):
        found = emit.binary("lshr", emit.binary("shl", wide, by), emit.constant(32, wide.type))
    else:
        found = emit.binary("lshr", wide, by)
    context.write(instruction.operands[0], emit.resize(found, "i32", False))


def reverse(context: Context, instruction: Instruction) -> None:
    """brev: the bits in reverse order."""
    (a,) = operands(context, instruction, 1, context.type_of())
    context.write(instruction.operands[0], context.emit.intrinsic("llvm.bitreverse", a.type, a))


def permute(context: Context, instruction: Instruction) -> None:
    """prmt: any bytes of two registers, or their signs."""
    emit = context.emit
    a, b, c = operands(context, instruction, 3, "b32")
    wide = emit.binary(
        "or",
        emit.binary("shl", emit.resize(b, "i64", False), emit.constant(32, lanes("i64"))),
        emit.resize(a, "i64", False),
    )
    mode = next((m for m in instruction.modifiers if m in _PERMUTE_MODES), None)
    result = emit.constant(0, a.type)
    for place in range(4):
        if mode is None:
            chosen = emit.binary("lshr", c, emit.constant(4 * place, c.type))
            byte = _byte(context, wide, emit.binary("and", chosen, emit.constant(7, c.type)))
            sign = emit.binary("lshr", byte, emit.constant(7, byte.type))
            signs = emit.binary("mul", sign, emit.constant(255, byte.type))
            copied = emit.binary("and", chosen, emit.constant(8, c.type))
            byte = emit.select(emit.compare("icmp ne", copied, emit.constant(0, c.type)), signs, byte)
        else:
            which = emit.binary("and", c, emit.constant(3, c.type))
            table = [_PERMUTE_MODES[mode][value][place] for value in range(4)]
            chosen = emit.constant(table[3], c.type)
            for value in range(3):
                here = emit.compare("icmp eq", which, emit.constant(value, c.type))
                chosen = emit.select(here, emit.constant(table[value], c.type), chosen)
            byte = _byte(context, wide, chosen)
        result = emit.binary("or", result, emit.binary("shl", byte, emit.constant(8 * place, byte.type)))
    context.write(instruction.operands[0], result)


# For each mode and value of the two control bits the bytes taken, from the lowest on (PTX ISA, prmt).
_PERMUTE_MODES = {
    "f4e": [[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5], [3, 4, 5, 6]],
    "b4e": [[0, 7, 6, 5], [1, 0, 7, 6], [2, 1, 0, 7], [3, 2, 1, 0]],
    "rc8": [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [3, 3, 3, 3]],
    "ecl": [[0, 1, 2, 3], [1, 1, 2, 3], [2, 2, 2, 3], [3, 3, 3, 3]],
    "ecr": [[0, 0, 0, 0], [0, 1, 1, 1], [0, 1, 2, 2], [0, 1, 2, 3]],
    "rc16": [[0, 1, 0, 1], [2, 3, 2, 3], [0, 1, 0, 1], [2, 3, 2, 3]],
}


def _byte(context: Context, wide: Value, which: Value) -> Value:
    emit = context.emit
    by = emit.binary("shl", emit.resize(which, "i64", False), emit.constant(3, wide.type))
    found = emit.binary("and", emit.binary("lshr", wide, by), emit.constant(255, wide.type))
    return emit.resize(found, "i32", False)


HANDLERS = {
    "and": bitwise,
    "or": bitwise,
    "xor": bitwise,
    "not": complement,
    "cnot": complement,
    "lop3": by_table,
    "shl": shift,
    "shr": shift,
    "shf": funnel_shift,
    "brev": reverse,
    "prmt": permute,
}
