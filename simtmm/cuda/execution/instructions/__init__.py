"""What each instruction of PTX does, family by family: its name and the function that translates it."""

from collections.abc import Callable

from simtmm.cuda.execution.context import Context
from simtmm.cuda.execution.instructions import (
    arithmetic,
    asynchronous,
    atomics,
    comparison,
    conversion,
    integer,
    ldmatrix,
    logic,
    mbarrier,
    memory,
    mma,
    movement,
    packed_video,
    real,
    reduction,
    refused,
    video,
    warp,
    wmma,
)
from simtmm.cuda.ptx.syntax import Instruction

Handler = Callable[[Context, Instruction], None]

HANDLERS: dict[str, Handler] = {
    **arithmetic.HANDLERS,
    **atomics.HANDLERS,
    **comparison.HANDLERS,
    **conversion.HANDLERS,
    **integer.HANDLERS,
    **ldmatrix.HANDLERS,
    **logic.HANDLERS,
    **mbarrier.HANDLERS,
    **memory.HANDLERS,
    **mma.HANDLERS,
    **movement.HANDLERS,
    **packed_video.HANDLERS,
    **real.HANDLERS,
    **reduction.HANDLERS,
    **refused.HANDLERS,
    **video.HANDLERS,
    **warp.HANDLERS,
    **wmma.HANDLERS,
    **asynchronous.HANDLERS,  # these hand on what is not asynchronous to the families above
}
