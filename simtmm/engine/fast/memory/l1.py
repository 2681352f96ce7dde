"""The cache of a group: what it has of a chunk, where that lies in it, and what falls out (section 4, step 2)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import L1_HITS, note
from simtmm.engine.fast.layout import ABSENT, WRITTEN
from simtmm.engine.fast.memory.cache import drop_line, find_line, modulo
from simtmm.engine.fast.memory.kinds import reads, stays_in_l1
from simtmm.engine.fast.memory.l2 import write_down
from simtmm.engine.fast.memory.sectors import (
    fill_of,
    insert_empty,
    lacking_of,
    put_sectors,
    settle_line,
    store_sectors,
)
from simtmm.engine.fast.memory.shared_l1 import write_past_shared_l1
from simtmm.native import inlined
from simtmm.workload import STORE


@inlined
def insert_into_l1(s, g, row, chunk, t):
    """Put a chunk into an L1, with none of its sectors; a line that falls out and is to be written is stored in what
    lies below.
    """
    last = s.parameters.l1_ways - 1
    if s.parameters.local_back != 0 and s.l1[row, last].chunk >= 0 and s.l1[row, last].fill & WRITTEN != 0:
        write_past_shared_l1(s, g, s.l1[row, last].chunk)
        write_down(s, g, s.l1[row, last].chunk, t)
    insert_empty(s.l1, row, chunk, last)


@inlined
def l1_row(s, g, chunk):
    """Where the set of a group's L1 lies that a chunk belongs to."""
    sets = s.parameters.l1_sets
    if s.parameters.l1_skewed != 0:
        chunk += np.int64(np.uint64(chunk) // np.uint64(sets))
    return g * sets + modulo(chunk, sets)


@inlined
def through_l1(s, g, what, looks, chunk, wanted, start, last_pass, t):  # noqa: PLR0913, PLR0917 - no records of values
    """Look for a chunk in its group's L1, or leave it there: when it is done, or -1 if it has to go further.

    looks: whether its access looks into the L1. last_pass: when the last pass of that over the pipe's banks begins.
    Returns when the chunk was read, its set, what the L1 has of it, and the sectors that it lacks.
    """
    done = np.int64(-1)
    read = start  # where the L1 has it: its banks, too
    row = np.int64(0)
    line = np.int64(ABSENT)
    if looks:
        row = l1_row(s, g, chunk)
        line = find_line(s.l1, row, chunk, s.parameters.l1_ways)
        lacking = lacking_of(s.parameters, s.l1_sectors, row, line, wanted)
        if lacking != 0:
            wanted = lacking
        else:
            read = max(start, last_pass)
            fill = fill_of(s.parameters, s.l1_sectors, row, line, wanted)
            settle_line(s.parameters, s.l1, s.l1_sectors, row, line, t)
            done = max(read + s.parameters.l1_latency, fill)
            s.group[g].l1_hits += 1
            note(s, L1_HITS, start, np.int64(1))
    elif stays_in_l1(s, what, chunk):
        if what == STORE:
            done = start + s.parameters.l1_latency
            s.group[g].l1_stores += 1
            row = l1_row(s, g, chunk)
            if find_line(s.l1, row, chunk, s.parameters.l1_ways) == ABSENT:
                insert_into_l1(s, g, row, chunk, t)
            store_sectors(s.parameters, s.l1, s.l1_sectors, row, np.int64(0), done)
    elif not reads(what) and s.parameters.drops != 0:
        row = l1_row(s, g, chunk)
        drop_line(s.l1, row, chunk, s.parameters.l1_ways)
    return done, read, row, line, wanted


@inlined
def fill_l1(s, g, chunk, row, line, wanted, done, t):
    """Put what an L1 lacked of a chunk into it. line: what it has of the chunk."""
    if line == ABSENT:
        insert_into_l1(s, g, row, chunk, t)
    put_sectors(s.parameters, s.l1, s.l1_sectors, row, wanted, done)
