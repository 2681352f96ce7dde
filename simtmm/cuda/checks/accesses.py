"""Accesses of a log: their memory, whether it was written before, and the accesses that they race with."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.cells import plain_of, touch
from simtmm.cuda.checks.copies import track
from simtmm.cuda.checks.ordering import freshen, synchronise
from simtmm.cuda.checks.proxies import bucket_of, complete_copy, engine_of
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    ACQUIRES,
    ATOMIC,
    BULK,
    IGNORED,
    MOST_OF_CLUSTER,
    PARTLY_WRITTEN,
    PRODUCT,
    RELEASES,
    STRONG,
    TRACKS,
    UNWRITTEN,
    VECTOR,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import (
    CHECK_SPACE_BIT,
    CHECK_WIDTH_BIT,
    CHECK_WRITE_BIT,
    COPIER_BIT,
    IN_GLOBAL,
    IN_LOCAL,
    IN_SHARED,
    LANES,
    LOCAL_WINDOW,
    LOG_ENTRY,
    PARAMETER_WINDOW,
    PEER_BIT,
    PEER_OFFSETS,
    SHARED_WINDOW,
    SIZE_BIT,
)
from simtmm.cuda.ptx.flow.steps import BULK_WIDTH
from simtmm.native import inlined

_NUMBER = (1 << CHECK_WIDTH_BIT) - 1
_ENTRY = LOG_ENTRY // 8
OWN = -2


def access(log, at, site, mask, same, s):  # noqa: C901, PLR0912 - a compiled loop: a case for each space and kind of access
    """Lanes access memory."""
    event = site & _NUMBER
    size = 1 << ((site >> CHECK_WIDTH_BIT) & 7)
    space = (site >> CHECK_SPACE_BIT) & 3
    writes = (site >> CHECK_WRITE_BIT) & 1 != 0
    flags = s.events[event]
    reads = not writes or flags & ATOMIC != 0
    if flags & BULK != 0 and size == BULK_WIDTH:  # pieces of a box in global memory
        pieces(log, at, mask, event, writes, s)
        return
    if flags & IGNORED != 0:
        reads, writes = flags & ACQUIRES != 0, flags & ACQUIRES == 0
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = log[at + 1 + lane]
        thread = s.now.warp + lane
        where = space
        if where == IN_GLOBAL and address >= SHARED_WINDOW:
            if address >= PARAMETER_WINDOW:
                continue
            where = np.int64(IN_SHARED)
            if address >= LOCAL_WINDOW:
                where = np.int64(IN_LOCAL)
            address &= (1 << 32) - 1
        if where == IN_SHARED:
            peer = peer_of(s, address)
            address &= PEER_OFFSETS
            if peer != OWN:
                of_peer(s, flags, address, size, peer, writes)
                continue
        silent = (same >> lane) & 1
        if where == IN_LOCAL:
            if s.sizes.reads != 0:
                local(s, event, flags, address, size, thread, reads, writes)
            continue
        if flags & TRACKS != 0 and s.sizes.races != 0:
            track(s, s.now.slot, thread, address)
        if flags & STRONG != 0 and s.sizes.races != 0:
            key = address if where == IN_GLOBAL else address + SHARED_WINDOW
            synchronise(s, flags, key, thread, reads, writes)
        if flags & IGNORED != 0:
            if where == IN_SHARED:
                told(log, at, mask, s, event, flags, address, size, thread)
            continue
        if where == IN_SHARED:
            if flags & PRODUCT != 0:
                thread = s.now.warp
            in_shared(log, at, mask, s, event, flags, address, size, thread, reads, writes, silent)
        else:
            in_global(log, at, mask, s, event, flags, address, size, thread, reads, writes, silent)


def told(log, at, mask, s, event, flags, address, size, thread):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread does something at an mbarrier, which an initialisation writes, and an arrival or a wait reads.

    What its last user does to end it is ordered by what users count, as cuda::pipeline does, and races with nothing.
    """
    writes = flags & (ACQUIRES | RELEASES) == 0
    if flags & BULK == 0 and (flags & STRONG == 0 or not writes):
        in_shared(log, at, mask, s, event, flags, address, size, thread, not writes, writes, np.int64(0))
    elif s.sizes.reads != 0:
        mark(s, event, flags, address, size, thread, not writes, writes)


