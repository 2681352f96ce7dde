"""Barriers of a block: who has arrived, who was missing, who leaves."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import join, lowest, ones
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    BARRIERS_DIFFER,
    FAR,
    FREE,
    GENERATION,
    HAS_VECTORS,
    KNOWN,
    KNOWN_TIME,
    LANES_MISSING,
    LIVING,
    NUMBER,
    PENDING,
    RACES,
    SLOT,
    SYNCHRONISED,
    SYNCS,
    THREADS,
    WARP,
    WARPS,
    WITHIN_BLOCK,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import BARRIERS, LANES, SYNCHRONISES

_ALL = (1 << LANES) - 1


def reset(slot, barrier, s):
    """A barrier begins anew."""
    s.counts[slot, barrier, 0] = 0
    for warp in range(s.sizes[WARPS]):
        for column in range(4):
            s.arrived[slot, barrier, warp, column] = 0


def leave(mask, s):
    """Lanes leave: what waits for all who live may have waited for them."""
    slot = s.now[SLOT]
    s.blocks[slot, LIVING] -= ones(mask)
    living = s.blocks[slot, LIVING]
    for barrier in range(BARRIERS):
        if s.counts[slot, barrier, 0] > 0 and s.counts[slot, barrier, 1] == 0 and s.counts[slot, barrier, 0] >= living:
            complete(slot, barrier, s)
    if living == 0:
        s.slot_of[s.now[NUMBER]] = 0
        s.free[s.now[FREE]] = slot
        s.now[FREE] += 1


def arrive(log, at, event, mask, s):
    """Lanes of a warp arrive at a barrier."""
    if mask == 0:
        return 0
    slot = s.now[SLOT]
    warp = s.now[WARP] // LANES
    word = log[at + 1 + lowest(mask)]
    barrier = word & (BARRIERS - 1)
    count = (word >> 8) & 0xFFFF
    s.counts[slot, barrier, 0] += ones(mask)
    s.counts[slot, barrier, 1] = count
    s.arrived[slot, barrier, warp, 0] |= mask
    if (word >> 24) & 1 != 0:
        s.arrived[slot, barrier, warp, 1] |= mask
    s.arrived[slot, barrier, warp, 2] |= (word >> 32) & _ALL
    earlier = s.arrived[slot, barrier, warp, 3] - 1
    if earlier < 0:
        s.arrived[slot, barrier, warp, 3] = event + 1
    elif count == 0 and s.sizes[SYNCS] != 0 and s.events[earlier, 1] != s.events[event, 1]:
        other = lowest(s.arrived[slot, barrier, warp, 0] & ~mask)
        note(
            s,
            LANES_MISSING,
            WITHIN_WARP,
            SYNCHRONISES,
            0,
            earlier,
            event,
            s.now[NUMBER],
            s.now[NUMBER],
            warp * LANES + other,
            warp * LANES + lowest(mask),
            barrier,
            ones(mask),
        )
    needed = s.blocks[slot, LIVING] if count == 0 else count
    if s.counts[slot, barrier, 0] >= needed:
        complete(slot, barrier, s)
    return 0


def complete(slot, barrier, s):
    """All that a barrier waits for have arrived."""
    threads = s.sizes[THREADS]
    if s.sizes[SYNCS] != 0 and s.counts[slot, barrier, 1] == 0:
        judge(slot, barrier, s)
    if s.sizes[RACES] != 0:
        whole = s.counts[slot, barrier, 0] >= s.blocks[slot, LIVING]
        for warp in range(s.sizes[WARPS]):
            whole = whole and s.arrived[slot, barrier, warp, 0] == s.arrived[slot, barrier, warp, 1]
        if whole or s.sizes[HAS_VECTORS] == 0:
            s.blocks[slot, GENERATION] += 1
            s.blocks[slot, FAR] = 0
            if s.now[SYNCHRONISED] != 0:
                latest = s.blocks[slot, KNOWN_TIME]
                for thread in range(threads):
                    place = slot * threads + thread
                    latest = max(latest, s.threads[place, KNOWN], s.threads[place, PENDING])
                s.blocks[slot, KNOWN_TIME] = latest
        else:
            join(slot, barrier, s)
    reset(slot, barrier, s)


def judge(slot, barrier, s):
    """Who was missing at a barrier of all threads, and who was at another one."""
    first = np.int64(-1)
    one = np.int64(0)
    for warp in range(s.sizes[WARPS]):
        event = s.arrived[slot, barrier, warp, 3] - 1
        if event < 0:
            continue
        missing = s.arrived[slot, barrier, warp, 2] & ~s.arrived[slot, barrier, warp, 0]
        if missing != 0:
            note(
                s,
                LANES_MISSING,
                WITHIN_WARP,
                SYNCHRONISES,
                0,
                event,
                event,
                s.now[NUMBER],
                s.now[NUMBER],
                warp * LANES + lowest(s.arrived[slot, barrier, warp, 0]),
                warp * LANES + lowest(missing),
                barrier,
                ones(missing),
            )
        if first < 0:
            first, one = event, np.int64(warp)
        elif s.events[event, 1] != s.events[first, 1]:
            note(
                s,
                BARRIERS_DIFFER,
                WITHIN_BLOCK,
                SYNCHRONISES,
                0,
                first,
                event,
                s.now[NUMBER],
                s.now[NUMBER],
                one * LANES,
                warp * LANES,
                barrier,
                np.int64(1),
            )
