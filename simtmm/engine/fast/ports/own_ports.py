"""Ports that are granted to the warps of their own slots alone (section 5, scheduling.ports = "own")."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import GREEDY_OLDEST, NEVER, QUEUE, QUEUED, READY_SLOTS, ROUND_ROBIN
from simtmm.native import inlined, trailing_zeros


def pick_of_port(s, order, g, p):
    """The slot of the ready warp that a port's scheduler grants, which is ready no more then; -1 if it has none."""
    chosen = first_queued(s, g, p) if order == QUEUE else best_ready(s, g, p)
    if chosen >= 0:
        s.group[g].ready -= 1
        s.port[p].last_slot = chosen
        s.port[p].last_age = s.warp[g * s.parameters.slots + chosen].age
    return chosen


@inlined
def first_queued(s, g, p):
    """Take the first warp of the port out of the queue; those before it move up."""
    mask = s.parameters.ring - 1
    ports = s.parameters.ports
    head = s.group[g].queue_head
    at = head
    end = head + s.group[g].ready
    while at < end and s.rings[g, QUEUED, at & mask] % ports != p - g * ports:
        at += 1
    if at == end:
        return np.int64(-1)
    chosen = s.rings[g, QUEUED, at & mask]
    while at > head:
        s.rings[g, QUEUED, at & mask] = s.rings[g, QUEUED, (at - 1) & mask]
        at -= 1
    s.group[g].queue_head = head + 1
    return chosen


@inlined
def best_ready(s, g, p):
    """Take the warp with the lowest rank out of the ready ones of the port: its age, or its place in the round."""
    ports = s.parameters.ports
    base = g * s.parameters.slots
    scheduler = s.parameters.scheduler
    last = s.port[p].last_slot
    chosen = np.int64(-1)
    lowest = NEVER
    for index in range(s.bits.shape[2]):
        word = s.bits[g, READY_SLOTS, index]
        while word != 0:
            slot = (index << 6) + trailing_zeros(word)
            word &= word - np.uint64(1)
            if slot % ports != p - g * ports:
                continue
            rank = s.warp[base + slot].age
            if scheduler == ROUND_ROBIN:
                rank = slot - last - 1 if slot > last else slot + s.parameters.slots
            elif scheduler == GREEDY_OLDEST and slot == last and rank == s.port[p].last_age:
                rank = np.int64(-1)
            if rank < lowest:
                lowest = rank
                chosen = slot
    if chosen >= 0:
        s.bits[g, READY_SLOTS, chosen >> 6] &= ~(np.uint64(1) << np.uint64(chosen & 63))
    return chosen
