"""Groups of a warp's stores, its waits until they have left the group, and for the way to other groups (section 3)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import turn
from simtmm.engine.fast.attribution.stalls import INSTRUCTION, book
from simtmm.engine.fast.layout import MEMORY, MEMORY_TICKS, Group, Warp
from simtmm.engine.fast.ports.scheduler import push
from simtmm.native import inlined
from simtmm.stalls import Reason
from simtmm.workload import MOST_UNDRAINED

PORT_QUEUE = int(Reason.PORT_QUEUE)


@inlined
def end_store_group(s, w):
    """The warp's stores since its last group are one."""
    groups = s.warp[w].store_groups
    s.warp[w, Warp.group_left + groups % (MOST_UNDRAINED + 1)] = s.warp[w].left
    s.warp[w].store_groups = groups + 1


def wait_for_drain(s, g, slot, left_out, place, t):
    """Whether a warp sleeps until all groups but the latest have left, as it does if one has not."""
    w = g * s.parameters.slots + slot
    groups = s.warp[w].store_groups - left_out
    if groups <= 0:
        return False
    finish = s.warp[w, Warp.group_left + (groups - 1) % (MOST_UNDRAINED + 1)] + s.parameters.drain_latency
    if finish <= t:
        return False
    latency = min(finish - t, s.parameters.drain_latency)
    book(s, g, place, INSTRUCTION, latency)
    book(s, g, place, PORT_QUEUE, finish - t - latency)
    reason = np.int64(INSTRUCTION) if 2 * latency >= finish - t else np.int64(PORT_QUEUE)
    turn(s, g, w, MEMORY, place, reason, t)
    s.group[g].memory += 1
    push(s, MEMORY_TICKS, g, finish, slot, Group.memory_tail, Group.memory_head)
    return True


@inlined
def take_way(s, g, passes, t):
    """Take the way to other groups' shared memory for so many passes, from the tick on that this gives."""
    begin = max(t, s.group[g].remote_free)
    free = begin + passes * s.parameters.remote_interval
    s.group[g].remote_free = free
    s.group[g].last = max(s.group[g].last, free)
    return begin


def wait_for_way(s, g, slot, passes, place, t):
    """Whether a warp sleeps until the way to other groups' shared memory takes its access."""
    begin = take_way(s, g, passes, t)
    if begin == t:
        return False
    book(s, g, place, PORT_QUEUE, begin - t)
    turn(s, g, g * s.parameters.slots + slot, MEMORY, place, np.int64(PORT_QUEUE), t)
    s.group[g].memory += 1
    push(s, MEMORY_TICKS, g, begin, slot, Group.memory_tail, Group.memory_head)
    return True
