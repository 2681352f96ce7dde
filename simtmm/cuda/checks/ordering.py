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
    BLOCK_FENCE,
    BUCKETS,
    COMMUNICATES,
    DEVICE_FENCE,
    ENGINES,
    EPOCH,
    FAR,
    FENCE_GENERATION,
    GENERATION,
    HAS_PROXY,
    HAS_VECTORS,
    HERE,
    KNOWN,
    NOT_IN_MASK,
    NUMBER,
    OF_BLOCK,
    OF_STAMP,
    ORDERS,
    PENDING,
    PENDING_BUCKET,
    PLACES,
    RACES,
    RELEASES,
    SLOT,
    SYNCHRONISED,
    SYNCS,
    THREADS,
    TIME,
    TOP,
    WAITING,
    WARP,
    WARP_EPOCH,
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
        return s.threads[slot * s.sizes[THREADS] + thread, EPOCH]
    if thread // LANES == other // LANES:
        found = s.threads[slot * s.sizes[THREADS] + other, WARP_EPOCH]
    if s.blocks[slot, FAR] != 0 and s.sizes[HAS_VECTORS] != 0:
        found = max(found, np.int64(s.vectors[slot, thread, other]))
    return found


def gather(log, at, event, mask, s):
    """Lanes of a warp go on together, each with others of a mask."""
    slot = s.now[SLOT]
    first = s.now[WARP]
    left = mask
    while left != 0:
        lane = lowest(left)
        wanted = log[at + 1 + lane] & _ALL
        group = np.int64(0)
        for other in range(LANES):
            if (left >> other) & 1 != 0 and log[at + 1 + other] & _ALL == wanted:
                group |= 1 << other
        left &= ~group
        if s.sizes[SYNCS] != 0 and group & ~wanted != 0:
            outside = lowest(group & ~wanted)
            note(
                s,
                NOT_IN_MASK,
                WITHIN_WARP,
                SYNCHRONISES,
                0,
                event,
                event,
                s.now[NUMBER],
                s.now[NUMBER],
                first + outside,
                first + outside,
                wanted,
                ones(group & ~wanted),
            )
        # Shuffles, votes and the like let lanes hear of each other's registers, and order no memory.
        if s.sizes[RACES] != 0 and s.events[event] & ORDERS != 0:
            whole = (1 << min(LANES, s.sizes[THREADS] - first)) - 1
            meet(s, slot, first, group & wanted, wanted & whole == whole)
    return 0


