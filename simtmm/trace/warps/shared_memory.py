"""How often the banks of shared memory are accessed for what the lanes of a step access."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.schema import BEYOND, Kind
from simtmm.trace.warps.lanes import base_of, bytes_of, gather_dense
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
    step = walk.group[w, g].step
    by_x, by_y, by_z = runs.step[step].x, runs.step[step].y, runs.step[step].z
    if max(by_x, by_y, by_z) >= STEEPEST or min(by_x, by_y, by_z) <= -STEEPEST:
        return np.int64(NOT_SO)
    x, y = walk.warp[w].x, walk.warp[w].y
    lanes = walk.group[w, g].lanes
    thread = walk.warp[w].thread + walk.group[w, g].first
    z = (thread + lanes - 1) // (x * y) if by_z != 0 else np.int64(0)
    moved = bytes_of(walk.group[w, g].what)
    base = base_of(walk, runs, values, w, g)
    if base < 0 or base >= BEYOND:
        return np.int64(NOT_SO)
    low = base + min(by_x, np.int64(0)) * (x - 1) + min(by_y, np.int64(0)) * (y - 1) + min(by_z, np.int64(0)) * z
    high = base + max(by_x, np.int64(0)) * (x - 1) + max(by_y, np.int64(0)) * (y - 1) + max(by_z, np.int64(0)) * z
    if low < 0 or high >= BEYOND or low >> ARRAY_SHIFT != (high + moved) >> ARRAY_SHIFT:
        return np.int64(NOT_SO)
    width = walk.rules.bank_bytes
    if kind <= _STORE and walk.rules.pipe_banks > 0:
        row = walk.rules.pipe_banks * WORD if walk.rules.tag_banks > 0 else np.int64(1)
        wide = max(moved, np.int64(1))
        width = row if row % wide == 0 else row * wide
    offset = (base & ((1 << ARRAY_SHIFT) - 1)) % width
    offset = (offset << 16) + (moved << 8) + kind
    together = (lanes << 32) + walk.warp[w].lanes
    extents = (x << 32) + y
    looks = offset * 31 + thread
    looks = (looks ^ (by_x << 20) ^ (by_y << 40)) * 0x2545F4914F6CDD1D
    row = (looks >> 40) & (walk.degree.shape[0] - 1)
    if (
        walk.degree[row].offset == offset
        and walk.degree[row].thread == thread
        and walk.degree[row].lanes == together
        and walk.degree[row].by_x == by_x
        and walk.degree[row].by_y == by_y
        and walk.degree[row].by_z == by_z
        and walk.degree[row].extents == extents
        and walk.degree[row].found > 0
    ):
        return walk.degree[row].found
    walk.group[w, g].base = base
    found = degree_of(walk, w, gather_dense(walk, runs, values, w, g), kind)
    walk.degree[row].offset = offset
    walk.degree[row].thread = thread
    walk.degree[row].lanes = together
    walk.degree[row].by_x = by_x
    walk.degree[row].by_y = by_y
    walk.degree[row].by_z = by_z
    walk.degree[row].extents = extents
    walk.degree[row].found = found
    return found


@inlined
def degree_of(walk, w, lanes, kind):
    """What an access takes the banks for: its passes where it passes a pipe, else its conflict degree."""
    if walk.rules.pipe_lanes > 0:
        return bank_passes(walk, lanes, kind)
    return conflict_degree(walk, w, lanes, kind)


@inlined
def conflict_degree(walk, w, lanes, kind):
    """How often the banks are accessed for a pass, on average over passes and rounded up."""
    at_once = walk.rules.together
    total = np.int64(0)
    index = np.int64(0)
    while index < lanes:
        end = end_of_lanes(walk, lanes, index, at_once)
        total += depth_of_banks(walk, index, end, kind)
        index = end
    passes = (walk.warp[w].lanes + at_once - 1) // at_once
    return max(np.int64(1), (total + passes - 1) // passes)
