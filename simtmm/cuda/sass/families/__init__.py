"""The meaning of each machine instruction, in PTX, by families."""

from collections.abc import Callable

from simtmm.cuda.sass.families import (
    asynchronous,
    atomic,
    call,
    control,
    functions,
    matrix,
    memory,
    special,
    tensor_memory,
    texture,
    warp,
    warp_group,
)
from simtmm.cuda.sass.families.numbers import bits, conversion, double, half, integer, packed, real
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction

Handler = Callable[[Lifting, MachineInstruction], None]

HANDLERS: dict[str, Handler] = {
    **asynchronous.HANDLERS,
    **atomic.HANDLERS,
    **bits.HANDLERS,
    **call.HANDLERS,
    **control.HANDLERS,
    **conversion.HANDLERS,
    **double.HANDLERS,
    **functions.HANDLERS,
    **half.HANDLERS,
    **integer.HANDLERS,
    **matrix.HANDLERS,
    **memory.HANDLERS,
    **packed.HANDLERS,
    **real.HANDLERS,
    **special.HANDLERS,
    **tensor_memory.HANDLERS,
    **texture.HANDLERS,
    **warp.HANDLERS,
    **warp_group.HANDLERS,
}
