"""Barriers of a block: who has arrived, who was missing, who leaves."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import join, join_engines, lowest, ones
from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    BARRIERS_DIFFER,
    COUNTS_DIFFER,
    ENGINES,
    LANES_MISSING,
    WITHIN_BLOCK,
    WITHIN_WARP,
    Arrived,
)
from simtmm.cuda.execution.layout import ALL_BARRIERS, BARRIERS, CLUSTER_BARRIER, LANES, LOG_ENTRY, SYNCHRONISES

_ENTRY = LOG_ENTRY // 8
_ALL = (1 << LANES) - 1


def reset(slot, barrier, s):
    """A barrier begins anew."""
    s.counts[slot, barrier, 0] = 0
    for warp in range(s.sizes.warps):
        for column in range(len(Arrived)):
            s.arrived[slot, barrier, warp, column] = 0


def leave(mask, s):
    """Lanes leave: what waits for all who live may have waited for them."""
    slot = s.now.slot
    s.blocks[slot].living -= ones(mask)
    living = s.blocks[slot].living
    for barrier in range(ALL_BARRIERS):
        if s.counts[slot, barrier, 0] > 0 and s.counts[slot, barrier, 1] == 0 and s.counts[slot, barrier, 0] >= living:
            complete(slot, barrier, s)
    if living == 0:
        s.slot_of[s.now.number] = 0
        s.free[s.now.free] = slot
        s.now.free += 1


def arrive(log, at, event, mask, s):
    """Lanes of a warp arrive at a barrier."""
    if mask == 0:
        return 0
    slot = s.now.slot
    warp = s.now.warp // LANES
    word = log[at + 1 + lowest(mask)]
    barrier = word & 0xFF
    if barrier != CLUSTER_BARRIER:
        barrier &= BARRIERS - 1
    count = (word >> 8) & 0xFFFF
    if s.sizes.syncs != 0 and s.counts[slot, barrier, 0] > 0 and s.counts[slot, barrier, 1] != count:
        count_anew(event, mask, slot, barrier, count, s)
    s.counts[slot, barrier, 0] += ones(mask)
    s.counts[slot, barrier, 1] = count
    if s.arrived[slot, barrier, warp].first == 0:
        lane = lowest(mask)
        s.arrived[slot, barrier, warp].first = event + 1
        s.arrived[slot, barrier, warp].first_lane = lane
        s.arrived[slot, barrier, warp].first_way = log[at + _ENTRY + 1 + lane]
        s.arrived[slot, barrier, warp].first_trips = log[at + 2 * _ENTRY + 1 + lane]
    if count == 0 and s.sizes.syncs != 0:
        compare(log, at, event, mask, slot, barrier, warp, s)
    s.arrived[slot, barrier, warp].here |= mask
    if (word >> 24) & 1 != 0:
        s.arrived[slot, barrier, warp].waiting |= mask
    s.arrived[slot, barrier, warp].expected |= (word >> 32) & _ALL
    needed = s.blocks[slot].living if count == 0 else count
    if s.counts[slot, barrier, 0] >= needed:
        complete(slot, barrier, s)
    return 0


def count_anew(event, mask, slot, barrier, count, s):
    """Lanes arrive at a barrier for another number of threads than those before them; 0 stands for all."""
    everyone = s.sizes.warps * LANES
    before = s.counts[slot, barrier, 1]
    if (before if before != 0 else everyone) == (count if count != 0 else everyone):
        return
    for warp in range(s.sizes.warps):
        first = s.arrived[slot, barrier, warp].first - 1
        if first >= 0:
            row = note(
                s,
                COUNTS_DIFFER,
                WITHIN_BLOCK,
                SYNCHRONISES,
                0,
                first,
                event,
                s.now.number,
                s.now.number,
                warp * LANES + s.arrived[slot, barrier, warp].first_lane,
                s.now.warp + lowest(mask),
                barrier,
                np.int64(1),
            )
            if row >= 0:
                s.found[row].earlier_trips = before
                s.found[row].later_trips = count
            return


def compare(log, at, event, mask, slot, barrier, warp, s):
    """Whether lanes are at the barrier that the first of their warp is at: the same instruction, called alike, in the
    same trips of the loops around it. The first that is not is reported.
    """
    first = s.arrived[slot, barrier, warp].first - 1
    for lane in range(LANES):
        if (mask >> lane) & 1 == 0:
            continue
        way, trips = log[at + _ENTRY + 1 + lane], log[at + 2 * _ENTRY + 1 + lane]
        if (
            event != first
            or way != s.arrived[slot, barrier, warp].first_way
            or trips != s.arrived[slot, barrier, warp].first_trips
        ):
            differ(s, slot, barrier, warp, WITHIN_WARP, event, warp * LANES + lane, way, trips)
            return 0
    return 0


def differ(s, slot, barrier, warp, who, event, thread, way, trips):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """A thread is at another barrier than the first of a warp."""
    first = s.arrived[slot, barrier, warp].first - 1
    row = note(
        s,
        BARRIERS_DIFFER,
        who,
        SYNCHRONISES,
        1 if first == event else 0,
        first,
        event,
        s.now.number,
        s.now.number,
        warp * LANES + s.arrived[slot, barrier, warp].first_lane,
        thread,
        barrier,
        np.int64(1),
    )
    if row >= 0:
        s.found[row].earlier_way = s.arrived[slot, barrier, warp].first_way
        s.found[row].earlier_trips = s.arrived[slot, barrier, warp].first_trips
        s.found[row].later_way = way
        s.found[row].later_trips = trips


def complete(slot, barrier, s):
    """All that a barrier waits for have arrived."""
    threads = s.sizes.threads
    if s.sizes.syncs != 0 and s.counts[slot, barrier, 1] == 0:
        judge(slot, barrier, s)
    if s.sizes.races != 0:
        whole = s.counts[slot, barrier, 0] >= s.blocks[slot].living
        for warp in range(s.sizes.warps):
            whole = whole and s.arrived[slot, barrier, warp].here == s.arrived[slot, barrier, warp].waiting
        if whole or s.sizes.has_vectors == 0:
            s.blocks[slot].generation += 1
            s.blocks[slot].far = 0
            if s.sizes.has_proxy != 0:
                for engine in range(ENGINES):
                    for thread in range(threads):
                        latest = max(s.engine_now[slot, engine, 1], s.engines[slot, thread, engine])
                        s.engine_now[slot, engine, 1] = latest
            if s.now.synchronised != 0:
                latest = s.blocks[slot].known_time
                heard = s.blocks[slot].pending_time
                for thread in range(threads):
                    place = slot * threads + thread
                    latest = max(latest, s.threads[place].known)
                    heard = max(heard, s.threads[place].pending)
                s.blocks[slot].known_time = latest
                s.blocks[slot].pending_time = heard
        else:
            if s.sizes.has_proxy != 0:
                join_engines(slot, barrier, s)
            join(slot, barrier, s)
    reset(slot, barrier, s)


def judge(slot, barrier, s):
    """Who was missing at a barrier of all threads, and who was at another one.

    Warps may wait for one another at barriers of any number but 0 in different places, as PTX lets them: that of
    __syncthreads() is 0.
    """
    one = np.int64(-1)
    for warp in range(s.sizes.warps):
        event = s.arrived[slot, barrier, warp].first - 1
        if event < 0:
            continue
        missing = s.arrived[slot, barrier, warp].expected & ~s.arrived[slot, barrier, warp].here
        if missing != 0:
            note(
                s,
                LANES_MISSING,
                WITHIN_WARP,
                SYNCHRONISES,
                0,
                event,
                event,
                s.now.number,
                s.now.number,
                warp * LANES + lowest(s.arrived[slot, barrier, warp].here),
                warp * LANES + lowest(missing),
                barrier,
                ones(missing),
            )
        if one < 0:
            one = np.int64(warp)
            continue
        way, trips = s.arrived[slot, barrier, warp].first_way, s.arrived[slot, barrier, warp].first_trips
        if barrier == 0 and (
            event != s.arrived[slot, barrier, one].first - 1
            or way != s.arrived[slot, barrier, one].first_way
            or trips != s.arrived[slot, barrier, one].first_trips
        ):
            thread = warp * LANES + s.arrived[slot, barrier, warp].first_lane
            differ(s, slot, barrier, one, WITHIN_BLOCK, event, thread, way, trips)
