"""The caches between L1s and the L2 that some groups share (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import SHARED_L1_HITS, SHARED_L1_LOADS, SHARED_L1_SECTORS, note
from simtmm.engine.fast.layout import ABSENT, HIT, LACKING, Group
from simtmm.engine.fast.memory.cache import drop_line, find_line, modulo, touch
from simtmm.engine.fast.memory.partitions import moves
from simtmm.engine.fast.memory.sectors import (
    fill_of,
    insert_empty,
    lacking_of,
    part_of,
    put_sectors,
    settle_line,
)
from simtmm.native import inlined


@inlined
def shared_l1_row(s, g, chunk):
    """Where the set of a group's shared L1 lies that a chunk belongs to."""
    sets = s.parameters.shared_l1_sets
    return g % s.parameters.shared_l1s * sets + modulo(chunk, sets)


def through_shared_l1(s, g, chunk, wanted, start, t):
    """When a group's shared L1 takes up the sectors that are wanted of a chunk. `told` has which of them are missing
    there, and when the chunk is done if none is.
    """
    cache = g % s.parameters.shared_l1s
    free = max(t, s.shared_l1_free[cache])
    s.shared_l1_free[cache] = free + part_of(s.parameters, s.parameters.shared_l1_service, wanted)
    begin = max(start, free)
    note(s, SHARED_L1_LOADS, begin, np.int64(1))
    moves(s, g, Group.shared_l1_sectors, SHARED_L1_SECTORS, begin, wanted)
    row = shared_l1_row(s, g, chunk)
    line = find_line(s.shared_l1, row, chunk, s.parameters.shared_l1_ways)
    s.told[LACKING] = lacking_of(s.parameters, s.shared_l1_sectors, row, line, wanted)
    if s.told[LACKING] == 0:
        fill = fill_of(s.parameters, s.shared_l1_sectors, row, line, wanted)
        settle_line(s.parameters, s.shared_l1, s.shared_l1_sectors, row, line, t)
        s.told[HIT] = max(begin + s.parameters.shared_l1_latency, fill)
        s.group[g].shared_l1_hits += 1
        note(s, SHARED_L1_HITS, begin, np.int64(1))
    return begin


@inlined
def by_shared_l1(s, g, cached, chunk, wanted, start, t):
    """Look for a chunk in a group's shared L1, or write it past that: when it is done, or -1 if it goes further.

    cached: whether it is read. Returns when it has been taken up, and the sectors that it goes further for.
    """
    done = np.int64(-1)
    begin = start
    lacking = wanted
    if s.parameters.shared_l1s > 0:
        s.told[HIT] = -1
        if cached:
            begin = through_shared_l1(s, g, chunk, wanted, start, t)
            done, lacking = s.told[HIT], s.told[LACKING]
        else:
            write_past_shared_l1(s, g, chunk)
    return done, begin, lacking


@inlined
def ended_in_shared_l1(s):
    """Whether a shared L1 had the latest chunk."""
    return s.parameters.shared_l1s > 0 and s.told[HIT] >= 0


@inlined
def fill_shared_l1(s, g, cached, chunk, lacking, done):
    """Put what a group's shared L1 lacked of a chunk that is read into it."""
    if s.parameters.shared_l1s > 0 and cached and lacking != 0:
        put_into_shared_l1(s, g, chunk, lacking, done)


def put_into_shared_l1(s, g, chunk, chosen, done):
    """Likewise, where there is one."""
    row = shared_l1_row(s, g, chunk)
    touch(s.shared_l1_touched, row)
    if find_line(s.shared_l1, row, chunk, s.parameters.shared_l1_ways) == ABSENT:
        insert_empty(s.shared_l1, row, chunk, s.parameters.shared_l1_ways - 1)
    put_sectors(s.parameters, s.shared_l1, s.shared_l1_sectors, row, chosen, done)


def write_past_shared_l1(s, g, chunk):
    """Take a chunk out of a group's shared L1 that the group writes past it."""
    if s.parameters.shared_l1s > 0:
        drop_line(s.shared_l1, shared_l1_row(s, g, chunk), chunk, s.parameters.shared_l1_ways)
