"""The compiled part of the fast engine: docs/machine.md as loops over flat arrays.

Numba compiles `run` once for each set of *flags* (coupled, switch, memory, order). A flag is an empty array whose
number of dimensions says what it means; that is part of its type, so what a machine does not have is not in the machine
code. Nothing here owns memory: `simtmm/engine/fast.py` lays out the arrays, and the functions are compiled without
Numba's runtime, which would count references to them.

State is kept in rows of 64-bit integers, a row a warp (WARP_*), block (BLOCK_*), port (PORT_*) or group (GROUP_*):
what belongs to one warp shares its cache lines. Warps lie by group and slot, blocks by group and place.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,assignment"

from typing import Any, NamedTuple

import numba.extending
import numpy as np
from llvmlite import ir

from simtmm.compiled import helper, inlined
from simtmm.timeline import WarpState
from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LOAD, SHARED, STORE

NEVER = np.int64(1) << 62
START, TO_ISSUE, ISSUING, PIPELINE, MEMORY, IN_BARRIER = (int(state) for state in WarpState)

# Rows
WARP_POSITION, WARP_END, WARP_CHUNK, WARP_AGE, WARP_READY, WARP_BLOCK, WARP_NEXT, WARP_COMPUTED = range(8)
WARP_ASYNCS, WARP_FIRST, WARP_DONE = range(8, 11)
WARP_ROW = 11
BLOCK_LIVING, BLOCK_WAITING, BLOCK_FIRST, BLOCK_WARPS, BLOCK_SOONEST = range(5)
BLOCK_ROW = 5
PORT_RELEASE, PORT_WARP, PORT_ACCESS, PORT_COUNT, PORT_GRANTED = range(5)
PORT_ROW = 5
GROUP_HELD, GROUP_LIVING, GROUP_MEMORY, GROUP_BARRIER, GROUP_ACCOUNTED, GROUP_BLOCKS, GROUP_WARPS = range(7)
GROUP_LAUNCH_FREE, GROUP_GRANTED_SLOT, GROUP_GRANTED_AGE, GROUP_READY, GROUP_FINISHED, GROUP_PORT_FREE = range(7, 13)
GROUP_MEMORY_HEAD, GROUP_MEMORY_TAIL, GROUP_OTHER_HEAD, GROUP_OTHER_TAIL, GROUP_QUEUE_HEAD, GROUP_QUEUE_TAIL = range(
    13, 19
)
GROUP_PARKED, GROUP_LAST, GROUP_EMPTY_BLOCKS = range(19, 22)
GROUP_TIME = 22  # and the four behind it: issuing, memory, barrier, start, empty
GROUP_ISSUED, GROUP_TRANSACTIONS, GROUP_L1_HITS, GROUP_L2_HITS, GROUP_PORT_BUSY, GROUP_DONE_WARPS = range(27, 33)
GROUP_ROW = 33
NEXT, TOUCHED = 0, 1  # rows of the clock
LANE = 2  # touched by this and a lane's number: that lane goes on with the group

GO_ON, OVER, WIDE = range(3)  # what `run` says: call again; all is done; call for each lane, then again

# Parameters, in ticks and counts
(
    P_GROUPS, P_PORTS, P_SLOTS, P_RING, P_BLOCKS, P_ISSUE, P_DEPTH, P_BLOCK_LAUNCH, P_WARP_LAUNCH, P_LATENCY,
    P_PORT_INTERVAL, P_SERVICE, P_ATOMIC_SERVICE, P_PARTITIONS, P_HASHED, P_BLOCKING, P_OUTSTANDING, P_L1_SETS,
    P_L1_WAYS, P_L1_LATENCY, P_L2_SETS, P_L2_WAYS, P_L2_LATENCY, P_SERIAL, P_ROOM, P_MOST_BLOCKS, P_PARTITIONED,
    P_SCHEDULER, P_BREAKDOWN, P_TIMELINE, P_LANES, P_WIDE, P_FIRST_BLOCK, P_STORE_LATENCY, P_TURNAROUND, P_DROPS,
    P_ROW_CHUNKS, P_OPEN_ROWS, P_ROW_OPENING, P_PORT_CHUNKS, P_L2_SERVICE, P_WRITES_BACK,
) = range(42)  # fmt: skip
PARAMETERS = 49

# and what a call leaves for the next
R_PENDING, R_LAST_BLOCK, R_AGE, R_ANY_FINISHED, R_TICK, R_STARTED, R_INTERVALS = range(42, 49)

# Flags, by their number of dimensions
NO, YES = 1, 2  # coupled: groups keep one clock; memory: a transfer may take anything but L
ON_STALL, EVERY_INSTRUCTION = 1, 2  # switch
QUEUE, BITS = 1, 2  # order: ready warps in a queue (fifo) or as bits (the other schedulers)

FIFO, OLDEST, GREEDY_OLDEST, ROUND_ROBIN = range(4)  # a parameter

MEMORY_TICKS, MEMORY_SLOTS, OTHER_TICKS, OTHER_SLOTS, QUEUED, FINISHED = range(6)  # rings
READY_SLOTS, FREE_SLOTS, FREE_BLOCKS = range(3)  # bits

READY, SLEEPS, AT_BARRIER, IS_DONE = range(4)  # what comes of advancing


WATCH_NUMBER, WATCH_STATE, WATCH_SINCE = range(3)
WATCH_ROW = 3


class State(NamedTuple):
    """All of a launch, as Numba takes it."""

    parameters: Any  # int64: P_* and R_*
    kind: Any  # the workload's, as are the next five
    amount: Any
    chunks: Any
    warp_operations: Any
    warp_chunks: Any
    block_warps: Any
    warp: Any  # int64[groups * slots, WARP_*]
    block: Any  # int64[groups * places, BLOCK_*]
    port: Any  # int64[groups * ports, PORT_*]
    group: Any  # int64[groups, GROUP_*]
    shortest: Any  # int64[blocks]: ticks that a block takes at least; only where groups run in lanes
    clock: Any  # int64[NEXT and TOUCHED, groups]: when something happens next, whether to issue now
    rings: Any  # int64[groups, MEMORY_TICKS..., ring]: sorted wake-ups from memory (ticks and slots), the other
    # wake-ups (pipeline, beginning), ready warps in fifo's order, finished blocks that wait for a dispatch
    bits: Any  # uint64[groups, READY_SLOTS..., words]: slots of ready warps, free slots, free places
    in_flight: Any  # int64[groups * slots, outstanding]: finishes of asyncs, where their number is limited
    finishes: Any  # int64[operations]: from a warp's first operation on, the latest finish of its first n asyncs
    partition_free: Any  # int64[partitions]
    partition_writes: Any  # int64[partitions]: whether the last chunk was written, where turning round takes time
    rows: Any  # int64[partitions, open, 2]: numbers of the open rows, latest used first, and nothing
    l1: Any  # int64[groups * sets, ways, 2]: chunks and fill times, latest used first
    l2: Any  # int64[sets, ways, 2]: likewise, but twice the fill time, and one more for a line that is to be written
    slice_free: Any  # int64[partitions], of the L2
    watch: Any  # int64[groups * slots, WATCH_*], for the timeline
    intervals: Any  # int64[room, 6]: the timeline's, as they end


# Numba's own annotations do not know that an intrinsic's first parameter is not the caller's.
_intrinsic: Any = numba.extending.intrinsic


@_intrinsic
def _prefetch(typing, array, index):
    """Have an element of an array, by its place in memory order, brought into the cache; changes nothing else."""

    def generate(context, builder, signature, arguments):
        byte = ir.IntType(8).as_pointer()
        number = ir.IntType(32)
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        of_type = ir.FunctionType(ir.VoidType(), [byte, number, number, number])
        prefetch = builder.module.declare_intrinsic("llvm.prefetch", [byte], of_type)
        builder.call(prefetch, [place, number(0), number(3), number(1)])  # to be read, into every cache, data
        return context.get_dummy_value()

    return numba.types.void(array, numba.types.int64), generate


@inlined
def _account(s, g, t):
    """Book the ticks since the group's last event under what it was doing (section 7)."""
    passed = t - s.group[g, GROUP_ACCOUNTED]
    if passed > 0:
        if s.group[g, GROUP_HELD] > 0:
            state = 0
        elif s.group[g, GROUP_LIVING] == 0:
            state = 4
        elif s.group[g, GROUP_MEMORY] > 0:
            state = 1
        elif s.group[g, GROUP_BARRIER] > 0:
            state = 2
        else:
            state = 3
        s.group[g, GROUP_TIME + state] += passed
        s.group[g, GROUP_ACCOUNTED] = t


