"""Barriers of a block: who has arrived, who was missing, who leaves."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import join, join_engines, lowest, ones
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    ARRIVAL,
    BARRIERS_DIFFER,
    EARLIER_TRIPS,
    EARLIER_WAY,
    ENGINES,
    EXPECTED,
    FAR,
    FIRST,
    FIRST_LANE,
    FIRST_TRIPS,
    FIRST_WAY,
    FREE,
    GENERATION,
    HAS_PROXY,
    HAS_VECTORS,
    HERE,
    KNOWN,
    KNOWN_TIME,
    LANES_MISSING,
    LATER_TRIPS,
    LATER_WAY,
    LIVING,
    NUMBER,
    PENDING,
    RACES,
    SLOT,
    SYNCHRONISED,
    SYNCS,
    THREADS,
    WAITING,
    WARP,
    WARPS,
    WITHIN_BLOCK,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import ALL_BARRIERS, BARRIERS, CLUSTER_BARRIER, LANES, LOG_ENTRY, SYNCHRONISES

_ENTRY = LOG_ENTRY // 8
_ALL = (1 << LANES) - 1


def reset(slot, barrier, s):
    """A barrier begins anew."""
    s.counts[slot, barrier, 0] = 0
    for warp in range(s.sizes[WARPS]):
        for column in range(ARRIVAL):
            s.arrived[slot, barrier, warp, column] = 0


def leave(mask, s):
    """Lanes leave: what waits for all who live may have waited for them."""
    slot = s.now[SLOT]
    s.blocks[slot, LIVING] -= ones(mask)
    living = s.blocks[slot, LIVING]
    for barrier in range(ALL_BARRIERS):
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
    barrier = word & 0xFF
    if barrier != CLUSTER_BARRIER:
        barrier &= BARRIERS - 1
    count = (word >> 8) & 0xFFFF
    s.counts[slot, barrier, 0] += ones(mask)
    s.counts[slot, barrier, 1] = count
    if s.arrived[slot, barrier, warp, FIRST] == 0:
        lane = lowest(mask)
        s.arrived[slot, barrier, warp, FIRST] = event + 1
        s.arrived[slot, barrier, warp, FIRST_LANE] = lane
        s.arrived[slot, barrier, warp, FIRST_WAY] = log[at + _ENTRY + 1 + lane]
        s.arrived[slot, barrier, warp, FIRST_TRIPS] = log[at + 2 * _ENTRY + 1 + lane]
    if count == 0 and s.sizes[SYNCS] != 0:
        compare(log, at, event, mask, slot, barrier, warp, s)
    s.arrived[slot, barrier, warp, HERE] |= mask
    if (word >> 24) & 1 != 0:
        s.arrived[slot, barrier, warp, WAITING] |= mask
    s.arrived[slot, barrier, warp, EXPECTED] |= (word >> 32) & _ALL
    needed = s.blocks[slot, LIVING] if count == 0 else count
    if s.counts[slot, barrier, 0] >= needed:
        complete(slot, barrier, s)
    return 0


def compare(log, at, event, mask, slot, barrier, warp, s):
    """Whether lanes are at the barrier that the first of their warp is at: the same instruction, called alike, in the
    same trips of the loops around it. The first that is not is reported.
    """
    first = s.arrived[slot, barrier, warp, FIRST] - 1
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        way, trips = log[at + _ENTRY + 1 + lane], log[at + 2 * _ENTRY + 1 + lane]
        if (
            event != first
            or way != s.arrived[slot, barrier, warp, FIRST_WAY]
            or trips != s.arrived[slot, barrier, warp, FIRST_TRIPS]
        ):
            differ(s, slot, barrier, warp, WITHIN_WARP, event, warp * LANES + lane, way, trips)
            return 0
    return 0


def differ(s, slot, barrier, warp, who, event, thread, way, trips):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread is at another barrier than the first of a warp."""
    first = s.arrived[slot, barrier, warp, FIRST] - 1
    row = note(
        s,
        BARRIERS_DIFFER,
        who,
        SYNCHRONISES,
        1 if first == event else 0,
        first,
        event,
        s.now[NUMBER],
        s.now[NUMBER],
        warp * LANES + s.arrived[slot, barrier, warp, FIRST_LANE],
        thread,
        barrier,
        np.int64(1),
    )
    if row >= 0:
        s.found[row, EARLIER_WAY] = s.arrived[slot, barrier, warp, FIRST_WAY]
        s.found[row, EARLIER_TRIPS] = s.arrived[slot, barrier, warp, FIRST_TRIPS]
        s.found[row, LATER_WAY] = way
        s.found[row, LATER_TRIPS] = trips


def complete(slot, barrier, s):
    """All that a barrier waits for have arrived."""
    threads = s.sizes[THREADS]
    if s.sizes[SYNCS] != 0 and s.counts[slot, barrier, 1] == 0:
        judge(slot, barrier, s)
    if s.sizes[RACES] != 0:
        whole = s.counts[slot, barrier, 0] >= s.blocks[slot, LIVING]
        for warp in range(s.sizes[WARPS]):
            whole = whole and s.arrived[slot, barrier, warp, HERE] == s.arrived[slot, barrier, warp, WAITING]
        if whole or s.sizes[HAS_VECTORS] == 0:
            s.blocks[slot, GENERATION] += 1
            s.blocks[slot, FAR] = 0
            if s.sizes[HAS_PROXY] != 0:
                for engine in range(ENGINES):
                    for thread in range(threads):
                        latest = max(s.engine_now[slot, engine, 1], s.engines[slot, thread, engine])
                        s.engine_now[slot, engine, 1] = latest
            if s.now[SYNCHRONISED] != 0:
                latest = s.blocks[slot, KNOWN_TIME]
                for thread in range(threads):
                    place = slot * threads + thread
                    latest = max(latest, s.threads[place, KNOWN], s.threads[place, PENDING])
                s.blocks[slot, KNOWN_TIME] = latest
        else:
            if s.sizes[HAS_PROXY] != 0:
                join_engines(slot, barrier, s)
            join(slot, barrier, s)
    reset(slot, barrier, s)


def judge(slot, barrier, s):
    """Who was missing at a barrier of all threads, and who was at another one.

    Warps may wait for one another at barriers of any number but 0 in different places, as PTX lets them: that of
    __syncthreads() is 0.
    """
    one = np.int64(-1)
    for warp in range(s.sizes[WARPS]):
        event = s.arrived[slot, barrier, warp, FIRST] - 1
        if event < 0:
            continue
        missing = s.arrived[slot, barrier, warp, EXPECTED] & ~s.arrived[slot, barrier, warp, HERE]
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
                warp * LANES + lowest(s.arrived[slot, barrier, warp, HERE]),
                warp * LANES + lowest(missing),
                barrier,
                ones(missing),
            )
        if one < 0:
            one = np.int64(warp)
            continue
        way, trips = s.arrived[slot, barrier, warp, FIRST_WAY], s.arrived[slot, barrier, warp, FIRST_TRIPS]
        if barrier == 0 and (
            event != s.arrived[slot, barrier, one, FIRST] - 1
            or way != s.arrived[slot, barrier, one, FIRST_WAY]
            or trips != s.arrived[slot, barrier, one, FIRST_TRIPS]
        ):
            thread = warp * LANES + s.arrived[slot, barrier, warp, FIRST_LANE]
            differ(s, slot, barrier, one, WITHIN_BLOCK, event, thread, way, trips)
