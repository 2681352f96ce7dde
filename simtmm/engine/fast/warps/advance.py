"""Advancing: a warp goes on to where it has to wait, and what that sets off in its block (section 3)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import KEEP, turn
from simtmm.engine.fast.attribution.stalls import (
    INSTRUCTION,
    begin_waiting,
    book,
    book_async_wait,
    book_shared_wait,
    book_stores_wait,
    book_waiting,
    place_at,
)
from simtmm.engine.fast.layout import (
    AT_BARRIER,
    AWAITS,
    FINISHED,
    IN_BARRIER,
    IN_PAUSE,
    IS_DONE,
    LEAVES,
    MEMORY,
    MEMORY_TICKS,
    NEVER,
    NEXT,
    NOWHERE,
    OTHER_TICKS,
    OWN,
    READY,
    SLEEPS,
    Group,
)
from simtmm.engine.fast.ports.rule_sight import lose
from simtmm.engine.fast.ports.scheduler import make_ready, push
from simtmm.engine.fast.supply.windows import fill, has_more
from simtmm.engine.fast.warps.drains import end_store_group, wait_for_drain, wait_for_way
from simtmm.engine.fast.warps.mbarriers import use_mbarrier
from simtmm.engine.fast.warps.products import begin_product, book_product_wait
from simtmm.engine.fast.warps.registers import give_registers, take_registers
from simtmm.native import inlined
from simtmm.stalls import Reason
from simtmm.workload import (
    ASYNC,
    BARRIER,
    DRAIN,
    GIVE_REGISTERS,
    GRID_BARRIER,
    JOIN,
    MBARRIER,
    OF_CLASS,
    PAUSE,
    PRODUCT,
    REMOTE,
    SETTLE,
    STORE_GROUP,
    SYNC,
    TAKE_REGISTERS,
)

AWAITED, LAUNCH, OUTSTANDING = int(Reason.BARRIER), int(Reason.LAUNCH), int(Reason.OUTSTANDING)


@inlined
def asyncs_are_full(s, w, t):
    """Whether as many asyncs of a warp as may be in flight, if there is a limit, finish after t."""
    limit = s.parameters.outstanding
    if limit == 0:
        return False
    count = 0
    for index in range(s.in_flight.shape[1]):
        if s.in_flight[w, index] > t:
            count += 1
    return count >= limit


@inlined
def sleep(s, g, t, finish, slot, place, reason):
    """A warp waits for a memory instruction of its own, that of a place, mostly for one reason."""
    turn(s, g, g * s.parameters.slots + slot, MEMORY, place, reason, t)
    s.group[g].memory += 1
    push(s, MEMORY_TICKS, g, finish, slot, Group.memory_tail, Group.memory_head)


@inlined
def is_control(what):
    """Whether an operation takes no port."""
    return JOIN <= what < OF_CLASS


@inlined
def finish_of(s, w, count, t):
    """When the first so many asyncs of a warp are over; at t at the latest where that is no longer kept."""
    room = s.finishes.shape[1]
    if s.warp[w].asyncs - count >= room:
        return t
    return s.finishes[w, (count - 1) & (room - 1)]


@inlined
def meet(s, g, w, t):
    """A warp waits at a grid barrier from now on."""
    b = s.warp[w].block
    if s.block[b].meets == 0:
        s.parameters.meet += 1
    s.block[b].meets += 1
    s.parameters.may_open = 1
    s.warp[w].meets = AWAITS
    s.group[g].barrier += 1
    place = place_at(s, s.warp[w].position)
    turn(s, g, w, IN_BARRIER, place, AWAITED, t)
    begin_waiting(s, w, place, t)


def open_grid_barrier(s, t):
    """Section 3: where each living block has a warp at a grid barrier, all of them sleep from now on."""
    s.parameters.may_open = 0
    living = np.int64(0)
    for g in range(s.parameters.groups):
        living += s.group[g].blocks
    if s.parameters.meet < living:
        return
    beside = max(np.int64(0), living - s.parameters.groups)  # others on their groups
    wake = t + max(np.int64(1), s.parameters.grid_barrier + s.parameters.grid_barrier_block * beside)
    s.parameters.meet = 0
    slots = s.parameters.slots
    for g in range(s.parameters.groups):
        for slot in range(slots):
            w = g * slots + slot
            if s.warp[w].meets == AWAITS:
                s.warp[w].meets = LEAVES
                s.block[s.warp[w].block].meets = 0
                push(s, OTHER_TICKS, g, wake, slot, Group.other_tail, Group.other_head)
                s.clock[NEXT, g] = min(s.clock[NEXT, g], wake)


@inlined
def advance(s, order, g, slot, t):  # noqa: C901, PLR0912, PLR0915 - a case for each kind of operation; calls cost here
    """Section 3 for one warp: READY, SLEEPS, AT_BARRIER or IS_DONE."""
    w = g * s.parameters.slots + slot
    position = s.warp[w].position
    end = s.warp[w].end
    while True:
        if position == end and has_more(s, w):
            fill(s, w)
            position = s.warp[w].position
            end = s.warp[w].end
        what = np.int64(JOIN) if position == end else np.int64(s.kind[position])
        if is_control(what):
            if what == PAUSE:
                s.warp[w].position = position + 1
                turn(s, g, w, IN_PAUSE, place_at(s, position), INSTRUCTION, t)
                book(s, g, place_at(s, position), INSTRUCTION, s.amount[position] * s.parameters.cycle)
                wake = t + s.amount[position] * s.parameters.cycle
                push(s, OTHER_TICKS, g, wake, slot, Group.other_tail, Group.other_head)
                return SLEEPS
            if what == GRID_BARRIER:
                if s.warp[w].meets == LEAVES:
                    s.warp[w].meets = NOWHERE
                    s.group[g].barrier -= 1
                    book_waiting(s, g, w, AWAITED, t)
                    position += 1
                    continue
                s.warp[w].position = position
                meet(s, g, w, t)
                return SLEEPS
            if what >= MBARRIER:
                amount = s.amount[position]
                position += 1
                if what == PRODUCT:
                    begin_product(s, g, slot, amount, place_at(s, position - 1), t)
                elif what == STORE_GROUP:
                    end_store_group(s, w)
                elif what == GIVE_REGISTERS:
                    give_registers(s, g, slot, amount, t)
                elif what in (MBARRIER, DRAIN, REMOTE, TAKE_REGISTERS):
                    place = place_at(s, position - 1)
                    if (
                        (what == MBARRIER and use_mbarrier(s, g, slot, amount, place, t))
                        or (what == DRAIN and wait_for_drain(s, g, slot, amount, place, t))
                        or (what == REMOTE and wait_for_way(s, g, slot, amount, place, t))
                        or (what == TAKE_REGISTERS and take_registers(s, g, slot, amount, place, t))
                    ):
                        s.warp[w].position = position
                        return SLEEPS
                else:
                    last = s.warp[w].products - amount - 1
                    row = last & (s.products.shape[1] - 1)
                    if last >= 0 and s.products[w, row].finish > t:
                        s.warp[w].position = position
                        finish = s.products[w, row].finish
                        reason = book_product_wait(s, g, w, row, finish - t)
                        sleep(s, g, t, finish, slot, s.products[w, row].place, reason)
                        return SLEEPS
                continue
            if what == SETTLE:
                last = s.warp[w].shared - s.amount[position] - 1
                row = last & (s.unsettled.shape[1] - 1)
                position += 1
                if last >= 0 and s.unsettled[w, row].settled > t:
                    s.warp[w].position = position
                    settled = s.unsettled[w, row].settled
                    place = s.unsettled[w, row].place
                    reason = book_shared_wait(s, g, w, row, settled - t)
                    sleep(s, g, t, settled, slot, place, reason)
                    return SLEEPS
                continue
            if what != SYNC and s.warp[w].asyncs > 0:
                left_out = s.amount[position] if position < end and what == JOIN else np.int64(0)
                if s.parameters.returns != 0 and s.warp[w].untaken > left_out:
                    s.warp[w].untaken = left_out
                    s.warp[w].loads_end = 0  # loads so far and those to come do not count together
                count = s.warp[w].asyncs - left_out
                if count > 0:
                    finish = finish_of(s, w, count, t)
                    if finish > t:
                        s.warp[w].position = position
                        reason = np.int64(0)
                        place = np.int64(0)
                        if s.parameters.watch != 0:
                            row = (count - 1) & (s.finishes.shape[1] - 1)
                            reason = book_async_wait(s, g, w, row, finish - t)
                            place = s.paths[w, row].place
                        sleep(s, g, t, finish, slot, place, reason)
                        return SLEEPS
                    if left_out == 0:
                        s.warp[w].asyncs = 0  # all are over: those to come take their places in `finishes`
            if position == end:
                if s.parameters.at_end != 0 and s.stored[w].finish > t:
                    finish = s.stored[w].finish
                    s.warp[w].position = position
                    reason = np.int64(0)
                    place = np.int64(0)
                    if s.parameters.watch != 0:
                        reason = book_stores_wait(s, g, w, finish - t)
                        place = s.stored[w].place
                    sleep(s, g, t, finish, slot, place, reason)
                    return SLEEPS
                s.warp[w].position = position
                s.warp[w].done = 1
                turn(s, g, w, np.int64(KEEP), np.int64(KEEP), LAUNCH, t)
                return IS_DONE
            position += 1
            if what in (BARRIER, SYNC):
                s.warp[w].position = position
                turn(s, g, w, IN_BARRIER, place_at(s, position - 1), AWAITED, t)
                begin_waiting(s, w, place_at(s, position - 1), t)
                return AT_BARRIER
            continue
        if what == ASYNC and asyncs_are_full(s, w, t):
            first = NEVER
            for index in range(s.in_flight.shape[1]):
                if t < s.in_flight[w, index] < first:
                    first = s.in_flight[w, index]
            s.warp[w].position = position
            place = place_at(s, position)
            book(s, g, place, OUTSTANDING, first - t)
            sleep(s, g, t, first, slot, place, OUTSTANDING)
            return SLEEPS
        s.warp[w].position = position
        make_ready(s, order, g, w, slot, t)
        return READY


def leave(s, order, g, slot, t, outcome):
    """A warp has come to a barrier or is done: what that sets off in its block."""
    base = g * s.parameters.slots
    b = s.warp[base + slot].block
    if outcome == AT_BARRIER:
        s.block[b].waiting += 1
        s.group[g].barrier += 1
    else:
        s.block[b].living -= 1
        s.group[g].living -= 1
        s.group[g].done_warps += 1
        if order == OWN:
            lose(s, g, base + slot)
    while s.block[b].living > 0 and s.block[b].waiting == s.block[b].living:
        # All leave first; then they advance in order of age, which is that of the block's list.
        s.group[g].barrier -= s.block[b].waiting
        s.block[b].waiting = 0
        other = s.block[b].first
        while other >= 0:
            if s.warp[base + other].done == 0:
                book_waiting(s, g, base + other, AWAITED, t)
                outcome = advance(s, order, g, other, t)
                if outcome == AT_BARRIER:
                    s.block[b].waiting += 1
                    s.group[g].barrier += 1
                elif outcome == IS_DONE:
                    s.block[b].living -= 1
                    s.group[g].living -= 1
                    s.group[g].done_warps += 1
                    if order == OWN:
                        lose(s, g, base + other)
            other = s.warp[base + other].next
    if s.block[b].living == 0:
        s.rings[g, FINISHED, s.group[g].finished] = b
        s.group[g].finished += 1
        s.parameters.any_finished = 1
        s.parameters.may_open = s.parameters.meet
        s.group[g].parked = t
        s.group[g].last = max(s.group[g].last, t)


@inlined
def settle(s, order, g, slot, t):
    """Advance a warp, and see to what that sets off."""
    outcome = advance(s, order, g, slot, t)
    if outcome >= AT_BARRIER:
        leave(s, order, g, slot, t, outcome)
