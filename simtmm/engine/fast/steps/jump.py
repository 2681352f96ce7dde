"""Jumps over long computes where each instruction is granted by itself; no rule of the page, and no tick is moved.

Until a warp of the group comes to its next operation, or one that sleeps for longer than pipeline and pipes make it
wakes, what follows in a group depends on its ports, pipes and queues alone: not on how many instructions are left, and
on ticks only as far as they lie apart. So once these are as they were a while ago, all that happened since happens
again, over and over. Nothing else changes a group meanwhile; but a block that fits into it as it is could be placed
there at any tick.

A state is kept and looked for; where it does not come again in time, a later one is kept for longer (R. P. Brent, An
improved Monte Carlo factorization algorithm, BIT 20, 1980). States are compared where the port was granted to the same
slot, so that a step costs next to nothing.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import account
from simtmm.engine.fast.attribution.stalls import book_periods
from simtmm.engine.fast.layout import (
    GROUP_TIME,
    KEPT,
    KEPT_OF_PORT,
    MEMORY_TICKS,
    NEVER,
    OTHER_SLOTS,
    OTHER_TICKS,
    QUEUE,
    QUEUED,
    READY_SLOTS,
    TIMES,
    Group,
)
from simtmm.engine.fast.ports.pipes import longest_sleep
from simtmm.engine.fast.ports.scheduler import push
from simtmm.native import inlined

NOBODY = np.int64(-2)  # a slot that is never granted; -1 stands for none so far
RECURS, DIFFERS, IS_OVER = (np.int64(outcome) for outcome in range(3))  # of a state: IS_OVER, it never comes again


@inlined
def kept_or_same(s, g, at, value, keeps):
    """Keep a number of a state, or return whether it equals the one that is kept."""
    if keeps != 0:
        s.kept[g, at] = value
    return s.kept[g, at] == value


def compare(s, order, g, t, keeps):  # noqa: C901, PLR0912 - a case for each part of a state
    """Whether the state at t, before what is due then, is the kept one; with `keeps` it becomes that."""
    mask = s.parameters.ring - 1
    head = s.group[g].other_head
    sleeping = s.group[g].other_tail - head
    at = np.int64(KEPT + len(Group))
    same = kept_or_same(s, g, at, sleeping, keeps)
    if keeps != 0:
        for column in range(len(Group)):
            s.kept[g, KEPT + column] = s.group[g, column]
    elif (
        not same
        or s.group[g].held != s.kept[g, KEPT + Group.held]
        or s.group[g].ready != s.kept[g, KEPT + Group.ready]
        or s.group[g].granted_slot != s.kept[g, KEPT + Group.granted_slot]
        or s.group[g].granted_age != s.kept[g, KEPT + Group.granted_age]
    ):
        return DIFFERS
    at += 1
    ports = s.parameters.ports
    for p in range(g * ports, g * ports + ports):
        release = s.port[p].release
        held = release != NEVER
        last = s.port[p].last_slot if s.parameters.own_ports != 0 else np.int64(NOBODY)
        same = kept_or_same(s, g, at, release - t if held else NEVER, keeps)
        same = kept_or_same(s, g, at + 1, s.port[p].warp if held else NEVER, keeps) and same
        same = kept_or_same(s, g, at + 2, s.port[p].granted - t if held else NEVER, keeps) and same
        same = kept_or_same(s, g, at + 3, last, keeps) and same
        # What leaves the port: not always of the operation that its warp is at.
        same = kept_or_same(s, g, at + 4, s.port[p].access if held else NEVER, keeps) and same
        if not same:
            return DIFFERS
        at += KEPT_OF_PORT
    pipes = s.parameters.pipes
    for pipe in range(g * pipes, g * pipes + pipes):
        if not kept_or_same(s, g, at, max(np.int64(0), s.pipe_free[pipe] - t), keeps):
            return DIFFERS
        at += 1
    longest = longest_sleep(s, g, t)
    for index in range(head, head + sleeping):
        after = s.rings[g, OTHER_TICKS, index & mask] - t
        # Who sleeps for longer, from a pause say, is known by the tick itself; no other number is negative.
        same = kept_or_same(s, g, at, after if after <= longest else -1 - after - t, keeps)
        same = kept_or_same(s, g, at + 1, s.rings[g, OTHER_SLOTS, index & mask], keeps) and same
        if not same:
            return DIFFERS
        at += 2
    if order == QUEUE:
        first = s.group[g].queue_head
        for index in range(first, first + s.group[g].ready):
            if not kept_or_same(s, g, at, s.rings[g, QUEUED, index & mask], keeps):
                return DIFFERS
            at += 1
    else:
        for word in range(s.bits.shape[2]):
            if not kept_or_same(s, g, at, np.int64(s.bits[g, READY_SLOTS, word]), keeps):
                return DIFFERS
            at += 1
    if keeps == 0:
        return IS_OVER if is_over(s, g) else RECURS
    s.kept[g].tick = t
    slots = s.parameters.slots
    for w in range(g * slots, g * slots + slots):
        s.kept_warp[w].position = s.warp[w].position
        s.kept_warp[w].computed = s.warp[w].computed
        s.kept_warp[w].filled = s.warp[w].filled
        if s.parameters.books != 0:
            s.kept_warp[w].queued = s.queued[w]
    return RECURS


@inlined
def is_over(s, g):
    """Whether a warp of the group has gone on to another operation, or woken from a longer sleep, since."""
    slots = s.parameters.slots
    for w in range(g * slots, g * slots + slots):
        if s.warp[w].position != s.kept_warp[w].position or s.warp[w].filled != s.kept_warp[w].filled:
            return True
    return (
        s.group[g].living != s.kept[g, KEPT + Group.living]
        or s.group[g].done_warps != s.kept[g, KEPT + Group.done_warps]
        or s.group[g].barrier != s.kept[g, KEPT + Group.barrier]
        or s.group[g].memory_head != s.kept[g, KEPT + Group.memory_head]
        or s.group[g].memory_tail != s.kept[g, KEPT + Group.memory_tail]
    )


@inlined
def periods_ahead(s, g, t, period):
    """How often what happened since the kept state happens again from t on, whatever else there is."""
    pending = s.parameters.pending
    if (
        pending < s.parameters.last_block
        and s.group[g].blocks < s.parameters.most_blocks
        and s.group[g].warps + s.smallest[pending - s.parameters.first_block] <= s.parameters.room
    ):
        return np.int64(0)
    times = NEVER
    slots = s.parameters.slots
    for w in range(g * slots, g * slots + slots):
        done = s.warp[w].computed - s.kept_warp[w].computed
        if done > 0:  # its last instruction is left for later, as behind that it goes on
            times = min(times, (s.amount[s.warp[w].position] - 1 - s.warp[w].computed) // done)
    if times == NEVER:
        return np.int64(0)
    longest = longest_sleep(s, g, t)
    mask = s.parameters.ring - 1
    head = s.group[g].memory_head
    if head < s.group[g].memory_tail:
        times = min(times, (s.rings[g, MEMORY_TICKS, head & mask] - t) // period)
    for index in range(s.group[g].other_head, s.group[g].other_tail):
        after = s.rings[g, OTHER_TICKS, index & mask] - t
        if after > longest:
            return min(times, after // period)
    return times


@inlined
def leap(s, g, t, period, times):
    """Let what happened since the kept state happen so often again."""
    ticks = times * period
    ports = s.parameters.ports
    for p in range(g * ports, g * ports + ports):
        if s.port[p].release != NEVER:
            s.port[p].release += ticks
            s.port[p].granted += ticks
    slots = s.parameters.slots
    for w in range(g * slots, g * slots + slots):
        done = s.warp[w].computed - s.kept_warp[w].computed
        s.warp[w].computed += times * done
        if s.parameters.books != 0 and done > 0:  # there are no jumps with a timeline
            book_periods(s, g, w, times, done, period, s.queued[w] - s.kept_warp[w].queued)
    for column in range(len(Group)):
        if column in (Group.issued, Group.port_busy) or GROUP_TIME <= column < GROUP_TIME + TIMES:
            s.group[g, column] += times * (s.group[g, column] - s.kept[g, KEPT + column])
    if s.parameters.breakdown != 0:
        s.group[g].accounted += ticks
    # Those that wait out the pipeline go on, those that sleep for longer stay; then the ring is sorted anew.
    longest = longest_sleep(s, g, t)
    pipes = s.parameters.pipes
    for pipe in range(g * pipes, g * pipes + pipes):
        s.pipe_free[pipe] += ticks
    mask = s.parameters.ring - 1
    index = s.group[g].other_head
    tail = s.group[g].other_tail
    while index < tail and s.rings[g, OTHER_TICKS, index & mask] - t <= longest:
        s.rings[g, OTHER_TICKS, index & mask] += ticks
        index += 1
    s.group[g].other_tail = index
    for sleeper in range(index, tail):
        wake = s.rings[g, OTHER_TICKS, sleeper & mask]
        push(s, OTHER_TICKS, g, wake, s.rings[g, OTHER_SLOTS, sleeper & mask], Group.other_tail, Group.other_head)


def jumped(s, order, g, t):
    """Where a group goes on whose next event is due at t: at t, or whole periods later."""
    steps = s.kept[g].steps - 1
    s.kept[g].steps = steps
    if steps > 0 and s.group[g].granted_slot != s.kept[g, KEPT + Group.granted_slot]:
        return t
    if s.parameters.breakdown != 0:
        account(s, g, t)
    # To keep a state takes time in proportion to the slots, so it is not done more often than this.
    shortest = s.parameters.slots + 4 * (s.group[g].living + s.parameters.ports)
    if steps <= 0:
        patience = shortest if is_over(s, g) else max(shortest, 2 * s.kept[g].patience)
        s.kept[g].patience = patience
        s.kept[g].steps = patience
        compare(s, order, g, t, np.int64(1))
        return t
    outcome = compare(s, order, g, t, np.int64(0))
    period = t - s.kept[g].tick
    if outcome == RECURS and period > 0:
        times = periods_ahead(s, g, t, period)
        if times > 0:
            leap(s, g, t, period, times)
            t += times * period
            outcome = IS_OVER  # soon: a warp comes to the end of its compute, or wakes
    if outcome == IS_OVER:
        s.kept[g].patience = 0
        s.kept[g].steps = shortest
        s.kept[g, KEPT + Group.granted_slot] = NOBODY
    return t
