"""How often the banks of shared memory are accessed for what the lanes of a step access."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import STEP_X, STEP_Y, STEP_Z
from simtmm.trace.schema import BEYOND, Kind
from simtmm.trace.warps.lanes import base_of, bytes_of, gather_dense
from simtmm.trace.warps.layout import (
    DEGREE_BY_X,
    DEGREE_BY_Y,
    DEGREE_BY_Z,
    DEGREE_EXTENTS,
    DEGREE_FOUND,
    DEGREE_LANES,
    DEGREE_OFFSET,
    DEGREE_THREAD,
    GROUP_BASE,
    GROUP_FIRST,
    GROUP_LANES,
    GROUP_STEP,
    GROUP_WHAT,
    RULE_BANK_BYTES,
    RULE_PIPE_BANKS,
    RULE_PIPE_LANES,
    RULE_TAG_BANKS,
    RULE_TOGETHER,
    WARP_LANES,
    WARP_THREAD,
    WARP_X,
    WARP_Y,
)
from simtmm.trace.warps.passes import ARRAY_SHIFT, WORD, bank_passes, depth_of_banks, end_of_lanes

_STORE = int(Kind.STORE)

NOT_SO = -1  # in the place of a degree
STEEPEST = 1 << 40  # a step from a thread to the next; times the threads of a block it is still far from 64 bits


@inlined
def even_degree(walk, runs, values, w, g, kind):
    """What `degree_of` gives of a group that is alone, and even; NOT_SO where its block's values may leave an array.

    It is the same wherever all lanes have gone on by whole words, to other banks, so it is looked up where it was found
    before.
    """
    step = walk.group[w, g, GROUP_STEP]
    by_x, by_y, by_z = runs.step[step, STEP_X], runs.step[step, STEP_Y], runs.step[step, STEP_Z]
    if max(by_x, by_y, by_z) >= STEEPEST or min(by_x, by_y, by_z) <= -STEEPEST:
        return np.int64(NOT_SO)
    x, y = walk.warp[w, WARP_X], walk.warp[w, WARP_Y]
    lanes = walk.group[w, g, GROUP_LANES]
    thread = walk.warp[w, WARP_THREAD] + walk.group[w, g, GROUP_FIRST]
    z = (thread + lanes - 1) // (x * y) if by_z != 0 else np.int64(0)
    moved = bytes_of(walk.group[w, g, GROUP_WHAT])
    base = base_of(walk, runs, values, w, g)
    if base < 0 or base >= BEYOND:
        return np.int64(NOT_SO)
    low = base + min(by_x, np.int64(0)) * (x - 1) + min(by_y, np.int64(0)) * (y - 1) + min(by_z, np.int64(0)) * z
    high = base + max(by_x, np.int64(0)) * (x - 1) + max(by_y, np.int64(0)) * (y - 1) + max(by_z, np.int64(0)) * z
    if low < 0 or high >= BEYOND or low >> ARRAY_SHIFT != (high + moved) >> ARRAY_SHIFT:
        return np.int64(NOT_SO)
    width = walk.rules[RULE_BANK_BYTES]
    if kind <= _STORE and walk.rules[RULE_PIPE_BANKS] > 0:
        row = walk.rules[RULE_PIPE_BANKS] * WORD if walk.rules[RULE_TAG_BANKS] > 0 else np.int64(1)
        wide = max(moved, np.int64(1))
        width = row if row % wide == 0 else row * wide
    offset = (base & ((1 << ARRAY_SHIFT) - 1)) % width
    offset = (offset << 16) + (moved << 8) + kind
    together = (lanes << 32) + walk.warp[w, WARP_LANES]
    extents = (x << 32) + y
    looks = offset * 31 + thread
    looks = (looks ^ (by_x << 20) ^ (by_y << 40)) * 0x2545F4914F6CDD1D
    row = (looks >> 40) & (walk.degree.shape[0] - 1)
    if (
        walk.degree[row, DEGREE_OFFSET] == offset
        and walk.degree[row, DEGREE_THREAD] == thread
        and walk.degree[row, DEGREE_LANES] == together
        and walk.degree[row, DEGREE_BY_X] == by_x
        and walk.degree[row, DEGREE_BY_Y] == by_y
        and walk.degree[row, DEGREE_BY_Z] == by_z
        and walk.degree[row, DEGREE_EXTENTS] == extents
        and walk.degree[row, DEGREE_FOUND] > 0
    ):
        return walk.degree[row, DEGREE_FOUND]
    walk.group[w, g, GROUP_BASE] = base
    found = degree_of(walk, w, gather_dense(walk, runs, values, w, g), kind)
    walk.degree[row, DEGREE_OFFSET] = offset
    walk.degree[row, DEGREE_THREAD] = thread
    walk.degree[row, DEGREE_LANES] = together
    walk.degree[row, DEGREE_BY_X] = by_x
    walk.degree[row, DEGREE_BY_Y] = by_y
    walk.degree[row, DEGREE_BY_Z] = by_z
    walk.degree[row, DEGREE_EXTENTS] = extents
    walk.degree[row, DEGREE_FOUND] = found
    return found


@inlined
def degree_of(walk, w, lanes, kind):
    """What an access takes the banks for: its passes where it passes a pipe, else its conflict degree."""
    if walk.rules[RULE_PIPE_LANES] > 0:
        return bank_passes(walk, lanes, kind)
    return conflict_degree(walk, w, lanes, kind)


@inlined
def conflict_degree(walk, w, lanes, kind):
    """How often the banks are accessed for a pass, on average over passes and rounded up."""
    at_once = walk.rules[RULE_TOGETHER]
    total = np.int64(0)
    index = np.int64(0)
    while index < lanes:
        end = end_of_lanes(walk, lanes, index, at_once)
        total += depth_of_banks(walk, index, end, kind)
        index = end
    passes = (walk.warp[w, WARP_LANES] + at_once - 1) // at_once
    return max(np.int64(1), (total + passes - 1) // passes)
