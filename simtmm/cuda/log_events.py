"""Loops over a launch's log.

An entry is a site and a mask, four bytes each, and behind those of an access an address for each lane. In the place of
a site stands a mark where another block or warp begins: the block's number, or the warp in the place of the mask.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import Compiled, inlined
from simtmm.cuda.execution.layout import (
    LANES,
    LOCAL_WINDOW,
    NEW_BLOCK,
    NEW_WARP,
    PARAMETER_WINDOW,
    SHARED_WINDOW,
    TOLD_WIDTH,
)
from simtmm.trace.schema import Kind

_WORK, _BARRIER = int(Kind.WORK), int(Kind.BARRIER)
_ASYNC, _STORE, _ATOMIC = int(Kind.ASYNC), int(Kind.STORE), int(Kind.ATOMIC)
_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_STORE), int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE, _CONSTANT_LOAD = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE), int(Kind.CONSTANT_LOAD)


@Compiled
def find_blocks(log, entry_bytes, kind):
    """The block of each mark, and where the mark stands."""
    words = log.view(np.int32)
    long_words = log.view(np.int64)
    count = 0
    for passing in range(2):
        if passing == 1:
            numbers = np.empty(count, dtype=np.int64)
            starts = np.empty(count, dtype=np.int64)
            count = 0
        at = 0
        while at < len(log):
            site = words[at // 4]
            if site == NEW_BLOCK:
                if passing == 1:
                    numbers[count] = long_words[at // 8 + 1]
                    starts[count] = at
                count += 1
                at += 16
            elif site == NEW_WARP or kind[site] == _WORK or kind[site] == _BARRIER:
                at += 8
            else:
                at += entry_bytes
    return numbers, starts


@Compiled
def size_events(log, entry_bytes, kind, slots, threads, counts, last):
    """How many events each thread of each block has; `slots` are the blocks, ascending."""
    words = log.view(np.int32)
    long_words = log.view(np.int64)
    first = np.int64(0)
    warp = np.int64(0)
    at = 0
    while at < len(log):
        site = words[at // 4]
        mask = np.uint32(words[at // 4 + 1])
        if site == NEW_BLOCK:
            first = np.searchsorted(slots, long_words[at // 8 + 1]) * threads
            at += 16
            continue
        if site == NEW_WARP:
            warp = np.int64(mask) * LANES
            at += 8
            continue
        works = kind[site] == _WORK
        for lane in range(min(LANES, threads - warp)):
            if (mask >> np.uint32(lane)) & np.uint32(1):
                thread = first + warp + lane
                if not (works and last[thread] == site):
                    counts[thread] += 1
                last[thread] = site
        at += 8 if works or kind[site] == _BARRIER else entry_bytes


@Compiled
def fill_events(
    log, entry_bytes, width, kind, generic, issues, sites, shared_site, slots, threads, cursor, last, out,
):  # fmt: skip
    """Write the events, and count those that are accesses.

    out: uint64, two words an event: its value; site, thread, kind and bytes (trace.schema.EVENT). cursor: where the
    events of each thread begin. Work that is done again at once is one event.
    """
    words = log.view(np.int32)
    long_words = log.view(np.int64)
    first = np.int64(0)
    warp = np.int64(0)
    accesses = np.int64(0)
    at = 0
    while at < len(log):
        site = words[at // 4]
        mask = np.uint32(words[at // 4 + 1])
        if site == NEW_BLOCK:
            first = np.searchsorted(slots, long_words[at // 8 + 1]) * threads
            at += 16
            continue
        if site == NEW_WARP:
            warp = np.int64(mask) * LANES
            at += 8
            continue
        what = kind[site]
        here = min(LANES, threads - warp)
        begin = first + warp
        tail = np.uint64(sites[site]) | np.uint64(width[site]) << np.uint64(56) | np.uint64(warp) << np.uint64(32)
        if what in (_WORK, _BARRIER):
            tail |= np.uint64(what) << np.uint64(48)
            for lane in range(here):
                if (mask >> np.uint32(lane)) & np.uint32(1):
                    place = cursor[begin + lane]
                    if what == _WORK and last[begin + lane] == site:
                        out[2 * place - 2] += np.uint64(issues[site])
                        continue
                    last[begin + lane] = site
                    out[2 * place] = np.uint64(what == _WORK and issues[site])
                    out[2 * place + 1] = tail + (np.uint64(lane) << np.uint64(32))
                    cursor[begin + lane] = place + 1
            at += 8
            continue
        any_space = generic[site]
        is_told = width[site] == 0
        start = at // 8 + 1
        for lane in range(here):
            if (mask >> np.uint32(lane)) & np.uint32(1):
                value = long_words[start + lane]
                kind_here = np.int64(what)
                told = np.uint64(0)
                if is_told:
                    told = np.uint64(value) >> np.uint64(TOLD_WIDTH) << np.uint64(56)
                    value &= (np.int64(1) << TOLD_WIDTH) - 1
                if any_space and value >= SHARED_WINDOW:
                    value, kind_here = _in_window(value, kind_here)
                if kind_here in (_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC):
                    value += np.int64(shared_site) << 32
                place = cursor[begin + lane]
                last[begin + lane] = site
                out[2 * place] = np.uint64(value)
                seat = np.uint64(lane) << np.uint64(32)
                out[2 * place + 1] = tail + seat + (np.uint64(kind_here) << np.uint64(48)) + told
                cursor[begin + lane] = place + 1
                accesses += 1
        at += entry_bytes
    return accesses


@inlined
def _in_window(value, what):
    """An access by a generic address that is not global: the address in its own space, and what it is there."""
    if value >= PARAMETER_WINDOW:
        return value, np.int64(_CONSTANT_LOAD)
    if value >= LOCAL_WINDOW:
        return value - LOCAL_WINDOW, np.int64(_LOCAL_LOAD if what == _ASYNC else _LOCAL_STORE)
    if what == _ASYNC:
        return value - SHARED_WINDOW, np.int64(_SHARED_LOAD)
    return value - SHARED_WINDOW, np.int64(_SHARED_STORE if what == _STORE else _SHARED_ATOMIC)