def in_shared(log, at, mask, s, event, flags, address, size, thread, reads, writes, silent):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread accesses shared memory. log, at, mask: of its warp."""
    bits = s.sizes.unit_bits
    first = address >> bits
    cells = max(1, size >> bits)
    if first + cells > s.sizes.shared_cells or address >= s.sizes.own_bytes:
        return
    if s.sizes.reads != 0:
        mark(s, event, flags, address, size, thread, reads, writes)
    if s.sizes.races != 0:
        cell = s.now.slot * s.sizes.shared_cells + first
        where = np.int64(IN_SHARED)
        touch(
            log, at, mask, s, s.shared, cell, cells, event, flags, where, address, size, thread, reads, writes, silent
        )


def mark(s, event, flags, address, size, thread, reads, writes):
    """What is written in shared memory, and whether what is read is. The pieces of the async proxy may be wider."""
    bits = s.sizes.unit_bits
    cells = max(1, size >> bits)
    if (address >> bits) + cells > s.sizes.shared_cells:
        return
    cell = s.now.slot * s.sizes.shared_cells + (address >> bits)
    stamp = s.blocks[s.now.slot].of_stamp
    missing = np.int64(0)
    for number in range(cells):
        if reads and s.shared_written[cell + number] != stamp:
            missing += 1
        if writes or missing != 0:
            s.shared_written[cell + number] = stamp
    if missing == cells or (missing != 0 and flags & (BULK | PRODUCT) == 0):
        unwritten(s, event, flags, np.int64(IN_SHARED), address, size, thread, missing < cells)


def in_global(log, at, mask, s, event, flags, address, size, thread, reads, writes, silent):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread accesses global memory. log, at, mask: of its warp."""
    array = find(s, address)
    if array < 0:
        return
    bits = s.sizes.unit_bits
    cells = max(1, size >> bits)
    where = np.int64(IN_GLOBAL)
    offset = address - s.arrays[array, 0]
    if s.sizes.reads != 0 and s.arrays[array, 3] >= 0:
        first = s.arrays[array, 3] + offset
        missing = np.int64(0)
        for number in range(min(size, s.arrays[array, 1] - offset)):
            if reads and s.written[first + number] == 0:
                missing += 1
            if writes:
                s.written[first + number] = 1
        if missing == size or (missing != 0 and flags & BULK == 0):
            unwritten(s, event, flags, where, address, size, thread, missing < size)
    if s.sizes.races != 0 and s.arrays[array, 2] >= 0:
        cell = s.arrays[array, 2] + (offset >> bits)
        cells = min(cells, ((s.arrays[array, 1] + (1 << bits) - 1) >> bits) - (offset >> bits))
        touch(log, at, mask, s, s.cells, cell, cells, event, flags, where, address, size, thread, reads, writes, silent)


def pieces(log, at, mask, event, writes, s):
    """What a copy of boxes accesses in global memory, in pieces, which have the lane that copies in their addresses."""
    flags = plain_of(s.events[event])
    reads = not writes or flags & ATOMIC != 0
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        word = log[at + 1 + lane]
        thread = s.now.warp + (word >> COPIER_BIT) - 1
        address = word & ((1 << COPIER_BIT) - 1)
        size = np.int64(BULK_WIDTH)
        in_global(log, at, np.int64(0), s, event, flags, address, size, thread, reads, writes, np.int64(0))


def bulk(log, at, site, mask, s):
    """Lanes copy in bulk: each so many bytes from an address on, of which an mbarrier may be told."""
    event = site & _NUMBER
    space = (site >> CHECK_SPACE_BIT) & 3
    writes = (site >> CHECK_WRITE_BIT) & 1 != 0
    flags = plain_of(s.events[event])
    reads = not writes or flags & ATOMIC != 0
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        thread = s.now.warp + lane
        address = log[at + 1 + lane]
        size = log[at + _ENTRY + 1 + lane]
        barrier = log[at + 2 * _ENTRY + 1 + lane]
        is_cut = size >> SIZE_BIT != 0
        size &= (1 << SIZE_BIT) - 1
        s.now.engine = 0
        peer = peer_of(s, address) if space == IN_SHARED else np.int64(OWN)
        if barrier >= 0 and peer == OWN:
            s.now.engine = engine_of(barrier & PEER_OFFSETS) + 1
        done = np.int64(0)
        nobody, wide, differs = np.int64(0), np.int64(BULK_WIDTH), np.int64(0)
        while done < size:
            if space == IN_GLOBAL:
                in_global(log, at, nobody, s, event, flags, address + done, wide, thread, reads, writes, differs)
            else:
                place = (address + done) & PEER_OFFSETS
                if peer != OWN:
                    of_peer(s, flags, place, wide, peer, writes)
                    done += BULK_WIDTH
                    continue
                # What parts of a box are not read, nobody need have written.
                if is_cut and reads and s.sizes.reads != 0:
                    mark(s, event, flags, place, wide, thread, False, True)
                in_shared(log, at, nobody, s, event, flags, place, wide, thread, reads, writes, differs)
            done += BULK_WIDTH
        if barrier >= 0 and s.sizes.races != 0 and writes and peer == OWN:
            complete_copy(s, barrier & PEER_OFFSETS)
        s.now.engine = 0


