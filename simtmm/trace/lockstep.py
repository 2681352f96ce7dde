"""The threads of a block as warps in lockstep: a compiled loop over the events of a stretch of blocks.

simtmm/trace/lower.py says which operations come of it.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import Compiled, inlined
from simtmm.trace.lanes import NO_SITE, Lanes, find_threads, next_step, place
from simtmm.trace.schema import Kind
from simtmm.trace.warp_operations import (
    REFUSED,
    Banks,
    conflict_degree,
    least_left_out,
    list_chunks,
    list_events,
    list_updates,
    most_work,
    pass_barrier,
)
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LARGEST, LOAD, SHARED, STORE

WIDEST_ACCESS = 256  # bytes, and so at most this many words of a bank

_WORK, _LOAD, _ASYNC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC)
_STORE, _ATOMIC, _JOIN, _BARRIER = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.JOIN), int(Kind.BARRIER)


@Compiled
def lockstep(
    events, ends, threads, width, chunk_bytes, banks, bank_bytes, lanes_together, by_thread,
    kind, amount, chunks, warp_operations, warp_chunks,
):  # fmt: skip
    """Fill the output arrays; the number of operations and of chunks, and -1, or the block that can't be lowered.

    by_thread: whether a memory operation lists, in the place of chunks, the events of its threads.
    """
    most_threads = 0
    for block in range(len(threads)):
        most_threads = max(most_threads, threads[block])
    most_lanes = min(width, most_threads)
    starts = np.empty(most_threads + 1, dtype=np.int64)
    position, stop = np.empty(most_lanes, dtype=np.int64), np.empty(most_lanes, dtype=np.int64)
    lanes = Lanes(events, position, stop, np.empty(most_lanes, dtype=np.int32))
    words = most_lanes * WIDEST_ACCESS
    bank = Banks(np.empty(banks, dtype=np.int64), np.empty(words, dtype=np.int64), np.empty(words, dtype=np.int64))

    operations = np.int64(0)
    listed = np.int64(0)
    warp = 0
    begin = 0
    for block in range(len(ends)):
        find_threads(events, begin, ends[block], threads[block], starts)
        begin = ends[block]
        for first in range(0, threads[block], width):
            first_operation, first_chunk = operations, listed
            lanes_here = min(width, threads[block] - first)
            place(lanes, starts, first, lanes_here)
            step = next_step(lanes, lanes_here)
            while step.site != NO_SITE:
                count, amount_of = listed, np.int64(0)
                what = step.kind
                if what in (_LOAD, _ASYNC, _STORE, _ATOMIC):
                    if by_thread:
                        count = list_events(lanes, step, chunks, listed)
                    elif what == _ATOMIC:
                        count = list_updates(lanes, step, chunks, listed, chunk_bytes)
                    else:
                        count = list_chunks(lanes, step, chunks, listed, chunk_bytes)
                    amount_of = count - listed
                elif what == _WORK:
                    amount_of = most_work(lanes, step)
                elif what == _JOIN:
                    amount_of = least_left_out(lanes, step)
                elif what == _BARRIER:
                    pass_barrier(lanes, step)
                else:
                    amount_of = conflict_degree(lanes, step, bank, bank_bytes, lanes_together)
                if count == REFUSED or amount_of == REFUSED:
                    return operations, listed, block
                listed = count
                if what != _WORK:
                    kind[operations] = _operation_of(what)
                    amount[operations] = amount_of
                    operations += 1
                elif operations > first_operation and kind[operations - 1] == COMPUTE:
                    if amount[operations - 1] > LARGEST - amount_of:
                        return operations, listed, block
                    amount[operations - 1] += amount_of
                elif amount_of > 0:  # work of no operations is nothing
                    kind[operations] = COMPUTE
                    amount[operations] = amount_of
                    operations += 1
                step = next_step(lanes, lanes_here)
            warp_operations[warp] = operations - first_operation
            warp_chunks[warp] = listed - first_chunk
            warp += 1
    return operations, listed, -1


@inlined
def _operation_of(what):
    """The kind of operation that events of a kind make, work left out."""
    if what == _LOAD:
        return LOAD
    if what == _ASYNC:
        return ASYNC
    if what == _STORE:
        return STORE
    if what == _ATOMIC:
        return ATOMIC
    if what == _JOIN:
        return JOIN
    return BARRIER if what == _BARRIER else SHARED
