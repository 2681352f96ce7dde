"""Accesses of a warp as they are written, and what the load/store units still have to do for them."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.schema import PEER_BIT, Kind
from simtmm.trace.warps.arrivals import spend
from simtmm.trace.warps.holding import catch_up, put
from simtmm.trace.warps.layout import (
    MADE_CHUNKS,
    MADE_OPERATIONS,
    NOTHING_HELD,
    RULE_ATOMIC_PASSES,
    RULE_LONGEST,
    RULE_PIPE_LANES,
    RULE_PLACES,
    RULE_REMOTE_LATENCY,
    RULE_SECTOR_BYTES,
    RULE_SHARED_INTERVAL,
    RULE_SHARED_LATENCY,
    RULE_SHARED_PORTS,
    WARP_ASYNCS,
    WARP_BACKLOG,
    WARP_CYCLES,
    WARP_HELD_KIND,
    WARP_LAST_COPY,
    WARP_SHARED,
)
from simtmm.trace.warps.places import place_at
from simtmm.workload import ASYNC, COPY, LISTED, MOST_PASSES, PASSES_SHIFT, REDUCE, SHARED, STORE

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
    backlog = walk.warp[w, WARP_BACKLOG] + taken(walk, count - output.used[MADE_CHUNKS])
    walk.warp[w, WARP_BACKLOG] = min(backlog, MOST_LEFT * walk.rules[RULE_SHARED_INTERVAL])
    spend(walk, w, np.int64(1) if operation in (ASYNC, STORE, REDUCE, COPY) else walk.rules[RULE_LONGEST])
    if operation == COPY and joins_copy(walk, w, output, place):
        join_copy(walk, w, output, count)
        return
    put(walk, w, output, operation, count - output.used[MADE_CHUNKS] + ((passes - 1) << PASSES_SHIFT), place)
    output.used[MADE_CHUNKS] = count
    if operation == COPY:
        walk.warp[w, WARP_LAST_COPY] = output.used[MADE_OPERATIONS] - 1
    if operation == ASYNC:
        asyncs = walk.warp[w, WARP_ASYNCS] + 1
        walk.warp[w, WARP_ASYNCS] = asyncs
        if says:
            for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
                walk.latest[w, walk.gives[index]] = asyncs


@inlined
def joins_copy(walk, w, output, place):
    """Whether what a warp copies goes on with the copy that it has written last: one instruction moves all of it."""
    last = output.used[MADE_OPERATIONS] - 1
    if walk.warp[w, WARP_LAST_COPY] != last or walk.warp[w, WARP_HELD_KIND] != NOTHING_HELD:
        return False
    return output.amount[last] < MOST_COPIED and (walk.rules[RULE_PLACES] == 0 or output.place[last] == place)


@inlined
def join_copy(walk, w, output, count):
    """Have the copy written last list the chunks up to `count`, too; one that it lists last already only once."""
    first = output.used[MADE_CHUNKS]
    kept = first
    for index in range(first, count):
        if output.chunks[index] == output.chunks[kept - 1]:
            if walk.rules[RULE_SECTOR_BYTES] != 0:
                output.sectors[kept - 1] += output.sectors[index]
            continue
        output.chunks[kept] = output.chunks[index]
        if walk.rules[RULE_SECTOR_BYTES] != 0:
            output.sectors[kept] = output.sectors[index]
        kept += 1
    output.amount[walk.warp[w, WARP_LAST_COPY]] += kept - first
    output.used[MADE_CHUNKS] = kept


@inlined
def is_remote(value):
    """Whether what a shared access says of its address is of another block's shared memory."""
    return value & LISTED >= 1 << PEER_BIT


@inlined
def access_shared(walk, w, kind, site, says, degree, remote, output):
    """Write an access to shared memory whose lanes go to the banks so often. remote: that of another block."""
    is_far = remote and says and walk.rules[RULE_REMOTE_LATENCY] > 0
    if walk.rules[RULE_PIPE_LANES] > 0:
        if kind == _SHARED_ATOMIC and walk.rules[RULE_ATOMIC_PASSES] > 1:
            of_each = walk.rules[RULE_ATOMIC_PASSES]
            least = ((degree >> PASSES_SHIFT) + 1) * of_each - 1
            least = min(least, np.int64(MOST_PASSES - 1))
            degree = min((degree & LISTED) * of_each, np.int64(MOST_PASSES)) + (least << PASSES_SHIFT)
        put(walk, w, output, SHARED, degree, place_at(walk, site))
        spend(walk, w, np.int64(1))
        walk.warp[w, WARP_SHARED] += 1
        if is_far:
            come_from_afar(walk, w, site)
        elif says:
            for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
                walk.shared[w, walk.gives[index]] = walk.warp[w, WARP_SHARED]
        return
    kept = keep_apart(walk, w, degree)
    put(walk, w, output, SHARED, kept, place_at(walk, site))
    if is_far:
        spend(walk, w, kept)
        come_from_afar(walk, w, site)
    elif says:
        spend(walk, w, kept)
        for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
            walk.shared[w, walk.gives[index]] = walk.warp[w, WARP_CYCLES] + walk.rules[RULE_SHARED_LATENCY]


@inlined
def come_from_afar(walk, w, site):
    """What a site loads of another block's shared memory is there some cycles later."""
    for index in range(walk.gives_end[site], walk.gives_end[site + 1]):
        there = walk.warp[w, WARP_CYCLES] + walk.rules[RULE_REMOTE_LATENCY]
        walk.ready[w, walk.gives[index]] = max(walk.ready[w, walk.gives[index]], there)


@inlined
def keep_apart(walk, w, degree):
    """How long a shared access keeps its port, where those of a group keep an interval from one another."""
    interval = walk.rules[RULE_SHARED_INTERVAL]
    if interval == 0:
        return degree * max(np.int64(1), walk.rules[RULE_SHARED_PORTS])
    backlog = walk.warp[w, WARP_BACKLOG] + taken(walk, degree)
    kept = max(np.int64(1), backlog - MOST_WAITING * interval)
    walk.warp[w, WARP_BACKLOG] = backlog - kept
    return kept


@inlined
def taken(walk, passes):
    """How long the load/store units are taken by an access of so many passes, in instructions of a port."""
    return max(walk.rules[RULE_SHARED_INTERVAL], walk.rules[RULE_SHARED_PORTS] * passes)
