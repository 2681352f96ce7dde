"""The only NaN that f32 arithmetic gives, 0x7fffffff, and the registers in which others become it late.

This processor keeps the sign and payload of an operand. To make each NaN the one costs as much as the sum that gave it,
and no sum asks which NaN it is given. So a register that has nothing but such results holds any NaN, and who looks at
its bits, to store them or to move them elsewhere, makes it the one.
"""

from collections import defaultdict
from collections.abc import Callable

from simtmm.cuda.execution.translation.emit import Emitter, Value, with_element
from simtmm.cuda.ptx.flow.registers import written
from simtmm.cuda.ptx.syntax import Function, Immediate, Instruction, Register
from simtmm.cuda.ptx.types import bits_of, is_type

NAN = 0x7FFFFFFF
_INFINITY = 0x7F800000
_OPCODES = {
    "abs", "add", "cos", "div", "ex2", "fma", "lg2", "mad", "max", "min", "mul", "neg", "rcp", "rsqrt", "sin", "sqrt",
    "sub", "tanh",
}  # fmt: skip
_WHOLE = ("rni", "rzi", "rmi", "rpi")


def gives_one_nan(instruction: Instruction) -> bool:
    """Whether an instruction gives 0x7fffffff for every NaN, whatever its operands are."""
    kinds = [modifier for modifier in instruction.modifiers if is_type(modifier)]
    if instruction.opcode != "cvt":
        return instruction.opcode in _OPCODES and kinds[-1:] == ["f32"]
    if kinds[:1] != ["f32"]:
        return False
    if kinds[-1][0] in "us":  # which have none
        return True
    return kinds[-1] == "f16" or (kinds[-1] == "f32" and any(instruction.has(way) for way in ("ftz", *_WHOLE)))


def with_one_nan(emit: Emitter, a: Value) -> Value:
    """32-bit numbers, or their bits, with each NaN replaced by 0x7fffffff."""
    real = emit.as_type(a, with_element(a.type, "float"))
    is_nan = emit.compare("fcmp uno", real, real)
    raw = emit.as_type(a, with_element(a.type, "i32"))
    return emit.as_type(emit.select(is_nan, emit.constant(NAN, raw.type), raw), a.type)


def late_registers(function: Function) -> frozenset[str]:
    """The registers that hold any NaN in the place of the one: all that they are given comes of such instructions."""
    writers = defaultdict(list)
    for item in function.body or ():
        if isinstance(item, Instruction):
            for name in written(item):
                writers[name].append(item)
    kinds = function.registers
    wide = {name for name in writers if kinds.get(name, "pred") != "pred" and bits_of(kinds[name]) == 32}
    late = _least(wide, lambda held: {name for name in held if all(_may_hold(each, held) for each in writers[name])})
    # Those that only moves of numbers and of each other write hold no NaN at all.
    idle = _least(late, lambda held: {name for name in held if all(_is_copy(each, held) for each in writers[name])})
    return frozenset(late - idle)


def _least(names: set[str], kept: Callable[[set[str]], set[str]]) -> set[str]:
    """What is kept of names when nothing more is taken away."""
    while (fewer := kept(names)) != names:
        names = fewer
    return names


def _may_hold(instruction: Instruction, late: set[str]) -> bool:
    return _is_copy(instruction, late) if instruction.opcode == "mov" else gives_one_nan(instruction)


def _is_copy(instruction: Instruction, late: set[str]) -> bool:
    """Whether it moves a number, or what another of these registers holds."""
    if instruction.opcode != "mov" or len(instruction.operands) != 2:
        return False
    match instruction.operands[1]:
        case Register(name):
            return name in late
        case Immediate(number, float_bits):
            return float_bits in (0, 32) and number & NAN <= _INFINITY
    return False
