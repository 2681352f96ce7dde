"""What warps waited for last, for others that wait for them at an mbarrier (section 10)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.stalls import book
from simtmm.engine.fast.layout import (
    MBARRIER_BY,
    MBARRIER_OPEN_BEGUN,
    MBARRIER_OPEN_BY,
    MBARRIER_OPEN_QUEUE,
    MBARRIER_OPEN_QUEUE_AT,
    MBARRIER_OPENS,
    P_ORDERED,
    WAITED_COPIES,
    WAITED_FOR,
    WAITED_QUEUE,
    WAITED_QUEUE_AT,
    WAITED_SINCE,
    WAITED_UNTIL,
    WARP_COPIED,
)
from simtmm.native import inlined
from simtmm.stalls import QUEUES, Reason

AT_MBARRIER, COPIES = int(Reason.MBARRIER), int(Reason.COPIES)
PRODUCER, CONSUMER, FIRST_QUEUE = int(Reason.PRODUCER), int(Reason.CONSUMER), int(QUEUES[0])
OF_QUEUES = len(QUEUES)  # columns of a path, the first ones


@inlined
def note_wait(s, w, since, until, reason):
    """A warp waits for something that others at an mbarrier may then wait for as well."""
    if s.parameters[P_ORDERED] != 0:
        s.waited[w, WAITED_SINCE] = since
        s.waited[w, WAITED_UNTIL] = until
        s.waited[w, WAITED_FOR] = reason


@inlined
def note_copy(s, g, w, finish):
    """A warp has begun a copy, whose path is the group's latest."""
    if s.parameters[P_ORDERED] != 0:
        s.waited[w, WAITED_COPIES] = 1
        if finish > s.warp[w, WARP_COPIED]:
            s.waited[w, WAITED_QUEUE] = 0
            longest = np.int64(0)
            for column in range(OF_QUEUES):
                s.waited[w, WAITED_QUEUE] += s.path[g, column]
                if s.path[g, column] > s.path[g, longest]:
                    longest = np.int64(column)
            s.waited[w, WAITED_QUEUE_AT] = FIRST_QUEUE + longest


@inlined
def note_arrival(s, b, row, w, counts):
    """The latest arrival of a phase: by a warp that waited for something before; counts: 0 where that is not told."""
    s.mbarriers[b, row, MBARRIER_BY + WAITED_SINCE] = s.waited[w, WAITED_SINCE] * counts
    s.mbarriers[b, row, MBARRIER_BY + WAITED_UNTIL] = s.waited[w, WAITED_UNTIL] * counts
    s.mbarriers[b, row, MBARRIER_BY + WAITED_FOR] = s.waited[w, WAITED_FOR] if counts != 0 else AT_MBARRIER


@inlined
def forget_arrival(s, b, row):
    """A phase begins, of which nobody has arrived."""
    s.mbarriers[b, row, MBARRIER_BY + WAITED_SINCE] = 0
    s.mbarriers[b, row, MBARRIER_BY + WAITED_UNTIL] = 0
    s.mbarriers[b, row, MBARRIER_BY + WAITED_FOR] = AT_MBARRIER


def book_mbarrier(s, g, b, row, w, since, place):
    """Book a warp's wait for the phase that opened last, by what came last in it: bytes, or a warp's arrival."""
    opens = s.mbarriers[b, row, MBARRIER_OPENS]
    begun = s.mbarriers[b, row, MBARRIER_OPEN_BEGUN]
    ticks = opens - since
    if begun >= 0:
        copies = min(ticks, opens - begun)
        latency = min(copies, max(np.int64(0), opens - begun - s.mbarriers[b, row, MBARRIER_OPEN_QUEUE]))
        book(s, g, place, COPIES, latency)
        at = s.mbarriers[b, row, MBARRIER_OPEN_QUEUE_AT]
        book(s, g, place, at, copies - latency)
        book(s, g, place, PRODUCER, ticks - copies)
        longest = np.int64(COPIES)
        most = latency
        if copies - latency > most:
            longest = at
            most = copies - latency
        if ticks - copies > most:
            longest = np.int64(PRODUCER)
        note_wait(s, w, since, opens, longest)
        return
    came = s.mbarriers[b, row, MBARRIER_OPEN_BY + WAITED_SINCE]
    went = s.mbarriers[b, row, MBARRIER_OPEN_BY + WAITED_UNTIL]
    inherited = max(np.int64(0), min(went, opens) - max(came, since))
    book(s, g, place, s.mbarriers[b, row, MBARRIER_OPEN_BY + WAITED_FOR], inherited)
    book(s, g, place, CONSUMER if s.waited[w, WAITED_COPIES] != 0 else AT_MBARRIER, ticks - inherited)
