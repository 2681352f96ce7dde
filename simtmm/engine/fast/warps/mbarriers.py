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
from simtmm.engine.fast.layout import (
    BLOCK_FIRST,
    BLOCK_MBARRIERS,
    GROUP_MEMORY,
    GROUP_MEMORY_HEAD,
    GROUP_MEMORY_TAIL,
    MBARRIER_BEGUN,
    MBARRIER_BY,
    MBARRIER_BYTE,
    MBARRIER_BYTES,
    MBARRIER_EXPECTED,
    MBARRIER_NUMBER,
    MBARRIER_OPEN_BEGUN,
    MBARRIER_OPEN_BY,
    MBARRIER_OPEN_QUEUE,
    MBARRIER_OPEN_QUEUE_AT,
    MBARRIER_OPENS,
    MBARRIER_PENDING,
    MBARRIER_PHASES,
    MBARRIER_QUEUE,
    MBARRIER_QUEUE_AT,
    MBARRIER_TICK,
    MEMORY,
    MEMORY_TICKS,
    P_CLUSTER_LATENCY,
    P_MBARRIER_LATENCY,
    P_SLOTS,
    R_MBARRIER,
    TOO_MANY,
    WAITED_FOR,
    WAITED_QUEUE,
    WAITED_QUEUE_AT,
    WAITED_SINCE,
    WARP_ASYNCS,
    WARP_AWAITS,
    WARP_AWAITS_PLACE,
    WARP_BLOCK,
    WARP_COPIED,
    WARP_COPYING,
    WARP_NEXT,
    WARP_SINCE,
)
from simtmm.engine.fast.ports.scheduler import push
from simtmm.native import inlined
from simtmm.workload import (
    ACTION_SHIFT,
    ARRIVE,
    ARRIVE_COPIED,
    AWAIT,
    COMPLETE,
    EXPECT,
    INIT,
    MEET,
    MOST_MBARRIER_COUNT,
    MOST_MBARRIER_NUMBER,
    NUMBER_SHIFT,
    REMOTE_SHIFT,
)


@inlined
def row_of(s, b, number):
    """The row of a block's mbarrier by its number, -1 if the block has none of that number."""
    for row in range(s.block[b, BLOCK_MBARRIERS]):
        if s.mbarriers[b, row, MBARRIER_NUMBER] == number:
            return np.int64(row)
    return np.int64(-1)


def arrive(s, g, b, row, w, counts, arrivals, tick, t):  # noqa: PLR0913, PLR0917 - what comes, when, and by whom
    """Arrivals, or bytes, are there at a tick; the phase is complete when nothing more is missing.

    w: the warp that arrives. counts: 1 where what it waited for is told to those that wait for it, 0 where not.
    """
    s.mbarriers[b, row, MBARRIER_PENDING] -= arrivals
    if tick >= s.mbarriers[b, row, MBARRIER_TICK]:
        s.mbarriers[b, row, MBARRIER_TICK] = tick
        note_arrival(s, b, row, w, counts)
    if s.mbarriers[b, row, MBARRIER_PENDING] > 0 or s.mbarriers[b, row, MBARRIER_BYTES] != 0:
        return
    phases = s.mbarriers[b, row, MBARRIER_PHASES] + 1
    opens = s.mbarriers[b, row, MBARRIER_TICK] + s.parameters[P_MBARRIER_LATENCY]
    begun = np.int64(-1)
    if s.mbarriers[b, row, MBARRIER_BYTE] == s.mbarriers[b, row, MBARRIER_TICK]:
        begun = s.mbarriers[b, row, MBARRIER_BEGUN]
    s.mbarriers[b, row, MBARRIER_OPEN_QUEUE] = s.mbarriers[b, row, MBARRIER_QUEUE]
    s.mbarriers[b, row, MBARRIER_OPEN_QUEUE_AT] = s.mbarriers[b, row, MBARRIER_QUEUE_AT]
    for column in range(WAITED_SINCE, WAITED_FOR + 1):
        s.mbarriers[b, row, MBARRIER_OPEN_BY + column] = s.mbarriers[b, row, MBARRIER_BY + column]
    s.mbarriers[b, row, MBARRIER_PHASES] = phases
    s.mbarriers[b, row, MBARRIER_OPENS] = opens
    s.mbarriers[b, row, MBARRIER_OPEN_BEGUN] = begun
    s.mbarriers[b, row, MBARRIER_PENDING] += s.mbarriers[b, row, MBARRIER_EXPECTED]
    s.mbarriers[b, row, MBARRIER_TICK] = t
    s.mbarriers[b, row, MBARRIER_BYTE] = -1
    s.mbarriers[b, row, MBARRIER_BEGUN] = 0
    forget_arrival(s, b, row)
    base = g * s.parameters[P_SLOTS]
    awaits = 2 * row + 2 - (phases & 1)  # of warps that wait for the phase that is complete now
    slot = s.block[b, BLOCK_FIRST]
    while slot >= 0:
        w = base + slot
        if s.warp[w, WARP_AWAITS] == awaits:
            s.warp[w, WARP_AWAITS] = 0
            book_mbarrier(s, g, b, row, w, s.warp[w, WARP_SINCE], s.warp[w, WARP_AWAITS_PLACE])
            push(s, MEMORY_TICKS, g, opens, slot, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD)
        slot = s.warp[w, WARP_NEXT]


