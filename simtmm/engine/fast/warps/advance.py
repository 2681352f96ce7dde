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
    BLOCK_FIRST,
    BLOCK_LIVING,
    BLOCK_MEETS,
    BLOCK_WAITING,
    FINISHED,
    GROUP_BARRIER,
    GROUP_BLOCKS,
    GROUP_DONE_WARPS,
    GROUP_FINISHED,
    GROUP_LAST,
    GROUP_LIVING,
    GROUP_MEMORY,
    GROUP_MEMORY_HEAD,
    GROUP_MEMORY_TAIL,
    GROUP_OTHER_HEAD,
    GROUP_OTHER_TAIL,
    GROUP_PARKED,
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
    P_AT_END,
    P_CYCLE,
    P_GRID_BARRIER,
    P_GRID_BARRIER_BLOCK,
    P_GROUPS,
    P_OUTSTANDING,
    P_RETURNS,
    P_SLOTS,
    P_WATCH,
    PATH_PLACE,
    PRODUCT_FINISH,
    PRODUCT_PLACE,
    R_ANY_FINISHED,
    R_MAY_OPEN,
    R_MEET,
    READY,
    SHARED_PLACE,
    SHARED_SETTLED,
    SLEEPS,
    STORED_FINISH,
    WARP_ASYNCS,
    WARP_BLOCK,
    WARP_DONE,
    WARP_END,
    WARP_LOADS_END,
    WARP_MEETS,
    WARP_NEXT,
    WARP_POSITION,
    WARP_PRODUCTS,
    WARP_SHARED,
    WARP_UNTAKEN,
)
from simtmm.engine.fast.ports.rule_sight import lose
from simtmm.engine.fast.ports.scheduler import make_ready, push
from simtmm.engine.fast.supply.windows import fill, has_more
from simtmm.engine.fast.warps.drains import end_store_group, wait_for_drain
from simtmm.engine.fast.warps.mbarriers import use_mbarrier
from simtmm.engine.fast.warps.products import begin_product, book_product_wait
from simtmm.native import inlined
from simtmm.stalls import Reason
from simtmm.workload import (
    ASYNC,
    BARRIER,
    DRAIN,
    GRID_BARRIER,
    JOIN,
    MBARRIER,
    OF_CLASS,
    PAUSE,
    PRODUCT,
    SETTLE,
    STORE_GROUP,
    SYNC,
)

AWAITED, LAUNCH, OUTSTANDING = int(Reason.BARRIER), int(Reason.LAUNCH), int(Reason.OUTSTANDING)


@inlined
def asyncs_are_full(s, w, t):
    """Whether as many asyncs of a warp as may be in flight, if there is a limit, finish after t."""
    limit = s.parameters[P_OUTSTANDING]
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
    turn(s, g, g * s.parameters[P_SLOTS] + slot, MEMORY, place, reason, t)
    s.group[g, GROUP_MEMORY] += 1
    push(s, MEMORY_TICKS, g, finish, slot, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD)


@inlined
def is_control(what):
    """Whether an operation takes no port."""
    return JOIN <= what < OF_CLASS


@inlined
def finish_of(s, w, count, t):
    """When the first so many asyncs of a warp are over; at t at the latest where that is no longer kept."""
    room = s.finishes.shape[1]
    if s.warp[w, WARP_ASYNCS] - count >= room:
        return t
    return s.finishes[w, (count - 1) & (room - 1)]


@inlined
def meet(s, g, w, t):
    """A warp waits at a grid barrier from now on."""
    b = s.warp[w, WARP_BLOCK]
    if s.block[b, BLOCK_MEETS] == 0:
        s.parameters[R_MEET] += 1
    s.block[b, BLOCK_MEETS] += 1
    s.parameters[R_MAY_OPEN] = 1
    s.warp[w, WARP_MEETS] = AWAITS
    s.group[g, GROUP_BARRIER] += 1
    place = place_at(s, s.warp[w, WARP_POSITION])
    turn(s, g, w, IN_BARRIER, place, AWAITED, t)
    begin_waiting(s, w, place, t)


