"""Windows of warps of a stream: their next operations, filled where a warp has come to the end of them."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    R_REFUSED,
    WARP_CHUNK,
    WARP_END,
    WARP_FILLED,
    WARP_INDEX,
    WARP_PLACE,
    WARP_POSITION,
    WARP_TABLE,
)
from simtmm.native import call_bound, inlined
from simtmm.trace.warps.blocks import ASK_BLOCK, ASK_CHUNKS, ASK_END, ASK_ENTRY, ASK_NUMBER, ASK_OPERATIONS, ASK_ROW
from simtmm.trace.warps.walk import ENDED, IS_FULL


@inlined
def has_more(s, w):
    """Whether the window of a warp that is at its end is to be filled; there may be nothing left for it."""
    return s.warp[w, WARP_TABLE] != 0


def fill(s, w):
    """Have the window of a warp filled: it is at its beginning then, and at its end too if it has nothing left."""
    s.ask[ASK_ROW] = w
    s.ask[ASK_BLOCK] = s.warp[w, WARP_PLACE]
    s.ask[ASK_NUMBER] = s.warp[w, WARP_INDEX]
    outcome = call_bound(s.ask[ASK_ENTRY], s.warp[w, WARP_TABLE])
    s.warp[w, WARP_PLACE] = -1
    s.warp[w, WARP_FILLED] += 1
    s.warp[w, WARP_POSITION] = w * s.ask[ASK_OPERATIONS]
    s.warp[w, WARP_END] = s.ask[ASK_END]
    s.warp[w, WARP_CHUNK] = w * s.ask[ASK_CHUNKS]
    if outcome != IS_FULL:
        s.warp[w, WARP_TABLE] = 0
        if outcome != ENDED:
            s.parameters[R_REFUSED] = np.int64(1)
