"""The cache of all groups: how long its slices take, and what falls out (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import ABSENT, WRITTEN
from simtmm.engine.fast.memory.cache import (
    die_of,
    drop_line,
    find_line,
    home_or_die,
    l2_row,
    place_of,
    touch,
    victim_of,
)
from simtmm.engine.fast.memory.halves import come_to_home, drop_copy
from simtmm.engine.fast.memory.last_level import keep_in_last_level
from simtmm.engine.fast.memory.partitions import partition_of, reserve, write_line_back
from simtmm.engine.fast.memory.sectors import (
    clean_line,
    insert_empty,
    part_of,
    store_sectors,
    stored_of,
    wanted_of,
)
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def make_room_in_l2(s, row, victim, t):
    """Have the line written that a chunk takes the room of, if it is to be: until when the chunk waits for that."""
    room = np.int64(0)
    keeps = s.parameters.writes_back != 0 or s.parameters.atomics_here != 0
    writes_back = keeps and (s.parameters.partitioned != 0 or s.parameters.last_level_sets > 0)
    if writes_back and s.l2[row, victim].chunk >= 0 and s.l2[row, victim].fill & WRITTEN != 0:
        free = write_line(s, s.l2[row, victim].chunk, row, s.l2[row, victim].fill, t)
        if s.parameters.victims_waited != 0:
            room = free
    return room


@inlined
def slice_of(s, g, chunk):
    """The slice of the L2 that a chunk takes for a group."""
    return die_of(s.parameters, g) * s.parameters.partitions + partition_of(s, chunk)


@inlined
def write_line(s, chunk, row, line, t):
    """Have a written line written down: until when what takes its room waits, if it does."""
    if s.parameters.last_level_sets > 0:
        stored = stored_of(s.parameters, s.l2_sectors, row, line)
        _, free = keep_in_last_level(s, chunk, stored, t, t)
    else:
        free = t
        if s.parameters.partitioned != 0:
            free = write_line_back(s, s.l2_sectors, chunk, row, line, t)
    return free


def write_down_others(s, g, chunk, t):
    """Have what other dies have written of a chunk written down."""
    own = die_of(s.parameters, g)
    for die in range(s.parameters.l2_dies):
        if die != own:
            row = l2_row(s.parameters, np.int64(die), chunk)
            way = place_of(s.l2, row, chunk, s.parameters.l2_ways)
            if way >= 0 and s.l2[row, way].fill & WRITTEN != 0:
                write_line(s, chunk, row, s.l2[row, way].fill, t)
                touch(s.l2_touched, row)
                clean_line(s.parameters, s.l2, s.l2_sectors, row, way)


def take_from_others(s, g, chunk, t):
    """Likewise, and take the chunk out of their L2s."""
    write_down_others(s, g, chunk, t)
    own = die_of(s.parameters, g)
    for die in range(s.parameters.l2_dies):
        if die != own:
            row = l2_row(s.parameters, np.int64(die), chunk)
            touch(s.l2_touched, row)
            drop_line(s.l2, row, chunk, s.parameters.l2_ways)


def write_down(s, g, chunk, t):
    """Store a chunk that an L1 drops, from t on: in the L2 if stores stay there, else in its partition."""
    if s.parameters.writes_back != 0:
        begin = t
        if s.parameters.sliced != 0:
            slice_ = slice_of(s, g, chunk)
            begin = max(t, s.slice_free[slice_])
            taken = max(s.parameters.l2_store_service, s.parameters.l2_store_request)
            s.slice_free[slice_] = begin + taken
            if s.parameters.watch != 0 and taken > 0:
                s.slice_updates[slice_] = 0
        if s.parameters.l2_halves > 1:
            begin = come_to_home(s, g, chunk, wanted_of(s.parameters, np.int64(0)), begin, t)
            drop_copy(s, chunk)
        else:
            take_from_others(s, g, chunk, t)
        row = l2_row(s.parameters, home_or_die(s.parameters, g, chunk), chunk)
        touch(s.l2_touched, row)
        if find_line(s.l2, row, chunk, s.parameters.l2_ways) == ABSENT:
            victim = victim_of(s.l2, row, chunk, t, s.parameters.l2_ways, s.parameters.l2_random)
            make_room_in_l2(s, row, victim, t)
            insert_empty(s.l2, row, chunk, victim)
        store_sectors(s.parameters, s.l2, s.l2_sectors, row, np.int64(0), begin + s.parameters.store_latency)
    elif s.parameters.last_level_sets > 0:
        keep_in_last_level(s, chunk, np.int64(0), t, t)
    elif s.parameters.partitioned != 0:
        reserve(s, chunk, np.int64(1), np.int64(0), s.parameters.write_service, t)


@inlined
def slice_taken(s, what, here, wanted):
    """How long a chunk takes its slice of the L2 for the sectors that are wanted of it."""
    if here:
        return s.parameters.atomic_service
    if what == STORE:
        taken = part_of(s.parameters, s.parameters.l2_store_service, wanted)
        return max(taken, s.parameters.l2_store_request)
    return max(part_of(s.parameters, s.parameters.l2_service, wanted), s.parameters.l2_request)


@inlined
def through_slice(s, g, what, here, chunk, wanted, start, joined, t):  # noqa: PLR0913, PLR0917 - no records of values
    """When a chunk's slice takes it up, which it does not before `start`; 1 if that is, or comes behind, an atomic.

    here: whether it is an atomic that is done in the L2. wanted: which of its sectors are. joined: when the slice takes
    up the store that this one joins, in no time of its own; -1 where it joins none.
    """
    at_slice = start if joined < 0 else joined
    behind = np.int64(0)
    if s.parameters.sliced != 0:
        slice_ = slice_of(s, g, chunk)
        taken = np.int64(0)
        if joined < 0:
            begin = max(t, s.slice_free[slice_])
            taken = slice_taken(s, what, here, wanted)
            s.slice_free[slice_] = begin + taken
            at_slice = max(start, begin)
        if s.parameters.watch != 0:
            behind = np.int64(1) if here else s.slice_updates[slice_]
            if taken > 0:
                s.slice_updates[slice_] = np.int64(1) if here else np.int64(0)
    return at_slice, behind
