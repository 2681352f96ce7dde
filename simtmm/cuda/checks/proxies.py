"""The async proxy: what copies in bulk and products of groups of warps read and write in shared memory.

A load in bulk, which reports to an mbarrier, counts as a write by an engine, of which each mbarrier has one: a thread
knows the engine's epoch once it has waited there, or has met a thread that had. What a copy or a product reads is read
until a thread has waited for its group (copies.py). What threads write is there for the async proxy behind a fence
(fence.proxy.async) that stands between the write and what orders the reader behind it, of whichever thread.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.ordering import freshen, known
from simtmm.cuda.checks.state import (
    BUCKETS,
    ENGINES,
    RING,
    TOP_OF_ENGINE,
)
from simtmm.cuda.execution.layout import LANES, SHARED_WINDOW
from simtmm.native import SPREAD, inlined


def fence_proxy(mask, s):
    """Lanes let the async proxy see what they know to be written."""
    if s.sizes.has_proxy == 0:
        return
    slot = s.now.slot
    threads = s.sizes.threads
    for lane in range(min(LANES, threads - s.now.warp)):
        if (mask >> lane) & 1 == 0:
            continue
        thread = s.now.warp + lane
        place = slot * threads + thread
        at = s.threads[place].fences % RING
        s.fences[place, at, 0] = s.blocks[slot].generation
        s.fences[place, at, 1] = s.threads[place].epoch
        s.threads[place].fences += 1
        if s.sizes.has_vectors != 0:
            for other in range(threads):
                s.fenced[slot, thread, other] = known(s, slot, thread, other)
        s.threads[place].epoch += 1


def is_fenced(s, slot, first, last, other, generation, epoch):
    """Whether a fence is between what a thread wrote in an epoch and its readers: threads from `first` up to `last`."""
    if has_fenced(s, slot, first, last, other, other, generation, epoch):
        return True
    for by in range(first, last):
        if has_fenced(s, slot, first, last, by, other, generation, epoch):
            return True
    for by in range(s.sizes.threads):  # noqa: SIM110 - compiled, where there is no `any`
        if has_fenced(s, slot, first, last, by, other, generation, epoch):
            return True
    return False


def has_fenced(s, slot, first, last, by, other, generation, epoch):
    """Whether the fence is one of the thread `by`."""
    place = slot * s.sizes.threads + by
    count = s.threads[place].fences
    for number in range(max(0, count - RING), count):
        then = s.fences[place, number % RING, 0]
        at = s.fences[place, number % RING, 1]
        if by == other:
            knew = at >= epoch
        else:
            knew = then > generation
            if number == count - 1 and s.sizes.has_vectors != 0 and s.fenced[slot, by, other] >= epoch:
                knew = True
        if not knew:
            continue
        if by == other and number == count - RING:
            return True  # one before it, which is held no more, may have been the first behind the write
        if then < s.blocks[slot].generation or (first <= by and by < last):
            return True
        for reader in range(first, last):
            if at <= known(s, slot, reader, by):
                return True
    return False


@inlined
def engine_of(address):
    """That of an mbarrier."""
    return (address >> 3) & (ENGINES - 1)


@inlined
def engine_epoch(s, slot, engine):
    """The epoch that an engine is in, as cells of memory hold it."""
    return min(np.int64(s.engine_now[slot, engine, 0]), np.int64(TOP_OF_ENGINE))


@inlined
def has_arrived(s, slot, first, last, what):
    """Whether one of some threads knows that what an engine wrote is there. what: the engine and its epoch."""
    engine = what & (ENGINES - 1)
    epoch = what // ENGINES
    found = epoch >= TOP_OF_ENGINE or s.engine_now[slot, engine, 1] >= epoch
    for thread in range(first, last):
        found = found or s.engines[slot, thread, engine] >= epoch
    return found


def complete_copy(s, address):
    """A copy's bytes are there: its mbarrier knows, and the engine begins another epoch."""
    slot = s.now.slot
    engine = engine_of(address)
    epoch = s.engine_now[slot, engine, 0]
    if s.sizes.has_vectors == 0:
        s.engine_now[slot, engine, 1] = epoch
    else:
        bucket = bucket_of(address)
        freshen(s, slot, bucket)
        s.bucket_engines[slot, bucket, engine] = epoch
    s.engine_now[slot, engine, 0] = epoch + 1


@inlined
def bucket_of(address):
    """That of an mbarrier in shared memory, as `synchronise` has it."""
    return (((address + SHARED_WINDOW) * SPREAD) >> 20) & (BUCKETS - 1)