@helper
def _note(s, g, w, state, t):
    """Another state of a warp begins; the interval that ends goes into the timeline."""
    since = s.watch[w, WATCH_SINCE]
    if t > since:
        index = s.parameters[R_INTERVALS]
        s.parameters[R_INTERVALS] = index + 1
        s.intervals[index, 0] = s.watch[w, WATCH_NUMBER]
        s.intervals[index, 1] = g
        s.intervals[index, 2] = w - g * s.parameters[P_SLOTS]
        s.intervals[index, 3] = s.watch[w, WATCH_STATE]
        s.intervals[index, 4] = since
        s.intervals[index, 5] = t
    s.watch[w, WATCH_STATE] = state
    s.watch[w, WATCH_SINCE] = t


@inlined
def _turn(s, g, w, state, t):
    """A warp is in another state from now on."""
    if s.parameters[P_TIMELINE] != 0:
        _note(s, g, w, state, t)


@inlined
def _push(s, ring, g, t, slot, tail_field, head_field):
    """Put a wake-up into a ring that is sorted by tick; it nearly always goes to the end."""
    mask = s.parameters[P_RING] - 1
    tail = s.group[g, tail_field]
    head = s.group[g, head_field]
    s.group[g, tail_field] = tail + 1
    while tail > head and s.rings[g, ring, (tail - 1) & mask] > t:
        s.rings[g, ring, tail & mask] = s.rings[g, ring, (tail - 1) & mask]
        s.rings[g, ring + 1, tail & mask] = s.rings[g, ring + 1, (tail - 1) & mask]
        tail -= 1
    s.rings[g, ring, tail & mask] = t
    s.rings[g, ring + 1, tail & mask] = slot


