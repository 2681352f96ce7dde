"""What orders accesses: epochs of threads, and who knows which.

As in FastTrack (Flanagan and Freund, 2009) each thread has an epoch, which ends with whatever lets others know of it,
and knows epochs of others by what it has waited for: an access is ordered behind an earlier one whose epoch its thread
knows. What all know is not written down for each: a barrier of all threads begins a generation of the block, before
which all is ordered; lanes of a warp that have synchronised have it once for the warp; the rest stands in `vectors`.
Blocks know of each other what was published by a release for the device before the time that they have acquired.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.cuda.checks.rows import note
from simtmm.cuda.checks.state import (
    ACQUIRES,
    BUCKETS,
    ENGINES,
    NOT_IN_MASK,
    OF_BLOCK,
    ORDERS,
    PLACES,
    RELEASES,
    TOP,
    WITHIN_WARP,
)
from simtmm.cuda.execution.layout import LANES, SYNCHRONISES
from simtmm.native import SPREAD, inlined

_ALL = (1 << LANES) - 1


@inlined
def known(s, slot, thread, other):
    """The epoch of a thread of the block up to which another one knows what it did."""
    found = np.int64(0)
    if thread == other:
        return s.threads[slot * s.sizes.threads + thread].epoch
    if thread // LANES == other // LANES:
        found = s.threads[slot * s.sizes.threads + other].warp_epoch
    if s.blocks[slot].far != 0 and s.sizes.has_vectors != 0:
        found = max(found, np.int64(s.vectors[slot, thread, other]))
    return found


def gather(log, at, event, mask, s):
    """Lanes of a warp go on together, each with others of a mask."""
    slot = s.now.slot
    first = s.now.warp
    left = mask
    while left != 0:
        lane = lowest(left)
        wanted = log[at + 1 + lane] & _ALL
        group = np.int64(0)
        for other in range(LANES):
            if (left >> other) & 1 != 0 and log[at + 1 + other] & _ALL == wanted:
                group |= 1 << other
        left &= ~group
        if s.sizes.syncs != 0 and group & ~wanted != 0:
            outside = lowest(group & ~wanted)
            note(
                s,
                NOT_IN_MASK,
                WITHIN_WARP,
                SYNCHRONISES,
                0,
                event,
                event,
                s.now.number,
                s.now.number,
                first + outside,
                first + outside,
                wanted,
                ones(group & ~wanted),
            )
        # Shuffles, votes and the like let lanes hear of each other's registers, and order no memory.
        if s.sizes.races != 0 and s.events[event] & ORDERS != 0:
            whole = (1 << min(LANES, s.sizes.threads - first)) - 1
            meet(s, slot, first, group & wanted, wanted & whole == whole)
    return 0


def meet(s, slot, first, group, whole):  # noqa: C901, PLR0912 - a compiled loop: a case for each kind of meeting
    """Lanes have synchronised. whole: all of the warp that live have."""
    here = min(LANES, s.sizes.threads - first)
    base = slot * s.sizes.threads + first
    if s.now.synchronised != 0:
        latest = np.int64(0)
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                latest = max(latest, s.threads[base + lane].known)
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                s.threads[base + lane].known = latest
    if s.sizes.has_proxy != 0:
        meet_engines(s, slot, first, group)
    if whole and s.blocks[slot].far == 0:
        for lane in range(here):
            s.threads[base + lane].warp_epoch = s.threads[base + lane].epoch
            s.threads[base + lane].epoch += 1
        return
    if s.sizes.has_vectors == 0:
        s.blocks[slot].generation += 1
        return
    begin_other, end_other = first, first + here
    if s.blocks[slot].far > 1:
        begin_other, end_other = np.int64(0), s.sizes.threads
    for other in range(begin_other, end_other):
        latest = np.int64(0)
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                latest = max(latest, known(s, slot, first + lane, other))
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                s.vectors[slot, first + lane, other] = latest
    for lane in range(here):
        if whole:
            s.threads[base + lane].warp_epoch = s.threads[base + lane].epoch
        if whole or (group >> lane) & 1 != 0:
            s.threads[base + lane].epoch += 1
    if s.blocks[slot].far == 0:
        # Vectors may hold epochs of before the last barrier of all, which say no more than the generation does.
        s.blocks[slot].far = 1


def meet_engines(s, slot, first, group):
    """Lanes know of the engines of copies in bulk what any of them does."""
    for engine in range(ENGINES):
        latest = np.int64(0)
        for lane in range(LANES):
            if (group >> lane) & 1 != 0:
                latest = max(latest, np.int64(s.engines[slot, first + lane, engine]))
        for lane in range(LANES):
            if (group >> lane) & 1 != 0:
                s.engines[slot, first + lane, engine] = latest


def join_engines(slot, barrier, s):
    """Likewise those that wait at a barrier, of all that have arrived."""
    for engine in range(ENGINES):
        latest = np.int64(0)
        for thread in range(s.sizes.threads):
            if (s.arrived[slot, barrier, thread // LANES].here >> thread % LANES) & 1 != 0:
                latest = max(latest, np.int64(s.engines[slot, thread, engine]))
        for thread in range(s.sizes.threads):
            if (s.arrived[slot, barrier, thread // LANES].waiting >> thread % LANES) & 1 != 0:
                s.engines[slot, thread, engine] = max(np.int64(s.engines[slot, thread, engine]), latest)


def join(slot, barrier, s):
    """What some threads of a block know by a barrier."""
    threads = s.sizes.threads
    for other in range(threads):
        s.row[other] = 0
    time = np.int64(0)
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES].here >> thread % LANES) & 1 != 0:
            time = max(time, s.threads[slot * threads + thread].known)
            give(s, slot, thread, s.threads[slot * threads + thread].epoch)
    s.blocks[slot].far = 2
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES].waiting >> thread % LANES) & 1 != 0:
            for other in range(threads):
                s.vectors[slot, thread, other] = max(np.int64(s.vectors[slot, thread, other]), np.int64(s.row[other]))
            s.threads[slot * threads + thread].known = time
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES].here >> thread % LANES) & 1 != 0:
            s.threads[slot * threads + thread].epoch += 1


def give(s, slot, thread, own):
    """Put what a thread knows, and what it did up to an epoch, into `row`."""
    warp = thread // LANES * LANES
    first, last = warp, min(warp + LANES, s.sizes.threads)
    if s.blocks[slot].far > 1:
        first, last = np.int64(0), s.sizes.threads
    for other in range(first, last):
        what = own if other == thread else known(s, slot, thread, other)
        s.row[other] = max(np.int64(s.row[other]), what)


def fence(mask, of_device, s):
    """What lanes did so far is known to who reads what they write next; and they know what they have read of."""
    slot = s.now.slot
    for lane in range(min(LANES, s.sizes.threads - s.now.warp)):
        if (mask >> lane) & 1 != 0:
            thread = s.now.warp + lane
            place = slot * s.sizes.threads + thread
            epoch = s.threads[place].epoch
            s.threads[place].block_fence = epoch
            if of_device:
                s.threads[place].device_fence = epoch
                s.threads[place].fence_generation = s.blocks[slot].generation
                heard = max(s.threads[place].pending, s.blocks[slot].pending_time)
                s.threads[place].known = max(s.threads[place].known, heard)
                s.threads[place].pending = 0
                cover(s, slot, thread)
            s.threads[place].epoch = epoch + 1
            take_pending(s, slot, thread)


def cover(s, slot, thread):
    """A thread's fence for the device stands behind what it knows its warp to have done."""
    s.blocks[slot].has_fenced = 1
    generation = s.blocks[slot].generation
    warp = thread // LANES * LANES
    for other in range(warp, min(warp + LANES, s.sizes.threads)):
        place = slot * s.sizes.threads + other
        if s.threads[place].covered_generation < generation:
            s.threads[place].covered_before = s.threads[place].covered
            s.threads[place].covered_generation = generation
        s.threads[place].covered = max(s.threads[place].covered, known(s, slot, thread, other))


