"""The compiled part of the fast engine: docs/machine.md as loops over flat arrays.

Numba compiles `run` once for each set of *flags*. A flag is an empty array whose number of dimensions says what it
means; that is part of its type, so what a machine does not have is not in the machine code. Nothing here owns
memory: `simtmm/engine/fast.py` lays out the arrays, and the functions are compiled without Numba's runtime.

State is kept in rows of 64-bit integers, a row a warp (WARP_*), block (BLOCK_*), port (PORT_*) or group (GROUP_*):
what belongs to one warp shares its cache lines. Warps lie by group and slot, blocks by group and place.
"""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from typing import Any

import numba
import numpy as np

from simtmm.workload import ASYNC, ATOMIC, BARRIER, COMPUTE, JOIN, LOAD, SHARED, STORE

NEVER = np.int64(1) << 62

# Rows
WARP_POSITION, WARP_END, WARP_CHUNK, WARP_AGE, WARP_READY, WARP_BLOCK, WARP_NEXT, WARP_COMPUTED = range(8)
WARP_ASYNCS, WARP_FIRST, WARP_WAITS, WARP_DONE = range(8, 12)
WARP_ROW = 12
BLOCK_LIVING, BLOCK_WAITING, BLOCK_FIRST, BLOCK_WARPS = range(4)
BLOCK_ROW = 4
PORT_RELEASE, PORT_WARP, PORT_ACCESS, PORT_COUNT, PORT_GRANTED = range(5)
PORT_ROW = 5
GROUP_HELD, GROUP_LIVING, GROUP_MEMORY, GROUP_BARRIER, GROUP_ACCOUNTED, GROUP_BLOCKS, GROUP_WARPS = range(7)
GROUP_LAUNCH_FREE, GROUP_GRANTED_SLOT, GROUP_GRANTED_AGE, GROUP_READY, GROUP_FINISHED, GROUP_PORT_FREE = range(7, 13)
GROUP_MEMORY_HEAD, GROUP_MEMORY_TAIL, GROUP_OTHER_HEAD, GROUP_OTHER_TAIL, GROUP_QUEUE_HEAD, GROUP_QUEUE_TAIL = range(13, 19)
GROUP_PARKED, GROUP_LAST, GROUP_EMPTY_BLOCKS = range(19, 22)
GROUP_TIME = 22  # and the four behind it: issuing, memory, barrier, start, empty
GROUP_ISSUED, GROUP_TRANSACTIONS, GROUP_L1_HITS, GROUP_L2_HITS, GROUP_PORT_BUSY, GROUP_DONE_WARPS = range(27, 33)
GROUP_ROW = 33

# Parameters, in ticks and counts
(
    P_GROUPS, P_PORTS, P_SLOTS, P_RING, P_BLOCKS, P_ISSUE, P_DEPTH, P_BLOCK_LAUNCH, P_WARP_LAUNCH, P_LATENCY,
    P_PORT_INTERVAL, P_SERVICE, P_ATOMIC_SERVICE, P_PARTITIONS, P_HASHED, P_BLOCKING, P_OUTSTANDING, P_L1_SETS,
    P_L1_WAYS, P_L1_LATENCY, P_L2_SETS, P_L2_WAYS, P_L2_LATENCY, P_SERIAL, P_ROOM, P_MOST_BLOCKS, P_PARTITIONED,
) = range(27)  # fmt: skip
PARAMETERS = 27

# Run state that outlives a call
R_PENDING, R_LAST_BLOCK, R_AGE, R_ANY_FINISHED, R_TICK, R_STARTED = range(6)
RUN_ROW = 6

# Flags, by ndim
ON_STALL, EVERY_INSTRUCTION = 1, 2
FIFO, OLDEST, GREEDY_OLDEST, ROUND_ROBIN = 1, 2, 3, 4
NO, YES = 1, 2

READY, SLEEPS, AT_BARRIER, IS_DONE = range(4)  # what comes of advancing


def _inlined(function: Any) -> Any:
    """A helper that LLVM puts into its callers."""
    return numba.njit(function, _nrt=False, forceinline=True)


@_inlined
def _account(g, t, group):
    """Book the ticks since the group's last event under what it was doing (section 7)."""
    passed = t - group[g, GROUP_ACCOUNTED]
    if passed > 0:
        if group[g, GROUP_HELD] > 0:
            state = 0
        elif group[g, GROUP_LIVING] == 0:
            state = 4
        elif group[g, GROUP_MEMORY] > 0:
            state = 1
        elif group[g, GROUP_BARRIER] > 0:
            state = 2
        else:
            state = 3
        group[g, GROUP_TIME + state] += passed
        group[g, GROUP_ACCOUNTED] = t


