"""Dispatch: blocks that finished make room, and pending ones are placed (section 6)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,assignment"

import numpy as np

from simtmm.engine.fast.attribution.group_time import account
from simtmm.engine.fast.attribution.stalls import book
from simtmm.engine.fast.layout import (
    FINISHED,
    FREE_BLOCKS,
    FREE_SLOTS,
    NEVER,
    OTHER_TICKS,
    OWN,
    START,
    TOUCHED,
    Group,
    Waited,
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
    base = g * s.parameters.slots
    for index in range(s.group[g].finished):
        b = s.rings[g, FINISHED, index]
        slot = s.block[b].first
        while slot >= 0:
            following = s.warp[base + slot].next
            give_back(s, g, FREE_SLOTS, slot)
            slot = following
        s.group[g].warps -= s.block[b].warps
        give_back(s, g, FREE_BLOCKS, b - g * s.parameters.blocks)
    s.group[g].blocks -= s.group[g].finished + s.group[g].empty_blocks
    s.group[g].finished = 0
    s.group[g].empty_blocks = 0


@inlined
def group_for(s, begin, end, warps):
    """Of the groups from `begin` up to `end` that fit a block of so many warps the one with the fewest blocks, -1 for
    none.
    """
    g = np.int64(-1)
    fewest = s.parameters.most_blocks
    for other in range(begin, end):
        blocks = s.group[other].blocks
        if blocks < fewest and s.group[other].warps + warps <= s.parameters.room:
            fewest = blocks
            g = np.int64(other)
    return g


def neighbourhood_for(s, number, warps):
    """The neighbourhood that takes the cluster whose first block has this number, -1 for none.

    Groups have its blocks while one is tried, and no longer. warps: of a block, where all have as many.
    """
    last = min(number + s.parameters.cluster, s.parameters.last_block)
    home = np.int64(-1)
    fewest = NEVER
    for each in range(s.neighbourhoods.shape[0] - 1):
        begin = s.neighbourhoods[each]
        end = s.neighbourhoods[each + 1]
        resident = np.int64(0)
        for g in range(begin, end):
            resident += s.group[g].blocks
        if resident >= fewest:
            continue
        tried = number
        while tried < last:
            size = warps if s.parameters.streamed != 0 else s.block_warps[tried + 1] - s.block_warps[tried]
            g = group_for(s, begin, end, size)
            if g < 0:
                break
            s.tried[tried - number] = g
            s.group[g].blocks += 1
            s.group[g].warps += size
            tried += 1
        if tried == last:
            home = np.int64(each)
            fewest = resident
        while tried > number:
            tried -= 1
            size = warps if s.parameters.streamed != 0 else s.block_warps[tried + 1] - s.block_warps[tried]
            g = s.tried[tried - number]
            s.group[g].blocks -= 1
            s.group[g].warps -= size
    return home


def dispatch(s, order, t):  # noqa: C901, PLR0912, PLR0915 - section 6 in its order; calls cost here
    """Section 6: free the places of blocks that finished at t, place what fits, and again while blocks finish.

    Where the blocks of a stream are not there yet, Parameters.hungry is left: the same again goes on from there.
    """
    groups = s.parameters.groups
    slots = s.parameters.slots
    streamed = s.parameters.streamed != 0
    while True:
        if s.parameters.hungry != 0:
            s.parameters.hungry = 0
        else:
            s.parameters.any_finished = 0
            for g in range(groups):
                if s.group[g].parked == t and s.group[g].finished + s.group[g].empty_blocks > 0:
                    free_finished(s, g)
        while s.parameters.pending < s.parameters.last_block:
            number = s.parameters.pending
            if streamed:
                if number >= s.parameters.loaded:
                    s.parameters.hungry = 1
                    return
                warps = s.parameters.block_warps
                first_warp = s.parameters.first_warp + (number - s.parameters.first_block) * warps
            else:
                first_warp = s.block_warps[number]
                warps = s.block_warps[number + 1] - first_warp
            if s.parameters.cluster > 0:
                if (number - s.parameters.first_block) % s.parameters.cluster == 0:
                    s.parameters.home = neighbourhood_for(s, number, warps)
                    if s.parameters.home < 0:
                        break
                home = s.parameters.home
                g = group_for(s, s.neighbourhoods[home], s.neighbourhoods[home + 1], warps)
            else:
                g = group_for(s, np.int64(0), groups, warps)
            if g < 0:
                break
            s.parameters.pending += 1
            if s.parameters.breakdown != 0:
                account(s, g, t)
            s.clock[TOUCHED, g] = 1
            if order == OWN:
                s.asked[g].stirred = 1
            if s.parameters.begun != 0:
                s.begun[number - s.parameters.first_block] = t
            s.group[g].blocks += 1
            if warps == 0:
                s.group[g].empty_blocks += 1
                s.group[g].parked = t
                s.parameters.any_finished = 1
                continue
            s.group[g].warps += warps
            s.group[g].living += warps
            b = g * s.parameters.blocks + take(s, g, FREE_BLOCKS)
            s.block[b].living = warps
            s.block[b].waiting = 0
            s.block[b].mbarriers = 0
            if s.parameters.pools != 0:
                for pool in range(s.parameters.ports):
                    s.pools[b, pool] = 0
            s.block[b].warps = warps
            s.block[b].number = number
            if s.parameters.lanes > 1:
                s.block[b].soonest = t + s.shortest[number - s.parameters.first_block]
            before = np.int64(-1)
            for index in range(warps):
                slot = take(s, g, FREE_SLOTS)
                w = g * slots + slot
                if before < 0:
                    s.block[b].first = slot
                else:
                    s.warp[g * slots + before].next = slot
                before = slot
                s.warp[w].next = -1
                if streamed:
                    s.warp[w].position = 0
                    s.warp[w].end = 0
                    request_first(s, w, number - s.parameters.ahead, index)
                else:
                    s.warp[w].position = s.warp_operations[first_warp + index]
                    s.warp[w].end = s.warp_operations[first_warp + index + 1]
                    s.warp[w].chunk = s.warp_chunks[first_warp + index]
                s.warp[w].age = s.parameters.age
                s.warp[w].block = b
                s.warp[w].computed = 0
                s.warp[w].asyncs = 0
                s.warp[w].done = 0
                s.warp[w].loaded = 0
                s.warp[w].loads_end = 0
                s.warp[w].untaken = 0
                s.warp[w].shared = 0
                s.warp[w].copied = 0
                s.warp[w].products = 0
                s.warp[w].awaits = 0
                s.warp[w].wants = 0
                s.warp[w].left = 0
                s.warp[w].store_groups = 0
                if s.parameters.ordered != 0:
                    for column in range(len(Waited)):
                        s.waited[w, column] = 0
                if order == OWN:
                    see(s, g, slot, first_warp + index, number)
                if s.parameters.outstanding > 0:
                    for entry in range(s.in_flight.shape[1]):
                        s.in_flight[w, entry] = -1
                if s.parameters.timeline != 0:
                    s.watch[w].number = first_warp + index
                    s.watch[w].state = START
                    s.watch[w].since = t
                    s.watch[w].place = s.parameters.nowhere
                    s.watch[w].reason = LAUNCH
                    s.watch[w].roles = 0
                s.parameters.age += 1
            block_free = s.group[g].block_free
            free = max(t, s.group[g].launch_free, block_free - s.parameters.block_burst)
            s.group[g].launch_free = free
            s.group[g].block_free = max(free, block_free) + s.parameters.block_interval
            slot = s.block[b].first
            while slot >= 0:
                # The next one first: where all of them end at once, the last advance frees the block's list.
                following = s.warp[g * slots + slot].next
                launch = max(t, s.group[g].launch_free) + s.parameters.warp_launch
                s.group[g].launch_free = launch
                begins = launch + s.parameters.block_launch
                if begins > t:
                    book(s, g, s.parameters.nowhere, np.int64(LAUNCH), begins - t)
                    push(s, OTHER_TICKS, g, begins, slot, Group.other_tail, Group.other_head)
                else:
                    settle(s, order, g, slot, t)
                slot = following
        if s.parameters.any_finished == 0:
            return
