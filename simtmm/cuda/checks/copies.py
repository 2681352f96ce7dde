"""Copies by cp.async, copies in bulk and products of groups of warps, which go on while their thread does.

What cp.async writes is there for a thread that has waited for it, and for others behind what orders them after that
wait; the memory that the two others read is free for new writes likewise. A product of four warps is over as soon as
one of them has waited for it. Each kind is in groups, numbered from 1 by the thread; the cell that was accessed holds
the group instead of a time. What a thread has waited for is written down by group: in which generation of the block and
in which of the thread's epochs it did. Of each thread the last RING groups are held; those before them count as
ordered.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import known
from simtmm.cuda.checks.proxies import complete_copy, engine_epoch, engine_of, has_arrived
from simtmm.cuda.checks.state import (
    ALREADY,
    BY_CP_ASYNC,
    ENGINES,
    GROUP_THREADS,
    IN_BULK,
    OF_PRODUCTS,
    PENDING_COPY,
    RING,
    TOP,
    UNORDERED,
    OfThread,
)
from simtmm.cuda.execution.layout import (
    BULK_COMMITTED,
    BULK_WAITED,
    COPIES_ALL,
    COPIES_COMMITTED,
    COPIES_WAITED,
    LANES,
    PRODUCTS_WAITED,
    PROXY_FENCE,
)
from simtmm.native import inlined


def groups(what, mask, s):
    """Lanes put what they began into a group, or wait for all of it, or for all groups but the latest."""
    if s.sizes.has_copies == 0:
        return
    kind = np.int64(BY_CP_ASYNC)
    commits = what in (COPIES_COMMITTED, COPIES_ALL)
    waits = what != COPIES_COMMITTED
    left = np.int64(0)
    if what <= PRODUCTS_WAITED:
        kind, left = np.int64(OF_PRODUCTS), np.int64(PRODUCTS_WAITED) - what
    elif what <= BULK_WAITED:
        kind, left = np.int64(IN_BULK), np.int64(BULK_WAITED) - what
    elif what <= PROXY_FENCE:
        commits, waits = True, False
        kind = np.int64(IN_BULK) if what == BULK_COMMITTED else np.int64(OF_PRODUCTS)
    elif what <= COPIES_WAITED:
        left = np.int64(COPIES_WAITED) - what
    slot = s.now.slot
    for lane in range(min(LANES, s.sizes.threads - s.now.warp)):
        if (mask >> lane) & 1 == 0:
            continue
        place = slot * s.sizes.threads + s.now.warp + lane
        if commits:
            s.threads[place, OfThread.committed + kind] += 1
        if waits:
            wait(s, slot, place, kind, s.threads[place, OfThread.committed + kind] - left)


def wait(s, slot, place, kind, last):
    """A thread has waited for its groups of a kind up to one."""
    waited = s.threads[place, OfThread.waited + kind]
    for group in range(max(1, last - RING + 1), last + 1):
        if group > waited or s.copies[place, kind, group % RING, 3] != 0:
            write_down(s, slot, place, kind, group)
    s.threads[place, OfThread.waited + kind] = max(waited, last)


@inlined
def write_down(s, slot, place, kind, group):
    """A group is waited for."""
    s.copies[place, kind, group % RING, 0] = group
    s.copies[place, kind, group % RING, 1] = s.blocks[slot].generation
    s.copies[place, kind, group % RING, 2] = s.threads[place].epoch
    s.copies[place, kind, group % RING, 3] = 0


def track(s, slot, thread, address):
    """All groups that a thread has not waited for report to an mbarrier: they are over for who waits there."""
    if s.sizes.has_proxy == 0 or s.sizes.has_copies == 0:
        return
    place = slot * s.sizes.threads + thread
    kind = np.int64(BY_CP_ASYNC)
    engine = engine_of(address)
    last = s.threads[place, OfThread.committed + kind]
    for group in range(max(s.threads[place, OfThread.waited + kind] + 1, last - RING + 1), last + 1):
        write_down(s, slot, place, kind, group)
        s.copies[place, kind, group % RING, 3] = engine + 1
        s.copies[place, kind, group % RING, 4] = engine_epoch(s, slot, engine)
    s.threads[place, OfThread.waited + kind] = last
    complete_copy(s, address)


@inlined
def open_group(s, slot, thread, kind):
    """The number of the group that what a thread begins is put into now."""
    return min(s.threads[slot * s.sizes.threads + thread, OfThread.committed + kind] + 1, np.int64(TOP))


@inlined
def arrived(s, slot, thread, other, kind, group):
    """Whether what a thread of the block began is over for another: ALREADY, UNORDERED, where the thread has waited
    and nothing orders the other behind that, or PENDING_COPY, where it has not.
    """
    place = slot * s.sizes.threads + other
    if group > s.threads[place, OfThread.waited + kind]:
        return np.int64(PENDING_COPY)
    at = group % RING
    engine = s.copies[place, kind, at, 3] - 1
    if engine >= 0 and s.copies[place, kind, at, 0] == group:
        what = s.copies[place, kind, at, 4] * ENGINES + engine
        return np.int64(ALREADY) if has_arrived(s, slot, thread, thread + 1, what) else np.int64(PENDING_COPY)
    if (
        other == thread
        or s.copies[place, kind, at, 0] != group
        or s.copies[place, kind, at, 1] < s.blocks[slot].generation
    ):
        return np.int64(ALREADY)
    if s.copies[place, kind, at, 2] <= known(s, slot, thread, other):
        return np.int64(ALREADY)
    return np.int64(UNORDERED)


def is_read(s, slot, thread, other, kind, group):
    """Whether what a thread's copy in bulk, or its warps' product, reads may be written anew by another."""
    if kind == IN_BULK:
        return arrived(s, slot, thread, other, kind, group) == ALREADY
    first = other // GROUP_THREADS * GROUP_THREADS
    for one in range(first, min(first + GROUP_THREADS, s.sizes.threads)):
        if arrived(s, slot, thread, one, kind, group) == ALREADY:
            return True
    return False
