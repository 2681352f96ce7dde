"""What warps waited for last, for others that wait for them at an mbarrier (section 10)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.stalls import book
from simtmm.native import inlined
from simtmm.stalls import QUEUES, Reason

AT_MBARRIER, COPIES = int(Reason.MBARRIER), int(Reason.COPIES)
PRODUCER, CONSUMER, FIRST_QUEUE = int(Reason.PRODUCER), int(Reason.CONSUMER), int(QUEUES[0])
OF_QUEUES = len(QUEUES)  # columns of a path, the first ones


@inlined
def note_wait(s, w, since, until, reason):
    """A warp waits for something that others at an mbarrier may then wait for as well."""
    if s.parameters.ordered != 0:
        s.waited[w].since = since
        s.waited[w].until = until
        s.waited[w].reason = reason


@inlined
def note_copy(s, g, w, finish):
    """A warp has begun a copy, whose path is the group's latest."""
    if s.parameters.ordered != 0:
        s.waited[w].copies = 1
        if finish > s.warp[w].copied:
            s.waited[w].queue = 0
            longest = np.int64(0)
            for column in range(OF_QUEUES):
                s.waited[w].queue += s.path[g, column]
                if s.path[g, column] > s.path[g, longest]:
                    longest = np.int64(column)
            s.waited[w].queue_at = FIRST_QUEUE + longest


@inlined
def note_arrival(s, b, row, w, counts):
    """The latest arrival of a phase: by a warp that waited for something before; counts: 0 where that is not told."""
    s.mbarriers[b, row].by_since = s.waited[w].since * counts
    s.mbarriers[b, row].by_until = s.waited[w].until * counts
    s.mbarriers[b, row].by_reason = s.waited[w].reason if counts != 0 else AT_MBARRIER


@inlined
def forget_arrival(s, b, row):
    """A phase begins, of which nobody has arrived."""
    s.mbarriers[b, row].by_since = 0
    s.mbarriers[b, row].by_until = 0
    s.mbarriers[b, row].by_reason = AT_MBARRIER


def book_mbarrier(s, g, b, row, w, since, place):
    """Book a warp's wait for the phase that opened last, by what came last in it: bytes, or a warp's arrival."""
    opens = s.mbarriers[b, row].opens
    begun = s.mbarriers[b, row].open_begun
    ticks = opens - since
    if begun >= 0:
        copies = min(ticks, opens - begun)
        latency = min(copies, max(np.int64(0), opens - begun - s.mbarriers[b, row].open_queue))
        book(s, g, place, COPIES, latency)
        at = s.mbarriers[b, row].open_queue_at
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
    came = s.mbarriers[b, row].open_by_since
    went = s.mbarriers[b, row].open_by_until
    inherited = max(np.int64(0), min(went, opens) - max(came, since))
    book(s, g, place, s.mbarriers[b, row].open_by_reason, inherited)
    book(s, g, place, CONSUMER if s.waited[w].copies != 0 else AT_MBARRIER, ticks - inherited)
