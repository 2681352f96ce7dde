"""Copies by cp.async: what they write is there for a thread that has waited for them, and for others behind what orders
them after that wait.

A thread's copies are in groups, numbered from 1 by the thread; the cell that a copy wrote holds its group instead of a
time. What a thread has waited for is written down by group: in which generation of the block and in which of the
thread's epochs it did. Of each thread the last RING groups are held; those before them count as ordered.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import known
from simtmm.cuda.checks.state import (
    ALREADY,
    COMMITTED,
    EPOCH,
    GENERATION,
    HAS_COPIES,
    PENDING_COPY,
    RING,
    SLOT,
    THREADS,
    TOP,
    UNORDERED,
    WAITED,
    WARP,
)
from simtmm.cuda.execution.layout import COPIES_ALL, COPIES_COMMITTED, COPIES_WAITED, LANES
from simtmm.native import inlined


def copies(what, mask, s):
    """Lanes put their copies into a group, or wait for all of them, or for all groups but the latest."""
    if s.sizes[HAS_COPIES] == 0:
        return
    slot = s.now[SLOT]
    for lane in range(min(LANES, s.sizes[THREADS] - s.now[WARP])):
        if (mask >> lane) & 1 == 0:
            continue
        place = slot * s.sizes[THREADS] + s.now[WARP] + lane
        if what in (COPIES_COMMITTED, COPIES_ALL):
            s.threads[place, COMMITTED] += 1
        if what != COPIES_COMMITTED:
            left = np.int64(0)
            if what <= COPIES_WAITED:
                left = np.int64(COPIES_WAITED) - what
            wait(s, slot, place, s.threads[place, COMMITTED] - left)


def wait(s, slot, place, last):
    """A thread has waited for its groups up to one."""
    first = max(s.threads[place, WAITED] + 1, last - RING + 1)
    for group in range(first, last + 1):
        s.copies[place, group % RING, 0] = group
        s.copies[place, group % RING, 1] = s.blocks[slot, GENERATION]
        s.copies[place, group % RING, 2] = s.threads[place, EPOCH]
    s.threads[place, WAITED] = max(s.threads[place, WAITED], last)


@inlined
def open_group(s, slot, thread):
    """The number of the group that a thread's copies are put into now."""
    return min(s.threads[slot * s.sizes[THREADS] + thread, COMMITTED] + 1, np.int64(TOP))


@inlined
def arrived(s, slot, thread, other, group):
    """Whether what a thread of the block copied is there for another: ALREADY, UNORDERED, where the thread has waited
    and nothing orders the other behind that, or PENDING_COPY, where it has not.
    """
    place = slot * s.sizes[THREADS] + other
    if group > s.threads[place, WAITED]:
        return np.int64(PENDING_COPY)
    at = group % RING
    if other == thread or s.copies[place, at, 0] != group or s.copies[place, at, 1] < s.blocks[slot, GENERATION]:
        return np.int64(ALREADY)
    if s.copies[place, at, 2] <= known(s, slot, thread, other):
        return np.int64(ALREADY)
    return np.int64(UNORDERED)
