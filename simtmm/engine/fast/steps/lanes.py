"""Groups that nothing couples go on apart, each on a clock of its own; many of them at once, in lanes."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import FREE_BLOCKS, LANE, NEVER, TOUCHED
from simtmm.engine.fast.steps.dispatch import dispatch
from simtmm.workload import ATOMIC, COMPUTE, JOIN, LISTED, LOAD, OF_CLASS, PAUSE, SHARED, STORE


def shortest_blocks(kind, amount, warp_operations, block_warps, issue, wait, store_wait, cycle, piped, shortest):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """The ticks that each block takes at least: those of the warp that issues and waits longest, were it alone."""
    for block in range(len(shortest)):
        longest = np.int64(0)
        for warp in range(block_warps[block], block_warps[block + 1]):
            ticks = np.int64(0)
            for index in range(warp_operations[warp], warp_operations[warp + 1]):
                what = np.int64(kind[index])
                if what == SHARED and piped:
                    ticks += issue
                elif what == SHARED:
                    ticks += issue * (amount[index] & LISTED)
                elif what == COMPUTE or what >= OF_CLASS:
                    ticks += issue * amount[index]
                elif what == PAUSE:
                    ticks += cycle * amount[index]
                elif what < JOIN:
                    ticks += issue
                    if what in (LOAD, ATOMIC):
                        ticks += wait
                    elif what == STORE:
                        ticks += store_wait
            longest = max(longest, ticks)
        shortest[block] = longest


def soonest_end(s, g, t):
    """A tick before which no block of a group can end that goes on at t."""
    soonest = NEVER
    taken = s.group[g].blocks
    place = 0
    while taken > 0:
        b = g * s.parameters.blocks + place
        if not (s.bits[g, FREE_BLOCKS, place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            taken -= 1
            soonest = min(soonest, s.block[b].soonest)
        place += 1
    return max(soonest, t + 1)


def dispatch_apart(s, order):
    """Dispatch for groups on clocks of their own, up to the first tick at which one that goes on could be next."""
    groups = s.parameters.groups
    horizon = NEVER
    touched = 0
    while True:
        t = NEVER
        for g in range(groups):
            if s.clock[TOUCHED, g] == 0:
                t = min(t, s.group[g].parked)
        if t >= horizon or t == NEVER:
            return touched
        dispatch(s, order, t)
        for g in range(groups):
            if s.group[g].parked == t:  # those that go on already have parked earlier
                s.clock[TOUCHED, g] = 1
                touched += 1
                if s.parameters.lanes > 1 and s.parameters.pending < s.parameters.last_block:
                    horizon = min(horizon, soonest_end(s, g, t))
        if s.parameters.lanes == 1:
            return touched


def share_out(s, touched):
    """Give the touched groups to lanes, if they are worth it."""
    lanes = s.parameters.lanes
    if lanes == 1 or touched < s.parameters.wide:
        return False
    number = 0
    for g in range(s.parameters.groups):
        if s.clock[TOUCHED, g] == 1:
            s.group[g].lane = number * lanes // touched
            s.clock[TOUCHED, g] = LANE + s.group[g].lane
            number += 1
    return True