@inlined
def _make_ready(s, order, g, w, slot, t):
    """The warp waits for a port from now on."""
    mask = s.parameters[P_RING] - 1
    _turn(s, g, w, TO_ISSUE, t)
    s.warp[w, WARP_READY] = t
    s.group[g, GROUP_READY] += 1
    if order.ndim == QUEUE:
        # In order of ready time, then age; times never fall, so only this tick's entries can be younger.
        tail = s.group[g, GROUP_QUEUE_TAIL]
        head = s.group[g, GROUP_QUEUE_HEAD]
        s.group[g, GROUP_QUEUE_TAIL] = tail + 1
        base = w - slot
        age = s.warp[w, WARP_AGE]
        while tail > head:
            other = base + s.rings[g, QUEUED, (tail - 1) & mask]
            if s.warp[other, WARP_READY] < t or s.warp[other, WARP_AGE] < age:
                break
            s.rings[g, QUEUED, tail & mask] = s.rings[g, QUEUED, (tail - 1) & mask]
            tail -= 1
        s.rings[g, QUEUED, tail & mask] = slot
    else:
        s.bits[g, READY_SLOTS, slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@inlined
def _lowest_bit(word):
    """The number of the lowest set bit."""
    low = word & (~word + np.uint64(1))
    number = 0
    if low & np.uint64(0xFFFFFFFF00000000):
        number += 32
    if low & np.uint64(0xFFFF0000FFFF0000):
        number += 16
    if low & np.uint64(0xFF00FF00FF00FF00):
        number += 8
    if low & np.uint64(0xF0F0F0F0F0F0F0F0):
        number += 4
    if low & np.uint64(0xCCCCCCCCCCCCCCCC):
        number += 2
    if low & np.uint64(0xAAAAAAAAAAAAAAAA):
        number += 1
    return number


@inlined
def _pick(s, order, g):
    """The slot of the ready warp that the scheduler grants (section 5); it is ready no more."""
    mask = s.parameters[P_RING] - 1
    s.group[g, GROUP_READY] -= 1
    if order.ndim == QUEUE:
        head = s.group[g, GROUP_QUEUE_HEAD]
        s.group[g, GROUP_QUEUE_HEAD] = head + 1
        return s.rings[g, QUEUED, head & mask]
    words = s.bits.shape[2]
    base = g * s.parameters[P_SLOTS]
    chosen = np.int64(-1)
    if s.parameters[P_SCHEDULER] == ROUND_ROBIN:
        last = s.group[g, GROUP_GRANTED_SLOT] + 1
        first_word = last >> 6
        if first_word < words:
            word = s.bits[g, READY_SLOTS, first_word] & (~np.uint64(0) << np.uint64(last & 63))
            index = first_word
            while word == 0 and index + 1 < words:
                index += 1
                word = s.bits[g, READY_SLOTS, index]
            if word != 0:
                chosen = (index << 6) + _lowest_bit(word)
        if chosen < 0:
            index = 0
            while s.bits[g, READY_SLOTS, index] == 0:
                index += 1
            chosen = (index << 6) + _lowest_bit(s.bits[g, READY_SLOTS, index])
    else:
        if s.parameters[P_SCHEDULER] == GREEDY_OLDEST:
            slot = s.group[g, GROUP_GRANTED_SLOT]
            if (
                slot >= 0
                and (s.bits[g, READY_SLOTS, slot >> 6] >> np.uint64(slot & 63)) & np.uint64(1)
                and s.warp[base + slot, WARP_AGE] == s.group[g, GROUP_GRANTED_AGE]
            ):
                chosen = slot
        if chosen < 0:
            youngest = NEVER
            for index in range(words):
                word = s.bits[g, READY_SLOTS, index]
                while word != 0:
                    slot = (index << 6) + _lowest_bit(word)
                    word &= word - np.uint64(1)
                    age = s.warp[base + slot, WARP_AGE]
                    if age < youngest:
                        youngest = age
                        chosen = slot
    s.bits[g, READY_SLOTS, chosen >> 6] &= ~(np.uint64(1) << np.uint64(chosen & 63))
    return chosen


@inlined
def _is_full(s, w, t):
    """Whether as many asyncs of a warp as may be in flight, if there is a limit, finish after t."""
    limit = s.parameters[P_OUTSTANDING]
    if limit == 0:
        return False
    count = 0
    for index in range(s.in_flight.shape[1]):
        if s.in_flight[w, index] > t:
            count += 1
    return count >= limit


@inlined
def _sleep(s, g, t, finish, slot):
    """A warp waits for a memory instruction of its own."""
    _turn(s, g, g * s.parameters[P_SLOTS] + slot, MEMORY, t)
    s.group[g, GROUP_MEMORY] += 1
    # Thousands of warps read their lists in turns, too many for the hardware to see where each goes on.
    w = g * s.parameters[P_SLOTS] + slot
    _prefetch(s.kind, s.warp[w, WARP_POSITION])
    _prefetch(s.amount, s.warp[w, WARP_POSITION])
    _prefetch(s.chunks, s.warp[w, WARP_CHUNK])
    _push(s, MEMORY_TICKS, g, finish, slot, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD)


@inlined
def _advance(s, order, g, slot, t):
    """Section 3 for one warp: READY, SLEEPS, AT_BARRIER or IS_DONE."""
    w = g * s.parameters[P_SLOTS] + slot
    position = s.warp[w, WARP_POSITION]
    end = s.warp[w, WARP_END]
    while True:
        what = np.int64(JOIN) if position == end else np.int64(s.kind[position])
        if what in (JOIN, BARRIER):
            if s.warp[w, WARP_ASYNCS] > 0:
                left_out = s.amount[position] if position < end and what == JOIN else np.int64(0)
                count = s.warp[w, WARP_ASYNCS] - left_out
                if count > 0:
                    finish = s.finishes[s.warp[w, WARP_FIRST] + count - 1]
                    if finish > t:
                        s.warp[w, WARP_POSITION] = position
                        _sleep(s, g, t, finish, slot)
                        return SLEEPS
            if position == end:
                s.warp[w, WARP_POSITION] = position
                s.warp[w, WARP_DONE] = 1
                _turn(s, g, w, START, t)
                return IS_DONE
            position += 1
            if what == BARRIER:
                s.warp[w, WARP_POSITION] = position
                _turn(s, g, w, IN_BARRIER, t)
                return AT_BARRIER
            continue
        if what == ASYNC and _is_full(s, w, t):
            first = NEVER
            for index in range(s.in_flight.shape[1]):
                if t < s.in_flight[w, index] < first:
                    first = s.in_flight[w, index]
            s.warp[w, WARP_POSITION] = position
            _sleep(s, g, t, first, slot)
            return SLEEPS
        s.warp[w, WARP_POSITION] = position
        _make_ready(s, order, g, w, slot, t)
        return READY


@helper
def _leave(s, order, g, slot, t, outcome):
    """A warp has come to a barrier or is done: what that sets off in its block."""
    base = g * s.parameters[P_SLOTS]
    b = s.warp[base + slot, WARP_BLOCK]
    if outcome == AT_BARRIER:
        s.block[b, BLOCK_WAITING] += 1
        s.group[g, GROUP_BARRIER] += 1
    else:
        s.block[b, BLOCK_LIVING] -= 1
        s.group[g, GROUP_LIVING] -= 1
        s.group[g, GROUP_DONE_WARPS] += 1
    while s.block[b, BLOCK_LIVING] > 0 and s.block[b, BLOCK_WAITING] == s.block[b, BLOCK_LIVING]:
        # All leave first; then they advance in order of age, which is that of the block's list.
        s.group[g, GROUP_BARRIER] -= s.block[b, BLOCK_WAITING]
        s.block[b, BLOCK_WAITING] = 0
        other = s.block[b, BLOCK_FIRST]
        while other >= 0:
            if s.warp[base + other, WARP_DONE] == 0:
                outcome = _advance(s, order, g, other, t)
                if outcome == AT_BARRIER:
                    s.block[b, BLOCK_WAITING] += 1
                    s.group[g, GROUP_BARRIER] += 1
                elif outcome == IS_DONE:
                    s.block[b, BLOCK_LIVING] -= 1
                    s.group[g, GROUP_LIVING] -= 1
                    s.group[g, GROUP_DONE_WARPS] += 1
            other = s.warp[base + other, WARP_NEXT]
    if s.block[b, BLOCK_LIVING] == 0:
        s.rings[g, FINISHED, s.group[g, GROUP_FINISHED]] = b
        s.group[g, GROUP_FINISHED] += 1
        s.parameters[R_ANY_FINISHED] = 1
        s.group[g, GROUP_PARKED] = t
        s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], t)