def take_pending(s, slot, thread):
    """A thread knows what the bucket holds that it has read of."""
    place = slot * s.sizes.threads + thread
    bucket = s.threads[place].pending_bucket - 1
    s.threads[place].pending_bucket = 0
    if bucket >= 0:
        take(s, slot, thread, bucket)


def take(s, slot, thread, bucket):
    """Likewise of a bucket."""
    if s.bucket_stamps[slot, bucket] != s.blocks[slot].of_stamp:
        return
    s.blocks[slot].far = 2
    for other in range(s.sizes.threads):
        what = max(np.int64(s.vectors[slot, thread, other]), np.int64(s.buckets[slot, bucket, other]))
        s.vectors[slot, thread, other] = what
    if s.sizes.has_proxy != 0:
        for engine in range(ENGINES):
            latest = max(s.engines[slot, thread, engine], s.bucket_engines[slot, bucket, engine])
            s.engines[slot, thread, engine] = latest


def synchronise(s, flags, address, thread, reads, writes):
    """A strong access: who reads knows what was released there, who writes releases what stands before its fence."""
    slot = s.now.slot
    place = slot * s.sizes.threads + thread
    spread = (address * SPREAD) >> 20
    bucket = spread & (BUCKETS - 1)
    at = spread & (PLACES - 1)
    if reads:
        if s.sizes.has_vectors != 0 and s.bucket_stamps[slot, bucket] == s.blocks[slot].of_stamp:
            if flags & ACQUIRES != 0:
                take(s, slot, thread, bucket)
            elif s.threads[place].pending_bucket != bucket + 1:
                take_pending(s, slot, thread)
                s.threads[place].pending_bucket = bucket + 1
        if flags & OF_BLOCK == 0 and s.times[at] > 0 and s.releasers[at] != s.now.number + 1:
            if flags & ACQUIRES != 0:
                s.threads[place].known = max(s.threads[place].known, s.times[at])
            else:
                s.threads[place].pending = max(s.threads[place].pending, s.times[at])
    if writes:
        own = s.threads[place].block_fence
        if flags & RELEASES != 0:
            own = s.threads[place].epoch
            s.threads[place].epoch += 1
        if own > 0:
            release(s, slot, thread, bucket, own)
        device = s.threads[place].device_fence
        generation = s.threads[place].fence_generation
        if flags & RELEASES != 0:
            device, generation = own, s.blocks[slot].generation
        if flags & OF_BLOCK == 0 and s.sizes.communicates != 0 and (device > 0 or s.blocks[slot].has_fenced != 0):
            publish(s, slot, thread, at, device, generation)