@_inlined
def _push(g, t, slot, ticks, slots, group, tail_field, head_field, mask):
    """Put a wake-up into a ring that is sorted by tick; it nearly always goes to the end."""
    tail = group[g, tail_field]
    head = group[g, head_field]
    group[g, tail_field] = tail + 1
    while tail > head and ticks[g, (tail - 1) & mask] > t:
        ticks[g, tail & mask] = ticks[g, (tail - 1) & mask]
        slots[g, tail & mask] = slots[g, (tail - 1) & mask]
        tail -= 1
    ticks[g, tail & mask] = t
    slots[g, tail & mask] = slot


@_inlined
def _make_ready(g, w, slot, t, scheduler, warp, group, queue, ready, mask):
    """The warp waits for a port from now on."""
    warp[w, WARP_READY] = t
    group[g, GROUP_READY] += 1
    if scheduler.ndim == FIFO:
        # In order of ready time, then age; times never fall, so only this tick's entries can be younger.
        tail = group[g, GROUP_QUEUE_TAIL]
        head = group[g, GROUP_QUEUE_HEAD]
        group[g, GROUP_QUEUE_TAIL] = tail + 1
        base = w - slot
        age = warp[w, WARP_AGE]
        while tail > head:
            other = base + queue[g, (tail - 1) & mask]
            if warp[other, WARP_READY] < t or warp[other, WARP_AGE] < age:
                break
            queue[g, tail & mask] = queue[g, (tail - 1) & mask]
            tail -= 1
        queue[g, tail & mask] = slot
    else:
        ready[g, slot >> 6] |= np.uint64(1) << np.uint64(slot & 63)


@_inlined
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


@_inlined
def _pick(g, scheduler, parameters, warp, group, queue, ready, mask):
    """The slot of the ready warp that the scheduler grants (section 5); it is ready no more."""
    group[g, GROUP_READY] -= 1
    if scheduler.ndim == FIFO:
        head = group[g, GROUP_QUEUE_HEAD]
        group[g, GROUP_QUEUE_HEAD] = head + 1
        return queue[g, head & mask]
    words = ready.shape[1]
    base = g * parameters[P_SLOTS]
    chosen = np.int64(-1)
    if scheduler.ndim == ROUND_ROBIN:
        last = group[g, GROUP_GRANTED_SLOT] + 1
        first_word = last >> 6
        if first_word < words:
            word = ready[g, first_word] & (~np.uint64(0) << np.uint64(last & 63))
            index = first_word
            while word == 0 and index + 1 < words:
                index += 1
                word = ready[g, index]
            if word != 0:
                chosen = (index << 6) + _lowest_bit(word)
        if chosen < 0:
            index = 0
            while ready[g, index] == 0:
                index += 1
            chosen = (index << 6) + _lowest_bit(ready[g, index])
    else:
        if scheduler.ndim == GREEDY_OLDEST:
            slot = group[g, GROUP_GRANTED_SLOT]
            if (
                slot >= 0
                and (ready[g, slot >> 6] >> np.uint64(slot & 63)) & np.uint64(1)
                and warp[base + slot, WARP_AGE] == group[g, GROUP_GRANTED_AGE]
            ):
                chosen = slot
        if chosen < 0:
            youngest = NEVER
            for index in range(words):
                word = ready[g, index]
                while word != 0:
                    slot = (index << 6) + _lowest_bit(word)
                    word &= word - np.uint64(1)
                    age = warp[base + slot, WARP_AGE]
                    if age < youngest:
                        youngest = age
                        chosen = slot
    ready[g, chosen >> 6] &= ~(np.uint64(1) << np.uint64(chosen & 63))
    return chosen


@_inlined
def _in_flight(w, t, in_flight):
    """How many of the asyncs noted for a warp finish after t."""
    count = 0
    for index in range(in_flight.shape[1]):
        if in_flight[w, index] > t:
            count += 1
    return count