def meet(s, slot, first, group, whole):  # noqa: C901, PLR0912 - a compiled loop: a case for each kind of meeting
    """Lanes have synchronised. whole: all of the warp that live have."""
    here = min(LANES, s.sizes[THREADS] - first)
    base = slot * s.sizes[THREADS] + first
    if s.now[SYNCHRONISED] != 0:
        latest = np.int64(0)
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                latest = max(latest, s.threads[base + lane, KNOWN])
        for lane in range(here):
            if (group >> lane) & 1 != 0:
                s.threads[base + lane, KNOWN] = latest
    if s.sizes[HAS_PROXY] != 0:
        meet_engines(s, slot, first, group)
    if whole and s.blocks[slot, FAR] == 0:
        for lane in range(here):
            s.threads[base + lane, WARP_EPOCH] = s.threads[base + lane, EPOCH]
            s.threads[base + lane, EPOCH] += 1
        return
    if s.sizes[HAS_VECTORS] == 0:
        s.blocks[slot, GENERATION] += 1
        return
    begin_other, end_other = first, first + here
    if s.blocks[slot, FAR] > 1:
        begin_other, end_other = np.int64(0), s.sizes[THREADS]
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
            s.threads[base + lane, WARP_EPOCH] = s.threads[base + lane, EPOCH]
        if whole or (group >> lane) & 1 != 0:
            s.threads[base + lane, EPOCH] += 1
    if s.blocks[slot, FAR] == 0:
        # Vectors may hold epochs of before the last barrier of all, which say no more than the generation does.
        s.blocks[slot, FAR] = 1


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
        for thread in range(s.sizes[THREADS]):
            if (s.arrived[slot, barrier, thread // LANES, HERE] >> thread % LANES) & 1 != 0:
                latest = max(latest, np.int64(s.engines[slot, thread, engine]))
        for thread in range(s.sizes[THREADS]):
            if (s.arrived[slot, barrier, thread // LANES, WAITING] >> thread % LANES) & 1 != 0:
                s.engines[slot, thread, engine] = max(np.int64(s.engines[slot, thread, engine]), latest)


def join(slot, barrier, s):
    """What some threads of a block know by a barrier."""
    threads = s.sizes[THREADS]
    for other in range(threads):
        s.row[other] = 0
    time = np.int64(0)
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES, HERE] >> thread % LANES) & 1 != 0:
            time = max(time, s.threads[slot * threads + thread, KNOWN])
            give(s, slot, thread, s.threads[slot * threads + thread, EPOCH])
    s.blocks[slot, FAR] = 2
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES, WAITING] >> thread % LANES) & 1 != 0:
            for other in range(threads):
                s.vectors[slot, thread, other] = max(np.int64(s.vectors[slot, thread, other]), np.int64(s.row[other]))
            s.threads[slot * threads + thread, KNOWN] = time
    for thread in range(threads):
        if (s.arrived[slot, barrier, thread // LANES, HERE] >> thread % LANES) & 1 != 0:
            s.threads[slot * threads + thread, EPOCH] += 1


def give(s, slot, thread, own):
    """Put what a thread knows, and what it did up to an epoch, into `row`."""
    warp = thread // LANES * LANES
    first, last = warp, min(warp + LANES, s.sizes[THREADS])
    if s.blocks[slot, FAR] > 1:
        first, last = np.int64(0), s.sizes[THREADS]
    for other in range(first, last):
        what = own if other == thread else known(s, slot, thread, other)
        s.row[other] = max(np.int64(s.row[other]), what)


def fence(mask, of_device, s):
    """What lanes did so far is known to who reads what they write next; and they know what they have read of."""
    slot = s.now[SLOT]
    for lane in range(min(LANES, s.sizes[THREADS] - s.now[WARP])):
        if (mask >> lane) & 1 != 0:
            thread = s.now[WARP] + lane
            place = slot * s.sizes[THREADS] + thread
            epoch = s.threads[place, EPOCH]
            s.threads[place, BLOCK_FENCE] = epoch
            if of_device:
                s.threads[place, DEVICE_FENCE] = epoch
                s.threads[place, FENCE_GENERATION] = s.blocks[slot, GENERATION]
                s.threads[place, KNOWN] = max(s.threads[place, KNOWN], s.threads[place, PENDING])
                s.threads[place, PENDING] = 0
            s.threads[place, EPOCH] = epoch + 1
            take_pending(s, slot, thread)


def take_pending(s, slot, thread):
    """A thread knows what the bucket holds that it has read of."""
    place = slot * s.sizes[THREADS] + thread
    bucket = s.threads[place, PENDING_BUCKET] - 1
    s.threads[place, PENDING_BUCKET] = 0
    if bucket >= 0:
        take(s, slot, thread, bucket)


def take(s, slot, thread, bucket):
    """Likewise of a bucket."""
    if s.bucket_stamps[slot, bucket] != s.blocks[slot, OF_STAMP]:
        return
    s.blocks[slot, FAR] = 2
    for other in range(s.sizes[THREADS]):
        what = max(np.int64(s.vectors[slot, thread, other]), np.int64(s.buckets[slot, bucket, other]))
        s.vectors[slot, thread, other] = what
    if s.sizes[HAS_PROXY] != 0:
        for engine in range(ENGINES):
            latest = max(s.engines[slot, thread, engine], s.bucket_engines[slot, bucket, engine])
            s.engines[slot, thread, engine] = latest


def synchronise(s, flags, address, thread, reads, writes):
    """A strong access: who reads knows what was released there, who writes releases what stands before its fence."""
    slot = s.now[SLOT]
    place = slot * s.sizes[THREADS] + thread
    spread = (address * SPREAD) >> 20
    bucket = spread & (BUCKETS - 1)
    at = spread & (PLACES - 1)
    if reads:
        if s.sizes[HAS_VECTORS] != 0 and s.bucket_stamps[slot, bucket] == s.blocks[slot, OF_STAMP]:
            if flags & ACQUIRES != 0:
                take(s, slot, thread, bucket)
            elif s.threads[place, PENDING_BUCKET] != bucket + 1:
                take_pending(s, slot, thread)
                s.threads[place, PENDING_BUCKET] = bucket + 1
        if flags & OF_BLOCK == 0 and s.times[at] > 0:
            if flags & ACQUIRES != 0:
                s.threads[place, KNOWN] = max(s.threads[place, KNOWN], s.times[at])
            else:
                s.threads[place, PENDING] = max(s.threads[place, PENDING], s.times[at])
    if writes:
        own = s.threads[place, BLOCK_FENCE]
        if flags & RELEASES != 0:
            own = s.threads[place, EPOCH]
            s.threads[place, EPOCH] += 1
        if own > 0:
            release(s, slot, thread, bucket, own)
            device = s.threads[place, DEVICE_FENCE]
            generation = s.threads[place, FENCE_GENERATION]
            if flags & RELEASES != 0:
                device, generation = own, s.blocks[slot, GENERATION]
            if flags & OF_BLOCK == 0 and device > 0 and s.sizes[COMMUNICATES] != 0:
                publish(s, slot, thread, at, device, generation)


def release(s, slot, thread, bucket, own):
    """What a thread did up to an epoch, and what it knows, stands in a bucket."""
    if s.sizes[HAS_VECTORS] == 0:
        s.blocks[slot, GENERATION] += 1
        return
    freshen(s, slot, bucket)
    for other in range(s.sizes[THREADS]):
        s.row[other] = s.buckets[slot, bucket, other]
    give(s, slot, thread, own)
    if s.sizes[HAS_PROXY] != 0:
        for engine in range(ENGINES):
            latest = max(s.engines[slot, thread, engine], s.bucket_engines[slot, bucket, engine])
            s.bucket_engines[slot, bucket, engine] = latest
    for other in range(s.sizes[THREADS]):
        s.buckets[slot, bucket, other] = s.row[other]


def freshen(s, slot, bucket):
    """A bucket that another block has used holds nothing."""
    if s.bucket_stamps[slot, bucket] == s.blocks[slot, OF_STAMP]:
        return
    s.bucket_stamps[slot, bucket] = s.blocks[slot, OF_STAMP]
    for other in range(s.sizes[THREADS]):
        s.buckets[slot, bucket, other] = 0
    if s.sizes[HAS_PROXY] != 0:
        for engine in range(ENGINES):
            s.bucket_engines[slot, bucket, engine] = 0


def publish(s, slot, thread, at, own, generation):
    """The same for other blocks."""
    number = s.now[NUMBER]
    s.now[SYNCHRONISED] = 1
    s.now[TIME] = min(s.now[TIME] + 1, TOP)
    s.times[at] = s.now[TIME]
    s.generations[number] = max(np.int64(s.generations[number]), generation)
    for other in range(s.sizes[THREADS]):
        s.row[other] = 0
    give(s, slot, thread, own)
    for other in range(s.sizes[THREADS]):
        place = number * s.sizes[THREADS] + other
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
