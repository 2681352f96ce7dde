"""The path of a memory instruction: port, caches, slice and partition (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import (
    L1_HITS,
    L2_HITS,
    LOADS,
    MEMORY_SECTORS,
    OTHERS,
    note,
)
from simtmm.engine.fast.attribution.traffic import MEMORY as AT_MEMORY
from simtmm.engine.fast.layout import (
    ABSENT,
    GROUP_BANKS_FREE,
    GROUP_L1_HITS,
    GROUP_L1_STORES,
    GROUP_L2_HITS,
    GROUP_LAST,
    GROUP_MEMORY_SECTORS,
    GROUP_MISSES,
    GROUP_STORE_FREE,
    GROUP_TAGS_FREE,
    GROUP_TRANSACTIONS,
    NO,
    P_ATOMIC_LATENCY,
    P_ATOMICS_HERE,
    P_DROPS,
    P_FIRST_ACCESS,
    P_FIRST_LOCAL,
    P_L1_LATENCY,
    P_L1_SETS,
    P_L1_WAYS,
    P_L2_LATENCY,
    P_L2_SETS,
    P_L2_WAYS,
    P_LATENCY,
    P_LOCAL_BACK,
    P_MEMORY_PORTS,
    P_MOST_MISSES,
    P_PIPED,
    P_PORT_CHUNKS,
    P_PORT_INTERVAL,
    P_RETURN_DELAY,
    P_RETURN_INTERVAL,
    P_RETURNS,
    P_SERIAL,
    P_SLOTS,
    P_STORE_INTERVAL,
    P_STORE_LATENCY,
    P_STORES_APART,
    P_TAG_INTERVAL,
    P_TLB_ENTRIES,
    P_WATCH,
    P_WRITES_BACK,
    PATH_ROW,
    WARP_LOADED,
    WARP_LOADS_END,
    WARP_UNTAKEN,
)
from simtmm.engine.fast.memory.cache import drop_line, find_line, modulo, touch
from simtmm.engine.fast.memory.l1 import insert_into_l1, l1_row
from simtmm.engine.fast.memory.l2 import make_room_in_l2
from simtmm.engine.fast.memory.partitions import from_global_memory
from simtmm.engine.fast.memory.pipe import begin_copy, call_for, enter_pipe
from simtmm.engine.fast.memory.sectors import (
    accessed_of,
    count_of,
    fill_of,
    insert_empty,
    lacking_of,
    put_sectors,
    runs_of,
    store_sectors,
    wanted_of,
)
from simtmm.engine.fast.memory.translations import late_of_first, translated
from simtmm.engine.fast.memory.waiting_stores import comes_to_slice
from simtmm.native import inlined, prefetch
from simtmm.workload import ASYNC, ATOMIC, COPY, LOAD, REDUCE, STORE

# Columns of a path
PORT_QUEUE, L2_QUEUE, MEMORY_QUEUE, ATOMICS_QUEUE, TURNAROUND, ROWS = range(6)
L1_LATENCY, L2_LATENCY, MEMORY_LATENCY, LINE_IN_FLIGHT, FIRST_ACCESS = range(6, PATH_ROW)

FETCHED = np.int64(4)  # chunks of an instruction whose sets are brought into the cache beforehand


@inlined
def fetch_lines(s, g, first, count):
    """Have the sets of an instruction's first chunks, which it looks into where it ends, brought into the cache."""
    for index in range(first, first + min(count, FETCHED)):
        chunk = s.chunks[index]
        if s.parameters[P_L1_SETS] > 0:
            row = l1_row(s, g, chunk)
            prefetch(s.l1, row, 0, 0)
        if s.parameters[P_L2_SETS] > 0:
            row = modulo(chunk, s.parameters[P_L2_SETS])
            for way in range(0, s.parameters[P_L2_WAYS], 4):  # four of its lines are one of this computer's
                prefetch(s.l2, row, way, 0)


