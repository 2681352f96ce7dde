"""What each instruction of the machine does, in PTX, family by family."""

from collections.abc import Callable

from simtmm.cuda.sass.families import asynchronous, atomic, control, half, integer, matrix, memory, real, special, warp
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.syntax import MachineInstruction

Handler = Callable[[Lifting, MachineInstruction], None]

HANDLERS: dict[str, Handler] = {
    **asynchronous.HANDLERS,
    **atomic.HANDLERS,
    **control.HANDLERS,
    **half.HANDLERS,
    **integer.HANDLERS,
    **matrix.HANDLERS,
    **memory.HANDLERS,
    **real.HANDLERS,
    **special.HANDLERS,
    **warp.HANDLERS,
}