def open_grid_barrier(s, t):
    """Section 3: where each living block has a warp at a grid barrier, all of them sleep from now on."""
    s.parameters[R_MAY_OPEN] = 0
    living = np.int64(0)
    for g in range(s.parameters[P_GROUPS]):
        living += s.group[g, GROUP_BLOCKS]
    if s.parameters[R_MEET] < living:
        return
    beside = max(np.int64(0), living - s.parameters[P_GROUPS])  # others on their groups
    wake = t + max(np.int64(1), s.parameters[P_GRID_BARRIER] + s.parameters[P_GRID_BARRIER_BLOCK] * beside)
    s.parameters[R_MEET] = 0
    slots = s.parameters[P_SLOTS]
    for g in range(s.parameters[P_GROUPS]):
        for slot in range(slots):
            w = g * slots + slot
            if s.warp[w, WARP_MEETS] == AWAITS:
                s.warp[w, WARP_MEETS] = LEAVES
                s.block[s.warp[w, WARP_BLOCK], BLOCK_MEETS] = 0
                push(s, OTHER_TICKS, g, wake, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)
                s.clock[NEXT, g] = min(s.clock[NEXT, g], wake)


@inlined
def advance(s, order, g, slot, t):  # noqa: C901, PLR0912, PLR0915 - a case for each kind of operation; calls cost here
    """Section 3 for one warp: READY, SLEEPS, AT_BARRIER or IS_DONE."""
    w = g * s.parameters[P_SLOTS] + slot
    position = s.warp[w, WARP_POSITION]
    end = s.warp[w, WARP_END]
    while True:
        if position == end and has_more(s, w):
            fill(s, w)
            position = s.warp[w, WARP_POSITION]
            end = s.warp[w, WARP_END]
        what = np.int64(JOIN) if position == end else np.int64(s.kind[position])
        if is_control(what):
            if what == PAUSE:
                s.warp[w, WARP_POSITION] = position + 1
                turn(s, g, w, IN_PAUSE, place_at(s, position), INSTRUCTION, t)
                book(s, g, place_at(s, position), INSTRUCTION, s.amount[position] * s.parameters[P_CYCLE])
                wake = t + s.amount[position] * s.parameters[P_CYCLE]
                push(s, OTHER_TICKS, g, wake, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)
                return SLEEPS
            if what == GRID_BARRIER:
                if s.warp[w, WARP_MEETS] == LEAVES:
                    s.warp[w, WARP_MEETS] = NOWHERE
                    s.group[g, GROUP_BARRIER] -= 1
                    book_waiting(s, g, w, AWAITED, t)
                    position += 1
                    continue
                s.warp[w, WARP_POSITION] = position
                meet(s, g, w, t)
                return SLEEPS
            if what >= MBARRIER:
                amount = s.amount[position]
                position += 1
                if what == PRODUCT:
                    begin_product(s, g, slot, amount, place_at(s, position - 1), t)
                elif what == STORE_GROUP:
                    end_store_group(s, w)
                elif what in (MBARRIER, DRAIN):
                    place = place_at(s, position - 1)
                    if (what == MBARRIER and use_mbarrier(s, g, slot, amount, place, t)) or (
                        what == DRAIN and wait_for_drain(s, g, slot, amount, place, t)
                    ):
                        s.warp[w, WARP_POSITION] = position
                        return SLEEPS
                else:
                    last = s.warp[w, WARP_PRODUCTS] - amount - 1
                    row = last & (s.products.shape[1] - 1)
                    if last >= 0 and s.products[w, row, PRODUCT_FINISH] > t:
                        s.warp[w, WARP_POSITION] = position
                        finish = s.products[w, row, PRODUCT_FINISH]
                        reason = book_product_wait(s, g, w, row, finish - t)
                        sleep(s, g, t, finish, slot, s.products[w, row, PRODUCT_PLACE], reason)
                        return SLEEPS
                continue
            if what == SETTLE:
                last = s.warp[w, WARP_SHARED] - s.amount[position] - 1
                row = last & (s.unsettled.shape[1] - 1)
                position += 1
                if last >= 0 and s.unsettled[w, row, SHARED_SETTLED] > t:
                    s.warp[w, WARP_POSITION] = position
                    settled = s.unsettled[w, row, SHARED_SETTLED]
                    place = s.unsettled[w, row, SHARED_PLACE]
                    reason = book_shared_wait(s, g, w, row, settled - t)
                    sleep(s, g, t, settled, slot, place, reason)
                    return SLEEPS
                continue
            if what != SYNC and s.warp[w, WARP_ASYNCS] > 0:
                left_out = s.amount[position] if position < end and what == JOIN else np.int64(0)
                if s.parameters[P_RETURNS] != 0 and s.warp[w, WARP_UNTAKEN] > left_out:
                    s.warp[w, WARP_UNTAKEN] = left_out
                    s.warp[w, WARP_LOADS_END] = 0  # loads so far and those to come do not count together
                count = s.warp[w, WARP_ASYNCS] - left_out
                if count > 0:
                    finish = finish_of(s, w, count, t)
                    if finish > t:
                        s.warp[w, WARP_POSITION] = position
                        reason = np.int64(0)
                        place = np.int64(0)
                        if s.parameters[P_WATCH] != 0:
                            row = (count - 1) & (s.finishes.shape[1] - 1)
                            reason = book_async_wait(s, g, w, row, finish - t)
                            place = s.paths[w, row, PATH_PLACE]
                        sleep(s, g, t, finish, slot, place, reason)
                        return SLEEPS
                    if left_out == 0:
                        s.warp[w, WARP_ASYNCS] = 0  # all are over: those to come take their places in `finishes`
            if position == end:
                if s.parameters[P_AT_END] != 0 and s.stored[w, STORED_FINISH] > t:
                    finish = s.stored[w, STORED_FINISH]
                    s.warp[w, WARP_POSITION] = position
                    reason = np.int64(0)
                    place = np.int64(0)
                    if s.parameters[P_WATCH] != 0:
                        reason = book_stores_wait(s, g, w, finish - t)
                        place = s.stored[w, PATH_PLACE]
                    sleep(s, g, t, finish, slot, place, reason)
                    return SLEEPS
                s.warp[w, WARP_POSITION] = position
                s.warp[w, WARP_DONE] = 1
                turn(s, g, w, np.int64(KEEP), np.int64(KEEP), LAUNCH, t)
                return IS_DONE
            position += 1
            if what in (BARRIER, SYNC):
                s.warp[w, WARP_POSITION] = position
                turn(s, g, w, IN_BARRIER, place_at(s, position - 1), AWAITED, t)
                begin_waiting(s, w, place_at(s, position - 1), t)
                return AT_BARRIER
            continue
        if what == ASYNC and asyncs_are_full(s, w, t):
            first = NEVER
            for index in range(s.in_flight.shape[1]):
                if t < s.in_flight[w, index] < first:
                    first = s.in_flight[w, index]
            s.warp[w, WARP_POSITION] = position
            place = place_at(s, position)
            book(s, g, place, OUTSTANDING, first - t)
            sleep(s, g, t, first, slot, place, OUTSTANDING)
            return SLEEPS
        s.warp[w, WARP_POSITION] = position
        make_ready(s, order, g, w, slot, t)
        return READY


