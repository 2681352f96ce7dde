"""What warps do at the mbarriers of their block, and how long they wait there (section 3)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import turn
from simtmm.engine.fast.attribution.last_waits import (
    AT_MBARRIER,
    FIRST_QUEUE,
    book_mbarrier,
    forget_arrival,
    note_arrival,
)
from simtmm.engine.fast.layout import MEMORY, MEMORY_TICKS, TOO_MANY, Group
from simtmm.engine.fast.memory.pipe import come_from_others
from simtmm.engine.fast.ports.scheduler import push
from simtmm.engine.fast.warps.drains import take_way
from simtmm.native import inlined
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    AWAIT,
    COMPLETE,
    COMPLETE_MULTICAST,
    COMPLETE_SENT,
    EXPECT,
    INIT,
    MEET,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    MOST_PASSES,
    NUMBER_SHIFT,
    REMOTE_SHIFT,
)


@inlined
def row_of(s, b, number):
    """The row of a block's mbarrier by its number, -1 if the block has none of that number."""
    for row in range(s.block[b].mbarriers):
        if s.mbarriers[b, row].number == number:
            return np.int64(row)
    return np.int64(-1)


def arrive(s, g, b, row, w, counts, arrivals, tick, t):  # noqa: PLR0913, PLR0917 - what comes, when, and by whom
    """Arrivals, or bytes, are there at a tick; the phase is complete when nothing more is missing.

    w: the warp that arrives. counts: 1 where what it waited for is told to those that wait for it, 0 where not.
    """
    s.mbarriers[b, row].pending -= arrivals
    if tick >= s.mbarriers[b, row].tick:
        s.mbarriers[b, row].tick = tick
        note_arrival(s, b, row, w, counts)
    if s.mbarriers[b, row].pending > 0 or s.mbarriers[b, row].bytes != 0:
        return
    phases = s.mbarriers[b, row].phases + 1
    opens = s.mbarriers[b, row].tick + s.parameters.mbarrier_latency
    begun = np.int64(-1)
    if s.mbarriers[b, row].byte == s.mbarriers[b, row].tick:
        begun = s.mbarriers[b, row].begun
    s.mbarriers[b, row].open_queue = s.mbarriers[b, row].queue
    s.mbarriers[b, row].open_queue_at = s.mbarriers[b, row].queue_at
    s.mbarriers[b, row].open_by_since = s.mbarriers[b, row].by_since
    s.mbarriers[b, row].open_by_until = s.mbarriers[b, row].by_until
    s.mbarriers[b, row].open_by_reason = s.mbarriers[b, row].by_reason
    s.mbarriers[b, row].phases = phases
    s.mbarriers[b, row].opens = opens
    s.mbarriers[b, row].open_begun = begun
    s.mbarriers[b, row].pending += s.mbarriers[b, row].expected
    s.mbarriers[b, row].tick = t
    s.mbarriers[b, row].byte = -1
    s.mbarriers[b, row].begun = 0
    forget_arrival(s, b, row)
    base = g * s.parameters.slots
    awaits = 2 * row + 2 - (phases & 1)  # of warps that wait for the phase that is complete now
    slot = s.block[b].first
    while slot >= 0:
        w = base + slot
        if s.warp[w].awaits == awaits:
            s.warp[w].awaits = 0
            book_mbarrier(s, g, b, row, w, s.warp[w].since, s.warp[w].awaits_place)
            push(s, MEMORY_TICKS, g, opens, slot, Group.memory_tail, Group.memory_head)
        slot = s.warp[w].next


