"""The path of a memory instruction: port, caches, slice and partition (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.cache import choose_line, drop_line, find_line, insert_line, mix, modulo, touch
from simtmm.engine.fast.layout import (
    ABSENT,
    GROUP_BANKS_FREE,
    GROUP_ENTRY_FREE,
    GROUP_FETCH_FREE,
    GROUP_FILL_FREE,
    GROUP_L1_HITS,
    GROUP_L1_STORES,
    GROUP_L2_HITS,
    GROUP_L2_SECTORS,
    GROUP_LAST,
    GROUP_MEMORY_SECTORS,
    GROUP_MISSES,
    GROUP_SHARED_BANKS,
    GROUP_SHARED_ENTRY,
    GROUP_STORE_FREE,
    GROUP_TAGS_FREE,
    GROUP_TRANSACTIONS,
    GROUP_TRANSLATED,
    LINE_CHUNK,
    LINE_FILL,
    NO,
    OPENING,
    P_ACCESS_INTERVAL,
    P_ATOMIC_LATENCY,
    P_ATOMIC_SERVICE,
    P_ATOMICS_HERE,
    P_DROPS,
    P_FETCH_INTERVAL,
    P_FILL_INTERVAL,
    P_FIRST_ACCESS,
    P_FIRST_LOCAL,
    P_HASHED,
    P_L1_LATENCY,
    P_L1_SETS,
    P_L1_SKEWED,
    P_L1_WAYS,
    P_L2_LATENCY,
    P_L2_RANDOM,
    P_L2_REQUEST,
    P_L2_SERVICE,
    P_L2_SETS,
    P_L2_STORE_REQUEST,
    P_L2_STORE_SERVICE,
    P_L2_WAYS,
    P_LATENCY,
    P_LOCAL_BACK,
    P_MEMORY_PORTS,
    P_MOST_MISSES,
    P_OPEN_ROWS,
    P_PARTITIONED,
    P_PARTITIONS,
    P_PASS_INTERVAL,
    P_PIPED,
    P_PORT_CHUNKS,
    P_PORT_INTERVAL,
    P_READS_PARTS,
    P_RETURN_DELAY,
    P_RETURN_INTERVAL,
    P_RETURNS,
    P_ROW_CHUNKS,
    P_ROW_OPENING,
    P_SERIAL,
    P_SERVICE,
    P_SHARED_APART,
    P_SHARED_LATENCY,
    P_SHARED_PASS,
    P_SLICED,
    P_SLOTS,
    P_STORE_BUFFER,
    P_STORE_INTERVAL,
    P_STORE_LATENCY,
    P_STORES_APART,
    P_TAG_INTERVAL,
    P_TLB_ENTRIES,
    P_TLB_MISS,
    P_TLB_PAGE,
    P_TURNAROUND,
    P_VICTIMS_WAITED,
    P_WATCH,
    P_WRITES_BACK,
    PATH_ROW,
    SHARED_CONFLICTS,
    SHARED_OWN,
    SHARED_PLACE,
    SHARED_SETTLED,
    TURNING,
    WARP_LOADED,
    WARP_LOADS_END,
    WARP_SHARED,
    WARP_UNTAKEN,
    WRITTEN,
)
from simtmm.engine.fast.over_time import (
    L1_HITS,
    L2_HITS,
    L2_LOADS,
    L2_SECTORS,
    L2_STORES,
    LOADS,
    MEMORY_SECTORS,
    OTHERS,
    note,
)
from simtmm.engine.fast.over_time import MEMORY as AT_MEMORY
from simtmm.engine.fast.sectors import (
    accessed_of,
    count_of,
    fill_of,
    insert_empty,
    lacking_of,
    part_of,
    partial_of,
    put_sectors,
    runs_of,
    store_sectors,
    wanted_of,
    written_of,
)
from simtmm.native import inlined, prefetch
from simtmm.workload import ASYNC, ATOMIC, COPY, LOAD, REDUCE, STORE

# Columns of a path
PORT_QUEUE, L2_QUEUE, MEMORY_QUEUE, ATOMICS_QUEUE, TURNAROUND, ROWS = range(6)
L1_LATENCY, L2_LATENCY, MEMORY_LATENCY, LINE_IN_FLIGHT, FIRST_ACCESS = range(6, PATH_ROW)

FETCHED = np.int64(4)  # chunks of an instruction whose sets are brought into the cache beforehand


@inlined
def partition_of(s, chunk):
    """The partition that a chunk lies in."""
    if s.parameters[P_HASHED]:
        return np.int64(mix(chunk) % np.uint64(s.parameters[P_PARTITIONS]))
    return modulo(chunk, s.parameters[P_PARTITIONS])


@inlined
def reserve(s, chunk, writes, updates, service, t):
    """Take a chunk's partition from t on, as soon as it is free; when that is. updates: whether it is an atomic's."""
    partition = partition_of(s, chunk)
    if s.parameters[P_WATCH] != 0 and service > 0:
        s.partition_updates[partition] = updates
    begin = max(t, s.partition_free[partition])
    if s.parameters[P_TURNAROUND] > 0:
        s.told[TURNING] = 0
        if s.partition_writes[partition] != writes:
            s.partition_writes[partition] = writes
            s.told[TURNING] = s.parameters[P_TURNAROUND]
            begin += s.parameters[P_TURNAROUND]
    if s.parameters[P_ROW_CHUNKS] > 0:
        s.told[OPENING] = 0
        row = np.int64(np.uint64(chunk) // np.uint64(s.parameters[P_ROW_CHUNKS]))
        if find_line(s.rows, partition, row, s.parameters[P_OPEN_ROWS]) < 0:
            insert_line(s.rows, partition, row, np.int64(0), s.parameters[P_OPEN_ROWS])
            s.told[OPENING] = s.parameters[P_ROW_OPENING]
            begin += s.parameters[P_ROW_OPENING]
    s.partition_free[partition] = begin + service
    return begin


@inlined
def translated(s, g, chunk, t):
    """From when on a group has the translation of a chunk's page, which it looks for at t."""
    page = np.int64(np.uint64(chunk) // np.uint64(s.parameters[P_TLB_PAGE]))
    there = find_line(s.tlb, g, page, s.parameters[P_TLB_ENTRIES])
    if there < 0:
        there = t + s.parameters[P_TLB_MISS]
        insert_line(s.tlb, g, page, there, s.parameters[P_TLB_ENTRIES])
    return there


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


@inlined
def write(s, chunk, written, partial, t):
    """Take a chunk's partition from t on for sectors that are written, and before for what is read of those of which
    only a part is; when it begins to write.
    """
    if s.parameters[P_READS_PARTS] != 0 and partial != 0:
        read = part_of(s.parameters, s.parameters[P_SERVICE], runs_of(s.parameters, partial))
        reserve(s, chunk, np.int64(0), np.int64(0), read, t)
    service = part_of(s.parameters, s.parameters[P_SERVICE], written)
    return reserve(s, chunk, np.int64(1), np.int64(0), service, t)


@inlined
def insert_into_l1(s, row, chunk, t):
    """Put a chunk into an L1, with none of its sectors; a line that falls out and is to be written is stored in what
    lies below.
    """
    last = s.parameters[P_L1_WAYS] - 1
    if (
        s.parameters[P_LOCAL_BACK] != 0
        and s.l1[row, last, LINE_CHUNK] >= 0
        and s.l1[row, last, LINE_FILL] & WRITTEN != 0
    ):
        write_down(s, s.l1[row, last, LINE_CHUNK], t)
    insert_empty(s.l1, row, chunk, s.parameters[P_L1_WAYS])


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
def l1_row(s, g, chunk):
    """Where the set of a group's L1 lies that a chunk belongs to."""
    sets = s.parameters[P_L1_SETS]
    if s.parameters[P_L1_SKEWED] != 0:
        chunk += np.int64(np.uint64(chunk) // np.uint64(sets))
    return g * sets + modulo(chunk, sets)


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
def call_for(s, g, lacking, start, t):
    """When sectors of a chunk are called for that a load does not find in the L1, which they are not before `start`."""
    begin = max(t, s.group[g, GROUP_FILL_FREE])
    s.group[g, GROUP_FILL_FREE] = begin + part_of(s.parameters, s.parameters[P_FILL_INTERVAL], lacking)
    start = max(start, begin)
    if s.parameters[P_MOST_MISSES] > 0:
        start = max(start, s.arrivals[g, s.group[g, GROUP_MISSES] % s.parameters[P_MOST_MISSES]])
        s.group[g, GROUP_MISSES] += 1
    return start


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
def moves(s, g, column, over_time, t, chosen):
    """Sectors of a chunk move to or from the L2, or global memory."""
    number = count_of(chosen)
    s.group[g, column] += number
    note(s, over_time, t, number)


@inlined
def transfer_chunks(s, memory, g, w, what, first, count, passes, t):
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
        finish = t + latency  # neither ports nor partitions nor caches: every transfer takes L
        note(s, LOADS if what in (LOAD, ASYNC, COPY) else OTHERS, t, count)
        note(s, AT_MEMORY, t, count)
        sectors = np.int64(0)
        for index in range(first, first + count):
            wanted = wanted_of(s.parameters, accessed_of(s.parameters, s.sectors, index))
            sectors += count_of(runs_of(s.parameters, wanted) if what in (LOAD, ASYNC, COPY) else wanted)
        s.group[g, GROUP_MEMORY_SECTORS] += sectors
        note(s, MEMORY_SECTORS, t, sectors)
    else:
        finish = t
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
        start = t
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
                    looked_up = t
                    if piped and what != COPY:
                        looked_up = s.group[g, GROUP_TAGS_FREE]
                        s.group[g, GROUP_TAGS_FREE] = looked_up + s.parameters[P_TAG_INTERVAL]
                    if stores_apart:
                        start = max(looked_up, s.group[g, GROUP_STORE_FREE]) + returning
                        s.group[g, GROUP_STORE_FREE] = start + s.parameters[P_STORE_INTERVAL]
                    elif piped:
                        start = looked_up + returning
                    else:
                        start = max(t, s.port_free[port]) + returning
                        s.port_free[port] = start + s.parameters[P_PORT_INTERVAL]
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
            begun = start  # when its partition takes it up
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
                    if s.parameters[P_SLICED] != 0:
                        slice_ = partition_of(s, chunk)
                        begin = max(t, s.slice_free[slice_])
                        taken = slice_taken(s, what, here, wanted)
                        s.slice_free[slice_] = begin + taken
                        at_slice = max(known, begin)
                        if watches:
                            slice_behind = np.int64(1) if here else s.slice_updates[slice_]
                            if taken > 0:
                                s.slice_updates[slice_] = np.int64(1) if here else np.int64(0)
                    note(s, L2_STORES if what == STORE else L2_LOADS, at_slice, np.int64(1))
                    moves(s, g, GROUP_L2_SECTORS, L2_SECTORS, at_slice, wanted)
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
                    read_runs = runs_of(s.parameters, missing) if cached or here else missing
                    if cached and s.parameters[P_FETCH_INTERVAL] > 0:
                        begin = max(t, s.group[g, GROUP_FETCH_FREE])
                        fetch = part_of(s.parameters, s.parameters[P_FETCH_INTERVAL], missing)
                        s.group[g, GROUP_FETCH_FREE] = begin + fetch
                        at_memory = max(at_slice, begin)
                    if serial or s.parameters[P_PARTITIONED] == 0:
                        done = at_memory + latency
                    else:
                        an_update = np.int64(1) if updates and not here else np.int64(0)
                        first_behind = np.int64(0)
                        if watches:
                            first_behind = s.partition_updates[partition_of(s, chunk)]
                        if an_update > 0:
                            begin = reserve(s, chunk, np.int64(1), an_update, s.parameters[P_ATOMIC_SERVICE], t)
                        elif cached or here:
                            service = part_of(s.parameters, s.parameters[P_SERVICE], read_runs)
                            begin = reserve(s, chunk, np.int64(0), an_update, service, t)
                        else:
                            begin = write(s, chunk, missing, partial_of(s.parameters, accessed), t)
                        begun = begin
                        behind = an_update + first_behind
                        entered = begin - s.parameters[P_STORE_BUFFER] if what == STORE else begin
                        waited = max(np.int64(0), entered - at_memory)
                        opening = min(waited, s.told[OPENING])
                        turning = min(waited - opening, s.told[TURNING])
                        done = at_memory + waited + latency
                    note(s, AT_MEMORY, max(at_memory, begun), np.int64(1))
                    moves(s, g, GROUP_MEMORY_SECTORS, MEMORY_SECTORS, max(at_memory, begun), read_runs)
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
        if s.group[g, GROUP_TRANSLATED] == 0:
            s.group[g, GROUP_TRANSLATED] = t + s.parameters[P_FIRST_ACCESS]
        late = max(np.int64(0), s.group[g, GROUP_TRANSLATED] - t)
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