@inlined
def through_port(s, g, port, piped, apart, returning, t):
    """When a chunk, or a run of them, leaves its group: by a memory port, or by the stores' path.

    piped: whether it passes the group's pipe, which stands for the ports. apart: whether it takes the stores' path.
    returning: ticks that a store waits there for what its warp loaded.
    """
    looked_up = t
    if piped:
        looked_up = s.group[g, GROUP_TAGS_FREE]
        s.group[g, GROUP_TAGS_FREE] = looked_up + s.parameters[P_TAG_INTERVAL]
    if apart:
        start = max(looked_up, s.group[g, GROUP_STORE_FREE]) + returning
        s.group[g, GROUP_STORE_FREE] = start + s.parameters[P_STORE_INTERVAL]
    elif s.parameters[P_PIPED] != 0:
        start = looked_up + returning
    else:
        start = max(t, s.port_free[port]) + returning
        s.port_free[port] = start + s.parameters[P_PORT_INTERVAL]
    return start


@inlined
def note_without_path(s, g, what, first, count, t):
    """Note chunks for which there are neither ports nor partitions nor caches: every transfer takes L."""
    loads = what in (LOAD, ASYNC, COPY)
    note(s, LOADS if loads else OTHERS, t, count)
    note(s, AT_MEMORY, t, count)
    sectors = np.int64(0)
    for index in range(first, first + count):
        wanted = wanted_of(s.parameters, accessed_of(s.parameters, s.sectors, index))
        sectors += count_of(runs_of(s.parameters, wanted) if loads else wanted)
    s.group[g, GROUP_MEMORY_SECTORS] += sectors
    note(s, MEMORY_SECTORS, t, sectors)


