"""The path of a memory instruction, chunk by chunk, along the steps of section 4: read it beside memory/path.py of the
reference engine.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import LOADS, MEMORY, MEMORY_SECTORS, OTHERS, note
from simtmm.engine.fast.layout import ABSENT, COME, CROSSING, NO, Path
from simtmm.engine.fast.memory.behind_l2 import from_behind_l2, spend_behind
from simtmm.engine.fast.memory.cache import l2_row, part_of_l2
from simtmm.engine.fast.memory.kinds import goes_to_l2, looks_into_l1, reads, updates_l2
from simtmm.engine.fast.memory.l1 import fill_l1, l1_row, through_l1
from simtmm.engine.fast.memory.path_ticks import (
    begin_path,
    is_watched,
    on_way,
    spend,
    wait_at_memory,
    wait_at_slice,
)
from simtmm.engine.fast.memory.pipe import arrive, begin_copy, call_for, drain, enter_pipe
from simtmm.engine.fast.memory.port import (
    count_returned,
    is_listed_before,
    port_of,
    run_of,
    take_returned,
    through_port,
)
from simtmm.engine.fast.memory.sectors import accessed_of, count_of, runs_of, store_sectors, wanted_of
from simtmm.engine.fast.memory.shared_l1 import by_shared_l1, ended_in_shared_l1, fill_shared_l1
from simtmm.engine.fast.memory.through_l2 import fill_l2, keep_copy, through_l2
from simtmm.engine.fast.memory.translations import known_from, late_of_first
from simtmm.engine.fast.memory.waiting_stores import waiting_row
from simtmm.native import inlined, prefetch
from simtmm.workload import COPY, STORE

FETCHED = np.int64(4)  # chunks of an instruction whose sets are brought into the cache beforehand
CACHE_LINE = 8  # int64 of a line of this computer's caches


@inlined
def fetch_lines(s, g, w, what, count):
    """Have the sets of the first chunks of a warp's instruction, which it looks into where it ends, brought into the
    cache, and what a store leaves behind.
    """
    stores = what == STORE
    if stores and s.parameters.at_end != 0:
        for column in range(0, len(Path), CACHE_LINE):
            prefetch(s.stored, w, column)
    first = s.warp[w].chunk
    for index in range(first, first + min(count, FETCHED)):
        chunk = s.chunks[index]
        if stores and s.parameters.waiting_stores > 0:
            prefetch(s.waiting, g, waiting_row(s, chunk), 0)
        if s.parameters.l1_sets > 0:
            row = l1_row(s, g, chunk)
            prefetch(s.l1, row, 0, 0)
            prefetch(s.l1_sectors, row, 0, 0)  # a set's first row of sectors is taken most
        if s.parameters.l2_sets > 0:
            row = l2_row(s.parameters, part_of_l2(s.parameters, g), chunk)
            for way in range(0, s.parameters.l2_ways, 4):  # four of its lines are one of this computer's
                prefetch(s.l2, row, way, 0)
            prefetch(s.l2_sectors, row, 0, 0)


@inlined
def note_without_path(s, g, what, first, count, t):
    """Note chunks for which there are neither ports nor partitions nor caches: every transfer takes L."""
    loads = reads(what)
    note(s, LOADS if loads else OTHERS, t, count)
    note(s, MEMORY, t, count)
    sectors = np.int64(0)
    for index in range(first, first + count):
        wanted = wanted_of(s.parameters, accessed_of(s.parameters, s.sectors, index))
        sectors += count_of(runs_of(s.parameters, wanted) if loads else wanted)
    s.group[g].memory_sectors += sectors
    note(s, MEMORY_SECTORS, t, sectors)


@inlined
def transfer_chunks(s, memory, g, w, what, first, count, passes, t):  # noqa: PLR0913, PLR0917 - no records of values
    """Section 4: reserve the path of the chunks of a warp's instruction; the tick at which it finishes.

    passes: over the banks of the group's pipe, if it has one.
    """
    latency = s.parameters.store_latency if what == STORE else s.parameters.latency
    s.group[g].transactions += count
    begin_path(s, g)
    fetched = np.int64(0)
    if memory == NO:
        spend(s, g, Path.memory_latency, latency)
        finish = t + latency
        note_without_path(s, g, what, first, count, t)
    else:
        finish, fetched = along_path(s, g, w, what, first, count, passes, latency, t)
    if s.parameters.first_access > 0 and what != STORE:
        late = late_of_first(s, g, t)
        spend(s, g, Path.first_access, late)
        finish += late
    count_returned(s, w, what, fetched, finish, t)
    s.group[g].last = max(s.group[g].last, finish)
    if s.parameters.piped != 0:
        s.group[g].last = max(s.group[g].last, s.group[g].banks_free)
    return finish


@inlined
def along_path(s, g, w, what, first, count, passes, latency, t):  # noqa: PLR0913, PLR0917 - no records of values
    """Step 1 of each chunk, and what comes behind it: when the last one is done, and how many global memory gave."""
    begin = begin_copy(s, g, first, count, t) if what == COPY else t
    last_pass = enter_pipe(s, g, passes, t) if s.parameters.piped != 0 and what != COPY else np.int64(0)
    returning, returning_next = take_returned(s, w, what, count)
    port = port_of(s, g, w)
    serial = s.parameters.serial != 0
    looks, shared, here = looks_into_l1(s, what), goes_to_l2(s, what), updates_l2(s, what)
    fetched = np.int64(0)
    finish = begin
    start = begin
    passing = np.int64(-1)  # the run of chunks that is at the port
    for index in range(first, first + count):
        together = run_of(s, s.chunks[index])
        if serial:
            start = finish
        elif not is_listed_before(s, here, first, index) and (s.parameters.port_chunks == 1 or together != passing):
            passing = together
            start = through_port(s, g, port, what, returning, begin)
            returning = returning_next if index + 1 - first < passes else np.int64(0)
        done, missed = transfer(s, g, what, looks, shared, here, index, start, last_pass, latency, finish, t)
        fetched += missed
        finish = done if serial else max(finish, done)
    return finish, fetched


@inlined
def pass_group(s, g, what, piped, wanted, start, t):
    """When what is wanted of a chunk has passed its pipe's way to the L1 or from it. piped: whether it comes to one."""
    passed = start
    if piped:
        passed = call_for(s, g, wanted, start, t)
    elif what == STORE and s.parameters.drain_interval > 0:
        passed = drain(s, g, wanted, start, t)
    return passed


