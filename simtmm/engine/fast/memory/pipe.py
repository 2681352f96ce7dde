"""The pipe that accesses of a group's L1 and shared memory pass, and when copies in bulk begin (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.engine.fast.layout import (
    GROUP_BANKS_FREE,
    GROUP_COPY_FREE,
    GROUP_DRAIN_FREE,
    GROUP_ENTRY_FREE,
    GROUP_FILL_FREE,
    GROUP_LAST,
    GROUP_MISSES,
    GROUP_SHARED_BANKS,
    GROUP_SHARED_ENTRY,
    GROUP_TAGS_FREE,
    P_ACCESS_INTERVAL,
    P_COPY_INTERVAL,
    P_DRAIN_INTERVAL,
    P_FILL_INTERVAL,
    P_MOST_MISSES,
    P_PASS_INTERVAL,
    P_SHARED_APART,
    P_SHARED_LATENCY,
    P_SHARED_PASS,
    SHARED_CONFLICTS,
    SHARED_OWN,
    SHARED_PLACE,
    SHARED_SETTLED,
    WARP_SHARED,
)
from simtmm.engine.fast.memory.sectors import part_of
from simtmm.native import inlined


@inlined
def enter_pipe(s, g, passes, t):
    """A global access comes to its group's pipe at t: the tick at which its last pass over the banks begins."""
    entered = max(t, s.group[g, GROUP_ENTRY_FREE])
    s.group[g, GROUP_ENTRY_FREE] = entered + s.parameters[P_ACCESS_INTERVAL]
    tags = max(entered, s.group[g, GROUP_TAGS_FREE])
    s.group[g, GROUP_TAGS_FREE] = tags
    last = max(tags, s.group[g, GROUP_BANKS_FREE]) + (passes - 1) * s.parameters[P_PASS_INTERVAL]
    s.group[g, GROUP_BANKS_FREE] = last + s.parameters[P_PASS_INTERVAL]
    return last


@inlined
def begin_copy(s, g, t):
    """When a group begins a copy in bulk."""
    begin = max(t, s.group[g, GROUP_COPY_FREE])
    s.group[g, GROUP_COPY_FREE] = begin + s.parameters[P_COPY_INTERVAL]
    return begin


@inlined
def call_for(s, g, lacking, start, t):
    """When sectors of a chunk are called for that a load does not find in the L1, which they are not before `start`."""
    begin = max(t, s.group[g, GROUP_FILL_FREE])
    s.group[g, GROUP_FILL_FREE] = begin + part_of(s.parameters, s.parameters[P_FILL_INTERVAL], lacking)
    start = max(start, begin)
    if s.parameters[P_MOST_MISSES] > 0:
        start = max(start, s.arrivals[g, s.group[g, GROUP_MISSES] % s.parameters[P_MOST_MISSES]])
        s.group[g, GROUP_MISSES] += 1
    return start


@inlined
def drain(s, g, stored, start, t):
    """When sectors of a chunk that are stored go out of their group, which they do not before `start`."""
    begin = max(t, s.group[g, GROUP_DRAIN_FREE])
    s.group[g, GROUP_DRAIN_FREE] = begin + part_of(s.parameters, s.parameters[P_DRAIN_INTERVAL], stored)
    return max(start, begin)


@inlined
def arrive(s, g, done):
    """A chunk that was called for last arrives, which the one that is called for so many chunks later waits for."""
    if s.parameters[P_MOST_MISSES] > 0:
        miss = (s.group[g, GROUP_MISSES] - 1) % s.parameters[P_MOST_MISSES]
        s.arrivals[g, miss] = done


def pass_shared(s, g, w, passes, conflicts, place, t):
    """A shared access comes to the pipe that it passes at t; the warp goes on, and may wait for it later."""
    entry, banks = GROUP_ENTRY_FREE, GROUP_BANKS_FREE
    if s.parameters[P_SHARED_APART] != 0:
        entry, banks = GROUP_SHARED_ENTRY, GROUP_SHARED_BANKS
    entered = max(t, s.group[g, entry])
    s.group[g, entry] = entered + s.parameters[P_ACCESS_INTERVAL]
    last = max(entered, s.group[g, banks]) + (passes - 1) * s.parameters[P_SHARED_PASS]
    free = last + s.parameters[P_SHARED_PASS]
    s.group[g, banks] = free
    settled = last + s.parameters[P_SHARED_LATENCY]
    row = s.warp[w, WARP_SHARED] & (s.unsettled.shape[1] - 1)
    s.warp[w, WARP_SHARED] += 1
    s.unsettled[w, row, SHARED_SETTLED] = settled
    s.unsettled[w, row, SHARED_CONFLICTS] = conflicts * s.parameters[P_SHARED_PASS]
    s.unsettled[w, row, SHARED_OWN] = settled - last + (passes - 1 - conflicts) * s.parameters[P_SHARED_PASS]
    s.unsettled[w, row, SHARED_PLACE] = place
    s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], settled, free)
