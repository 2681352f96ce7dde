"""Dispatch: blocks that finished make room, and pending ones are placed (section 6)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

import numpy as np

from simtmm.engine.fast.attribution.group_time import account
from simtmm.engine.fast.attribution.stalls import book
from simtmm.engine.fast.layout import (
    ASKED_STIRRED,
    BLOCK_FIRST,
    BLOCK_LIVING,
    BLOCK_MBARRIERS,
    BLOCK_NUMBER,
    BLOCK_SOONEST,
    BLOCK_WAITING,
    BLOCK_WARPS,
    FINISHED,
    FREE_BLOCKS,
    FREE_SLOTS,
    GROUP_BLOCK_FREE,
    GROUP_BLOCKS,
    GROUP_EMPTY_BLOCKS,
    GROUP_FINISHED,
    GROUP_LAUNCH_FREE,
    GROUP_LIVING,
    GROUP_OTHER_HEAD,
    GROUP_OTHER_TAIL,
    GROUP_PARKED,
    GROUP_WARPS,
    OTHER_TICKS,
    OWN,
    P_BEGUN,
    P_BLOCK_BURST,
    P_BLOCK_INTERVAL,
    P_BLOCK_LAUNCH,
    P_BLOCK_WARPS,
    P_BLOCKS,
    P_BREAKDOWN,
    P_FIRST_BLOCK,
    P_FIRST_WARP,
    P_GROUPS,
    P_LANES,
    P_MOST_BLOCKS,
    P_NOWHERE,
    P_ORDERED,
    P_OUTSTANDING,
    P_ROOM,
    P_SLOTS,
    P_STREAMED,
    P_TIMELINE,
    P_WARP_LAUNCH,
    R_AGE,
    R_AHEAD,
    R_ANY_FINISHED,
    R_HUNGRY,
    R_LAST_BLOCK,
    R_LOADED,
    R_PENDING,
    START,
    TOUCHED,
    WAITED_ROW,
    WARP_AGE,
    WARP_ASYNCS,
    WARP_AWAITS,
    WARP_BLOCK,
    WARP_CHUNK,
    WARP_COMPUTED,
    WARP_COPIED,
    WARP_DONE,
    WARP_END,
    WARP_LEFT,
    WARP_LOADED,
    WARP_LOADS_END,
    WARP_NEXT,
    WARP_POSITION,
    WARP_PRODUCTS,
    WARP_SHARED,
    WARP_STORE_GROUPS,
    WARP_UNTAKEN,
    WATCH_NUMBER,
    WATCH_PLACE,
    WATCH_REASON,
    WATCH_ROLES,
    WATCH_SINCE,
    WATCH_STATE,
)
from simtmm.engine.fast.ports.rule_sight import see
from simtmm.engine.fast.ports.scheduler import push
from simtmm.engine.fast.steps.bits import give_back, take
from simtmm.engine.fast.supply.windows import request_first
from simtmm.engine.fast.warps.advance import LAUNCH, settle
from simtmm.native import inlined


@inlined
def free_finished(s, g):
    """The places of a group's finished blocks are free again."""
    base = g * s.parameters[P_SLOTS]
    for index in range(s.group[g, GROUP_FINISHED]):
        b = s.rings[g, FINISHED, index]
        slot = s.block[b, BLOCK_FIRST]
        while slot >= 0:
            following = s.warp[base + slot, WARP_NEXT]
            give_back(s, g, FREE_SLOTS, slot)
            slot = following
        s.group[g, GROUP_WARPS] -= s.block[b, BLOCK_WARPS]
        give_back(s, g, FREE_BLOCKS, b - g * s.parameters[P_BLOCKS])
    s.group[g, GROUP_BLOCKS] -= s.group[g, GROUP_FINISHED] + s.group[g, GROUP_EMPTY_BLOCKS]
    s.group[g, GROUP_FINISHED] = 0
    s.group[g, GROUP_EMPTY_BLOCKS] = 0


