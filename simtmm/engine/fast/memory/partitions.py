"""Partitions of global memory: which one a chunk lies in, and when it takes the chunk (section 4)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.traffic import MEMORY as AT_MEMORY
from simtmm.engine.fast.attribution.traffic import MEMORY_SECTORS, note
from simtmm.engine.fast.layout import OPENING, ROTATED, TURNING, Group
from simtmm.engine.fast.memory.cache import find_line, insert_line, mix, modulo, spread
from simtmm.engine.fast.memory.sectors import count_of, lacking_of, part_of, partial_of, runs_of, written_of
from simtmm.native import inlined
from simtmm.workload import ATOMIC, COPY, REDUCE, STORE


def rotated(chunk, number):
    """Which of so many partitions a chunk lies in, where each round of them begins as a hash says."""
    begin = np.int64(mix(np.int64(np.uint64(chunk) // np.uint64(number))) % np.uint64(number))
    return modulo(modulo(chunk, number) + begin, number)


@inlined
def partition_of(s, chunk):
    """The partition that a chunk lies in."""
    number = s.parameters.partitions
    if s.parameters.hashed == ROTATED:
        return rotated(chunk, number)
    return spread(chunk, number, s.parameters.hashed)


@inlined
def reserve(s, chunk, writes, updates, service, t):
    """Take a chunk's partition from t on, as soon as it is free; when that is. updates: whether it is an atomic's."""
    partition = partition_of(s, chunk)
    if s.parameters.watch != 0 and service > 0:
        s.partition_updates[partition] = updates
    begin = max(t, s.partition_free[partition])
    if s.parameters.turnaround > 0:
        s.told[TURNING] = 0
        if s.partition_writes[partition] != writes:
            s.partition_writes[partition] = writes
            s.told[TURNING] = s.parameters.turnaround
            begin += s.parameters.turnaround
    if s.parameters.row_chunks > 0:
        s.told[OPENING] = 0
        row = np.int64(np.uint64(chunk) // np.uint64(s.parameters.row_chunks))
        if find_line(s.rows, partition, row, s.parameters.open_rows) < 0:
            insert_line(s.rows, partition, row, np.int64(0), s.parameters.open_rows)
            s.told[OPENING] = s.parameters.row_opening
            begin += s.parameters.row_opening
    s.partition_free[partition] = begin + service
    return begin


@inlined
def write(s, chunk, written, partial, t):
    """Take a chunk's partition from t on for sectors that are written, and before for what is read of those of which
    only a part is; when it begins to write.
    """
    if s.parameters.reads_parts != 0 and partial != 0:
        read = part_of(s.parameters, s.parameters.service, runs_of(s.parameters, partial))
        reserve(s, chunk, np.int64(0), np.int64(0), read, t)
    service = part_of(s.parameters, s.parameters.write_service, written)
    return reserve(s, chunk, np.int64(1), np.int64(0), service, t)


@inlined
def write_line_back(s, sectors, chunk, row, line, t):
    """Write a line that is dropped: until when what takes its room waits, if it does. sectors: of the cache's lines."""
    written = written_of(s.parameters, sectors, row, line)
    partial = lacking_of(s.parameters, sectors, row, line, written)
    return write(s, chunk, written, partial, t) - s.parameters.store_buffer


@inlined
def through_fetch_port(s, g, what, cached, missing, start, t):
    """When a group's fetch port takes up sectors of a chunk, which it does not before `start`; cached: as there."""
    if cached and what != COPY and s.parameters.fetch_interval > 0:
        begin = max(t, s.group[g].fetch_free)
        s.group[g].fetch_free = begin + part_of(s.parameters, s.parameters.fetch_interval, missing)
        return max(start, begin)
    return start


@inlined
def from_global_memory(s, g, what, cached, here, chunk, accessed, missing, start, t):  # noqa: PLR0913, PLR0917 - what is known of the instruction is not asked anew for each chunk
    """What global memory has to give or take of a chunk, and what comes before that: the fetch port, its partition.

    cached: whether it is loaded. here: whether it is read for an atomic that is done in the L2.
    accessed, missing: bytes of each of its sectors that are accessed, and which of them are asked for.
    start: when it comes here. Returns the sectors that move; when the chunk has passed the fetch port; the ticks that
    it waits for its partition, those of them in which that opens a row, and in which it turns round; and more than 0
    if it is, or comes behind, an atomic.
    """
    moved = runs_of(s.parameters, missing) if cached or here else missing
    fetched = through_fetch_port(s, g, what, cached, missing, start, t)
    begun = fetched
    waited = np.int64(0)
    opening = np.int64(0)
    turning = np.int64(0)
    behind = np.int64(0)
    if s.parameters.serial == 0 and s.parameters.partitioned != 0:
        update = np.int64(1) if what in (ATOMIC, REDUCE) and not here else np.int64(0)
        if s.parameters.watch != 0:
            behind = s.partition_updates[partition_of(s, chunk)]
        if update > 0:
            begun = reserve(s, chunk, np.int64(1), update, s.parameters.atomic_service, t)
        elif cached or here:
            service = part_of(s.parameters, s.parameters.service, moved)
            begun = reserve(s, chunk, np.int64(0), update, service, t)
        else:
            begun = write(s, chunk, missing, partial_of(s.parameters, accessed), t)
        behind += update
        entered = begun - s.parameters.store_buffer if what == STORE else begun
        waited = max(np.int64(0), entered - fetched)
        opening = min(waited, s.told[OPENING])
        turning = min(waited - opening, s.told[TURNING])
    note(s, AT_MEMORY, max(fetched, begun), np.int64(1))
    moves(s, g, Group.memory_sectors, MEMORY_SECTORS, max(fetched, begun), moved)
    return moved, fetched, waited, opening, turning, behind


@inlined
def moves(s, g, column, over_time, t, chosen):
    """Sectors of a chunk move to or from the L2, or global memory."""
    number = count_of(chosen)
    s.group[g, column] += number
    note(s, over_time, t, number)
