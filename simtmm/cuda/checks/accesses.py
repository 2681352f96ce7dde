"""Accesses of a log: their memory, whether it was written before, and the accesses that they race with."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.cells import touch
from simtmm.cuda.checks.ordering import synchronise
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    ATOMIC,
    IGNORED,
    LAST_ARRAY,
    LOCAL_CELLS,
    NUMBER,
    OF_STAMP,
    PARTLY_WRITTEN,
    RACES,
    READS,
    SHARED_CELLS,
    SLOT,
    STRONG,
    THREADS,
    UNIT_BITS,
    UNWRITTEN,
    VECTOR,
    WARP,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import (
    CHECK_SPACE_BIT,
    CHECK_WIDTH_BIT,
    CHECK_WRITE_BIT,
    IN_GLOBAL,
    IN_LOCAL,
    IN_SHARED,
    LANES,
    LOCAL_WINDOW,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
)
from simtmm.native import inlined

_NUMBER = (1 << CHECK_WIDTH_BIT) - 1


def access(log, at, site, mask, same, s):  # noqa: C901, PLR0912, PLR0915 - a compiled loop: a case for each space and kind of access
    """Lanes access memory."""
    event = site & _NUMBER
    size = 1 << ((site >> CHECK_WIDTH_BIT) & 7)
    space = (site >> CHECK_SPACE_BIT) & 3
    writes = (site >> CHECK_WRITE_BIT) & 1 != 0
    flags = s.events[event]
    reads = not writes or flags & ATOMIC != 0
    slot = s.now[SLOT]
    bits = s.sizes[UNIT_BITS]
    cells = max(1, size >> bits)
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        address = log[at + 1 + lane]
        thread = s.now[WARP] + lane
        where = space
        if where == IN_GLOBAL and address >= SHARED_WINDOW:
            if address >= PARAMETER_WINDOW:
                continue
            where = np.int64(IN_SHARED)
            if address >= LOCAL_WINDOW:
                where = np.int64(IN_LOCAL)
            address &= (1 << 32) - 1
        silent = (same >> lane) & 1
        if where == IN_LOCAL:
            if s.sizes[READS] != 0:
                local(s, event, flags, address, size, thread, reads, writes)
            continue
        if flags & STRONG != 0 and s.sizes[RACES] != 0:
            key = address if where == IN_GLOBAL else address + SHARED_WINDOW
            synchronise(s, flags, key, thread, reads, writes)
        if where == IN_SHARED:
            cell = slot * s.sizes[SHARED_CELLS] + (address >> bits)
            if s.sizes[READS] != 0:
                stamp = s.blocks[slot, OF_STAMP]
                missing = np.int64(0)
                for number in range(cells):
                    if reads and s.shared_written[cell + number] != stamp:
                        missing += 1
                    if writes or missing != 0:
                        s.shared_written[cell + number] = stamp
                if missing != 0:
                    unwritten(s, event, flags, where, address, size, thread, missing < cells)
            if s.sizes[RACES] != 0 and flags & IGNORED == 0:
                touch(
                    log,
                    at,
                    mask,
                    s,
                    s.shared,
                    cell,
                    cells,
                    event,
                    flags,
                    where,
                    address,
                    size,
                    thread,
                    reads,
                    writes,
                    silent,
                )
            continue
        array = find(s, address)
        if array < 0:
            continue
        offset = address - s.arrays[array, 0]
        if s.sizes[READS] != 0 and s.arrays[array, 3] >= 0:
            first = s.arrays[array, 3] + offset
            missing = np.int64(0)
            for number in range(size):
                if reads and s.written[first + number] == 0:
                    missing += 1
                if writes:
                    s.written[first + number] = 1
            if missing != 0:
                unwritten(s, event, flags, where, address, size, thread, missing < size)
        if s.sizes[RACES] != 0 and s.arrays[array, 2] >= 0:
            cell = s.arrays[array, 2] + (offset >> bits)
            touch(
                log,
                at,
                mask,
                s,
                s.cells,
                cell,
                cells,
                event,
                flags,
                where,
                address,
                size,
                thread,
                reads,
                writes,
                silent,
            )


@inlined
def find(s, address):
    """The array that an address is of; -1 for none."""
    last = s.now[LAST_ARRAY]
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
        s.now[LAST_ARRAY] = low
        return low
    return np.int64(-1)


def local(s, event, flags, address, size, thread, reads, writes):
    """A thread accesses its local memory; what lies beyond the kernel's own variables is a stack, used again."""
    first = address >> s.sizes[UNIT_BITS]
    count = max(1, size >> s.sizes[UNIT_BITS])
    if first + count > s.sizes[LOCAL_CELLS]:
        return
    slot = s.now[SLOT]
    cell = (slot * s.sizes[THREADS] + thread) * s.sizes[LOCAL_CELLS] + first
    stamp = s.blocks[slot, OF_STAMP]
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
    note(s, kind, WITHIN_WARP, where, 0, event, event, s.now[NUMBER], s.now[NUMBER], thread, thread, address, size)