def peer_of(s, address):
    """The slot of another block of the cluster whose shared memory an address is of, OWN for the block's
    own, and -1 for one that has ended or not begun.
    """
    rank = ((address >> PEER_BIT) & (2 * MOST_OF_CLUSTER - 1)) - 1
    if s.sizes.has_peers == 0 or rank < 0 or rank == s.cluster[s.now.number, MOST_OF_CLUSTER]:
        return np.int64(OWN)
    return np.int64(s.slot_of[s.cluster[s.now.number, rank]]) - 1


def of_peer(s, flags, address, size, slot, writes):
    """A thread accesses another block's shared memory: what it writes is written. Threads that wait at an mbarrier
    there are taken to know what their own block did so far, for which this thread may have waited.
    """
    if slot < 0:
        return
    if flags & IGNORED != 0 and flags & (RELEASES | ACQUIRES) != 0:
        if flags & RELEASES != 0 and s.sizes.races != 0 and s.sizes.has_vectors != 0:
            bucket = bucket_of(address)
            freshen(s, slot, bucket)
            for other in range(s.sizes.threads):
                s.buckets[slot, bucket, other] = s.threads[slot * s.sizes.threads + other].epoch
        return
    cells = max(1, size >> s.sizes.unit_bits)
    first = address >> s.sizes.unit_bits
    if writes and s.sizes.reads != 0 and first + cells <= s.sizes.shared_cells:
        for number in range(cells):
            s.shared_written[slot * s.sizes.shared_cells + first + number] = s.blocks[slot].of_stamp


@inlined
def find(s, address):
    """The array that an address is of; -1 for none."""
    last = s.now.last_array
    if last < len(s.arrays) and s.arrays[last, 0] <= address and address < s.arrays[last, 0] + s.arrays[last, 1]:
        return last
    low = np.int64(0)
    high = np.int64(len(s.arrays))
    while high - low > 1:
        middle = (low + high) >> 1
        if s.arrays[middle, 0] <= address:
            low = middle
        else:
            high = middle
    if low < len(s.arrays) and s.arrays[low, 0] <= address and address < s.arrays[low, 0] + s.arrays[low, 1]:
        s.now.last_array = low
        return low
    return np.int64(-1)


def local(s, event, flags, address, size, thread, reads, writes):
    """A thread accesses its local memory; what lies beyond the kernel's own variables is a stack, used again."""
    first = address >> s.sizes.unit_bits
    count = max(1, size >> s.sizes.unit_bits)
    if first + count > s.sizes.local_cells:
        return
    slot = s.now.slot
    cell = (slot * s.sizes.threads + thread) * s.sizes.local_cells + first
    stamp = s.blocks[slot].of_stamp
    missing = np.int64(0)
    for number in range(count):
        if reads and s.local_written[cell + number] != stamp:
            missing += 1
        if writes:
            s.local_written[cell + number] = stamp
    if missing != 0:
        unwritten(s, event, flags, np.int64(IN_LOCAL), address, size, thread, missing < count)


def unwritten(s, event, flags, where, address, size, thread, partly):
    """A thread reads what nobody has written. partly: some of it has been."""
    kind = np.int64(UNWRITTEN)
    if partly and flags & VECTOR != 0:
        kind = np.int64(PARTLY_WRITTEN)
    note(s, kind, WITHIN_WARP, where, 0, event, event, s.now.number, s.now.number, thread, thread, address, size)
