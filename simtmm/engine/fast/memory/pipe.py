"""The pipe that accesses of a group's L1 and shared memory pass, and when copies in bulk begin (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import Group
from simtmm.engine.fast.memory.sectors import accessed_of, count_of, part_of, wanted_of
from simtmm.native import inlined
from simtmm.workload import MOST_PASSES


@inlined
def enter_pipe(s, g, passes, t):
    """A global access comes to its group's pipe at t: the tick at which its last pass over the banks begins."""
    entered = max(t, s.group[g].entry_free)
    s.group[g].entry_free = entered + s.parameters.access_interval
    tags = max(entered, s.group[g].tags_free)
    s.group[g].tags_free = tags
    last = max(tags, s.group[g].banks_free) + (passes - 1) * s.parameters.pass_interval
    s.group[g].banks_free = last + s.parameters.pass_interval
    return last


@inlined
def call_for(s, g, lacking, start, t):
    """When sectors of a chunk are called for that a load does not find in the L1, which they are not before `start`."""
    begin = max(t, s.group[g].fill_free)
    s.group[g].fill_free = begin + part_of(s.parameters, s.parameters.fill_interval, lacking)
    start = max(start, begin)
    if s.parameters.most_misses > 0:
        start = max(start, s.arrivals[g, s.group[g].misses % s.parameters.most_misses])
        s.group[g].misses += 1
    return start


@inlined
def take_banks(s, g, passes, t):
    """A product's factors are read from shared memory, or a copy is written there: when the banks are free again."""
    banks = Group.shared_banks if s.parameters.shared_apart != 0 else Group.banks_free
    free = max(t, s.group[g, banks]) + passes * s.parameters.shared_pass
    s.group[g, banks] = free
    s.group[g].last = max(s.group[g].last, free)
    return free


def begin_copy(s, g, first, count, t):
    """When a group begins a copy in bulk of some chunks, for which the banks of its shared memory are taken."""
    begin = max(t, s.group[g].copy_free)
    s.group[g].copy_free = begin + s.parameters.copy_interval
    if s.parameters.piped != 0:
        passes = np.int64(0)
        at_once = s.parameters.pass_bytes
        for index in range(first, first + count):
            wanted = wanted_of(s.parameters, accessed_of(s.parameters, s.sectors, index))
            passes += (count_of(wanted) * s.parameters.sector_bytes + at_once - 1) // at_once
        take_banks(s, g, passes, t)
    return begin


@inlined
def come_from_others(s, g, count, t):
    """So many bytes of other blocks' multicasts come into the group: when the last of them begin to."""
    at_once, chunk = s.parameters.pass_bytes, s.parameters.sectors * s.parameters.sector_bytes
    most = np.int64(MOST_PASSES)
    take_banks(s, g, min((count + at_once - 1) // at_once, most), t)
    taken = min((count + chunk - 1) // chunk, most) * s.parameters.fill_interval
    s.group[g].fill_free = max(t, s.group[g].fill_free) + taken
    return s.group[g].fill_free - s.parameters.fill_interval


@inlined
def drain(s, g, stored, start, t):
    """When sectors of a chunk that are stored go out of their group, which they do not before `start`."""
    begin = max(t, s.group[g].drain_free)
    s.group[g].drain_free = begin + part_of(s.parameters, s.parameters.drain_interval, stored)
    return max(start, begin)


@inlined
def arrive(s, g, done):
    """A chunk that was called for last arrives, which the one that is called for so many chunks later waits for."""
    if s.parameters.most_misses > 0:
        miss = (s.group[g].misses - 1) % s.parameters.most_misses
        s.arrivals[g, miss] = done


def pass_shared(s, g, w, passes, conflicts, place, t):
    """A shared access comes to the pipe that it passes at t; the warp goes on, and may wait for it later."""
    entry, banks = Group.entry_free, Group.banks_free
    if s.parameters.shared_apart != 0:
        entry, banks = Group.shared_entry, Group.shared_banks
    entered = max(t, s.group[g, entry])
    s.group[g, entry] = entered + s.parameters.access_interval
    last = max(entered, s.group[g, banks]) + (passes - 1) * s.parameters.shared_pass
    free = last + s.parameters.shared_pass
    s.group[g, banks] = free
    settled = last + s.parameters.shared_latency
    row = s.warp[w].shared & (s.unsettled.shape[1] - 1)
    s.warp[w].shared += 1
    s.unsettled[w, row].settled = settled
    s.unsettled[w, row].conflicts = conflicts * s.parameters.shared_pass
    s.unsettled[w, row].own = settled - last + (passes - 1 - conflicts) * s.parameters.shared_pass
    s.unsettled[w, row].place = place
    s.group[g].last = max(s.group[g].last, settled, free)
