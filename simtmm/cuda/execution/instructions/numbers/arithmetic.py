"""Instructions for both integers and floating-point numbers: dispatches to one of the two families."""

from collections.abc import Callable

from simtmm.cuda.execution.instructions.numbers import half, integer, real
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.ptx.syntax import Instruction
from simtmm.cuda.ptx.types import is_type

Handler = Callable[[Context, Instruction], None]


def _by_type(whole: Handler, real_numbers: Handler) -> Handler:
    def translate(context: Context, instruction: Instruction) -> None:
        kind = context.type_of()
        if len([modifier for modifier in instruction.modifiers if is_type(modifier)]) > 1:
            raise context.refuse("computes with numbers of two types, which is not run here")
        if kind in half.KINDS:
            half.arithmetic(context, instruction)
        elif kind in ("f32", "f64", "f32x2"):
            real_numbers(context, instruction)
        else:
            whole(context, instruction)

    return translate


HANDLERS = {
    "add": _by_type(integer.add, real.arithmetic),
    "sub": _by_type(integer.add, real.arithmetic),
    "mul": _by_type(integer.multiply, real.arithmetic),
    "mad": _by_type(integer.multiply, real.arithmetic),
    "fma": _by_type(real.arithmetic, real.arithmetic),
    "div": _by_type(integer.divide, real.arithmetic),
    "rem": integer.divide,
    "abs": _by_type(integer.absolute, real.sign),
    "neg": _by_type(integer.negative, real.sign),
    "min": _by_type(integer.extreme, real.extreme),
    "max": _by_type(integer.extreme, real.extreme),
}
