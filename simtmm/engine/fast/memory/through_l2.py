"""What the L2 has of a chunk, and what global memory puts there (section 4, steps 4 and 6)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import L2_HITS, note
from simtmm.engine.fast.layout import ABSENT, COME, CROSSING, FARTHER
from simtmm.engine.fast.memory.cache import find_line, home_of, l2_row, part_of_l2, touch, victim_of
from simtmm.engine.fast.memory.halves import come_to_home, cross, drop_copy
from simtmm.engine.fast.memory.l2 import make_room_in_l2, take_from_others, write_down_others
from simtmm.engine.fast.memory.sectors import (
    fill_of,
    insert_empty,
    lacking_of,
    put_sectors,
    settle_line,
    store_sectors,
)
from simtmm.engine.fast.memory.waiting_stores import comes_to_slice
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def l2_latency(s, what, here, latency):
    """What the L2 takes for a chunk that ends in it. here: whether it is an atomic's. latency: of a store."""
    if what == STORE:
        return latency
    return s.parameters.atomic_latency if here else s.parameters.l2_latency


@inlined
def through_l2(s, g, what, here, chunk, accessed, wanted, latency, start, t):  # noqa: PLR0913, PLR0917 - no records of values
    """Take a chunk's slice, and look for it in the L2, or leave it there: when it is done, or -1 if it goes further.

    here: whether it is of an atomic that is done in the L2. latency: of a store. Returns when its slice took it up, or
    behind that the way to the other half; more than 0 if the slice did so behind an atomic; its set and what the L2 has
    of it; the sectors that it lacks; and the ticks that a store waits for room.
    """
    done = np.int64(-1)
    missing = wanted
    crowded = np.int64(0)
    at_slice, behind, joined = comes_to_slice(s, g, what, here, chunk, wanted, start, t)
    writes = here or what == STORE
    part = part_of_l2(s.parameters, g)
    if s.parameters.l2_halves > 1:
        s.told[CROSSING] = 0
        s.told[FARTHER] = 0
        s.told[COME] = 0
        if writes:
            part = home_of(chunk)
            if joined < 0:
                at_slice = come_to_home(s, g, chunk, wanted, at_slice, t)
            drop_copy(s, chunk)
    elif s.parameters.l2_dies > 1 and writes:
        take_from_others(s, g, chunk, t)
    row = l2_row(s.parameters, part, chunk)
    touch(s.l2_touched, row)
    line = find_line(s.l2, row, chunk, s.parameters.l2_ways)
    if what == STORE:
        crowded = make_line(s, chunk, row, line, at_slice, t)
        done = at_slice + crowded + latency
        store_sectors(s.parameters, s.l2, s.l2_sectors, row, accessed, done)
    else:
        lacking = lacking_of(s.parameters, s.l2_sectors, row, line, wanted)
        if lacking != 0 and s.parameters.l2_halves > 1 and part != home_of(chunk):
            at_slice, row, line, wanted, lacking = look_into_home(s, g, chunk, lacking, at_slice, t)
        if lacking != 0:
            missing = lacking
            if s.parameters.l2_dies > 1:
                write_down_others(s, g, chunk, t)
        else:
            fill = fill_of(s.parameters, s.l2_sectors, row, line, wanted)
            settle_line(s.parameters, s.l2, s.l2_sectors, row, line, t)
            took = l2_latency(s, what, here, latency)
            if s.parameters.l2_halves > 1:
                took += s.told[FARTHER]
            done = max(at_slice + took, fill)
            s.group[g].l2_hits += 1
            note(s, L2_HITS, at_slice, np.int64(1))
    return done, at_slice, behind, row, line, missing, crowded


@inlined
def look_into_home(s, g, chunk, lacking, start, t):
    """Have sectors that a group's half lacks of a chunk come from the other half, its home: when they do; its set and
    what it has of it; and the sectors again, and those that it lacks.
    """
    crossed = cross(s, g & 1, lacking, start, t)
    s.told[COME] = lacking
    s.told[FARTHER] = s.parameters.far_latency
    row = l2_row(s.parameters, home_of(chunk), chunk)
    touch(s.l2_touched, row)
    line = find_line(s.l2, row, chunk, s.parameters.l2_ways)
    return crossed, row, line, lacking, lacking_of(s.parameters, s.l2_sectors, row, line, lacking)


@inlined
def make_line(s, chunk, row, line, done, t):
    """Have a line for a chunk that is done otherwise: the ticks that it waits for room. line: what there is of it."""
    crowded = np.int64(0)
    if line == ABSENT:
        victim = victim_of(s.l2, row, chunk, t, s.parameters.l2_ways, s.parameters.l2_random)
        crowded = max(np.int64(0), make_room_in_l2(s, row, victim, t) - done)
        insert_empty(s.l2, row, chunk, victim)
    return crowded


@inlined
def fill_l2(s, chunk, row, line, moved, done, t):
    """Put the sectors that moved from global memory into the L2: the ticks that the chunk waits for room there."""
    crowded = make_line(s, chunk, row, line, done, t)
    put_sectors(s.parameters, s.l2, s.l2_sectors, row, moved, done + crowded)
    return crowded


def keep_copy(s, g, chunk, done, t):
    """Store the sectors of a chunk that came from the other half in that of the group: the ticks that the chunk waits
    for room there.
    """
    row = l2_row(s.parameters, g & 1, chunk)
    touch(s.l2_touched, row)
    line = find_line(s.l2, row, chunk, s.parameters.l2_ways)
    return fill_l2(s, chunk, row, line, s.told[COME], done, t)
