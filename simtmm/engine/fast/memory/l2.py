"""The cache of all groups: how long its slices take, and what falls out (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    ABSENT,
    LINE_CHUNK,
    LINE_FILL,
    P_ATOMIC_SERVICE,
    P_ATOMICS_HERE,
    P_L2_RANDOM,
    P_L2_REQUEST,
    P_L2_SERVICE,
    P_L2_SETS,
    P_L2_STORE_REQUEST,
    P_L2_STORE_SERVICE,
    P_L2_WAYS,
    P_PARTITIONED,
    P_SERVICE,
    P_SLICED,
    P_STORE_BUFFER,
    P_STORE_LATENCY,
    P_VICTIMS_WAITED,
    P_WATCH,
    P_WRITES_BACK,
    WRITTEN,
)
from simtmm.engine.fast.memory.cache import choose_line, find_line, modulo, touch
from simtmm.engine.fast.memory.partitions import partition_of, reserve, write
from simtmm.engine.fast.memory.sectors import insert_empty, lacking_of, part_of, store_sectors, written_of
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def make_room_in_l2(s, row, chunk, t):
    """Have the line written that a chunk takes the room of, if it is to be: until when the chunk waits for that."""
    last = s.parameters[P_L2_WAYS] - 1
    if s.parameters[P_L2_RANDOM] != 0:
        choose_line(s.l2, row, chunk, t, s.parameters[P_L2_WAYS])
    room = np.int64(0)
    keeps = s.parameters[P_WRITES_BACK] != 0 or s.parameters[P_ATOMICS_HERE] != 0
    writes_back = keeps and s.parameters[P_PARTITIONED] != 0
    if writes_back and s.l2[row, last, LINE_CHUNK] >= 0 and s.l2[row, last, LINE_FILL] & WRITTEN != 0:
        line = s.l2[row, last, LINE_FILL]
        written = written_of(s.parameters, s.l2_sectors, row, line)
        partial = lacking_of(s.parameters, s.l2_sectors, row, line, written)
        begin = write(s, s.l2[row, last, LINE_CHUNK], written, partial, t)
        if s.parameters[P_VICTIMS_WAITED] != 0:
            room = begin - s.parameters[P_STORE_BUFFER]
    return room


def write_down(s, chunk, t):
    """Store a chunk that an L1 drops, from t on: in the L2 if stores stay there, else in its partition."""
    if s.parameters[P_WRITES_BACK] != 0:
        begin = t
        if s.parameters[P_SLICED] != 0:
            slice_ = partition_of(s, chunk)
            begin = max(t, s.slice_free[slice_])
            taken = max(s.parameters[P_L2_STORE_SERVICE], s.parameters[P_L2_STORE_REQUEST])
            s.slice_free[slice_] = begin + taken
            if s.parameters[P_WATCH] != 0 and taken > 0:
                s.slice_updates[slice_] = 0
        row = modulo(chunk, s.parameters[P_L2_SETS])
        touch(s.l2_touched, row)
        if find_line(s.l2, row, chunk, s.parameters[P_L2_WAYS]) == ABSENT:
            make_room_in_l2(s, row, chunk, t)
            insert_empty(s.l2, row, chunk, s.parameters[P_L2_WAYS])
        store_sectors(s.parameters, s.l2, s.l2_sectors, row, np.int64(0), begin + s.parameters[P_STORE_LATENCY])
    elif s.parameters[P_PARTITIONED] != 0:
        reserve(s, chunk, np.int64(1), np.int64(0), s.parameters[P_SERVICE], t)


@inlined
def slice_taken(s, what, here, wanted):
    """How long a chunk takes its slice of the L2 for the sectors that are wanted of it."""
    if here:
        return s.parameters[P_ATOMIC_SERVICE]
    if what == STORE:
        taken = part_of(s.parameters, s.parameters[P_L2_STORE_SERVICE], wanted)
        return max(taken, s.parameters[P_L2_STORE_REQUEST])
    return max(part_of(s.parameters, s.parameters[P_L2_SERVICE], wanted), s.parameters[P_L2_REQUEST])


@inlined
def through_slice(s, what, here, chunk, wanted, start, joined, t):
    """When a chunk's slice takes it up, which it does not before `start`; 1 if that is, or comes behind, an atomic.

    here: whether it is an atomic that is done in the L2. wanted: which of its sectors are. joined: when the slice takes
    up the store that this one joins, in no time of its own; -1 where it joins none.
    """
    at_slice = start if joined < 0 else joined
    behind = np.int64(0)
    if s.parameters[P_SLICED] != 0:
        slice_ = partition_of(s, chunk)
        taken = np.int64(0)
        if joined < 0:
            begin = max(t, s.slice_free[slice_])
            taken = slice_taken(s, what, here, wanted)
            s.slice_free[slice_] = begin + taken
            at_slice = max(start, begin)
        if s.parameters[P_WATCH] != 0:
            behind = np.int64(1) if here else s.slice_updates[slice_]
            if taken > 0:
                s.slice_updates[slice_] = np.int64(1) if here else np.int64(0)
    return at_slice, behind