def leave(s, order, g, slot, t, outcome):
    """A warp has come to a barrier or is done: what that sets off in its block."""
    base = g * s.parameters[P_SLOTS]
    b = s.warp[base + slot, WARP_BLOCK]
    if outcome == AT_BARRIER:
        s.block[b, BLOCK_WAITING] += 1
        s.group[g, GROUP_BARRIER] += 1
    else:
        s.block[b, BLOCK_LIVING] -= 1
        s.group[g, GROUP_LIVING] -= 1
        s.group[g, GROUP_DONE_WARPS] += 1
        if order == OWN:
            lose(s, g, base + slot)
    while s.block[b, BLOCK_LIVING] > 0 and s.block[b, BLOCK_WAITING] == s.block[b, BLOCK_LIVING]:
        # All leave first; then they advance in order of age, which is that of the block's list.
        s.group[g, GROUP_BARRIER] -= s.block[b, BLOCK_WAITING]
        s.block[b, BLOCK_WAITING] = 0
        other = s.block[b, BLOCK_FIRST]
        while other >= 0:
            if s.warp[base + other, WARP_DONE] == 0:
                book_waiting(s, g, base + other, AWAITED, t)
                outcome = advance(s, order, g, other, t)
                if outcome == AT_BARRIER:
                    s.block[b, BLOCK_WAITING] += 1
                    s.group[g, GROUP_BARRIER] += 1
                elif outcome == IS_DONE:
                    s.block[b, BLOCK_LIVING] -= 1
                    s.group[g, GROUP_LIVING] -= 1
                    s.group[g, GROUP_DONE_WARPS] += 1
                    if order == OWN:
                        lose(s, g, base + other)
            other = s.warp[base + other, WARP_NEXT]
    if s.block[b, BLOCK_LIVING] == 0:
        s.rings[g, FINISHED, s.group[g, GROUP_FINISHED]] = b
        s.group[g, GROUP_FINISHED] += 1
        s.parameters[R_ANY_FINISHED] = 1
        s.parameters[R_MAY_OPEN] = s.parameters[R_MEET]
        s.group[g, GROUP_PARKED] = t
        s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], t)


@inlined
def settle(s, order, g, slot, t):
    """Advance a warp, and see to what that sets off."""
    outcome = advance(s, order, g, slot, t)
    if outcome >= AT_BARRIER:
        leave(s, order, g, slot, t, outcome)
