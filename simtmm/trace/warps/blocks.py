"""Warps of blocks: all of them one after another, or each as far as its window goes."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from typing import Annotated, Any

import numpy as np

from simtmm.native import Columns, inlined
from simtmm.trace.runs.layout import Structures
from simtmm.trace.warps.groups import begin
from simtmm.trace.warps.layout import NOTHING_HELD, Output, Walk
from simtmm.trace.warps.walk import ENDED, go_on

Progress = Columns(
    "block warp",  # that come next
    "chunk operation",  # from where on those of the warp that is under way are not counted yet
    "is_under_way",  # whether one is
)

Ask = Columns(
    "row",  # the warp's
    "block number",  # the place of its block and its number in it, -1 for a warp that is under way
    "operations chunks",  # how many a window holds
    "end",  # where those end that were generated
    "entry",  # the address of `fill`, for who calls it
    "window",  # which is meant
)


def walk_blocks(  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    walk: Walk, runs: Structures, blocks, structure_of, values, value_ends, shape, local, output: Output, of_warps,
    most_chunks, progress: Annotated[Any, Progress],
):  # fmt: skip
    """Write the operations of all warps of blocks: ENDED, IS_FULL to be called again with more room, or with what was
    generated taken away (`used` and the place in `progress` of the warp's beginning 0), or IS_REFUSED.

    blocks: int32, their numbers. structure_of, values, value_ends: as in Runs. shape: int64[3], of a block. local:
    int64[4]: the address of the local memory of the launch's first warp, that of a warp, and of a thread [bytes]; the
    registers of a thread.
    of_warps: int64[warps, 2], zeros, to which are added of each the operations and the chunks that were generated.
    progress: zeros in the beginning.
    """
    width = walk.rules.width
    warps = (shape[0] * shape[1] * shape[2] + width - 1) // width
    while progress.block < structure_of.shape[0]:
        block = progress.block
        while progress.warp < warps:
            number = progress.warp
            if progress.is_under_way == 0:
                enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, number, np.int64(0))
                progress.operation = output.used.operations
                progress.chunk = output.used.chunks
                progress.is_under_way = 1
            found = go_on(walk, runs, values, np.int64(0), output, most_chunks)
            of_warps[block * warps + number, 0] += output.used.operations - progress.operation
            of_warps[block * warps + number, 1] += output.used.chunks - progress.chunk
            progress.operation = output.used.operations
            progress.chunk = output.used.chunks
            if found != ENDED:
                return found
            progress.is_under_way = 0
            progress.warp = number + 1
        progress.warp = 0
        progress.block = block + 1
    return np.int64(ENDED)


@inlined
def enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, number, w):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Put the warp with this number in a block, known by its place, at its beginning, in row w of the walk."""
    threads = shape[0] * shape[1] * shape[2]
    width = walk.rules.width
    warps = (threads + width - 1) // width
    walk.warp[w].structure = structure_of[block]
    walk.warp[w].value = value_ends[block - 1] if block > 0 else np.int64(0)
    walk.warp[w].thread = number * width
    walk.warp[w].lanes = min(width, threads - number * width)
    walk.warp[w].asyncs = 0
    walk.warp[w].waited = 0
    walk.warp[w].held_kind = NOTHING_HELD
    walk.warp[w].turns = 0
    walk.warp[w].region = local[0] + (blocks[block] * warps + number) * local[1]
    walk.warp[w].local_bytes = local[2]
    walk.warp[w].x = shape[0]
    walk.warp[w].y = shape[1]
    for index in range(walk.latest.shape[1]):
        walk.latest[w, index] = 0
        walk.shared[w, index] = 0
        walk.ready[w, index] = 0
    walk.warp[w].cycles = 0
    walk.warp[w].backlog = 0
    walk.warp[w].committed = 0
    walk.warp[w].shared = 0
    walk.warp[w].settled = 0
    walk.warp[w].products = 0
    walk.warp[w].product_groups = 0
    walk.warp[w].registers = local[3]
    behind = walk.rules.barrier + warps * walk.rules.barrier_of_warp
    walk.warp[w].behind_barrier = (behind + 500) // 1000
    walk.warp[w].block_warps = warps
    begin(walk, runs, values, w, value_ends[block])


def fill(  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    walk: Walk, runs: Structures, blocks, structure_of, values, value_ends, shape, local, output: Output, most_chunks,
    ask: Annotated[Any, Ask],
):  # fmt: skip
    """Put the next operations of a warp into a window of the output: ENDED where none are left, IS_FULL, IS_REFUSED.

    ask: names the warp and the window, and receives how far that is filled. Of blocks and the others see
    `walk_blocks`.
    """
    w = ask.row
    if ask.block >= 0:
        block = ask.block
        enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, ask.number, w)
    output.used.operations = ask.window * ask.operations
    output.used.chunks = ask.window * ask.chunks
    output.used.end_operations = output.used.operations + ask.operations
    output.used.end_chunks = output.used.chunks + ask.chunks
    found = go_on(walk, runs, values, w, output, most_chunks)
    ask.end = output.used.operations
    return found
