"""Accesses of a warp as they are written, and what the load/store units still have to do for them."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.schema import PEER_BIT, Kind
from simtmm.trace.warps.arrivals import spend
from simtmm.trace.warps.holding import catch_up, put
from simtmm.trace.warps.layout import NOTHING_HELD
from simtmm.trace.warps.places import place_at
from simtmm.workload import ASYNC, COPY, LISTED, MOST_PASSES, PASSES_SHIFT, REDUCE, REMOTE, SHARED, STORE

_SHARED_ATOMIC = int(Kind.SHARED_ATOMIC)

MOST_COPIED = 256  # chunks of a copy, about: of an instruction as large as a stage of a pipeline
MOST_WAITING = 8  # shared accesses of a warp that wait for the load/store units while it goes on
MOST_LEFT = 16  # that accesses of global memory leave to do, as the units go on while a warp waits for memory


@inlined
def access(walk, w, operation, site, says, count, passes, output, place):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Write a memory operation that lists the chunks up to `count`.

    passes: over the banks, where it passes a pipe.
    """
    catch_up(walk, w, np.int64(1))
    backlog = walk.warp[w].backlog + taken(walk, count - output.used.chunks)
    walk.warp[w].backlog = min(backlog, MOST_LEFT * walk.rules.shared_interval)
    spend(walk, w, np.int64(1) if operation in (ASYNC, STORE, REDUCE, COPY) else walk.rules.longest)
    if operation == COPY and joins_copy(walk, w, output, place):
        join_copy(walk, w, output, count)
        return
    put(walk, w, output, operation, count - output.used.chunks + ((passes - 1) << PASSES_SHIFT), place)
    output.used.chunks = count
    if operation == COPY:
        walk.warp[w].last_copy = output.used.operations - 1
        walk.warp[w].copy_site = site
    if operation == ASYNC:
        asyncs = walk.warp[w].asyncs + 1
        walk.warp[w].asyncs = asyncs
        if says:
            for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
                walk.latest[w, walk.gives[index]] = asyncs


@inlined
def joins_copy(walk, w, output, place):
    """Whether what a warp copies goes on with the copy that it has written last: one instruction moves all of it."""
    if not may_join(walk, w, output):
        return False
    return walk.rules.places == 0 or output.place[walk.warp[w].last_copy] == place


@inlined
def may_join(walk, w, output):
    """Whether the operation that a warp has written last is a copy with room for more."""
    last = output.used.operations - 1
    if last < 0 or walk.warp[w].last_copy != last or walk.warp[w].held_kind != NOTHING_HELD:
        return False
    return output.amount[last] < MOST_COPIED


@inlined
def join_copy(walk, w, output, count):
    """Have the copy written last list the chunks up to `count`, too; one that it lists last already only once."""
    first = output.used.chunks
    kept = first
    for index in range(first, count):
        if output.chunks[index] == output.chunks[kept - 1]:
            if walk.rules.sector_bytes != 0:
                output.sectors[kept - 1] += output.sectors[index]
            continue
        output.chunks[kept] = output.chunks[index]
        if walk.rules.sector_bytes != 0:
            output.sectors[kept] = output.sectors[index]
        kept += 1
    output.amount[walk.warp[w].last_copy] += kept - first
    output.used.chunks = kept


@inlined
def is_remote(value):
    """Whether what a shared access says of its address is of another block's shared memory."""
    return value & LISTED >= 1 << PEER_BIT


@inlined
def access_shared(walk, w, kind, site, says, degree, remote, output):
    """Write an access to shared memory whose lanes go to the banks so often. remote: that of another block."""
    is_far = remote and says and walk.rules.remote_latency > 0
    if walk.rules.pipe_lanes > 0:
        if kind == _SHARED_ATOMIC and walk.rules.atomic_passes > 1:
            of_each = walk.rules.atomic_passes
            least = ((degree >> PASSES_SHIFT) + 1) * of_each - 1
            least = min(least, np.int64(MOST_PASSES - 1))
            degree = min((degree & LISTED) * of_each, np.int64(MOST_PASSES)) + (least << PASSES_SHIFT)
        put(walk, w, output, SHARED, degree, place_at(walk, site))
        if remote and walk.rules.remote_ways != 0:
            put(walk, w, output, REMOTE, min(degree & LISTED, np.int64(MOST_PASSES)), place_at(walk, site))
        spend(walk, w, np.int64(1))
        walk.warp[w].shared += 1
        if is_far:
            come_from_afar(walk, w, site)
        elif says:
            for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
                walk.shared[w, walk.gives[index]] = walk.warp[w].shared
        return
    kept = keep_apart(walk, w, degree)
    put(walk, w, output, SHARED, kept, place_at(walk, site))
    if remote and walk.rules.remote_ways != 0:
        put(walk, w, output, REMOTE, min(degree, np.int64(MOST_PASSES)), place_at(walk, site))
    if is_far:
        spend(walk, w, kept)
        come_from_afar(walk, w, site)
    elif says:
        spend(walk, w, kept)
        for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
            walk.shared[w, walk.gives[index]] = walk.warp[w].cycles + walk.rules.shared_latency


@inlined
def come_from_afar(walk, w, site):
    """What a site loads of another block's shared memory is there some cycles later."""
    for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
        there = walk.warp[w].cycles + walk.rules.remote_latency
        walk.ready[w, walk.gives[index]] = max(walk.ready[w, walk.gives[index]], there)


@inlined
def keep_apart(walk, w, degree):
    """How long a shared access keeps its port, where those of a group keep an interval from one another."""
    interval = walk.rules.shared_interval
    if interval == 0:
        return degree * max(np.int64(1), walk.rules.shared_ports)
    backlog = walk.warp[w].backlog + taken(walk, degree)
    kept = max(np.int64(1), backlog - MOST_WAITING * interval)
    walk.warp[w].backlog = backlog - kept
    return kept


@inlined
def taken(walk, passes):
    """How long the load/store units are taken by an access of so many passes, in instructions of a port."""
    return max(walk.rules.shared_interval, walk.rules.shared_ports * passes)