@_inlined
def _advance(
    g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
    memory_ticks, memory_slots, in_flight, finishes, mask,
):  # fmt: skip
    """Section 3 for one warp: READY, SLEEPS, AT_BARRIER or IS_DONE."""
    w = g * parameters[P_SLOTS] + slot
    position = warp[w, WARP_POSITION]
    end = warp[w, WARP_END]
    while True:
        what = np.int64(JOIN) if position == end else np.int64(kind[position])
        if what == JOIN or what == BARRIER:  # noqa: PLR1714 - Numba compiles this to two comparisons
            if asyncs.ndim == YES:
                left_out = amount[position] if position < end and what == JOIN else np.int64(0)
                count = warp[w, WARP_ASYNCS] - left_out
                if count > 0:
                    finish = finishes[warp[w, WARP_FIRST] + count - 1]
                    if finish > t:
                        warp[w, WARP_POSITION] = position
                        warp[w, WARP_WAITS] = 1
                        group[g, GROUP_MEMORY] += 1
                        _push(g, finish, slot, memory_ticks, memory_slots, group, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD, mask)
                        return SLEEPS
            if position == end:
                warp[w, WARP_POSITION] = position
                warp[w, WARP_DONE] = 1
                return IS_DONE
            position += 1
            if what == BARRIER:
                warp[w, WARP_POSITION] = position
                return AT_BARRIER
            continue
        if limited.ndim == YES and what == ASYNC and _in_flight(w, t, in_flight) >= parameters[P_OUTSTANDING]:
            first = NEVER
            for index in range(in_flight.shape[1]):
                if t < in_flight[w, index] < first:
                    first = in_flight[w, index]
            warp[w, WARP_POSITION] = position
            warp[w, WARP_WAITS] = 1
            group[g, GROUP_MEMORY] += 1
            _push(g, first, slot, memory_ticks, memory_slots, group, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD, mask)
            return SLEEPS
        warp[w, WARP_POSITION] = position
        _make_ready(g, w, slot, t, scheduler, warp, group, queue, ready, mask)
        return READY


@_inlined
def _settle(
    g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
    memory_ticks, memory_slots, in_flight, finishes, finished, run_state, mask,
):  # fmt: skip
    """Advance a warp, and whatever that sets off in its block: an opening barrier, the block's end."""
    outcome = _advance(
        g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
        memory_ticks, memory_slots, in_flight, finishes, mask,
    )  # fmt: skip
    if outcome < AT_BARRIER:
        return
    base = g * parameters[P_SLOTS]
    b = warp[base + slot, WARP_BLOCK]
    if outcome == AT_BARRIER:
        block[b, BLOCK_WAITING] += 1
        group[g, GROUP_BARRIER] += 1
    else:
        block[b, BLOCK_LIVING] -= 1
        group[g, GROUP_LIVING] -= 1
        group[g, GROUP_DONE_WARPS] += 1
    while block[b, BLOCK_LIVING] > 0 and block[b, BLOCK_WAITING] == block[b, BLOCK_LIVING]:
        # All leave first; then they advance in order of age, which is that of the block's list.
        group[g, GROUP_BARRIER] -= block[b, BLOCK_WAITING]
        block[b, BLOCK_WAITING] = 0
        other = block[b, BLOCK_FIRST]
        while other >= 0:
            following = warp[base + other, WARP_NEXT]
            if warp[base + other, WARP_DONE] == 0:
                outcome = _advance(
                    g, other, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
                    memory_ticks, memory_slots, in_flight, finishes, mask,
                )  # fmt: skip
                if outcome == AT_BARRIER:
                    block[b, BLOCK_WAITING] += 1
                    group[g, GROUP_BARRIER] += 1
                elif outcome == IS_DONE:
                    block[b, BLOCK_LIVING] -= 1
                    group[g, GROUP_LIVING] -= 1
                    group[g, GROUP_DONE_WARPS] += 1
            other = following
    if block[b, BLOCK_LIVING] == 0:
        finished[g, group[g, GROUP_FINISHED]] = b
        group[g, GROUP_FINISHED] += 1
        run_state[R_ANY_FINISHED] = 1
        group[g, GROUP_PARKED] = t
        group[g, GROUP_LAST] = max(group[g, GROUP_LAST], t)


@_inlined
def _partition_of(chunk, parameters):
    """The partition that a chunk lies in."""
    if parameters[P_HASHED]:
        x = np.uint64(chunk)
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x = x ^ (x >> np.uint64(31))
        return np.int64(x % np.uint64(parameters[P_PARTITIONS]))
    return chunk % parameters[P_PARTITIONS]


@_inlined
def _find(row, chunk, tags, fills, ways):
    """The fill time of a chunk in a set whose lines lie in the order of their use, latest first; -1 on a miss."""
    for way in range(ways):
        if tags[row, way] == chunk:
            fill = fills[row, way]
            for later in range(way, 0, -1):
                tags[row, later] = tags[row, later - 1]
                fills[row, later] = fills[row, later - 1]
            tags[row, 0] = chunk
            fills[row, 0] = fill
            return fill
    return np.int64(-1)


