"""What each instruction of PTX does, family by family: its name and the function that translates it."""

from collections.abc import Callable
from importlib import import_module

from simtmm.cuda.execution.instructions import reduction, refused, warp
from simtmm.cuda.execution.instructions.matrices import ldmatrix
from simtmm.cuda.execution.instructions.memory import (
    asynchronous,
    atomics,
    mbarrier,
    movement,
    surface,
    tensor_map_fields,
    texture,
)
from simtmm.cuda.execution.instructions.memory import loads_and_stores as memory
from simtmm.cuda.execution.instructions.numbers import (
    arithmetic,
    bit_fields,
    comparison,
    conversion,
    counts,
    integer,
    logic,
    packed_video,
    real,
    video,
)
from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.ptx.syntax import Instruction

Handler = Callable[[Context, Instruction], None]


def multiply(context: Context, instruction: Instruction) -> None:
    """Multiply matrices: each instruction that does is a module of its own, which few kernels need."""
    module = import_module(f"{__name__}.matrices.{instruction.opcode}")
    module.HANDLERS[instruction.opcode](context, instruction)


HANDLERS: dict[str, Handler] = {
    **arithmetic.HANDLERS,
    **atomics.HANDLERS,
    **bit_fields.HANDLERS,
    **comparison.HANDLERS,
    **conversion.HANDLERS,
    **counts.HANDLERS,
    **integer.HANDLERS,
    **ldmatrix.HANDLERS,
    **logic.HANDLERS,
    **mbarrier.HANDLERS,
    **memory.HANDLERS,
    **movement.HANDLERS,
    **packed_video.HANDLERS,
    **real.HANDLERS,
    **reduction.HANDLERS,
    **refused.HANDLERS,
    **surface.HANDLERS,
    **tensor_map_fields.HANDLERS,
    **texture.HANDLERS,
    **video.HANDLERS,
    **warp.HANDLERS,
    **dict.fromkeys(("mma", "wgmma", "wmma"), multiply),
    **asynchronous.HANDLERS,  # these hand on what is not asynchronous to the families above
}