@inlined
def transfer_chunks(s, memory, g, w, what, first, count, passes, t):  # noqa: C901, PLR0912, PLR0913, PLR0915, PLR0917 - section 4 in its order; calls cost here
    """Section 4: reserve the path of the chunks of a warp's instruction; the tick at which it finishes.

    passes: over the banks of the group's pipe, if it has one.
    """
    fetched = np.int64(0)  # chunks from memory
    latency = s.parameters[P_STORE_LATENCY] if what == STORE else s.parameters[P_LATENCY]
    s.group[g, GROUP_TRANSACTIONS] += count
    watches = s.parameters[P_WATCH] != 0
    if watches:
        for index in range(PATH_ROW):
            s.path[g, index] = 0
        if memory == NO:
            s.path[g, MEMORY_LATENCY] = latency
    if memory == NO:
        finish = t + latency
        note_without_path(s, g, what, first, count, t)
    else:
        begin = begin_copy(s, g, t) if what == COPY else t
        finish = begin
        serial = s.parameters[P_SERIAL] != 0
        cached = what in (LOAD, ASYNC, COPY)
        looks = cached and what != COPY and s.parameters[P_L1_SETS] > 0  # into the L1
        updates = what in (ATOMIC, REDUCE)
        here = updates and s.parameters[P_ATOMICS_HERE] != 0  # atomics end in the L2
        stored = what == STORE and s.parameters[P_WRITES_BACK] != 0
        shared = s.parameters[P_L2_SETS] > 0 and (cached or stored or here)
        stores_apart = what == STORE and s.parameters[P_STORES_APART] != 0
        port = g
        if s.parameters[P_MEMORY_PORTS] > 1:
            slot = w - g * s.parameters[P_SLOTS]
            port = g * s.parameters[P_MEMORY_PORTS] + modulo(slot, s.parameters[P_MEMORY_PORTS])
        start = begin
        piped = s.parameters[P_PIPED] != 0
        last_pass = enter_pipe(s, g, passes, t) if piped and what != COPY else np.int64(0)
        returning = np.int64(0)  # what a store waits for once, and for each other chunk
        returning_next = np.int64(0)
        if s.parameters[P_RETURNS] != 0 and what == STORE and count > 0 and s.warp[w, WARP_LOADED] > 0:
            returning = s.parameters[P_RETURN_DELAY] + s.parameters[P_RETURN_INTERVAL] * s.warp[w, WARP_LOADED]
            s.warp[w, WARP_LOADED] = 0
            if piped:
                returning_next = s.parameters[P_RETURN_DELAY]
        passing = np.int64(-1)  # the run of chunks that is at the port
        for index in range(first, first + count):
            chunk = s.chunks[index]
            if serial:
                start = finish
            else:
                together = chunk
                if s.parameters[P_PORT_CHUNKS] > 1:
                    together = chunk // s.parameters[P_PORT_CHUNKS]
                again = False
                if here:
                    for before in range(first, index):
                        if s.chunks[before] == chunk:
                            again = True
                            break
                if not again and (s.parameters[P_PORT_CHUNKS] == 1 or together != passing):
                    passing = together
                    start = through_port(s, g, port, piped and what != COPY, stores_apart, returning, begin)
                    returning = returning_next if index + 1 - first < passes else np.int64(0)
            note(s, LOADS if cached else OTHERS, start, np.int64(1))
            accessed = accessed_of(s.parameters, s.sectors, index)
            wanted = wanted_of(s.parameters, accessed)
            line1 = np.int64(ABSENT)
            line2 = np.int64(ABSENT)
            done = np.int64(-1)
            row1 = np.int64(0)
            row2 = np.int64(0)
            read = start  # where the L1 has it: its banks, too
            called = start  # and it may be called for
            known = start  # its translation, too
            at_slice = start
            at_memory = start  # the fetch port, too
            waited = np.int64(0)  # for the partition, which opens a row and turns round meanwhile
            crowded = np.int64(0)  # for room in the L2
            opening = np.int64(0)
            turning = np.int64(0)
            behind = np.int64(0)  # an atomic, or another one's
            slice_behind = np.int64(0)  # likewise at its slice of the L2
            from_where = np.int64(MEMORY_LATENCY)
            took = latency
            stays = not cached and s.parameters[P_LOCAL_BACK] != 0 and chunk >= s.parameters[P_FIRST_LOCAL]
            if looks:
                row1 = l1_row(s, g, chunk)
                line1 = find_line(s.l1, row1, chunk, s.parameters[P_L1_WAYS])
                lacking = lacking_of(s.parameters, s.l1_sectors, row1, line1, wanted)
                if lacking != 0:
                    wanted = lacking
                else:
                    took = s.parameters[P_L1_LATENCY]
                    from_where = np.int64(L1_LATENCY)
                    read = max(start, last_pass)
                    done = max(read + took, fill_of(s.parameters, s.l1_sectors, row1, line1, wanted))
                    s.group[g, GROUP_L1_HITS] += 1
                    note(s, L1_HITS, start, np.int64(1))
            elif stays and what == STORE:
                took = s.parameters[P_L1_LATENCY]
                from_where = np.int64(L1_LATENCY)
                done = start + took
                s.group[g, GROUP_L1_STORES] += 1
                row1 = l1_row(s, g, chunk)
                if find_line(s.l1, row1, chunk, s.parameters[P_L1_WAYS]) == ABSENT:
                    insert_into_l1(s, row1, chunk, t)
                store_sectors(s.parameters, s.l1, s.l1_sectors, row1, np.int64(0), done)
            elif not cached and s.parameters[P_DROPS] != 0 and not stays:
                row1 = l1_row(s, g, chunk)
                drop_line(s.l1, row1, chunk, s.parameters[P_L1_WAYS])
            if done < 0:
                if piped and cached:
                    called = call_for(s, g, wanted, start, t)
                known = called
                if s.parameters[P_TLB_ENTRIES] > 0:
                    known = max(called, translated(s, g, chunk, t))
                at_slice = known
                missing = wanted  # what global memory has to give or take
                if shared:
                    at_slice, slice_behind = comes_to_slice(s, g, what, here, chunk, wanted, known, t)
                    row2 = modulo(chunk, s.parameters[P_L2_SETS])
                    touch(s.l2_touched, row2)
                    line2 = find_line(s.l2, row2, chunk, s.parameters[P_L2_WAYS])
                    lacking = np.int64(0)
                    if what != STORE:
                        lacking = lacking_of(s.parameters, s.l2_sectors, row2, line2, wanted)
                    if what == STORE:
                        from_where = np.int64(L2_LATENCY)
                        if line2 == ABSENT:
                            crowded = max(crowded, make_room_in_l2(s, row2, chunk, t) - at_slice)
                            insert_empty(s.l2, row2, chunk, s.parameters[P_L2_WAYS])
                        done = at_slice + crowded + latency
                        store_sectors(s.parameters, s.l2, s.l2_sectors, row2, accessed, done)
                    elif lacking != 0:
                        missing = lacking
                    else:
                        took = s.parameters[P_ATOMIC_LATENCY] if here else s.parameters[P_L2_LATENCY]
                        from_where = np.int64(L2_LATENCY)
                        done = max(at_slice + took, fill_of(s.parameters, s.l2_sectors, row2, line2, wanted))
                        s.group[g, GROUP_L2_HITS] += 1
                        note(s, L2_HITS, at_slice, np.int64(1))
                at_memory = at_slice
                if done < 0:
                    fetched += 1
                    read_runs, at_memory, waited, opening, turning, behind = from_global_memory(
                        s, g, what, cached, here, chunk, accessed, missing, at_slice, t
                    )
                    done = at_memory + waited + latency
                    if shared:
                        if line2 == ABSENT:
                            crowded = max(crowded, make_room_in_l2(s, row2, chunk, t) - done)
                            done += crowded
                            insert_empty(s.l2, row2, chunk, s.parameters[P_L2_WAYS])
                        put_sectors(s.parameters, s.l2, s.l2_sectors, row2, read_runs, done)
                if here:
                    store_sectors(s.parameters, s.l2, s.l2_sectors, row2, accessed, done)
                if piped and cached and s.parameters[P_MOST_MISSES] > 0:
                    miss = (s.group[g, GROUP_MISSES] - 1) % s.parameters[P_MOST_MISSES]
                    s.arrivals[g, miss] = done
                if looks:
                    if line1 == ABSENT:
                        insert_into_l1(s, row1, chunk, t)
                    put_sectors(s.parameters, s.l1, s.l1_sectors, row1, wanted, done)
            if watches and (serial or done > finish):
                if not serial:
                    s.path[g, L1_LATENCY] = 0
                    s.path[g, L2_LATENCY] = 0
                    s.path[g, MEMORY_LATENCY] = 0
                    s.path[g, PORT_QUEUE] = read - t + called - start
                    s.path[g, L2_QUEUE] = 0
                    s.path[g, LINE_IN_FLIGHT] = 0
                s.path[g, ROWS] = opening
                s.path[g, TURNAROUND] = turning
                queued = np.int64(0) if behind > 0 else waited - opening - turning
                s.path[g, MEMORY_QUEUE] = queued + at_memory - at_slice + crowded  # at the fetch port, too
                s.path[g, ATOMICS_QUEUE] = waited - opening - turning if behind > 0 else np.int64(0)
                if slice_behind > 0:
                    s.path[g, ATOMICS_QUEUE] += at_slice - known
                else:
                    s.path[g, L2_QUEUE] += at_slice - known
                s.path[g, FIRST_ACCESS] = known - called
                s.path[g, from_where] += took
                s.path[g, LINE_IN_FLIGHT] += done - (at_memory + read - start) - waited - crowded - took
            finish = done if serial else max(finish, done)
    if s.parameters[P_FIRST_ACCESS] > 0 and what != STORE:
        late = late_of_first(s, g, t)
        if watches:
            s.path[g, FIRST_ACCESS] += late
        finish += late
    if s.parameters[P_RETURNS] != 0 and what in (LOAD, ASYNC):
        if t < s.warp[w, WARP_LOADS_END]:
            fetched += s.warp[w, WARP_LOADED]
        s.warp[w, WARP_LOADED] = fetched
        s.warp[w, WARP_LOADS_END] = max(finish, s.warp[w, WARP_LOADS_END]) if what == ASYNC else 0
        if what == ASYNC:
            s.warp[w, WARP_UNTAKEN] += 1
    s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], finish)
    if s.parameters[P_PIPED] != 0:
        s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], s.group[g, GROUP_BANKS_FREE])
    return finish