@_inlined
def _insert(row, chunk, fill, tags, fills, ways):
    """Put a chunk into a set as its latest used line; the line used longest ago falls out."""
    for later in range(ways - 1, 0, -1):
        tags[row, later] = tags[row, later - 1]
        fills[row, later] = fills[row, later - 1]
    tags[row, 0] = chunk
    fills[row, 0] = fill


@_inlined
def _access(
    g, what, first, count, t, memory, l1, l2, parameters, chunks, group, partition_free, l1_tags, l1_fills, l2_tags,
    l2_fills,
):  # fmt: skip
    """Section 4: reserve the path of an instruction's chunks; the tick at which it finishes."""
    latency = parameters[P_LATENCY]
    group[g, GROUP_TRANSACTIONS] += count
    if memory.ndim == NO and l1.ndim == NO and l2.ndim == NO:
        finish = t + latency  # neither ports nor partitions nor caches: every transfer takes L
    else:
        finish = t
        serial = parameters[P_SERIAL] != 0
        cached = what == LOAD or what == ASYNC  # noqa: PLR1714
        for index in range(first, first + count):
            chunk = chunks[index]
            if serial:
                start = finish
            else:
                start = max(t, group[g, GROUP_PORT_FREE])
                group[g, GROUP_PORT_FREE] = start + parameters[P_PORT_INTERVAL]
            done = np.int64(-1)
            row1 = np.int64(0)
            row2 = np.int64(0)
            if l1.ndim == YES and cached:
                row1 = g * parameters[P_L1_SETS] + chunk % parameters[P_L1_SETS]
                fill = _find(row1, chunk, l1_tags, l1_fills, parameters[P_L1_WAYS])
                if fill >= 0:
                    done = max(start + parameters[P_L1_LATENCY], fill)
                    group[g, GROUP_L1_HITS] += 1
            if done < 0:
                if l2.ndim == YES and cached:
                    row2 = chunk % parameters[P_L2_SETS]
                    fill = _find(row2, chunk, l2_tags, l2_fills, parameters[P_L2_WAYS])
                    if fill >= 0:
                        done = max(start + parameters[P_L2_LATENCY], fill)
                        group[g, GROUP_L2_HITS] += 1
                if done < 0:
                    if serial or parameters[P_PARTITIONED] == 0:
                        done = start + latency
                    else:
                        partition = _partition_of(chunk, parameters)
                        begin = max(t, partition_free[partition])
                        partition_free[partition] = begin + (
                            parameters[P_ATOMIC_SERVICE] if what == ATOMIC else parameters[P_SERVICE]
                        )
                        done = max(start, begin) + latency
                    if l2.ndim == YES and cached:
                        _insert(row2, chunk, done, l2_tags, l2_fills, parameters[P_L2_WAYS])
                if l1.ndim == YES and cached:
                    _insert(row1, chunk, done, l1_tags, l1_fills, parameters[P_L1_WAYS])
            if serial:
                finish = done
            else:
                finish = max(finish, done)
    group[g, GROUP_LAST] = max(group[g, GROUP_LAST], finish)
    return finish


@_inlined
def _segment(g, slot, t, p, asyncs, limited, parameters, kind, amount, warp, port, group, in_flight):
    """Give the port the segment that starts now (section 5, on-stall)."""
    w = g * parameters[P_SLOTS] + slot
    issue = parameters[P_ISSUE]
    position = warp[w, WARP_POSITION]
    end = warp[w, WARP_END]
    ticks = np.int64(0)
    issued = np.int64(0)
    access = np.int64(-1)
    count = np.int64(0)
    while position < end:
        what = np.int64(kind[position])
        if what == COMPUTE:
            issued += amount[position]
            ticks += issue * amount[position]
        elif what == SHARED:
            issued += 1
            ticks += issue * amount[position]
        elif what == JOIN or what == BARRIER:  # noqa: PLR1714
            break
        else:
            if limited.ndim == YES and what == ASYNC and _in_flight(w, t + ticks, in_flight) >= parameters[P_OUTSTANDING]:
                break
            access = what
            count = amount[position]
            issued += 1
            ticks += issue
            position += 1
            break
        position += 1
    warp[w, WARP_POSITION] = position
    group[g, GROUP_ISSUED] += issued
    group[g, GROUP_PORT_BUSY] += ticks
    port[p, PORT_RELEASE] = t + ticks
    port[p, PORT_WARP] = slot
    port[p, PORT_ACCESS] = access
    port[p, PORT_COUNT] = count


