"""Video instructions: arithmetic of bytes and halves that operands pick out of registers (PTX ISA, "Video
Instructions").

Computed in 64 bits, which hold every result exactly; then held within the result's part, combined with a third operand.
"""

from simtmm.cuda.execution.instructions.numbers.comparison import WHOLE_COMPARISONS
from simtmm.cuda.execution.instructions.numbers.integer import is_signed
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value, lanes
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand, Part
from simtmm.cuda.ptx.types import is_type

_WIDE = lanes("i64")


def constant(context: Context, number: int) -> Value:
    """An i64 constant, the same in all lanes."""
    return context.emit.constant(number, _WIDE)


def field(context: Context, value: Value, start: int, width: int, signed: bool) -> Value:
    """A bit field of an i64, sign- or zero-extended."""
    emit = context.emit
    up = emit.binary("shl", value, constant(context, 64 - start - width))
    return emit.binary("ashr" if signed else "lshr", up, constant(context, 64 - width))


def _place(context: Context, operand: Operand) -> tuple[Operand, int, int]:
    """The register of an operand, and the first bit and the bits of what is picked out of it."""
    if not isinstance(operand, Part):
        return operand, 0, 32
    letter, digits = operand.which[0], operand.which[1:]
    width = 8 if letter == "b" else 16
    if len(digits) != 1 or int(digits) * width >= 32:
        raise context.refuse(f"has .{operand.which}, which is no part of a register")
    return operand.register, int(digits) * width, width


def _picked(context: Context, operand: Operand, kind: str) -> Value:
    register, start, width = _place(context, operand)
    return field(context, context.read(register, "i64"), start, width, is_signed(kind))


def computed(context: Context, opcode: str, a: Value, b: Value) -> Value:
    """One of "vadd", "vsub", "vabsdiff", "vmin", "vmax" or "vavrg" of two i64 that are far from their bounds."""
    emit = context.emit
    match opcode:
        case "vadd":
            return emit.binary("add", a, b)
        case "vavrg":
            total = emit.binary("add", a, b)  # rounded up where it is not negative
            up = emit.resize(emit.compare("icmp sge", total, constant(context, 0)), "i64", False)
            return emit.binary("ashr", emit.binary("add", total, up), constant(context, 1))
        case "vmin" | "vmax":
            return emit.intrinsic(f"llvm.s{opcode[1:]}", a.type, a, b)
    difference = emit.binary("sub", a, b)
    if opcode == "vabsdiff":
        return emit.intrinsic("llvm.abs", a.type, difference, Value("false", "i1"))
    return difference


def bounded(context: Context, value: Value, width: int, signed: bool) -> Value:
    """A number clamped to the range of a number of bits."""
    emit = context.emit
    least, most = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if signed else (0, (1 << width) - 1)
    value = emit.intrinsic("llvm.smax", value.type, value, constant(context, least))
    return emit.intrinsic("llvm.smin", value.type, value, constant(context, most))


def compared(context: Context, instruction: Instruction, a: Value, b: Value) -> Value:
    """1 where the comparison that the instruction names holds, else 0."""
    emit = context.emit
    how = next((m for m in instruction.modifiers if m in WHOLE_COMPARISONS), None)
    if how is None:
        raise context.refuse("compares in a way that is not known")
    order = WHOLE_COMPARISONS[how]
    found = emit.compare(f"icmp {order if order in ('eq', 'ne') else 's' + order}", a, b)
    return emit.resize(found, "i64", False)


def _shifted(context: Context, instruction: Instruction, a: Value, b: Value) -> Value:
    """vshl and vshr: by up to 32 bits (.clamp), or by the lowest five bits (.wrap)."""
    emit = context.emit
    if instruction.has("wrap"):
        by = emit.binary("and", b, constant(context, 31))
    else:
        by = emit.intrinsic("llvm.umin", b.type, b, constant(context, 32))
    return emit.binary("shl" if instruction.opcode == "vshl" else "ashr", a, by)


def video(context: Context, instruction: Instruction) -> None:
    """vadd, vsub, vabsdiff, vmin, vmax, vshl, vshr, vset."""
    emit = context.emit
    opcode, operands = instruction.opcode, instruction.operands
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if opcode == "vset":
        kinds = ["u32", *kinds]
    if len(kinds) != 3 or not set(kinds) <= {"u32", "s32"}:
        raise context.refuse("needs types of 32 bits: of the result and of both operands")
    to_kind, a_kind, b_kind = kinds
    a, b = _picked(context, operands[1], a_kind), _picked(context, operands[2], b_kind)
    if opcode == "vset":
        result = compared(context, instruction, a, b)
    elif opcode in ("vshl", "vshr"):
        result = _shifted(context, instruction, a, b)
    else:
        result = computed(context, opcode, a, b)
    register, start, width = _place(context, operands[0])
    if instruction.has("sat"):
        result = bounded(context, result, width, is_signed(to_kind))
    second = next((m for m in instruction.modifiers if m in ("add", "min", "max")), None)
    third = context.read(operands[3], "i64", is_signed(to_kind)) if len(operands) > 3 else None
    if second is not None:
        if third is None:
            raise context.refuse("needs a third operand")
        narrow = field(context, result, 0, 32, is_signed(to_kind))
        result = (
            emit.binary("add", narrow, third) if second == "add" else computed(context, f"v{second}", narrow, third)
        )
    elif width < 32:
        if third is None:
            raise context.refuse("needs a third operand")
        mask = ((1 << width) - 1) << start
        moved = emit.binary("shl", result, constant(context, start))
        result = emit.binary(
            "or",
            emit.binary("and", moved, constant(context, mask)),
            emit.binary("and", third, constant(context, ~mask)),
        )
    context.write(register, emit.resize(result, "i32", False))


def multiply_add(context: Context, instruction: Instruction) -> None:
    """vmad: a product and a sum, shifted down."""
    emit = context.emit
    operands = instruction.operands
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if len(kinds) != 3 or any(isinstance(operand, Immediate) for operand in operands[1:3]):
        raise context.refuse("needs three types and two registers")
    signed = is_signed(kinds[1]) or is_signed(kinds[2])
    a, b = (_picked(context, operand, kind) for operand, kind in zip(operands[1:3], kinds[1:], strict=True))
    total = emit.binary("add", emit.binary("mul", a, b), context.read(operands[3], "i64", signed))
    if instruction.has("po"):
        total = emit.binary("add", total, constant(context, 1))
    by = next((int(m[3:]) for m in instruction.modifiers if m in ("shr7", "shr15")), 0)
    total = emit.binary("ashr" if signed else "lshr", total, constant(context, by))
    if instruction.has("sat"):
        # Without a sign all 64 bits may be in use.
        if signed:
            total = bounded(context, total, 32, True)
        else:
            total = emit.intrinsic("llvm.umin", total.type, total, constant(context, (1 << 32) - 1))
    context.write(operands[0], emit.resize(total, "i32", False))


HANDLERS = {
    **dict.fromkeys(("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"), video),
    "vmad": multiply_add,
}
