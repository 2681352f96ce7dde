"""The cache of global memory, behind the L2: what is read, stored and falls out (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import (
    LAST_LEVEL_HITS,
    LAST_LEVEL_LOADS,
    LAST_LEVEL_SECTORS,
    LAST_LEVEL_STORES,
    MEMORY,
    MEMORY_SECTORS,
    note,
)
from simtmm.engine.fast.layout import ABSENT, CROWDED, ENDED, OPENING, SLICED, TURNING, WRITTEN, Group
from simtmm.engine.fast.memory.cache import find_line, spread, touch, victim_of
from simtmm.engine.fast.memory.partitions import moves, partition_of, reserve, write_line_back
from simtmm.engine.fast.memory.sectors import (
    fill_of,
    insert_empty,
    lacking_of,
    part_of,
    put_sectors,
    runs_of,
    settle_line,
    store_sectors,
    wanted_of,
)
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def last_level_row(parameters, chunk):
    """The set of the last-level cache that a chunk belongs to."""
    return spread(chunk, parameters.last_level_sets, parameters.last_level_hashed)


@inlined
def take_slice(s, chunk, service, start, t):
    """When a chunk's slice takes it up, which it does not before `start`."""
    slice_ = partition_of(s, chunk)
    begin = max(t, s.last_level_free[slice_])
    s.last_level_free[slice_] = begin + service
    return max(start, begin)


@inlined
def make_room(s, row, chunk, t):
    """Have room for a chunk in a set, and the line written that falls out: until when the chunk waits for that."""
    victim = victim_of(s.last_level, row, chunk, t, s.parameters.last_level_ways, s.parameters.last_level_random)
    room = np.int64(0)
    line = s.last_level[row, victim].fill
    if s.parameters.partitioned != 0 and s.last_level[row, victim].chunk >= 0 and line & WRITTEN != 0:
        room = write_line_back(s, s.last_level_sectors, s.last_level[row, victim].chunk, row, line, t)
    insert_empty(s.last_level, row, chunk, victim)
    return room


def keep_in_last_level(s, chunk, accessed, start, t):
    """Write a chunk there: when its slice takes it up, and when there is room. accessed: bytes of each sector."""
    service = part_of(s.parameters, s.parameters.last_level_service, wanted_of(s.parameters, accessed))
    begin = take_slice(s, chunk, service, start, t)
    room = begin
    row = last_level_row(s.parameters, chunk)
    touch(s.last_level_touched, row)
    if find_line(s.last_level, row, chunk, s.parameters.last_level_ways) == ABSENT:
        room = max(begin, make_room(s, row, chunk, t))
    finish = room + s.parameters.store_latency
    store_sectors(s.parameters, s.last_level, s.last_level_sectors, row, accessed, finish)
    return begin, room


def through_last_level(s, g, what, reads, chunk, accessed, moved, start, t):  # noqa: PLR0913, PLR0917 - no records of values
    """The finish of what comes to the last-level cache, and the ticks that it waits for its partition.

    reads: whether it is read for the level above, else a store or an atomic, which ends there. moved: its sectors that
    are. start: when it comes. What `told` has of the waits is left there.
    """
    s.told[CROWDED] = 0
    s.told[ENDED] = 1
    waited = np.int64(0)
    opening = np.int64(0)
    turning = np.int64(0)
    if what == STORE:
        begin, room = keep_in_last_level(s, chunk, accessed, start, t)
        note(s, LAST_LEVEL_STORES, begin, np.int64(1))
        moves(s, g, Group.last_level_sectors, LAST_LEVEL_SECTORS, begin, moved)
        s.told[CROWDED] = room - begin
        s.told[SLICED] = begin - start
        s.told[OPENING] = 0  # of what is written in its way: that it waits for room is all that it has of it
        s.told[TURNING] = 0
        return room + s.parameters.store_latency, waited
    wanted = moved if reads else runs_of(s.parameters, moved)
    service = s.parameters.atomic_service
    if reads:
        service = part_of(s.parameters, s.parameters.last_level_service, moved)
    begin = take_slice(s, chunk, service, start, t)
    s.told[SLICED] = begin - start
    note(s, LAST_LEVEL_LOADS, begin, np.int64(1))
    moves(s, g, Group.last_level_sectors, LAST_LEVEL_SECTORS, begin, wanted)
    row = last_level_row(s.parameters, chunk)
    touch(s.last_level_touched, row)
    line = find_line(s.last_level, row, chunk, s.parameters.last_level_ways)
    lacking = lacking_of(s.parameters, s.last_level_sectors, row, line, wanted)
    if lacking == 0:
        fill = fill_of(s.parameters, s.last_level_sectors, row, line, wanted)
        settle_line(s.parameters, s.last_level, s.last_level_sectors, row, line, t)
        finish = max(begin + s.parameters.last_level_latency, fill)
        s.group[g].last_level_hits += 1
        note(s, LAST_LEVEL_HITS, begin, np.int64(1))
    else:
        missing = runs_of(s.parameters, lacking)
        begun = begin
        if s.parameters.partitioned != 0:
            taken = part_of(s.parameters, s.parameters.service, missing)
            begun = max(begin, reserve(s, chunk, np.int64(0), np.int64(0), taken, t))
        waited = begun - begin
        opening = min(waited, s.told[OPENING])
        turning = min(waited - opening, s.told[TURNING])
        note(s, MEMORY, begun, np.int64(1))
        moves(s, g, Group.memory_sectors, MEMORY_SECTORS, begun, missing)
        finish = begun + s.parameters.latency
        if line == ABSENT:
            s.told[CROWDED] = max(np.int64(0), make_room(s, row, chunk, t) - finish)
            finish += s.told[CROWDED]
        put_sectors(s.parameters, s.last_level, s.last_level_sectors, row, missing, finish)
        s.told[ENDED] = 0
    s.told[OPENING] = opening
    s.told[TURNING] = turning
    if not reads:
        store_sectors(s.parameters, s.last_level, s.last_level_sectors, row, accessed, finish)
    return finish, waited