@_inlined
def _instruction(g, slot, t, p, parameters, kind, amount, warp, port, group):
    """Give the port one instruction (section 5, every-instruction)."""
    w = g * parameters[P_SLOTS] + slot
    position = warp[w, WARP_POSITION]
    what = np.int64(kind[position])
    ticks = parameters[P_ISSUE]
    access = np.int64(-1)
    if what == COMPUTE:
        warp[w, WARP_COMPUTED] += 1
        if warp[w, WARP_COMPUTED] == amount[position]:
            warp[w, WARP_COMPUTED] = 0
            warp[w, WARP_POSITION] = position + 1
    else:
        if what == SHARED:
            ticks *= amount[position]
        else:
            access = what
        warp[w, WARP_POSITION] = position + 1
    group[g, GROUP_ISSUED] += 1
    group[g, GROUP_PORT_BUSY] += ticks
    port[p, PORT_RELEASE] = t + ticks
    port[p, PORT_WARP] = slot
    port[p, PORT_ACCESS] = access
    port[p, PORT_COUNT] = amount[position]
    port[p, PORT_GRANTED] = t


@_inlined
def _act(
    g, w, p, t, memory, l1, l2, asyncs, limited, parameters, chunks, warp, port, group, in_flight, finishes,
    partition_free, l1_tags, l1_fills, l2_tags, l2_fills,
):  # fmt: skip
    """The segment's memory instruction leaves its port: its finish if the warp waits for it, else -1."""
    what = port[p, PORT_ACCESS]
    if what < 0:
        return np.int64(-1)
    count = port[p, PORT_COUNT]
    first = warp[w, WARP_CHUNK]
    warp[w, WARP_CHUNK] = first + count
    finish = _access(
        g, what, first, count, t, memory, l1, l2, parameters, chunks, group, partition_free, l1_tags, l1_fills,
        l2_tags, l2_fills,
    )  # fmt: skip
    if asyncs.ndim == YES and what == ASYNC:
        number = warp[w, WARP_ASYNCS]
        at = warp[w, WARP_FIRST] + number
        finishes[at] = finish if number == 0 else max(finish, finishes[at - 1])
        warp[w, WARP_ASYNCS] = number + 1
        if limited.ndim == YES:
            for index in range(in_flight.shape[1]):
                if in_flight[w, index] <= t:
                    in_flight[w, index] = finish
                    break
        return np.int64(-1)
    if what == STORE and parameters[P_BLOCKING] == 0:
        return np.int64(-1)
    return finish


@_inlined
def _next_issues(w, t, limited, parameters, kind, warp, in_flight):
    """Whether a warp's next operation needs a port and may start now."""
    position = warp[w, WARP_POSITION]
    if position == warp[w, WARP_END]:
        return False
    what = np.int64(kind[position])
    if what == JOIN or what == BARRIER:  # noqa: PLR1714
        return False
    return not (limited.ndim == YES and what == ASYNC and _in_flight(w, t, in_flight) >= parameters[P_OUTSTANDING])


@_inlined
def _release(
    g, t, switch, scheduler, memory, l1, l2, asyncs, limited, parameters, kind, amount, chunks, warp, block, port,
    group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots, in_flight, finishes, partition_free,
    l1_tags, l1_fills, l2_tags, l2_fills, finished, run_state, mask,
):  # fmt: skip
    """Phase 1 for a group: ports whose segment ends now."""
    ports = parameters[P_PORTS]
    for p in range(g * ports, g * ports + ports):
        if port[p, PORT_RELEASE] != t:
            continue
        slot = port[p, PORT_WARP]
        w = g * parameters[P_SLOTS] + slot
        access = port[p, PORT_ACCESS]
        finish = _act(
            g, w, p, t, memory, l1, l2, asyncs, limited, parameters, chunks, warp, port, group, in_flight, finishes,
            partition_free, l1_tags, l1_fills, l2_tags, l2_fills,
        )  # fmt: skip
        if switch.ndim == ON_STALL and finish < 0 and access >= 0:
            if _next_issues(w, t, limited, parameters, kind, warp, in_flight):
                _segment(g, slot, t, p, asyncs, limited, parameters, kind, amount, warp, port, group, in_flight)
                continue
        port[p, PORT_RELEASE] = NEVER
        group[g, GROUP_HELD] -= 1
        if finish >= 0:
            warp[w, WARP_WAITS] = 1
            group[g, GROUP_MEMORY] += 1
            _push(g, finish, slot, memory_ticks, memory_slots, group, GROUP_MEMORY_TAIL, GROUP_MEMORY_HEAD, mask)
        elif switch.ndim == ON_STALL:
            _settle(
                g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
                memory_ticks, memory_slots, in_flight, finishes, finished, run_state, mask,
            )  # fmt: skip
        else:
            wake = max(t, port[p, PORT_GRANTED] + parameters[P_DEPTH])
            _push(g, wake, slot, other_ticks, other_slots, group, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD, mask)


