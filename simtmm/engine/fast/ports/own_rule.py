"""Issue ports where a user's rule schedules: when it is asked, and what comes of its answer (section 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import (
    ASKED_HOLDS,
    ASKED_LAST,
    ASKED_LIVING,
    ASKED_SINCE,
    ASKED_STIRRED,
    ASKED_UNTIL,
    GROUP_HELD,
    GROUP_ISSUED,
    GROUP_QUEUE_HEAD,
    GROUP_READY,
    NEVER,
    P_OWN_PORTS,
    P_PORTS,
    P_RING,
    P_SLOTS,
    PORT_RELEASE,
    PORT_WARP,
    QUEUED,
)
from simtmm.engine.fast.ports.issue import grant
from simtmm.engine.own_rule.columns import (
    ASKING_ANSWER,
    ASKING_ENTRY,
    ASKING_FAULT,
    ASKING_GROUP,
    ASKING_LAST,
    ASKING_LIVING,
    ASKING_MOST_HOLDS,
    ASKING_NOW,
    ASKING_READY,
    ASKING_TABLE,
    ASKING_UNTIL,
    HELD_TOO_OFTEN,
    IDLE,
    LATEST,
    NO_LATER_TICK,
    NOBODY,
    NOT_READY,
    SEEN_ISSUED,
    TOO_LATE,
)
from simtmm.native import call_bound, inlined

NONE_READY = np.int64(-3)


@inlined
def grant_by_rule(s, switch, memory, g, t):
    """Phase 4 for a group. The rule is asked only where something happened since, or where the tick is one that it
    named: what it remembers shows how often it is asked.
    """
    if s.asked[g, ASKED_UNTIL] <= t:
        s.asked[g, ASKED_STIRRED] = 1
    if s.asked[g, ASKED_STIRRED] == 0:
        return
    s.asked[g, ASKED_UNTIL] = NEVER
    ports = s.parameters[P_PORTS]
    if s.group[g, GROUP_HELD] == ports:
        s.asked[g, ASKED_STIRRED] = 0
        return
    apart = s.parameters[P_OWN_PORTS] != 0
    issued = ASKED_LAST + ports
    for index in range(ports):
        p = g * ports + index
        s.asked[g, issued + index] = 0
        if s.port[p, PORT_RELEASE] != NEVER or s.group[g, GROUP_READY] == 0 or s.asking[ASKING_FAULT] != 0:
            continue
        slot = answer(s, g, index, apart, t)
        if slot == NONE_READY:
            continue
        if slot < 0:
            if apart:
                continue
            break
        before = s.group[g, GROUP_ISSUED]
        grant(s, switch, memory, g, p, slot, t)
        s.asked[g, issued + index] = s.group[g, GROUP_ISSUED] - before
    # All of them are asked before any of the warps issues.
    for index in range(ports):
        if s.asked[g, issued + index] != 0:
            w = g * s.parameters[P_SLOTS] + s.port[g * ports + index, PORT_WARP]
            s.seen[w, SEEN_ISSUED] += s.asked[g, issued + index]
            s.asked[g, issued + index] = 0
    s.asked[g, ASKED_STIRRED] = 0  # what is granted here has stirred as well, and is known


def answer(s, g, index, apart, t):  # noqa: C901 - each way in which an answer is wrong is one
    """The slot of the warp that the rule grants a port, which is ready no more then; NOBODY, or NONE_READY."""
    mask = s.parameters[P_RING] - 1
    base = g * s.parameters[P_SLOTS]
    head = s.group[g, GROUP_QUEUE_HEAD]
    end = head + s.group[g, GROUP_READY]
    last = ASKED_LAST
    count = np.int64(0)
    if apart:
        last += index
        ports = s.parameters[P_PORTS]
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
    s.asked[g, ASKED_SINCE] = t
    s.asking[ASKING_GROUP] = g
    s.asking[ASKING_NOW] = t
    s.asking[ASKING_READY] = count
    s.asking[ASKING_LIVING] = s.asked[g, ASKED_LIVING]
    s.asking[ASKING_LAST] = s.asked[g, last]
    row = call_bound(s.asking[ASKING_ENTRY], s.asking[ASKING_TABLE])
    s.asking[ASKING_ANSWER] = row
    if s.asking[ASKING_FAULT] != 0:
        return NOBODY
    if row < 0:
        s.asked[g, ASKED_HOLDS] += 1
        if row == IDLE:
            until = s.asking[ASKING_UNTIL]
            if until <= t:
                s.asking[ASKING_FAULT] = NO_LATER_TICK
            elif until > LATEST:
                s.asking[ASKING_FAULT] = TOO_LATE
            s.asked[g, ASKED_UNTIL] = min(s.asked[g, ASKED_UNTIL], until)
        if s.asked[g, ASKED_HOLDS] > s.asking[ASKING_MOST_HOLDS] and s.asking[ASKING_FAULT] == 0:
            s.asking[ASKING_FAULT] = HELD_TOO_OFTEN
        return NOBODY
    at = head
    while at < end and base + s.rings[g, QUEUED, at & mask] != row:
        at += 1
    if at == end or (apart and (row - base) % s.parameters[P_PORTS] != index):
        s.asking[ASKING_FAULT] = NOT_READY
        return NOBODY
    while at > head:
        s.rings[g, QUEUED, at & mask] = s.rings[g, QUEUED, (at - 1) & mask]
        at -= 1
    s.group[g, GROUP_QUEUE_HEAD] = head + 1
    s.group[g, GROUP_READY] -= 1
    s.asked[g, ASKED_HOLDS] = 0
    s.asked[g, last] = row
    return row - base