def use_mbarrier(s, g, slot, amount, place, t):  # noqa: C901, PLR0912, PLR0915 - a case for each action; calls cost here
    """What an operation does; whether its warp sleeps then."""
    w = g * s.parameters[P_SLOTS] + slot
    b = s.warp[w, WARP_BLOCK]
    action = amount >> ACTION_SHIFT
    count = amount & MOST_MBARRIER_COUNT
    number = (amount >> NUMBER_SHIFT) & MOST_MBARRIER_NUMBER
    row = row_of(s, b, number)
    is_new = row < 0
    if is_new and action in (INIT, MEET):
        row = s.block[b, BLOCK_MBARRIERS]
        if row == s.mbarriers.shape[1]:
            if s.parameters[R_MBARRIER] == 0:
                s.parameters[R_MBARRIER] = TOO_MANY
            return False
        s.block[b, BLOCK_MBARRIERS] = row + 1
        s.mbarriers[b, row, MBARRIER_NUMBER] = number
    if row < 0:
        if s.parameters[R_MBARRIER] == 0:
            s.parameters[R_MBARRIER] = number + 1
        return False
    if action == INIT or is_new:
        s.mbarriers[b, row, MBARRIER_EXPECTED] = count
        s.mbarriers[b, row, MBARRIER_PENDING] = count
        s.mbarriers[b, row, MBARRIER_BYTES] = 0
        s.mbarriers[b, row, MBARRIER_PHASES] = 0
        s.mbarriers[b, row, MBARRIER_OPENS] = 0
        s.mbarriers[b, row, MBARRIER_TICK] = 0
        s.mbarriers[b, row, MBARRIER_BYTE] = -1
        s.mbarriers[b, row, MBARRIER_BEGUN] = 0
        s.mbarriers[b, row, MBARRIER_OPEN_BEGUN] = -1
        forget_arrival(s, b, row)
    there = t
    if (amount >> REMOTE_SHIFT) & 1 != 0:
        there = t + s.parameters[P_CLUSTER_LATENCY]
    parity = s.mbarriers[b, row, MBARRIER_PHASES] & 1
    if action == EXPECT:
        s.mbarriers[b, row, MBARRIER_BYTES] += count
    elif action == ARRIVE:
        arrive(s, g, b, row, w, np.int64(1), count, there, t)
    elif action == ARRIVE_COPIED:
        asyncs = s.warp[w, WARP_ASYNCS]
        if asyncs > 0:
            there = max(there, s.finishes[w, (asyncs - 1) & (s.finishes.shape[1] - 1)])
        arrive(s, g, b, row, w, np.int64(0), count, there, t)
    elif action == MEET:
        arrive(s, g, b, row, w, np.int64(1), np.int64(1), t, t)
    elif action == COMPLETE:
        begun = t
        queue = np.int64(0)
        queue_at = np.int64(FIRST_QUEUE)
        if s.warp[w, WARP_COPIED] > 0:
            there = max(there, s.warp[w, WARP_COPIED])
            begun = s.warp[w, WARP_COPYING]
            queue = s.waited[w, WAITED_QUEUE]
            queue_at = s.waited[w, WAITED_QUEUE_AT]
        s.warp[w, WARP_COPIED] = 0
        s.mbarriers[b, row, MBARRIER_BYTES] -= count
        before = s.mbarriers[b, row, MBARRIER_BYTE]
        if there > before or (there == before and begun > s.mbarriers[b, row, MBARRIER_BEGUN]):
            s.mbarriers[b, row, MBARRIER_BYTE] = there
            s.mbarriers[b, row, MBARRIER_BEGUN] = begun
            s.mbarriers[b, row, MBARRIER_QUEUE] = queue
            s.mbarriers[b, row, MBARRIER_QUEUE_AT] = queue_at
        arrive(s, g, b, row, w, np.int64(0), np.int64(0), there, t)
    if action == AWAIT:
        parity = count
    elif action != MEET or (amount >> REMOTE_SHIFT) & 1 != 0:
        return False
    if s.mbarriers[b, row, MBARRIER_PHASES] & 1 == parity:
        s.warp[w, WARP_AWAITS] = 2 * row + parity + 1
        s.warp[w, WARP_SINCE] = t
        s.warp[w, WARP_AWAITS_PLACE] = place
        turn(s, g, w, MEMORY, place, AT_MBARRIER, t)
        s.group[g, GROUP_MEMORY] += 1
        return True
    opens = s.mbarriers[b, row, MBARRIER_OPENS]
    if opens > t:
        book_mbarrier(s, g, b, row, w, t, place)
        turn(s, g, w, MEMORY, place, AT_MBARRIER, t)
        s.group[g, GROUP_MEMORY] += 1
        push(s, MEMORY_TICKS, g, opens, slot, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD)
        return True
    return False