@_inlined
def _wake(
    g, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready, memory_ticks,
    memory_slots, other_ticks, other_slots, in_flight, finishes, finished, run_state, mask,
):  # fmt: skip
    """Phase 2 for a group: warps whose sleep ends now advance. Their order among one another shows nowhere."""
    base = g * parameters[P_SLOTS]
    while True:
        head = group[g, GROUP_MEMORY_HEAD]
        other = group[g, GROUP_OTHER_HEAD]
        if head < group[g, GROUP_MEMORY_TAIL] and memory_ticks[g, head & mask] <= t:
            slot = memory_slots[g, head & mask]
            group[g, GROUP_MEMORY_HEAD] = head + 1
            warp[base + slot, WARP_WAITS] = 0
            group[g, GROUP_MEMORY] -= 1
        elif other < group[g, GROUP_OTHER_TAIL] and other_ticks[g, other & mask] <= t:
            slot = other_slots[g, other & mask]
            group[g, GROUP_OTHER_HEAD] = other + 1
        else:
            break
        _settle(
            g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
            memory_ticks, memory_slots, in_flight, finishes, finished, run_state, mask,
        )  # fmt: skip


@_inlined
def _issue(
    g, t, switch, scheduler, asyncs, limited, parameters, kind, amount, warp, port, group, queue, ready, in_flight, mask,
):  # fmt: skip
    """Phase 4 for a group: grant free ports to ready warps."""
    ports = parameters[P_PORTS]
    if group[g, GROUP_HELD] == ports:
        return
    for p in range(g * ports, g * ports + ports):
        if group[g, GROUP_READY] == 0:
            return
        if port[p, PORT_RELEASE] != NEVER:
            continue
        slot = _pick(g, scheduler, parameters, warp, group, queue, ready, mask)
        group[g, GROUP_GRANTED_SLOT] = slot
        group[g, GROUP_GRANTED_AGE] = warp[g * parameters[P_SLOTS] + slot, WARP_AGE]
        group[g, GROUP_HELD] += 1
        if switch.ndim == ON_STALL:
            _segment(g, slot, t, p, asyncs, limited, parameters, kind, amount, warp, port, group, in_flight)
        else:
            _instruction(g, slot, t, p, parameters, kind, amount, warp, port, group)


@_inlined
def _next_tick(g, parameters, port, group, memory_ticks, other_ticks, mask):
    """When something happens in the group next."""
    ports = parameters[P_PORTS]
    t = NEVER
    if group[g, GROUP_HELD] > 0:
        for p in range(g * ports, g * ports + ports):
            t = min(t, port[p, PORT_RELEASE])
    head = group[g, GROUP_MEMORY_HEAD]
    if head < group[g, GROUP_MEMORY_TAIL]:
        t = min(t, memory_ticks[g, head & mask])
    head = group[g, GROUP_OTHER_HEAD]
    if head < group[g, GROUP_OTHER_TAIL]:
        t = min(t, other_ticks[g, head & mask])
    return t


@_inlined
def _take(g, free):
    """The lowest free number of a group's row of bits, which is taken by this."""
    index = 0
    while free[g, index] == 0:
        index += 1
    bit = _lowest_bit(free[g, index])
    free[g, index] &= free[g, index] - np.uint64(1)
    return (index << 6) + bit