@inlined
def _settle(s, order, g, slot, t):
    """Advance a warp, and see to what that sets off."""
    outcome = _advance(s, order, g, slot, t)
    if outcome >= AT_BARRIER:
        _leave(s, order, g, slot, t, outcome)


@inlined
def _partition_of(s, chunk):
    """The partition that a chunk lies in."""
    if s.parameters[P_HASHED]:
        x = np.uint64(chunk)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
        return np.int64(x % np.uint64(s.parameters[P_PARTITIONS]))
    return _modulo(chunk, s.parameters[P_PARTITIONS])


@inlined
def _modulo(chunk, count):
    """chunk mod count, without a division where count is a power of two, as it is in most machines."""
    if count & (count - 1) == 0:
        return chunk & (count - 1)
    return np.int64(np.uint64(chunk) % np.uint64(count))


@inlined
def _find(lines, row, chunk, ways):
    """The fill time of a chunk in a set whose lines lie in the order of their use, latest first; -1 on a miss."""
    for way in range(ways):
        if lines[row, way, 0] == chunk:
            fill = lines[row, way, 1]
            for later in range(way, 0, -1):
                lines[row, later, 0] = lines[row, later - 1, 0]
                lines[row, later, 1] = lines[row, later - 1, 1]
            lines[row, 0, 0] = chunk
            lines[row, 0, 1] = fill
            return fill
    return np.int64(-1)


@inlined
def _insert(lines, row, chunk, fill, ways):
    """Put a chunk into a set as its latest used line; the line used longest ago falls out."""
    for later in range(ways - 1, 0, -1):
        lines[row, later, 0] = lines[row, later - 1, 0]
        lines[row, later, 1] = lines[row, later - 1, 1]
    lines[row, 0, 0] = chunk
    lines[row, 0, 1] = fill


@inlined
def _drop(lines, row, chunk, ways):
    """Take a chunk's line out of a set, if it is there."""
    for way in range(ways):
        if lines[row, way, 0] == chunk:
            for earlier in range(way, ways - 1):
                lines[row, earlier, 0] = lines[row, earlier + 1, 0]
                lines[row, earlier, 1] = lines[row, earlier + 1, 1]
            lines[row, ways - 1, 0] = -1
            return