def use_mbarrier(s, g, slot, amount, place, t):  # noqa: C901, PLR0912, PLR0915 - a case for each action; calls cost here
    """What an operation does; whether its warp sleeps then."""
    w = g * s.parameters.slots + slot
    b = s.warp[w].block
    action = amount >> ACTION_SHIFT
    count = amount & MOST_MBARRIER_COUNT
    number = (amount >> NUMBER_SHIFT) & MOST_MBARRIER_NUMBER
    row = row_of(s, b, number)
    is_new = row < 0
    if is_new and action in (INIT, MEET):
        row = s.block[b].mbarriers
        if row == s.mbarriers.shape[1]:
            if s.parameters.mbarrier == 0:
                s.parameters.mbarrier = TOO_MANY
            return False
        s.block[b].mbarriers = row + 1
        s.mbarriers[b, row].number = number
    if row < 0:
        if s.parameters.mbarrier == 0:
            s.parameters.mbarrier = number + 1
        return False
    if action == INIT or is_new:
        s.mbarriers[b, row].expected = count
        s.mbarriers[b, row].pending = count
        s.mbarriers[b, row].bytes = 0
        s.mbarriers[b, row].phases = 0
        s.mbarriers[b, row].opens = 0
        s.mbarriers[b, row].tick = 0
        s.mbarriers[b, row].byte = -1
        s.mbarriers[b, row].begun = 0
        s.mbarriers[b, row].open_begun = -1
        forget_arrival(s, b, row)
    there = t
    if (amount >> REMOTE_SHIFT) & 1 != 0:
        there = t + s.parameters.cluster_latency
    parity = s.mbarriers[b, row].phases & 1
    if action == EXPECT:
        s.mbarriers[b, row].bytes += count
    elif action == ARRIVE:
        arrive(s, g, b, row, w, np.int64(1), count, there, t)
    elif action == ARRIVE_COPIED:
        asyncs = s.warp[w].asyncs
        if asyncs > 0:
            there = max(there, s.finishes[w, (asyncs - 1) & (s.finishes.shape[1] - 1)])
        arrive(s, g, b, row, w, np.int64(0), count, there, t)
    elif action == MEET:
        arrive(s, g, b, row, w, np.int64(1), np.int64(1), t, t)
    elif action in (COMPLETE, COMPLETE_MULTICAST):
        begun = t
        queue = np.int64(0)
        queue_at = np.int64(FIRST_QUEUE)
        is_remote = (amount >> REMOTE_SHIFT) & 1 != 0
        if s.warp[w].copied > 0:
            there = max(there, s.warp[w].copied)
            begun = s.warp[w].copying
            queue = s.waited[w].queue
            queue_at = s.waited[w].queue_at
        elif is_remote and action == COMPLETE:
            there = max(t, s.group[g].remote_free) + s.parameters.cluster_latency
        if is_remote and action == COMPLETE_MULTICAST and s.parameters.piped != 0:
            begin = come_from_others(s, g, count, t)
            came = begin + (s.parameters.l2_latency if s.parameters.l2_sets > 0 else s.parameters.latency)
            s.group[g].last = max(s.group[g].last, came)
            if came > there:
                there = came
                queue = begin - t
                queue_at = np.int64(FIRST_QUEUE)
        s.warp[w].copied = 0
        s.mbarriers[b, row].bytes -= count
        before = s.mbarriers[b, row].byte
        if there > before or (there == before and begun > s.mbarriers[b, row].begun):
            s.mbarriers[b, row].byte = there
            s.mbarriers[b, row].begun = begun
            s.mbarriers[b, row].queue = queue
            s.mbarriers[b, row].queue_at = queue_at
        arrive(s, g, b, row, w, np.int64(0), np.int64(0), there, t)
    elif action == COMPLETE_SENT:
        begin = t
        if (amount >> REMOTE_SHIFT) & 1 != 0:
            passes = (count + s.parameters.pass_bytes - 1) // s.parameters.pass_bytes
            begin = take_way(s, g, min(passes, np.int64(MOST_PASSES)), t)
            there = s.group[g].remote_free + s.parameters.cluster_latency
        s.mbarriers[b, row].bytes -= count
        before = s.mbarriers[b, row].byte
        if there > before or (there == before and t > s.mbarriers[b, row].begun):
            s.mbarriers[b, row].byte = there
            s.mbarriers[b, row].begun = t
            s.mbarriers[b, row].queue = begin - t
            s.mbarriers[b, row].queue_at = FIRST_QUEUE
        arrive(s, g, b, row, w, np.int64(0), np.int64(0), there, t)
    if action == AWAIT:
        parity = count
    elif action != MEET or (amount >> REMOTE_SHIFT) & 1 != 0:
        return False
    if s.mbarriers[b, row].phases & 1 == parity:
        s.warp[w].awaits = 2 * row + parity + 1
        s.warp[w].since = t
        s.warp[w].awaits_place = place
        turn(s, g, w, MEMORY, place, AT_MBARRIER, t)
        s.group[g].memory += 1
        return True
    opens = s.mbarriers[b, row].opens
    if opens > t:
        book_mbarrier(s, g, b, row, w, t, place)
        turn(s, g, w, MEMORY, place, AT_MBARRIER, t)
        s.group[g].memory += 1
        push(s, MEMORY_TICKS, g, opens, slot, Group.memory_tail, Group.memory_head)
        return True
    return False
