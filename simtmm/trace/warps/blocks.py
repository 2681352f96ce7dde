"""All warps of some blocks, one after another."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.trace.warps.groups import begin
from simtmm.trace.warps.layout import (
    MADE_CHUNKS,
    MADE_OPERATIONS,
    NOTHING_HELD,
    RULE_WIDTH,
    WARP_ASYNCS,
    WARP_HELD_KIND,
    WARP_LANES,
    WARP_LOCAL_BYTES,
    WARP_REGION,
    WARP_STRUCTURE,
    WARP_THREAD,
    WARP_VALUE,
    WARP_WAITED,
    WARP_X,
    WARP_Y,
)
from simtmm.trace.warps.walk import ENDED, go_on

AT_BLOCK, AT_WARP, AT_CHUNK, AT_OPERATION, IS_UNDER_WAY = range(5)  # of `progress`: the block and the warp that come
# next, where the operations and the chunks of the warp that is under way begin, and whether one is
PROGRESS = 5


def walk_blocks(
    walk, runs, blocks, structure_of, values, value_ends, shape, local, output, of_warps, most_chunks, progress
):
    """Write the operations of all warps of blocks: ENDED, IS_FULL to be called again with more room, or IS_REFUSED.

    blocks: int32, their numbers. structure_of, values, value_ends: as in Runs. shape: int64[3], of a block. local:
    int64[3]: the address of the local memory of the launch's first warp, that of a warp, and of a thread [bytes].
    of_warps: int64[warps, 2], of each the operations and the chunks. progress: int64[PROGRESS], zeros in the beginning.
    """
    threads = shape[0] * shape[1] * shape[2]
    width = walk.rules[RULE_WIDTH]
    warps = (threads + width - 1) // width
    while progress[AT_BLOCK] < structure_of.shape[0]:
        block = progress[AT_BLOCK]
        while progress[AT_WARP] < warps:
            number = progress[AT_WARP]
            if progress[IS_UNDER_WAY] == 0:
                walk.warp[0, WARP_STRUCTURE] = structure_of[block]
                walk.warp[0, WARP_VALUE] = value_ends[block - 1] if block > 0 else np.int64(0)
                walk.warp[0, WARP_THREAD] = number * width
                walk.warp[0, WARP_LANES] = min(width, threads - number * width)
                walk.warp[0, WARP_ASYNCS] = 0
                walk.warp[0, WARP_WAITED] = 0
                walk.warp[0, WARP_HELD_KIND] = NOTHING_HELD
                walk.warp[0, WARP_REGION] = local[0] + (blocks[block] * warps + number) * local[1]
                walk.warp[0, WARP_LOCAL_BYTES] = local[2]
                walk.warp[0, WARP_X] = shape[0]
                walk.warp[0, WARP_Y] = shape[1]
                for index in range(walk.latest.shape[1]):
                    walk.latest[0, index] = 0
                begin(walk, runs, values, np.int64(0), value_ends[block])
                progress[AT_OPERATION] = output.used[MADE_OPERATIONS]
                progress[AT_CHUNK] = output.used[MADE_CHUNKS]
                progress[IS_UNDER_WAY] = 1
            found = go_on(walk, runs, values, np.int64(0), output, most_chunks)
            if found != ENDED:
                return found
            of_warps[block * warps + number, 0] = output.used[MADE_OPERATIONS] - progress[AT_OPERATION]
            of_warps[block * warps + number, 1] = output.used[MADE_CHUNKS] - progress[AT_CHUNK]
            progress[IS_UNDER_WAY] = 0
            progress[AT_WARP] = number + 1
        progress[AT_WARP] = 0
        progress[AT_BLOCK] = block + 1
    return np.int64(ENDED)
