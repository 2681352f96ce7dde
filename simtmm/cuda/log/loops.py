"""Loops over a launch's log.

An entry is a site and a mask, four bytes each, and behind those of an access an address for each lane. In the place of
a site stands a mark where another block or warp begins: the block's number, or the warp instead of the mask. Here
a log is int64[words of 8 bytes], and an entry's first word has the site in its lower half.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.execution.layout import (
    COPIER_BIT,
    LANES,
    LOCAL_WINDOW,
    LOG_ENTRY,
    NEW_BLOCK,
    NEW_WARP,
    PARAMETER_WINDOW,
    PEER_BIT,
    PEER_OFFSETS,
    SHARED_WINDOW,
    TOLD_WIDTH,
)
from simtmm.cuda.ptx.flow.steps import BULK_WIDTH
from simtmm.native import Loop, inlined
from simtmm.trace.schema import Kind
from simtmm.workload import ACTION_SHIFT

_WORK, _BARRIER = int(Kind.WORK), int(Kind.BARRIER)
_COPY, _MBARRIER, _PRODUCT = int(Kind.COPY), int(Kind.MBARRIER), int(Kind.PRODUCT)
_FIRST_ACTION = np.int64(1) << ACTION_SHIFT  # of what an mbarrier is told of a copy: above all addresses
_ASYNC, _STORE, _ATOMIC = int(Kind.ASYNC), int(Kind.STORE), int(Kind.ATOMIC)
_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_STORE), int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE, _CONSTANT_LOAD = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE), int(Kind.CONSTANT_LOAD)
_COPIED, _COPIERS = (1 << COPIER_BIT) - 1, 63
_STRETCH = 64  # bytes of a copy in bulk that are an event at most
_ENTRY = LOG_ENTRY // 8  # words of an access
_TOLD = (1 << TOLD_WIDTH) - 1
_MASK = (1 << LANES) - 1


def find_blocks(log, kind, numbers, starts):
    """The block of each mark, and where the mark stands: how many there are, of which those with room are written."""
    count = np.int64(0)
    at = np.int64(0)
    while at < len(log):
        site = site_of(log[at])
        if site == NEW_BLOCK:
            if count < len(numbers):
                numbers[count] = log[at + 1]
                starts[count] = at
            count += 1
            at += 2
        elif site == NEW_WARP or kind[site] == _WORK or kind[site] == _BARRIER:
            at += 1
        else:
            at += _ENTRY
    return count


@inlined
def past_mark(log, at, slots, threads, first, warp):
    """Behind the mark of a block or of a warp: (where the log goes on, the first thread of the block, of the warp)."""
    if site_of(log[at]) == NEW_BLOCK:
        return at + 2, place_of(slots, log[at + 1]) * threads, warp
    return at + 1, first, mask_of(log[at]) * LANES


def size_events(log, kind, slots, threads, counts, last):
    """How many events each thread of each block has; `slots` are the blocks, ascending."""
    first = np.int64(0)
    warp = np.int64(0)
    at = np.int64(0)
    while at < len(log):
        site = site_of(log[at])
        mask = mask_of(log[at])
        if site in (NEW_BLOCK, NEW_WARP):
            at, first, warp = past_mark(log, at, slots, threads, first, warp)
            continue
        works = kind[site] == _WORK
        copier = copier_of(log, at, mask) if kind[site] in (_COPY, _STORE) else np.int64(-1)
        if copier >= 0:
            thread = first + warp + copier
            counts[thread] += stretches_of(log, at, mask)
            last[thread] = site
            at += _ENTRY
            continue
        for lane in range(min(LANES, threads - warp)):
            if (mask >> lane) & 1 != 0:
                thread = first + warp + lane
                if not (works and last[thread] == site):
                    counts[thread] += 1
                last[thread] = site
        at += 1 if works or kind[site] == _BARRIER else _ENTRY


def fill_events(  # noqa: C901, PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    log, width, kind, generic, issues, sites, shared_site, slots, ranks, threads, cursor, last, out,
):  # fmt: skip
    """Write the events, and count those that are accesses.

    out: int64, two words an event: its value; site, thread, kind and bytes (trace.schema.EVENT). cursor: where the
    events of each thread begin. Work that is done again at once is one event. ranks: of each block in its cluster, and
    one; 0 without.
    """
    first = np.int64(0)
    warp = np.int64(0)
    accesses = np.int64(0)
    at = np.int64(0)
    while at < len(log):
        site = site_of(log[at])
        mask = mask_of(log[at])
        if site in (NEW_BLOCK, NEW_WARP):
            at, first, warp = past_mark(log, at, slots, threads, first, warp)
            continue
        what = kind[site]
        here, begin = min(LANES, threads - warp), first + warp
        tail = sites[site] | width[site] << 56 | warp << 32
        if what in (_WORK, _BARRIER):
            tail |= what << 48
            value = issues[site] if what == _WORK else np.int64(0)
            for lane in range(here):
                if (mask >> lane) & 1 != 0:
                    place = cursor[begin + lane]
                    if what == _WORK and last[begin + lane] == site:
                        out[2 * place - 2] += value
                        continue
                    last[begin + lane] = site
                    out[2 * place] = value
                    out[2 * place + 1] = tail + (lane << 32)
                    cursor[begin + lane] = place + 1
            at += 1
            continue
        copier = copier_of(log, at, mask) if what in (_COPY, _STORE) else np.int64(-1)
        if copier >= 0:
            last[begin + copier] = site
            place = cursor[begin + copier]
            cursor[begin + copier] = fill_copy(log, at, mask, place, tail + (copier << 32) + (what << 48), out)
            accesses += cursor[begin + copier] - place
            at += _ENTRY
            continue
        any_space = generic[site] != 0
        is_told = width[site] == 0 and what not in (_MBARRIER, _PRODUCT)
        for lane in range(here):
            if (mask >> lane) & 1 != 0:
                address = log[at + 1 + lane]
                high_bits = np.int64(0)
                if is_told:
                    high_bits = address >> TOLD_WIDTH << 56
                    address &= _TOLD
                space = np.int64(_MBARRIER) if tells_mbarrier(what, address) else what
                if any_space and address >= SHARED_WINDOW:
                    space = kind_in_window(address, what)
                    address = place_in_window(address)
                if space in (_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC):
                    address = of_its_block(address, ranks[first // threads]) + (shared_site << 32)
                place = cursor[begin + lane]
                last[begin + lane] = site
                out[2 * place] = address
                out[2 * place + 1] = tail + (lane << 32) + (space << 48) + high_bits
                cursor[begin + lane] = place + 1
                accesses += 1
        at += _ENTRY
    return accesses


@inlined
def tells_mbarrier(what, address):
    """Whether an mbarrier counts a copy, which was seen to before, or a store to another block's memory."""
    return what == _COPY or (address >= _FIRST_ACTION and what in (_SHARED_STORE, _SHARED_ATOMIC))