@_inlined
def _give_back(g, number, free):
    """The number is free again."""
    free[g, number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@_inlined
def _free_finished(g, parameters, warp, block, group, finished, free_slots, free_blocks):
    """The places of a group's finished blocks are free again."""
    base = g * parameters[P_SLOTS]
    for index in range(group[g, GROUP_FINISHED]):
        b = finished[g, index]
        slot = block[b, BLOCK_FIRST]
        while slot >= 0:
            following = warp[base + slot, WARP_NEXT]
            _give_back(g, slot, free_slots)
            slot = following
        group[g, GROUP_WARPS] -= block[b, BLOCK_WARPS]
        _give_back(g, b - g * parameters[P_BLOCKS], free_blocks)
    group[g, GROUP_BLOCKS] -= group[g, GROUP_FINISHED] + group[g, GROUP_EMPTY_BLOCKS]
    group[g, GROUP_FINISHED] = 0
    group[g, GROUP_EMPTY_BLOCKS] = 0


@numba.njit(_nrt=False)
def _dispatch(
    t, breakdown, scheduler, asyncs, limited, parameters, kind, amount, warp_operations, warp_chunks, block_warps, warp,
    block, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots, in_flight, finishes, finished,
    free_slots, free_blocks, touched, run_state, mask,
):  # fmt: skip
    """Section 6: free the places of blocks that finished at t, place what fits, and again while blocks finish."""
    groups = parameters[P_GROUPS]
    slots = parameters[P_SLOTS]
    while True:
        run_state[R_ANY_FINISHED] = 0
        for g in range(groups):
            if group[g, GROUP_PARKED] == t and group[g, GROUP_FINISHED] + group[g, GROUP_EMPTY_BLOCKS] > 0:
                _free_finished(g, parameters, warp, block, group, finished, free_slots, free_blocks)
        while run_state[R_PENDING] < run_state[R_LAST_BLOCK]:
            number = run_state[R_PENDING]
            first_warp = block_warps[number]
            warps = block_warps[number + 1] - first_warp
            chosen = np.int64(-1)
            fewest = parameters[P_MOST_BLOCKS]
            for g in range(groups):
                if group[g, GROUP_BLOCKS] < fewest and group[g, GROUP_WARPS] + warps <= parameters[P_ROOM]:
                    fewest = group[g, GROUP_BLOCKS]
                    chosen = g
            if chosen < 0:
                break
            g = chosen
            run_state[R_PENDING] += 1
            if breakdown.ndim == YES:
                _account(g, t, group)
            touched[g] = 1
            group[g, GROUP_BLOCKS] += 1
            if warps == 0:
                group[g, GROUP_EMPTY_BLOCKS] += 1
                group[g, GROUP_PARKED] = t
                run_state[R_ANY_FINISHED] = 1
                continue
            group[g, GROUP_WARPS] += warps
            group[g, GROUP_LIVING] += warps
            b = g * parameters[P_BLOCKS] + _take(g, free_blocks)
            block[b, BLOCK_LIVING] = warps
            block[b, BLOCK_WAITING] = 0
            block[b, BLOCK_WARPS] = warps
            before = np.int64(-1)
            for index in range(warps):
                slot = _take(g, free_slots)
                w = g * slots + slot
                if before < 0:
                    block[b, BLOCK_FIRST] = slot
                else:
                    warp[g * slots + before, WARP_NEXT] = slot
                before = slot
                warp[w, WARP_NEXT] = -1
                warp[w, WARP_POSITION] = warp_operations[first_warp + index]
                warp[w, WARP_FIRST] = warp_operations[first_warp + index]
                warp[w, WARP_END] = warp_operations[first_warp + index + 1]
                warp[w, WARP_CHUNK] = warp_chunks[first_warp + index]
                warp[w, WARP_AGE] = run_state[R_AGE]
                warp[w, WARP_BLOCK] = b
                warp[w, WARP_COMPUTED] = 0
                warp[w, WARP_ASYNCS] = 0
                warp[w, WARP_WAITS] = 0
                warp[w, WARP_DONE] = 0
                if limited.ndim == YES:
                    for entry in range(in_flight.shape[1]):
                        in_flight[w, entry] = -1
                run_state[R_AGE] += 1
            slot = block[b, BLOCK_FIRST]
            while slot >= 0:
                # The next one first: where all of them end at once, the last advance frees the block's list.
                following = warp[g * slots + slot, WARP_NEXT]
                launch = max(t, group[g, GROUP_LAUNCH_FREE]) + parameters[P_WARP_LAUNCH]
                group[g, GROUP_LAUNCH_FREE] = launch
                begins = launch + parameters[P_BLOCK_LAUNCH]
                if begins > t:
                    _push(g, begins, slot, other_ticks, other_slots, group, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD, mask)
                else:
                    _settle(
                        g, slot, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue,
                        ready, memory_ticks, memory_slots, in_flight, finishes, finished, run_state, mask,
                    )  # fmt: skip
                slot = following
        if run_state[R_ANY_FINISHED] == 0:
            return


@numba.njit(_nrt=False, nogil=True, cache=True)
def run(
    budget, coupled, breakdown, switch, scheduler, memory, l1, l2, asyncs, limited, parameters, kind, amount, chunks,
    warp_operations, warp_chunks, block_warps, warp, block, port, group, queue, ready, memory_ticks, memory_slots,
    other_ticks, other_slots, in_flight, finishes, partition_free, l1_tags, l1_fills, l2_tags, l2_fills, finished,
    free_slots, free_blocks, touched, next_tick, run_state,
):  # fmt: skip
    """Go on with a launch for at most about `budget` steps of a group; True when it is over."""
    groups = parameters[P_GROUPS]
    mask = parameters[P_RING] - 1
    if run_state[R_STARTED] == 0:
        run_state[R_STARTED] = 1
        _dispatch(
            np.int64(0), breakdown, scheduler, asyncs, limited, parameters, kind, amount, warp_operations, warp_chunks,
            block_warps, warp, block, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots,
            in_flight, finishes, finished, free_slots, free_blocks, touched, run_state, mask,
        )  # fmt: skip
        for g in range(groups):
            touched[g] = 1
            group[g, GROUP_PARKED] = 0
    t = np.int64(0)
    if coupled.ndim == YES:
        t = run_state[R_TICK]
        while budget > 0:
            after = NEVER
            for g in range(groups):
                if touched[g] != 0:
                    touched[g] = 0
                    _issue(
                        g, t, switch, scheduler, asyncs, limited, parameters, kind, amount, warp, port, group, queue,
                        ready, in_flight, mask,
                    )  # fmt: skip
                    next_tick[g] = _next_tick(g, parameters, port, group, memory_ticks, other_ticks, mask)
                after = min(after, next_tick[g])
            t = after
            run_state[R_TICK] = t
            if t == NEVER:
                return True
            for g in range(groups):
                if next_tick[g] == t:
                    touched[g] = 1
                    budget -= 1
                    if breakdown.ndim == YES:
                        _account(g, t, group)
                    _release(
                        g, t, switch, scheduler, memory, l1, l2, asyncs, limited, parameters, kind, amount, chunks,
                        warp, block, port, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots,
                        in_flight, finishes, partition_free, l1_tags, l1_fills, l2_tags, l2_fills, finished, run_state,
                        mask,
                    )  # fmt: skip
                    # Waking touches nothing of other groups, so it need not wait for their releases.
                    _wake(
                        g, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
                        memory_ticks, memory_slots, other_ticks, other_slots, in_flight, finishes, finished, run_state,
                        mask,
                    )  # fmt: skip
            if run_state[R_ANY_FINISHED] != 0:
                _dispatch(
                    t, breakdown, scheduler, asyncs, limited, parameters, kind, amount, warp_operations, warp_chunks,
                    block_warps, warp, block, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots,
                    in_flight, finishes, finished, free_slots, free_blocks, touched, run_state, mask,
                )  # fmt: skip
        return False
    # Uncoupled: each group on a clock of its own, up to where a block of it ends and others are pending.
    while True:
        for g in range(groups):
            parked = group[g, GROUP_PARKED]
            if touched[g] == 0:
                continue
            t = parked
            while True:
                _issue(
                    g, t, switch, scheduler, asyncs, limited, parameters, kind, amount, warp, port, group, queue, ready,
                    in_flight, mask,
                )  # fmt: skip
                t = _next_tick(g, parameters, port, group, memory_ticks, other_ticks, mask)
                if t == NEVER:
                    break
                if budget <= 0:
                    break
                budget -= 1
                if breakdown.ndim == YES:
                    _account(g, t, group)
                _release(
                    g, t, switch, scheduler, memory, l1, l2, asyncs, limited, parameters, kind, amount, chunks, warp,
                    block, port, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots, in_flight,
                    finishes, partition_free, l1_tags, l1_fills, l2_tags, l2_fills, finished, run_state, mask,
                )  # fmt: skip
                _wake(
                    g, t, scheduler, asyncs, limited, parameters, kind, amount, warp, block, group, queue, ready,
                    memory_ticks, memory_slots, other_ticks, other_slots, in_flight, finishes, finished, run_state,
                    mask,
                )  # fmt: skip
                if group[g, GROUP_FINISHED] > 0:
                    if run_state[R_PENDING] < run_state[R_LAST_BLOCK]:
                        break
                    _free_finished(g, parameters, warp, block, group, finished, free_slots, free_blocks)
            if t != NEVER and budget <= 0 and group[g, GROUP_FINISHED] == 0:
                # Issuing again at the tick it stopped before finds no free port or no ready warp, and does nothing.
                return False
            touched[g] = 0
            group[g, GROUP_PARKED] = t
        t = NEVER
        for g in range(groups):
            t = min(t, group[g, GROUP_PARKED])
        if t == NEVER:
            return True
        _dispatch(
            t, breakdown, scheduler, asyncs, limited, parameters, kind, amount, warp_operations, warp_chunks, block_warps,
            warp, block, group, queue, ready, memory_ticks, memory_slots, other_ticks, other_slots, in_flight, finishes,
            finished, free_slots, free_blocks, touched, run_state, mask,
        )  # fmt: skip
        for g in range(groups):
            if group[g, GROUP_PARKED] == t:
                touched[g] = 1
