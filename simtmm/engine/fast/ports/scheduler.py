"""Which warp comes next: rings of wake-ups, and the ready warps in their scheduler's order (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import turn
from simtmm.engine.fast.attribution.stalls import NOT_GRANTED, begin_waiting, place_at
from simtmm.engine.fast.layout import BITS, GREEDY_OLDEST, NEVER, OWN, QUEUE, QUEUED, READY_SLOTS, ROUND_ROBIN, TO_ISSUE
from simtmm.native import inlined, trailing_zeros
from simtmm.workload import COMPUTE, OF_CLASS


@inlined
def comes_behind(s, ring, g, row, t, slot):
    """Whether a wake-up in a ring comes behind that of a warp at a tick."""
    if s.rings[g, ring, row] != t or s.parameters.ordered == 0:
        return s.rings[g, ring, row] > t
    base = g * s.parameters.slots
    return s.warp[base + s.rings[g, ring + 1, row]].age > s.warp[base + slot].age


@inlined
def push(s, ring, g, t, slot, tail_field, head_field):
    """Put a wake-up into a ring, sorted by tick, and where that shows by age; it nearly always goes to the end."""
    mask = s.parameters.ring - 1
    tail = s.group[g, tail_field]
    head = s.group[g, head_field]
    s.group[g, tail_field] = tail + 1
    while tail > head and comes_behind(s, ring, g, (tail - 1) & mask, t, slot):
        s.rings[g, ring, tail & mask] = s.rings[g, ring, (tail - 1) & mask]
        s.rings[g, ring + 1, tail & mask] = s.rings[g, ring + 1, (tail - 1) & mask]
        tail -= 1
    s.rings[g, ring, tail & mask] = t
    s.rings[g, ring + 1, tail & mask] = slot


@inlined
def make_ready(s, order, g, w, slot, t):
    """The warp waits for a port from now on."""
    mask = s.parameters.ring - 1
    place = place_at(s, s.warp[w].position)
    turn(s, g, w, TO_ISSUE, place, NOT_GRANTED, t)
    begin_waiting(s, w, place, t)
    s.warp[w].ready = t
    s.group[g].ready += 1
    if order == OWN:
        s.seen[w].ready_time = t
        what = np.int64(s.kind[s.warp[w].position])
        s.seen[w].operation = COMPUTE if what >= OF_CLASS else what
    if order != BITS:
        # In order of ready time, then age; times never fall, so only this tick's entries can be younger.
        tail = s.group[g].queue_tail
        head = s.group[g].queue_head
        s.group[g].queue_tail = tail + 1
        base = w - slot
        age = s.warp[w].age
        while tail > head:
            other = base + s.rings[g, QUEUED, (tail - 1) & mask]
            if s.warp[other].ready < t or s.warp[other].age < age:
                break
            s.rings[g, QUEUED, tail & mask] = s.rings[g, QUEUED, (tail - 1) & mask]
            tail -= 1
        s.rings[g, QUEUED, tail & mask] = slot
    else:
        s.bits[g, READY_SLOTS, slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@inlined
def pick(s, order, g):  # noqa: C901 - a case for each rule; calls cost here
    """The slot of the ready warp that the scheduler grants (section 5); it is ready no more."""
    mask = s.parameters.ring - 1
    s.group[g].ready -= 1
    if order == QUEUE:
        head = s.group[g].queue_head
        s.group[g].queue_head = head + 1
        return s.rings[g, QUEUED, head & mask]
    words = s.bits.shape[2]
    base = g * s.parameters.slots
    chosen = np.int64(-1)
    if s.parameters.scheduler == ROUND_ROBIN:
        last = s.group[g].granted_slot + 1
        first_word = last >> 6
        if first_word < words:
            word = s.bits[g, READY_SLOTS, first_word] & (~np.uint64(0) << np.uint64(last & 63))
            index = first_word
            while word == 0 and index + 1 < words:
                index += 1
                word = s.bits[g, READY_SLOTS, index]
            if word != 0:
                chosen = (index << 6) + trailing_zeros(word)
        if chosen < 0:
            index = 0
            while s.bits[g, READY_SLOTS, index] == 0:
                index += 1
            chosen = (index << 6) + trailing_zeros(s.bits[g, READY_SLOTS, index])
    else:
        if s.parameters.scheduler == GREEDY_OLDEST:
            slot = s.group[g].granted_slot
            if (
                slot >= 0
                and (s.bits[g, READY_SLOTS, slot >> 6] >> np.uint64(slot & 63)) & np.uint64(1)
                and s.warp[base + slot].age == s.group[g].granted_age
            ):
                chosen = slot
        if chosen < 0:
            youngest = NEVER
            for index in range(words):
                word = s.bits[g, READY_SLOTS, index]
                while word != 0:
                    slot = (index << 6) + trailing_zeros(word)
                    word &= word - np.uint64(1)
                    age = s.warp[base + slot].age
                    if age < youngest:
                        youngest = age
                        chosen = slot
    s.bits[g, READY_SLOTS, chosen >> 6] &= ~(np.uint64(1) << np.uint64(chosen & 63))
    return chosen