def release(s, slot, thread, bucket, own):
    """What a thread did up to an epoch, and what it knows, stands in a bucket."""
    if s.sizes.has_vectors == 0:
        s.blocks[slot].generation += 1
        return
    freshen(s, slot, bucket)
    for other in range(s.sizes.threads):
        s.row[other] = s.buckets[slot, bucket, other]
    give(s, slot, thread, own)
    if s.sizes.has_proxy != 0:
        for engine in range(ENGINES):
            latest = max(s.engines[slot, thread, engine], s.bucket_engines[slot, bucket, engine])
            s.bucket_engines[slot, bucket, engine] = latest
    for other in range(s.sizes.threads):
        s.buckets[slot, bucket, other] = s.row[other]


def freshen(s, slot, bucket):
    """A bucket that another block has used holds nothing."""
    if s.bucket_stamps[slot, bucket] == s.blocks[slot].of_stamp:
        return
    s.bucket_stamps[slot, bucket] = s.blocks[slot].of_stamp
    for other in range(s.sizes.threads):
        s.buckets[slot, bucket, other] = 0
    if s.sizes.has_proxy != 0:
        for engine in range(ENGINES):
            s.bucket_engines[slot, bucket, engine] = 0


def publish(s, slot, thread, at, own, generation):
    """The same for other blocks; and what others of the block did, which a fence of theirs and then a barrier stand
    behind. own: 0 where the thread itself has not fenced.
    """
    number = s.now.number
    s.now.synchronised = 1
    s.now.time = min(s.now.time + 1, TOP)
    s.times[at] = s.now.time
    s.releasers[at] = number + 1 if s.releasers[at] == 0 or s.releasers[at] == number + 1 else np.int64(-1)
    s.generations[number] = max(np.int64(s.generations[number]), generation)
    for other in range(s.sizes.threads):
        place = slot * s.sizes.threads + other
        s.row[other] = s.threads[place].covered_before
        fenced = s.threads[place].device_fence
        if s.threads[place].covered_generation < s.blocks[slot].generation:
            s.row[other] = s.threads[place].covered
        elif fenced > 0 and known(s, slot, thread, other) >= fenced:
            s.row[other] = max(np.int64(s.row[other]), fenced)
    if own > 0:
        give(s, slot, thread, own)
    for other in range(s.sizes.threads):
        place = number * s.sizes.threads + other
        s.published[place] = max(np.int64(s.published[place]), np.int64(s.row[other]))


@inlined
def ones(mask):
    """How many bits are set."""
    count = np.int64(0)
    while mask != 0:
        mask &= mask - 1
        count += 1
    return count


@inlined
def lowest(mask):
    """The lowest bit that is set."""
    lane = np.int64(0)
    while (mask >> lane) & 1 == 0:
        lane += 1
    return lane