@inlined
def transfer(s, g, what, looks, shared, here, index, start, last_pass, latency, finish, t):  # noqa: PLR0913, PLR0917 - no records of values
    """Steps 2 to 6 of one chunk: when it is done, and 1 if global memory gave or took it.

    looks, shared, here: whether its access looks into the L1, goes to the L2, and is an atomic that is done there.
    index: of the chunk. start: when it left its port. finish: of the chunks before it.
    """
    chunk = s.chunks[index]
    cached = reads(what)
    note(s, LOADS if cached else OTHERS, start, np.int64(1))
    accessed = accessed_of(s.parameters, s.sectors, index)
    wanted = wanted_of(s.parameters, accessed)
    # 2: the L1
    done, read, row1, line1, wanted = through_l1(s, g, what, looks, chunk, wanted, start, last_pass, t)
    if done >= 0:
        if is_watched(s, done, finish):
            on_way(s, g, t, start, read, start, start)
            wait_at_memory(s, g, np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0))
            s.path[g].l1_latency += s.parameters.l1_latency
            s.path[g].line_in_flight += done - read - s.parameters.l1_latency
        return done, np.int64(0)
    # 3: its translation, and before that the pipe's way to the L1 or from it
    piped = s.parameters.piped != 0 and cached
    called = pass_group(s, g, what, piped, wanted, start, t)
    known = known_from(s, g, chunk, called, t)
    # a cache that groups share before the L2: when it has taken the chunk up, and what it lacks
    done, passed, asked = by_shared_l1(s, g, cached, chunk, wanted, known, t)
    # 4: the L2
    at_slice = passed
    slice_behind = np.int64(0)
    row2 = np.int64(0)
    line2 = np.int64(ABSENT)
    missing = asked  # what global memory has to give or take
    crowded = np.int64(0)  # for room in the L2
    if shared and done < 0:
        done, at_slice, slice_behind, row2, line2, missing, crowded = through_l2(
            s, g, what, here, chunk, accessed, asked, latency, passed, t
        )
    # 5 and 6: the fetch port, and global memory, or the last-level cache before it
    came = done < 0
    fetched = np.int64(0)
    at_memory = at_slice
    waited = np.int64(0)
    opening = np.int64(0)
    turning = np.int64(0)
    behind = np.int64(0)
    if came:
        done, fetched, moved, at_memory, waited, opening, turning, behind = from_behind_l2(
            s, g, what, cached, here, chunk, accessed, missing, latency, at_slice, t
        )
        if shared:
            crowded = fill_l2(s, chunk, row2, line2, moved, done, t)
            done += crowded
    crossing = np.int64(0)
    if s.parameters.l2_halves > 1 and shared and not ended_in_shared_l1(s):
        crossing = s.told[CROSSING]
        if s.told[COME] != 0:
            waits = keep_copy(s, g, chunk, done, t)
            crowded += waits
            done += waits
    if here:
        store_sectors(s.parameters, s.l2, s.l2_sectors, row2, accessed, done)
    if piped:
        arrive(s, g, done)
    fill_shared_l1(s, g, cached, chunk, asked, done)
    if looks:
        fill_l1(s, g, chunk, row1, line1, wanted, done, t)
    if is_watched(s, done, finish):
        on_way(s, g, t, start, read, called, known)
        s.path[g].shared_l1_queue += passed - known
        spend_behind(
            s,
            g,
            what,
            here,
            came,
            fetched,
            latency,
            at_slice,
            at_memory,
            crowded,
            waited,
            opening,
            turning,
            behind,
            done,
        )
        wait_at_slice(s, g, at_slice - passed - crossing, slice_behind)
        s.path[g].l2_queue += crossing
    return done, fetched
