"""The threads of a block as warps in lockstep: a compiled loop over the events of a stretch of blocks.

simtmm/trace/lower.py says which operations come of it.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any, NamedTuple

import numpy as np

from simtmm.compiled import Compiled, inlined
from simtmm.trace.lanes import NO_SITE, Lanes, find_threads, next_step, place, said_at_barrier, site_of
from simtmm.trace.local_operations import list_local_chunks, list_local_words
from simtmm.trace.schema import Kind
from simtmm.trace.site_lookups import gives_anything, keep_given, latest_needed, stall_at, work_at
from simtmm.trace.warp_operations import (
    REFUSED,
    Banks,
    conflict_degree,
    count_words,
    least_left_out,
    list_chunks,
    list_events,
    list_updates,
    most_work,
    pass_barrier,
)
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LARGEST, LOAD, PAUSE, SHARED, STORE

DONE, NEEDS_TABLES = -1, -2  # in the place of a block
WIDEST_ACCESS = 256  # bytes, and so at most this many words of a bank

_WORK, _LOAD, _ASYNC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC)
_STORE, _ATOMIC, _JOIN, _BARRIER = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.JOIN), int(Kind.BARRIER)
_LOCAL_STORE, _CONSTANT_LOAD = int(Kind.LOCAL_STORE), int(Kind.CONSTANT_LOAD)


class Rules(NamedTuple):
    """What decides operations, of a machine: see LoweringSpecification."""

    width: Any
    chunk_bytes: Any
    banks: Any
    bank_bytes: Any
    lanes_together: Any
    by_thread: Any  # whether a memory operation lists, in the place of chunks, the events of its threads


class Output(NamedTuple):
    """What is filled."""

    kind: Any  # uint8[operations]
    amount: Any  # int64[operations]
    chunks: Any  # int64
    warp_operations: Any  # int64[warps]: operations of each warp
    warp_chunks: Any  # int64[warps]: chunks of each warp


@Compiled
def lockstep(events, ends, threads, rules, output):
    """Lower blocks, of events alone.

    The number of operations and of chunks, and DONE; or else the block that can't be lowered, or NEEDS_TABLES where an
    event is of a kind that only `lockstep_with_tables` knows.
    """
    most_lanes = min(rules.width, _largest(threads))
    words = most_lanes * WIDEST_ACCESS
    bank = Banks(np.empty(rules.banks, np.int64), np.empty(words, np.int64), np.empty(words, np.int64))
    position, stop = np.empty(most_lanes, dtype=np.int64), np.empty(most_lanes, dtype=np.int64)
    lanes = Lanes(events, position, stop, np.empty(most_lanes, dtype=np.int32))
    starts = np.empty(_largest(threads) + 1, dtype=np.int64)
    return _lower(ends, threads, rules, output, None, None, lanes, starts, bank)


@Compiled
def lockstep_with_tables(events, ends, threads, rules, output, tables, local):
    """Likewise, by what sites say as well, and with local memory and constants."""
    most_lanes = min(rules.width, _largest(threads))
    words = most_lanes * WIDEST_ACCESS
    bank = Banks(np.empty(rules.banks, np.int64), np.empty(words, np.int64), np.empty(words, np.int64))
    position, stop = np.empty(most_lanes, dtype=np.int64), np.empty(most_lanes, dtype=np.int64)
    lanes = Lanes(events, position, stop, np.empty(most_lanes, dtype=np.int32))
    starts = np.empty(_largest(threads) + 1, dtype=np.int64)
    tables.latest[:] = 0
    return _lower(ends, threads, rules, output, tables, local, lanes, starts, bank)


@inlined
def _largest(threads):
    largest = np.int64(0)
    for block in range(len(threads)):
        largest = max(largest, threads[block])
    return largest


@inlined
def _lower(ends, threads, rules, output, tables, local, lanes, starts, bank):
    """What both do. tables, local: None where there are none; Numba leaves out what asks for that."""
    width, chunk_bytes, by_thread = rules.width, rules.chunk_bytes, rules.by_thread
    kind, amount, chunks = output.kind, output.amount, output.chunks
    operations = np.int64(0)
    listed = np.int64(0)
    asyncs = np.int64(0)  # of all warps so far, so that what tables keep of another warp's is below the present one's
    warp = 0
    begin = 0
    for block in range(len(ends)):
        find_threads(lanes.events, begin, ends[block], threads[block], starts)
        begin = ends[block]
        for first in range(0, threads[block], width):
            first_operation, first_chunk = operations, listed
            waited = asyncs  # up to this one nothing is in flight
            lanes_here = min(width, threads[block] - first)
            place(lanes, starts, first, lanes_here)
            step = next_step(lanes, lanes_here)
            while step.site != NO_SITE:
                count, amount_of = listed, np.int64(0)
                what = operation = step.kind
                site = before = stall = np.int64(0)
                if tables is not None:
                    site = site_of(lanes, step.leader)
                    latest = latest_needed(tables, site, waited)
                    before, stall = work_at(tables, site), stall_at(tables, site)
                    if what == _BARRIER:
                        latest, before, stall = said_at_barrier(lanes, step, tables, waited)
                    if latest > waited:
                        kind[operations] = JOIN
                        amount[operations] = asyncs - latest
                        operations += 1
                        waited = latest
                    if what != _WORK:
                        operations = _append(kind, amount, operations, first_operation, COMPUTE, before)
                        if operations != REFUSED:
                            operations = _append(kind, amount, operations, first_operation, PAUSE, stall)
                        if operations == REFUSED:
                            return operations, listed, block
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
                    if tables is not None:
                        stall = np.int64(0) if stall == 0 else _times(amount_of, stall)
                        amount_of = _times(amount_of, before)
                elif what == _JOIN:
                    amount_of = least_left_out(lanes, step)
                elif what == _BARRIER:
                    pass_barrier(lanes, step)
                elif what < _BARRIER:
                    amount_of = conflict_degree(lanes, step, bank, rules.bank_bytes, rules.lanes_together)
                else:
                    if tables is None:
                        return operations, listed, np.int64(NEEDS_TABLES)
                    else:  # noqa: RET505  # Numba leaves out one branch of two
                        if what == _CONSTANT_LOAD:
                            operation, amount_of = np.int64(_WORK), count_words(lanes, step, bank.word)
                        else:
                            operation = _operation_of_local(what, gives_anything(tables, site))
                            if by_thread:
                                count = list_local_words(lanes, step, chunks, listed, local.bytes[block])
                            else:
                                region = local.base[block] + first // width * local.stride[block]
                                size = local.bytes[block]
                                count = list_local_chunks(lanes, step, chunks, listed, chunk_bytes, region, size, width)
                            amount_of = count - listed
                if count == REFUSED or amount_of == REFUSED or stall == REFUSED:
                    return operations, listed, block
                listed = count
                if operation == _WORK:
                    operations = _append(kind, amount, operations, first_operation, COMPUTE, amount_of)
                    if tables is not None and what == _WORK and operations != REFUSED:
                        operations = _append(kind, amount, operations, first_operation, PAUSE, stall)
                    if operations == REFUSED:
                        return operations, listed, block
                else:
                    kind[operations] = _operation_of(operation)
                    amount[operations] = amount_of
                    operations += 1
                if tables is not None:
                    if operation == _ASYNC:
                        asyncs += 1
                        keep_given(tables, site, asyncs)
                    elif operation == _JOIN:
                        waited = max(waited, asyncs - amount_of)
                    elif operation == _BARRIER:
                        waited = asyncs
                step = next_step(lanes, lanes_here)
            output.warp_operations[warp] = operations - first_operation
            output.warp_chunks[warp] = listed - first_chunk
            warp += 1
    return operations, listed, np.int64(DONE)


@inlined
def _times(times, instructions):
    """Instructions, or cycles, so often, or REFUSED; `times` itself where nobody says which instructions they are."""
    if times == REFUSED or instructions == 0:
        return times
    return np.int64(REFUSED) if times > LARGEST // instructions else times * instructions


@inlined
def _operation_of_local(what, gives):
    """What an access to local memory is; one whose value nobody could wait for is waited for at once."""
    if what == _LOCAL_STORE:
        return np.int64(_STORE)
    return np.int64(_ASYNC) if gives else np.int64(_LOAD)


@inlined
def _append(kind, amount, operations, first_operation, what, more):
    """Append instructions, or cycles of a pause, to a warp's operations, to the last of them if it is of that kind; how
    many operations there are then, or REFUSED.
    """
    if operations > first_operation and kind[operations - 1] == what:
        if amount[operations - 1] > LARGEST - more:
            return np.int64(REFUSED)
        amount[operations - 1] += more
    elif more > 0:  # work of no operations is nothing
        kind[operations] = what
        amount[operations] = more
        operations += 1
    return np.int64(operations)


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