@inlined
def copier_of(log, at, mask):
    """The lane that copies in bulk what an entry holds, -1 if that is no such copy."""
    lane = 0
    while lane < LANES - 1 and (mask >> lane) & 1 == 0:
        lane += 1
    address = log[at + 1 + lane]
    return np.int64(-1) if address >= _FIRST_ACTION else ((address >> COPIER_BIT) & _COPIERS) - 1


@inlined
def begins_stretch(address, end):
    """Whether a piece of a copy in bulk does not go on where the one before it ends."""
    return address != end or address % _STRETCH == 0


@inlined
def fill_copy(log, at, mask, place, tail, out):
    """Write the stretches that the pieces of a copy in bulk make: where the next event goes."""
    end = np.int64(-1)
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            address = log[at + 1 + lane] & _COPIED
            if begins_stretch(address, end):
                out[2 * place] = address
                out[2 * place + 1] = tail
                place += 1
            else:
                out[2 * place - 1] += np.int64(BULK_WIDTH) << 56
            end = address + BULK_WIDTH
    return place


@inlined
def stretches_of(log, at, mask):
    """How many stretches the pieces of a copy in bulk make that an entry holds: an event each."""
    count = np.int64(0)
    end = np.int64(-1)
    for lane in range(LANES):
        if (mask >> lane) & 1 != 0:
            address = log[at + 1 + lane] & _COPIED
            if begins_stretch(address, end):
                count += 1
            end = address + BULK_WIDTH
    return count


@inlined
def site_of(word):
    """Or the mark."""
    return (word << 32) >> 32


@inlined
def mask_of(word):
    """Or the warp."""
    return (word >> 32) & _MASK


@inlined
def place_of(slots, block):
    """Where a block stands among ascending ones."""
    low = 0
    high = len(slots)
    while low < high:
        middle = (low + high) >> 1
        if slots[middle] < block:
            low = middle + 1
        else:
            high = middle
    return low


@inlined
def kind_in_window(address, what):
    """What an access by a generic address is that is not global."""
    if address >= PARAMETER_WINDOW:
        return np.int64(_CONSTANT_LOAD)
    if address >= LOCAL_WINDOW:
        return np.int64(_LOCAL_LOAD) if what == _ASYNC else np.int64(_LOCAL_STORE)
    if what == _ASYNC:
        return np.int64(_SHARED_LOAD)
    return np.int64(_SHARED_STORE) if what == _STORE else np.int64(_SHARED_ATOMIC)


@inlined
def place_in_window(address):
    """Such an address in its own space; parameters keep theirs."""
    if address >= PARAMETER_WINDOW:
        return address
    return address - (LOCAL_WINDOW if address >= LOCAL_WINDOW else SHARED_WINDOW)


@inlined
def of_its_block(address, rank):
    """An address in shared memory, by which a block's own memory is as any. rank: of the block, and one."""
    return address & PEER_OFFSETS if address >> PEER_BIT == rank else address


FIND_BLOCKS, SIZE_EVENTS, FILL_EVENTS = Loop(find_blocks), Loop(size_events), Loop(fill_events)