def dispatch(s, order, t):  # noqa: C901, PLR0912, PLR0915 - section 6 in its order; calls cost here
    """Section 6: free the places of blocks that finished at t, place what fits, and again while blocks finish.

    Where the blocks of a stream are not there yet, R_HUNGRY is left: the same again goes on from there.
    """
    groups = s.parameters[P_GROUPS]
    slots = s.parameters[P_SLOTS]
    streamed = s.parameters[P_STREAMED] != 0
    while True:
        if s.parameters[R_HUNGRY] != 0:
            s.parameters[R_HUNGRY] = 0
        else:
            s.parameters[R_ANY_FINISHED] = 0
            for g in range(groups):
                if s.group[g, GROUP_PARKED] == t and s.group[g, GROUP_FINISHED] + s.group[g, GROUP_EMPTY_BLOCKS] > 0:
                    free_finished(s, g)
        while s.parameters[R_PENDING] < s.parameters[R_LAST_BLOCK]:
            number = s.parameters[R_PENDING]
            if streamed:
                if number >= s.parameters[R_LOADED]:
                    s.parameters[R_HUNGRY] = 1
                    return
                warps = s.parameters[P_BLOCK_WARPS]
                first_warp = s.parameters[P_FIRST_WARP] + (number - s.parameters[P_FIRST_BLOCK]) * warps
            else:
                first_warp = s.block_warps[number]
                warps = s.block_warps[number + 1] - first_warp
            g = np.int64(-1)
            fewest = s.parameters[P_MOST_BLOCKS]
            for other in range(groups):
                blocks = s.group[other, GROUP_BLOCKS]
                if blocks < fewest and s.group[other, GROUP_WARPS] + warps <= s.parameters[P_ROOM]:
                    fewest = blocks
                    g = np.int64(other)
            if g < 0:
                break
            s.parameters[R_PENDING] += 1
            if s.parameters[P_BREAKDOWN] != 0:
                account(s, g, t)
            s.clock[TOUCHED, g] = 1
            if order == OWN:
                s.asked[g, ASKED_STIRRED] = 1
            if s.parameters[P_BEGUN] != 0:
                s.begun[number - s.parameters[P_FIRST_BLOCK]] = t
            s.group[g, GROUP_BLOCKS] += 1
            if warps == 0:
                s.group[g, GROUP_EMPTY_BLOCKS] += 1
                s.group[g, GROUP_PARKED] = t
                s.parameters[R_ANY_FINISHED] = 1
                continue
            s.group[g, GROUP_WARPS] += warps
            s.group[g, GROUP_LIVING] += warps
            b = g * s.parameters[P_BLOCKS] + take(s, g, FREE_BLOCKS)
            s.block[b, BLOCK_LIVING] = warps
            s.block[b, BLOCK_WAITING] = 0
            s.block[b, BLOCK_MBARRIERS] = 0
            s.block[b, BLOCK_WARPS] = warps
            s.block[b, BLOCK_NUMBER] = number
            if s.parameters[P_LANES] > 1:
                s.block[b, BLOCK_SOONEST] = t + s.shortest[number - s.parameters[P_FIRST_BLOCK]]
            before = np.int64(-1)
            for index in range(warps):
                slot = take(s, g, FREE_SLOTS)
                w = g * slots + slot
                if before < 0:
                    s.block[b, BLOCK_FIRST] = slot
                else:
                    s.warp[g * slots + before, WARP_NEXT] = slot
                before = slot
                s.warp[w, WARP_NEXT] = -1
                if streamed:
                    s.warp[w, WARP_POSITION] = 0
                    s.warp[w, WARP_END] = 0
                    request_first(s, w, number - s.parameters[R_AHEAD], index)
                else:
                    s.warp[w, WARP_POSITION] = s.warp_operations[first_warp + index]
                    s.warp[w, WARP_END] = s.warp_operations[first_warp + index + 1]
                    s.warp[w, WARP_CHUNK] = s.warp_chunks[first_warp + index]
                s.warp[w, WARP_AGE] = s.parameters[R_AGE]
                s.warp[w, WARP_BLOCK] = b
                s.warp[w, WARP_COMPUTED] = 0
                s.warp[w, WARP_ASYNCS] = 0
                s.warp[w, WARP_DONE] = 0
                s.warp[w, WARP_LOADED] = 0
                s.warp[w, WARP_LOADS_END] = 0
                s.warp[w, WARP_UNTAKEN] = 0
                s.warp[w, WARP_SHARED] = 0
                s.warp[w, WARP_COPIED] = 0
                s.warp[w, WARP_PRODUCTS] = 0
                s.warp[w, WARP_AWAITS] = 0
                s.warp[w, WARP_LEFT] = 0
                s.warp[w, WARP_STORE_GROUPS] = 0
                if s.parameters[P_ORDERED] != 0:
                    for column in range(WAITED_ROW):
                        s.waited[w, column] = 0
                if order == OWN:
                    see(s, g, slot, first_warp + index, number)
                if s.parameters[P_OUTSTANDING] > 0:
                    for entry in range(s.in_flight.shape[1]):
                        s.in_flight[w, entry] = -1
                if s.parameters[P_TIMELINE] != 0:
                    s.watch[w, WATCH_NUMBER] = first_warp + index
                    s.watch[w, WATCH_STATE] = START
                    s.watch[w, WATCH_SINCE] = t
                    s.watch[w, WATCH_PLACE] = s.parameters[P_NOWHERE]
                    s.watch[w, WATCH_REASON] = LAUNCH
                    s.watch[w, WATCH_ROLES] = 0
                s.parameters[R_AGE] += 1
            block_free = s.group[g, GROUP_BLOCK_FREE]
            free = max(t, s.group[g, GROUP_LAUNCH_FREE], block_free - s.parameters[P_BLOCK_BURST])
            s.group[g, GROUP_LAUNCH_FREE] = free
            s.group[g, GROUP_BLOCK_FREE] = max(free, block_free) + s.parameters[P_BLOCK_INTERVAL]
            slot = s.block[b, BLOCK_FIRST]
            while slot >= 0:
                # The next one first: where all of them end at once, the last advance frees the block's list.
                following = s.warp[g * slots + slot, WARP_NEXT]
                launch = max(t, s.group[g, GROUP_LAUNCH_FREE]) + s.parameters[P_WARP_LAUNCH]
                s.group[g, GROUP_LAUNCH_FREE] = launch
                begins = launch + s.parameters[P_BLOCK_LAUNCH]
                if begins > t:
                    book(s, g, s.parameters[P_NOWHERE], np.int64(LAUNCH), begins - t)
                    push(s, OTHER_TICKS, g, begins, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)
                else:
                    settle(s, order, g, slot, t)
                slot = following
        if s.parameters[R_ANY_FINISHED] == 0:
            return
