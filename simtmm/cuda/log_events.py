"""Loops over a launch's log.

An entry is a site and a mask, four bytes each, and behind those of an access an address for each lane. In the place of
a site stands a mark where another block or warp begins: the block's number, or the warp in the place of the mask.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import Compiled
from simtmm.cuda.execution.layout import LANES, LOCAL_WINDOW, NEW_BLOCK, NEW_WARP, PARAMETER_WINDOW, SHARED_WINDOW
from simtmm.trace.schema import Kind

_WORK, _BARRIER = int(Kind.WORK), int(Kind.BARRIER)
_ASYNC, _STORE, _ATOMIC = int(Kind.ASYNC), int(Kind.STORE), int(Kind.ATOMIC)
_SHARED_LOAD, _SHARED_STORE, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_STORE), int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE, _CONSTANT_LOAD = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE), int(Kind.CONSTANT_LOAD)


@Compiled
def find_blocks(log, entry_bytes, width, kind):
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
def size_events(log, entry_bytes, width, kind, slots, threads, counts, last):
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
    log, entry_bytes, width, kind, generic, sites, shared_site, slots, threads, cursor, last,
    out_value, out_site, out_thread, out_kind, out_bytes,
):  # fmt: skip
    """Write the events; `cursor` says where each thread's begin. Work that is done again at once is one event."""
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
        what = kind[site]
        accesses = what != _WORK and what != _BARRIER
        shared = what == _SHARED_LOAD or what == _SHARED_STORE or what == _SHARED_ATOMIC
        bytes_here = width[site]
        number = sites[site]
        any_space = generic[site]
        for lane in range(min(LANES, threads - warp)):
            if not (mask >> np.uint32(lane)) & np.uint32(1):
                continue
            thread = first + warp + lane
            place = cursor[thread]
            if what == _WORK and last[thread] == site:
                out_value[place - 1] += np.uint64(1)
                continue
            last[thread] = site
            value = np.int64(0)
            kind_here = what
            if accesses:
                value = long_words[at // 8 + 1 + lane]
                in_shared = shared
                if any_space and value >= SHARED_WINDOW:
                    if value >= PARAMETER_WINDOW:
                        kind_here = _CONSTANT_LOAD
                    elif value >= LOCAL_WINDOW:
                        kind_here = _LOCAL_LOAD if what == _ASYNC else _LOCAL_STORE
                        value -= LOCAL_WINDOW
                    else:
                        in_shared = True
                        value -= SHARED_WINDOW
                        kind_here = (
                            _SHARED_LOAD if what == _ASYNC else _SHARED_STORE if what == _STORE else _SHARED_ATOMIC
                        )
                if in_shared:
                    value += np.int64(shared_site) << 32
            elif what == _WORK:
                value = np.int64(1)
            out_value[place] = np.uint64(value)
            out_site[place] = number
            out_thread[place] = warp + lane
            out_kind[place] = kind_here
            out_bytes[place] = bytes_here
            cursor[thread] = place + 1
        at += entry_bytes if accesses else 8