@inlined
def _reserve(s, chunk, writes, service, t):
    """Take a chunk's partition from t on, as soon as it is free; when that is."""
    partition = _partition_of(s, chunk)
    begin = max(t, s.partition_free[partition])
    if s.parameters[P_TURNAROUND] > 0 and s.partition_writes[partition] != writes:
        s.partition_writes[partition] = writes
        begin += s.parameters[P_TURNAROUND]
    if s.parameters[P_ROW_CHUNKS] > 0:
        row = np.int64(np.uint64(chunk) // np.uint64(s.parameters[P_ROW_CHUNKS]))
        if _find(s.rows, partition, row, s.parameters[P_OPEN_ROWS]) < 0:
            _insert(s.rows, partition, row, np.int64(0), s.parameters[P_OPEN_ROWS])
            begin += s.parameters[P_ROW_OPENING]
    s.partition_free[partition] = begin + service
    return begin


@inlined
def _insert_shared(s, row, chunk, line, t):
    """Put a chunk into the L2; a line that falls out and is to be written takes its partition."""
    last = s.parameters[P_L2_WAYS] - 1
    line_out = s.l2[row, last, 1] if s.parameters[P_WRITES_BACK] != 0 and s.parameters[P_PARTITIONED] != 0 else -1
    if line_out >= 0 and line_out & 1 == 1:
        _reserve(s, s.l2[row, last, 0], np.int64(1), s.parameters[P_SERVICE], t)
    _insert(s.l2, row, chunk, line, s.parameters[P_L2_WAYS])


@inlined
def _access(s, memory, g, what, first, count, t):
    """Section 4: reserve the path of an instruction's chunks; the tick at which it finishes."""
    latency = s.parameters[P_STORE_LATENCY] if what == STORE else s.parameters[P_LATENCY]
    s.group[g, GROUP_TRANSACTIONS] += count
    if memory.ndim == NO:
        finish = t + latency  # neither ports nor partitions nor caches: every transfer takes L
    else:
        finish = t
        serial = s.parameters[P_SERIAL] != 0
        cached = what in (LOAD, ASYNC)
        shared = s.parameters[P_L2_SETS] > 0 and (cached or (what == STORE and s.parameters[P_WRITES_BACK] != 0))
        start = t
        passing = np.int64(-1)  # the run of chunks that is at the port
        for index in range(first, first + count):
            chunk = s.chunks[index]
            if serial:
                start = finish
            else:
                together = chunk
                if s.parameters[P_PORT_CHUNKS] > 1:
                    together = chunk // s.parameters[P_PORT_CHUNKS]
                if s.parameters[P_PORT_CHUNKS] == 1 or together != passing:
                    passing = together
                    start = max(t, s.group[g, GROUP_PORT_FREE])
                    s.group[g, GROUP_PORT_FREE] = start + s.parameters[P_PORT_INTERVAL]
            done = np.int64(-1)
            row1 = np.int64(0)
            row2 = np.int64(0)
            if cached and s.parameters[P_L1_SETS] > 0:
                row1 = g * s.parameters[P_L1_SETS] + _modulo(chunk, s.parameters[P_L1_SETS])
                fill = _find(s.l1, row1, chunk, s.parameters[P_L1_WAYS])
                if fill >= 0:
                    done = max(start + s.parameters[P_L1_LATENCY], fill)
                    s.group[g, GROUP_L1_HITS] += 1
            elif not cached and s.parameters[P_DROPS] != 0:
                row1 = g * s.parameters[P_L1_SETS] + _modulo(chunk, s.parameters[P_L1_SETS])
                _drop(s.l1, row1, chunk, s.parameters[P_L1_WAYS])
            if done < 0:
                at_memory = start
                if shared:
                    if s.parameters[P_L2_SERVICE] > 0:
                        slice_ = _partition_of(s, chunk)
                        begin = max(t, s.slice_free[slice_])
                        s.slice_free[slice_] = begin + s.parameters[P_L2_SERVICE]
                        at_memory = max(start, begin)
                    row2 = _modulo(chunk, s.parameters[P_L2_SETS])
                    line = _find(s.l2, row2, chunk, s.parameters[P_L2_WAYS])
                    if what == STORE:
                        done = at_memory + latency
                        if line < 0:
                            _insert_shared(s, row2, chunk, done << 1, t)
                        s.l2[row2, 0, 1] |= 1
                    elif line >= 0:
                        done = max(at_memory + s.parameters[P_L2_LATENCY], line >> 1)
                        s.group[g, GROUP_L2_HITS] += 1
                if done < 0:
                    if serial or s.parameters[P_PARTITIONED] == 0:
                        done = at_memory + latency
                    else:
                        writes = np.int64(0) if cached else np.int64(1)
                        service = s.parameters[P_ATOMIC_SERVICE] if what == ATOMIC else s.parameters[P_SERVICE]
                        done = max(at_memory, _reserve(s, chunk, writes, service, t)) + latency
                    if shared:
                        _insert_shared(s, row2, chunk, done << 1, t)
                if cached and s.parameters[P_L1_SETS] > 0:
                    _insert(s.l1, row1, chunk, done, s.parameters[P_L1_WAYS])
            finish = done if serial else max(finish, done)
    s.group[g, GROUP_LAST] = max(s.group[g, GROUP_LAST], finish)
    return finish


@inlined
def _segment(s, g, slot, t, p):
    """Give the port the segment that starts now (section 5, on-stall)."""
    w = g * s.parameters[P_SLOTS] + slot
    issue = s.parameters[P_ISSUE]
    position = s.warp[w, WARP_POSITION]
    end = s.warp[w, WARP_END]
    ticks = np.int64(0)
    issued = np.int64(0)
    access = np.int64(-1)
    count = np.int64(0)
    while position < end:
        what = np.int64(s.kind[position])
        if what == COMPUTE:
            issued += s.amount[position]
            ticks += issue * s.amount[position]
        elif what == SHARED:
            issued += 1
            ticks += issue * s.amount[position]
        elif what in (JOIN, BARRIER):
            break
        else:
            if what == ASYNC and _is_full(s, w, t + ticks):
                break
            access = what
            count = s.amount[position]
            issued += 1
            ticks += issue
            position += 1
            break
        position += 1
    s.warp[w, WARP_POSITION] = position
    s.group[g, GROUP_ISSUED] += issued
    s.group[g, GROUP_PORT_BUSY] += ticks
    s.port[p, PORT_RELEASE] = t + ticks
    s.port[p, PORT_WARP] = slot
    s.port[p, PORT_ACCESS] = access
    s.port[p, PORT_COUNT] = count


@inlined
def _instruction(s, g, slot, t, p):
    """Give the port one instruction (section 5, every-instruction)."""
    w = g * s.parameters[P_SLOTS] + slot
    position = s.warp[w, WARP_POSITION]
    what = np.int64(s.kind[position])
    ticks = s.parameters[P_ISSUE]
    access = np.int64(-1)
    if what == COMPUTE:
        s.warp[w, WARP_COMPUTED] += 1
        if s.warp[w, WARP_COMPUTED] == s.amount[position]:
            s.warp[w, WARP_COMPUTED] = 0
            s.warp[w, WARP_POSITION] = position + 1
    else:
        if what == SHARED:
            ticks *= s.amount[position]
        else:
            access = what
        s.warp[w, WARP_POSITION] = position + 1
    s.group[g, GROUP_ISSUED] += 1
    s.group[g, GROUP_PORT_BUSY] += ticks
    s.port[p, PORT_RELEASE] = t + ticks
    s.port[p, PORT_WARP] = slot
    s.port[p, PORT_ACCESS] = access
    s.port[p, PORT_COUNT] = s.amount[position]
    s.port[p, PORT_GRANTED] = t


@inlined
def _act(s, memory, g, w, p, t):
    """The segment's memory instruction leaves its port: its finish if the warp waits for it, else -1."""
    what = s.port[p, PORT_ACCESS]
    if what < 0:
        return np.int64(-1)
    count = s.port[p, PORT_COUNT]
    first = s.warp[w, WARP_CHUNK]
    s.warp[w, WARP_CHUNK] = first + count
    finish = _access(s, memory, g, what, first, count, t)
    if what == ASYNC:
        number = s.warp[w, WARP_ASYNCS]
        at = s.warp[w, WARP_FIRST] + number
        s.finishes[at] = finish if number == 0 else max(finish, s.finishes[at - 1])
        s.warp[w, WARP_ASYNCS] = number + 1
        if s.parameters[P_OUTSTANDING] > 0:
            for index in range(s.in_flight.shape[1]):
                if s.in_flight[w, index] <= t:
                    s.in_flight[w, index] = finish
                    break
        return np.int64(-1)
    if what == STORE and s.parameters[P_BLOCKING] == 0:
        return np.int64(-1)
    return finish


@inlined
def _next_issues(s, w, t):
    """Whether a warp's next operation needs a port and may start now."""
    position = s.warp[w, WARP_POSITION]
    if position == s.warp[w, WARP_END]:
        return False
    what = np.int64(s.kind[position])
    if what in (JOIN, BARRIER):
        return False
    return not (what == ASYNC and _is_full(s, w, t))


@inlined
def _release(s, switch, memory, order, g, t):
    """Phase 1 for a group: ports whose segment ends now."""
    ports = s.parameters[P_PORTS]
    for p in range(g * ports, g * ports + ports):
        if s.port[p, PORT_RELEASE] != t:
            continue
        slot = s.port[p, PORT_WARP]
        w = g * s.parameters[P_SLOTS] + slot
        access = s.port[p, PORT_ACCESS]
        finish = _act(s, memory, g, w, p, t)
        if switch.ndim == ON_STALL and finish < 0 and access >= 0 and _next_issues(s, w, t):
            _segment(s, g, slot, t, p)
            continue
        s.port[p, PORT_RELEASE] = NEVER
        s.group[g, GROUP_HELD] -= 1
        if finish >= 0:
            _sleep(s, g, t, finish, slot)
        elif switch.ndim == ON_STALL:
            _settle(s, order, g, slot, t)
        else:
            wake = max(t, s.port[p, PORT_GRANTED] + s.parameters[P_DEPTH])
            _turn(s, g, w, PIPELINE, t)
            _push(s, OTHER_TICKS, g, wake, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)


@inlined
def _wake(s, order, g, t):
    """Phase 2 for a group: warps whose sleep ends now advance. Their order among one another shows nowhere."""
    mask = s.parameters[P_RING] - 1
    while True:
        head = s.group[g, GROUP_MEMORY_HEAD]
        other = s.group[g, GROUP_OTHER_HEAD]
        if head < s.group[g, GROUP_MEMORY_TAIL] and s.rings[g, MEMORY_TICKS, head & mask] <= t:
            slot = s.rings[g, MEMORY_SLOTS, head & mask]
            s.group[g, GROUP_MEMORY_HEAD] = head + 1
            s.group[g, GROUP_MEMORY] -= 1
        elif other < s.group[g, GROUP_OTHER_TAIL] and s.rings[g, OTHER_TICKS, other & mask] <= t:
            slot = s.rings[g, OTHER_SLOTS, other & mask]
            s.group[g, GROUP_OTHER_HEAD] = other + 1
        else:
            break
        _settle(s, order, g, slot, t)


@inlined
def _issue(s, switch, order, g, t):
    """Phase 4 for a group: grant free ports to ready warps."""
    ports = s.parameters[P_PORTS]
    if s.group[g, GROUP_HELD] == ports:
        return
    for p in range(g * ports, g * ports + ports):
        if s.group[g, GROUP_READY] == 0:
            return
        if s.port[p, PORT_RELEASE] != NEVER:
            continue
        slot = _pick(s, order, g)
        s.group[g, GROUP_GRANTED_SLOT] = slot
        s.group[g, GROUP_GRANTED_AGE] = s.warp[g * s.parameters[P_SLOTS] + slot, WARP_AGE]
        _turn(s, g, g * s.parameters[P_SLOTS] + slot, ISSUING, t)
        s.group[g, GROUP_HELD] += 1
        if switch.ndim == ON_STALL:
            _segment(s, g, slot, t, p)
        else:
            _instruction(s, g, slot, t, p)


@inlined
def _next_tick(s, g):
    """When something happens in the group next."""
    mask = s.parameters[P_RING] - 1
    ports = s.parameters[P_PORTS]
    t = NEVER
    if s.group[g, GROUP_HELD] > 0:
        for p in range(g * ports, g * ports + ports):
            t = min(t, s.port[p, PORT_RELEASE])
    head = s.group[g, GROUP_MEMORY_HEAD]
    if head < s.group[g, GROUP_MEMORY_TAIL]:
        t = min(t, s.rings[g, MEMORY_TICKS, head & mask])
    head = s.group[g, GROUP_OTHER_HEAD]
    if head < s.group[g, GROUP_OTHER_TAIL]:
        t = min(t, s.rings[g, OTHER_TICKS, head & mask])
    return t


@inlined
def _take(s, g, which):
    """The lowest free number of a group's row of bits, which is taken by this."""
    index = 0
    while s.bits[g, which, index] == 0:
        index += 1
    bit = _lowest_bit(s.bits[g, which, index])
    s.bits[g, which, index] &= s.bits[g, which, index] - np.uint64(1)
    return (index << 6) + bit


@inlined
def _give_back(s, g, which, number):
    """The number is free again."""
    s.bits[g, which, number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@inlined
def _free_finished(s, g):
    """The places of a group's finished blocks are free again."""
    base = g * s.parameters[P_SLOTS]
    for index in range(s.group[g, GROUP_FINISHED]):
        b = s.rings[g, FINISHED, index]
        slot = s.block[b, BLOCK_FIRST]
        while slot >= 0:
            following = s.warp[base + slot, WARP_NEXT]
            _give_back(s, g, FREE_SLOTS, slot)
            slot = following
        s.group[g, GROUP_WARPS] -= s.block[b, BLOCK_WARPS]
        _give_back(s, g, FREE_BLOCKS, b - g * s.parameters[P_BLOCKS])
    s.group[g, GROUP_BLOCKS] -= s.group[g, GROUP_FINISHED] + s.group[g, GROUP_EMPTY_BLOCKS]
    s.group[g, GROUP_FINISHED] = 0
    s.group[g, GROUP_EMPTY_BLOCKS] = 0


@helper
def _dispatch(s, order, t):
    """Section 6: free the places of blocks that finished at t, place what fits, and again while blocks finish."""
    groups = s.parameters[P_GROUPS]
    slots = s.parameters[P_SLOTS]
    while True:
        s.parameters[R_ANY_FINISHED] = 0
        for g in range(groups):
            if s.group[g, GROUP_PARKED] == t and s.group[g, GROUP_FINISHED] + s.group[g, GROUP_EMPTY_BLOCKS] > 0:
                _free_finished(s, g)
        while s.parameters[R_PENDING] < s.parameters[R_LAST_BLOCK]:
            number = s.parameters[R_PENDING]
            first_warp = s.block_warps[number]
            warps = s.block_warps[number + 1] - first_warp
            g = np.int64(-1)
            fewest = s.parameters[P_MOST_BLOCKS]
            for other in range(groups):
                blocks = s.group[other, GROUP_BLOCKS]
                if blocks < fewest and s.group[other, GROUP_WARPS] + warps <= s.parameters[P_ROOM]:
                    fewest = blocks
                    g = np.int64(other)
            if g < 0:
                break
            s.parameters[R_PENDING] += 1
            if s.parameters[P_BREAKDOWN] != 0:
                _account(s, g, t)
            s.clock[TOUCHED, g] = 1
            s.group[g, GROUP_BLOCKS] += 1
            if warps == 0:
                s.group[g, GROUP_EMPTY_BLOCKS] += 1
                s.group[g, GROUP_PARKED] = t
                s.parameters[R_ANY_FINISHED] = 1
                continue
            s.group[g, GROUP_WARPS] += warps
            s.group[g, GROUP_LIVING] += warps
            b = g * s.parameters[P_BLOCKS] + _take(s, g, FREE_BLOCKS)
            s.block[b, BLOCK_LIVING] = warps
            s.block[b, BLOCK_WAITING] = 0
            s.block[b, BLOCK_WARPS] = warps
            if s.parameters[P_LANES] > 1:
                s.block[b, BLOCK_SOONEST] = t + s.shortest[number - s.parameters[P_FIRST_BLOCK]]
            before = np.int64(-1)
            for index in range(warps):
                slot = _take(s, g, FREE_SLOTS)
                w = g * slots + slot
                if before < 0:
                    s.block[b, BLOCK_FIRST] = slot
                else:
                    s.warp[g * slots + before, WARP_NEXT] = slot
                before = slot
                s.warp[w, WARP_NEXT] = -1
                s.warp[w, WARP_POSITION] = s.warp_operations[first_warp + index]
                s.warp[w, WARP_FIRST] = s.warp_operations[first_warp + index]
                s.warp[w, WARP_END] = s.warp_operations[first_warp + index + 1]
                s.warp[w, WARP_CHUNK] = s.warp_chunks[first_warp + index]
                s.warp[w, WARP_AGE] = s.parameters[R_AGE]
                s.warp[w, WARP_BLOCK] = b
                s.warp[w, WARP_COMPUTED] = 0
                s.warp[w, WARP_ASYNCS] = 0
                s.warp[w, WARP_DONE] = 0
                if s.parameters[P_OUTSTANDING] > 0:
                    for entry in range(s.in_flight.shape[1]):
                        s.in_flight[w, entry] = -1
                if s.parameters[P_TIMELINE] != 0:
                    s.watch[w, WATCH_NUMBER] = first_warp + index
                    s.watch[w, WATCH_STATE] = START
                    s.watch[w, WATCH_SINCE] = t
                s.parameters[R_AGE] += 1
            slot = s.block[b, BLOCK_FIRST]
            while slot >= 0:
                # The next one first: where all of them end at once, the last advance frees the block's list.
                following = s.warp[g * slots + slot, WARP_NEXT]
                launch = max(t, s.group[g, GROUP_LAUNCH_FREE]) + s.parameters[P_WARP_LAUNCH]
                s.group[g, GROUP_LAUNCH_FREE] = launch
                begins = launch + s.parameters[P_BLOCK_LAUNCH]
                if begins > t:
                    _push(s, OTHER_TICKS, g, begins, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)
                else:
                    _settle(s, order, g, slot, t)
                slot = following
        if s.parameters[R_ANY_FINISHED] == 0:
            return


@helper
def _run_together(s, switch, memory, order, budget):
    """Groups that share something keep one clock; steps in the order of the page."""
    groups = s.parameters[P_GROUPS]
    t = s.parameters[R_TICK]
    while budget > 0:
        after = NEVER
        for g in range(groups):
            if s.clock[TOUCHED, g] != 0:
                s.clock[TOUCHED, g] = 0
                _issue(s, switch, order, g, t)
                s.clock[NEXT, g] = _next_tick(s, g)
            after = min(after, s.clock[NEXT, g])
        t = after
        s.parameters[R_TICK] = t
        if t == NEVER:
            return OVER
        for g in range(groups):
            if s.clock[NEXT, g] == t:
                s.clock[TOUCHED, g] = 1
                budget -= 1
                if s.parameters[P_BREAKDOWN] != 0:
                    _account(s, g, t)
                _release(s, switch, memory, order, g, t)
                # Waking touches nothing of other groups, so it need not wait for their releases.
                _wake(s, order, g, t)
        if s.parameters[R_ANY_FINISHED] != 0:
            _dispatch(s, order, t)
    return GO_ON


@helper
def _run_apart(s, switch, memory, order, budget, mark):
    """Groups touched with this mark go on, each on its own clock, up to where a block ends and others are pending."""
    for g in range(s.parameters[P_GROUPS]):
        if s.clock[TOUCHED, g] != mark:
            continue
        t = s.group[g, GROUP_PARKED]
        while True:
            _issue(s, switch, order, g, t)
            t = _next_tick(s, g)
            if t == NEVER:
                break
            if budget <= 0:
                # Issuing again at the tick it stopped before finds no free port or no ready warp, and does nothing.
                return GO_ON
            budget -= 1
            if s.parameters[P_BREAKDOWN] != 0:
                _account(s, g, t)
            _release(s, switch, memory, order, g, t)
            _wake(s, order, g, t)
            if s.group[g, GROUP_FINISHED] > 0:
                if s.parameters[R_PENDING] < s.parameters[R_LAST_BLOCK]:
                    break
                _free_finished(s, g)
        s.clock[TOUCHED, g] = 0
        s.group[g, GROUP_PARKED] = t
    return OVER


def shortest_blocks(kind, amount, warp_operations, block_warps, issue, wait, store_wait, shortest):
    """The ticks that each block takes at least: those of the warp that issues and waits longest, were it alone."""
    for block in range(len(shortest)):
        longest = np.int64(0)
        for warp in range(block_warps[block], block_warps[block + 1]):
            ticks = np.int64(0)
            for index in range(warp_operations[warp], warp_operations[warp + 1]):
                what = np.int64(kind[index])
                if what in (COMPUTE, SHARED):
                    ticks += issue * amount[index]
                elif what not in (JOIN, BARRIER):
                    ticks += issue
                    if what in (LOAD, ATOMIC):
                        ticks += wait
                    elif what == STORE:
                        ticks += store_wait
            longest = max(longest, ticks)
        shortest[block] = longest


def warm(l2, kind, amount, chunks, stores):
    """Let the L2 see what an earlier run of these operations went through, one after another; stores: they stay there.

    Launches begin with this where `start` is "warm" (section 4).
    """
    sets, ways = l2.shape[0], l2.shape[1]
    at = np.int64(0)
    for index in range(len(kind)):
        what = kind[index]
        if what not in (LOAD, ASYNC, STORE, ATOMIC):
            continue
        count = np.int64(amount[index])
        if what in (LOAD, ASYNC) or (what == STORE and stores):
            for chunk in chunks[at : at + count]:
                row = _modulo(chunk, np.int64(sets))
                if _find(l2, row, chunk, ways) < 0:
                    _insert(l2, row, chunk, np.int64(0), ways)
                if what == STORE:
                    l2[row, 0, 1] |= 1
        at += count


@helper
def _soonest_end(s, g, t):
    """A tick before which no block of a group can end that goes on at t."""
    soonest = NEVER
    taken = s.group[g, GROUP_BLOCKS]
    place = 0
    while taken > 0:
        b = g * s.parameters[P_BLOCKS] + place
        if not (s.bits[g, FREE_BLOCKS, place >> 6] >> np.uint64(place & 63)) & np.uint64(1):
            taken -= 1
            soonest = min(soonest, s.block[b, BLOCK_SOONEST])
        place += 1
    return max(soonest, t + 1)


@helper
def _dispatch_apart(s, order):
    """Dispatch for groups on clocks of their own, up to the first tick at which one that goes on could be next."""
    groups = s.parameters[P_GROUPS]
    horizon = NEVER
    touched = 0
    while True:
        t = NEVER
        for g in range(groups):
            if s.clock[TOUCHED, g] == 0:
                t = min(t, s.group[g, GROUP_PARKED])
        if t >= horizon or t == NEVER:
            return touched
        _dispatch(s, order, t)
        for g in range(groups):
            if s.group[g, GROUP_PARKED] == t:  # those that go on already have parked earlier
                s.clock[TOUCHED, g] = 1
                touched += 1
                if s.parameters[P_LANES] > 1 and s.parameters[R_PENDING] < s.parameters[R_LAST_BLOCK]:
                    horizon = min(horizon, _soonest_end(s, g, t))
        if s.parameters[P_LANES] == 1:
            return touched


@helper
def _share_out(s, touched):
    """Give the touched groups to lanes, if they are worth it."""
    lanes = s.parameters[P_LANES]
    if lanes == 1 or touched < s.parameters[P_WIDE]:
        return False
    number = 0
    for g in range(s.parameters[P_GROUPS]):
        if s.clock[TOUCHED, g] == 1:
            s.clock[TOUCHED, g] = LANE + number * lanes // touched
            number += 1
    return True


def run(s, coupled, switch, memory, order, budget, mark):
    """Go on with a launch for at most about `budget` steps of a group: GO_ON, OVER or WIDE.

    mark: 1, or LANE and a lane's number to go on with that lane's groups only, which lanes may do at the same time.
    """
    groups = s.parameters[P_GROUPS]
    if s.parameters[R_STARTED] == 0:
        s.parameters[R_STARTED] = 1
        _dispatch(s, order, np.int64(0))
        for g in range(groups):
            s.clock[TOUCHED, g] = 1
            s.group[g, GROUP_PARKED] = 0
        if coupled.ndim == NO and _share_out(s, groups):
            return WIDE
    if coupled.ndim == YES:
        return _run_together(s, switch, memory, order, budget)
    while True:
        if _run_apart(s, switch, memory, order, budget, mark) == GO_ON:
            return GO_ON
        if mark != 1:
            return OVER
        touched = _dispatch_apart(s, order)
        if touched == 0:
            return OVER
        if _share_out(s, touched):
            return WIDE
