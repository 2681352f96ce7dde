"""Warps of blocks: all of them one after another, or each as far as its window goes."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.warps.groups import begin
from simtmm.trace.warps.layout import (
    END_CHUNKS,
    END_OPERATIONS,
    MADE_CHUNKS,
    MADE_OPERATIONS,
    NOTHING_HELD,
    RULE_BARRIER,
    RULE_BARRIER_OF_WARP,
    RULE_WIDTH,
    WARP_ASYNCS,
    WARP_BACKLOG,
    WARP_BEHIND_BARRIER,
    WARP_BLOCK_WARPS,
    WARP_COMMITTED,
    WARP_CYCLES,
    WARP_HELD_KIND,
    WARP_LANES,
    WARP_LOCAL_BYTES,
    WARP_PRODUCT_GROUPS,
    WARP_PRODUCTS,
    WARP_REGION,
    WARP_SETTLED,
    WARP_SHARED,
    WARP_STRUCTURE,
    WARP_THREAD,
    WARP_TURNS,
    WARP_VALUE,
    WARP_WAITED,
    WARP_X,
    WARP_Y,
)
from simtmm.trace.warps.walk import ENDED, go_on

AT_BLOCK, AT_WARP, AT_CHUNK, AT_OPERATION, IS_UNDER_WAY = range(5)  # of `progress`: the block and the warp that come
# next, from where on operations and chunks of the warp that is under way are not counted yet, and whether one is
PROGRESS = 5

# Of `ask`: the warp's row; the place of its block and its number in it, -1 for a warp that is under way; how many
# operations and chunks a window holds; where those end that were generated; the address of `fill`, for who calls it;
# which window is meant
ASK_ROW, ASK_BLOCK, ASK_NUMBER, ASK_OPERATIONS, ASK_CHUNKS, ASK_END, ASK_ENTRY, ASK_WINDOW = range(8)
ASK = 8


def walk_blocks(  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    walk, runs, blocks, structure_of, values, value_ends, shape, local, output, of_warps, most_chunks, progress
):
    """Write the operations of all warps of blocks: ENDED, IS_FULL to be called again with more room, or with what was
    generated taken away (`used` and the place in `progress` of the warp's beginning 0), or IS_REFUSED.

    blocks: int32, their numbers. structure_of, values, value_ends: as in Runs. shape: int64[3], of a block. local:
    int64[3]: the address of the local memory of the launch's first warp, that of a warp, and of a thread [bytes].
    of_warps: int64[warps, 2], zeros, to which are added of each the operations and the chunks that were generated.
    progress: int64[PROGRESS], zeros in the beginning.
    """
    width = walk.rules[RULE_WIDTH]
    warps = (shape[0] * shape[1] * shape[2] + width - 1) // width
    while progress[AT_BLOCK] < structure_of.shape[0]:
        block = progress[AT_BLOCK]
        while progress[AT_WARP] < warps:
            number = progress[AT_WARP]
            if progress[IS_UNDER_WAY] == 0:
                enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, number, np.int64(0))
                progress[AT_OPERATION] = output.used[MADE_OPERATIONS]
                progress[AT_CHUNK] = output.used[MADE_CHUNKS]
                progress[IS_UNDER_WAY] = 1
            found = go_on(walk, runs, values, np.int64(0), output, most_chunks)
            of_warps[block * warps + number, 0] += output.used[MADE_OPERATIONS] - progress[AT_OPERATION]
            of_warps[block * warps + number, 1] += output.used[MADE_CHUNKS] - progress[AT_CHUNK]
            progress[AT_OPERATION] = output.used[MADE_OPERATIONS]
            progress[AT_CHUNK] = output.used[MADE_CHUNKS]
            if found != ENDED:
                return found
            progress[IS_UNDER_WAY] = 0
            progress[AT_WARP] = number + 1
        progress[AT_WARP] = 0
        progress[AT_BLOCK] = block + 1
    return np.int64(ENDED)


@inlined
def enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, number, w):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Put the warp with this number in a block, known by its place, at its beginning, in row w of the walk."""
    threads = shape[0] * shape[1] * shape[2]
    width = walk.rules[RULE_WIDTH]
    warps = (threads + width - 1) // width
    walk.warp[w, WARP_STRUCTURE] = structure_of[block]
    walk.warp[w, WARP_VALUE] = value_ends[block - 1] if block > 0 else np.int64(0)
    walk.warp[w, WARP_THREAD] = number * width
    walk.warp[w, WARP_LANES] = min(width, threads - number * width)
    walk.warp[w, WARP_ASYNCS] = 0
    walk.warp[w, WARP_WAITED] = 0
    walk.warp[w, WARP_HELD_KIND] = NOTHING_HELD
    walk.warp[w, WARP_TURNS] = 0
    walk.warp[w, WARP_REGION] = local[0] + (blocks[block] * warps + number) * local[1]
    walk.warp[w, WARP_LOCAL_BYTES] = local[2]
    walk.warp[w, WARP_X] = shape[0]
    walk.warp[w, WARP_Y] = shape[1]
    for index in range(walk.latest.shape[1]):
        walk.latest[w, index] = 0
        walk.shared[w, index] = 0
        walk.ready[w, index] = 0
    walk.warp[w, WARP_CYCLES] = 0
    walk.warp[w, WARP_BACKLOG] = 0
    walk.warp[w, WARP_COMMITTED] = 0
    walk.warp[w, WARP_SHARED] = 0
    walk.warp[w, WARP_SETTLED] = 0
    walk.warp[w, WARP_PRODUCTS] = 0
    walk.warp[w, WARP_PRODUCT_GROUPS] = 0
    behind = walk.rules[RULE_BARRIER] + warps * walk.rules[RULE_BARRIER_OF_WARP]
    walk.warp[w, WARP_BEHIND_BARRIER] = (behind + 500) // 1000
    walk.warp[w, WARP_BLOCK_WARPS] = warps
    begin(walk, runs, values, w, value_ends[block])


def fill(walk, runs, blocks, structure_of, values, value_ends, shape, local, output, most_chunks, ask):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Put the next operations of a warp into a window of the output: ENDED where none are left, IS_FULL, IS_REFUSED.

    ask: int64[ASK]; names the warp and the window, and receives how far that is filled. Of blocks and the others see
    `walk_blocks`.
    """
    w = ask[ASK_ROW]
    if ask[ASK_BLOCK] >= 0:
        block = ask[ASK_BLOCK]
        enter(walk, runs, blocks, structure_of, values, value_ends, shape, local, block, ask[ASK_NUMBER], w)
    output.used[MADE_OPERATIONS] = ask[ASK_WINDOW] * ask[ASK_OPERATIONS]
    output.used[MADE_CHUNKS] = ask[ASK_WINDOW] * ask[ASK_CHUNKS]
    output.used[END_OPERATIONS] = output.used[MADE_OPERATIONS] + ask[ASK_OPERATIONS]
    output.used[END_CHUNKS] = output.used[MADE_CHUNKS] + ask[ASK_CHUNKS]
    found = go_on(walk, runs, values, w, output, most_chunks)
    ask[ASK_END] = output.used[MADE_OPERATIONS]
    return found
