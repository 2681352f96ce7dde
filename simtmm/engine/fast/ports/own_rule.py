"""Issue ports where a user's rule schedules: when it is asked, and what comes of its answer (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import NEVER, QUEUED, Asked
from simtmm.engine.fast.ports.issue import grant
from simtmm.engine.own_rule.columns import HELD_TOO_OFTEN, IDLE, LATEST, NO_LATER_TICK, NOBODY, NOT_READY, TOO_LATE
from simtmm.native import call_bound, inlined

NONE_READY = np.int64(-3)


@inlined
def grant_by_rule(s, switch, memory, g, t):
    """Phase 4 for a group. The rule is asked only where something happened since, or where the tick is one that it
    named: what it remembers shows how often it is asked.
    """
    if s.asked[g].until <= t:
        s.asked[g].stirred = 1
    if s.asked[g].stirred == 0:
        return
    s.asked[g].until = NEVER
    ports = s.parameters.ports
    if s.group[g].held == ports:
        s.asked[g].stirred = 0
        return
    apart = s.parameters.own_ports != 0
    issued = Asked.last + ports
    for index in range(ports):
        p = g * ports + index
        s.asked[g, issued + index] = 0
        if s.port[p].release != NEVER or s.group[g].ready == 0 or s.asking.fault != 0:
            continue
        slot = answer(s, g, index, apart, t)
        if slot == NONE_READY:
            continue
        if slot < 0:
            if apart:
                continue
            break
        before = s.group[g].issued
        grant(s, switch, memory, g, p, slot, t)
        s.asked[g, issued + index] = s.group[g].issued - before
    # All of them are asked before any of the warps issues.
    for index in range(ports):
        if s.asked[g, issued + index] != 0:
            w = g * s.parameters.slots + s.port[g * ports + index].warp
            s.seen[w].issued += s.asked[g, issued + index]
            s.asked[g, issued + index] = 0
    s.asked[g].stirred = 0  # what is granted here has stirred as well, and is known


def answer(s, g, index, apart, t):  # noqa: C901 - each way in which an answer is wrong is one
    """The slot of the warp that the rule grants a port, which is ready no more then; NOBODY, or NONE_READY."""
    mask = s.parameters.ring - 1
    base = g * s.parameters.slots
    head = s.group[g].queue_head
    end = head + s.group[g].ready
    last = Asked.last
    count = np.int64(0)
    if apart:
        last += index
        ports = s.parameters.ports
        for at in range(head, end):
            slot = s.rings[g, QUEUED, at & mask]
            if slot % ports == index:
                s.ready[count] = base + slot
                count += 1
        if count == 0:
            return NONE_READY
    else:
        for at in range(head, end):
            s.ready[count] = base + s.rings[g, QUEUED, at & mask]
            count += 1
    s.asked[g].since = t
    s.asking.group = g
    s.asking.now = t
    s.asking.ready = count
    s.asking.living = s.asked[g].living
    s.asking.last = s.asked[g, last]
    row = call_bound(s.asking.entry, s.asking.table)
    s.asking.answer = row
    if s.asking.fault != 0:
        return NOBODY
    if row < 0:
        s.asked[g].holds += 1
        if row == IDLE:
            until = s.asking.until
            if until <= t:
                s.asking.fault = NO_LATER_TICK
            elif until > LATEST:
                s.asking.fault = TOO_LATE
            s.asked[g].until = min(s.asked[g].until, until)
        if s.asked[g].holds > s.asking.most_holds and s.asking.fault == 0:
            s.asking.fault = HELD_TOO_OFTEN
        return NOBODY
    at = head
    while at < end and base + s.rings[g, QUEUED, at & mask] != row:
        at += 1
    if at == end or (apart and (row - base) % s.parameters.ports != index):
        s.asking.fault = NOT_READY
        return NOBODY
    while at > head:
        s.rings[g, QUEUED, at & mask] = s.rings[g, QUEUED, (at - 1) & mask]
        at -= 1
    s.group[g].queue_head = head + 1
    s.group[g].ready -= 1
    s.asked[g].holds = 0
    s.asked[g, last] = row
    return row - base
