"""Issue ports: what a grant takes up, and what happens where it ends (sections 2 and 5)."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.attribution.group_time import KEEP, turn
from simtmm.engine.fast.attribution.last_waits import note_copy
from simtmm.engine.fast.attribution.stalls import (
    INSTRUCTION,
    NOT_GRANTED,
    PIPE_QUEUE,
    book,
    book_issuing,
    book_wait,
    book_waiting,
    count_access,
    count_conflicts,
    keep_path,
    keep_store,
    place_at,
)
from simtmm.engine.fast.attribution.stalls import ISSUING as ISSUES
from simtmm.engine.fast.attribution.units import note_unit
from simtmm.engine.fast.layout import (
    GROUP_COPY_FREE,
    GROUP_DRAIN_FREE,
    GROUP_GRANTED_AGE,
    GROUP_GRANTED_SLOT,
    GROUP_HELD,
    GROUP_ISSUED,
    GROUP_L1_HITS,
    GROUP_L1_STORES,
    GROUP_L2_HITS,
    GROUP_L2_SECTORS,
    GROUP_MEMORY_SECTORS,
    GROUP_OTHER_HEAD,
    GROUP_OTHER_TAIL,
    GROUP_PORT_BUSY,
    GROUP_READY,
    ISSUING,
    NEVER,
    NO,
    ON_STALL,
    OTHER_TICKS,
    OWN,
    P_AT_END,
    P_BLOCKING,
    P_BOOKS,
    P_COPY_INTERVAL,
    P_DEPTH,
    P_ISSUE,
    P_JUMPS,
    P_OUTSTANDING,
    P_OWN_PORTS,
    P_PIPED,
    P_PORTS,
    P_SLOTS,
    P_WATCH,
    PIPELINE,
    PORT_ACCESS,
    PORT_COUNT,
    PORT_GRANTED,
    PORT_RELEASE,
    PORT_WARP,
    R_FULL,
    WARP_AGE,
    WARP_ASYNCS,
    WARP_CHUNK,
    WARP_COMPUTED,
    WARP_COPIED,
    WARP_COPYING,
    WARP_END,
    WARP_LEFT,
    WARP_POSITION,
    WATCH_PLACE,
)
from simtmm.engine.fast.memory.path import fetch_lines, transfer_chunks
from simtmm.engine.fast.memory.pipe import pass_shared
from simtmm.engine.fast.ports.own_ports import pick_of_port
from simtmm.engine.fast.ports.pipes import has_pipe, pass_pipe
from simtmm.engine.fast.ports.scheduler import pick, push
from simtmm.engine.fast.supply.windows import fill, has_more
from simtmm.engine.fast.warps.advance import asyncs_are_full, is_control, settle, sleep
from simtmm.engine.own_rule.columns import SEEN_HITS, SEEN_ISSUED, SEEN_MISSES
from simtmm.native import inlined
from simtmm.timeline import COPIES
from simtmm.workload import (
    ASYNC,
    COMPUTE,
    COPY,
    JOIN,
    LISTED,
    LOAD,
    OF_CLASS,
    PASSES_SHIFT,
    REDUCE,
    SHARED,
    STORE,
)


@inlined
def segment(s, memory, g, slot, t, p):
    """Give the port the segment that starts now (section 5, on-stall)."""
    w = g * s.parameters[P_SLOTS] + slot
    issue = s.parameters[P_ISSUE]
    position = s.warp[w, WARP_POSITION]
    end = s.warp[w, WARP_END]
    ticks = np.int64(0)
    issued = np.int64(0)
    access = np.int64(-1)
    count = np.int64(0)
    while True:
        if position == end:
            if not has_more(s, w):
                break
            fill(s, w)
            position = s.warp[w, WARP_POSITION]
            end = s.warp[w, WARP_END]
            continue
        what = np.int64(s.kind[position])
        if what == COMPUTE or what >= OF_CLASS:
            book_issuing(s, g, position, s.amount[position], np.int64(1))
            issued += s.amount[position]
            ticks += issue * s.amount[position]
            if has_pipe(s, what):
                access = what
                count = s.amount[position]
                position += 1
                break
        elif what == SHARED and s.parameters[P_PIPED] == 0:
            book_issuing(s, g, position, np.int64(1), s.amount[position] & LISTED)
            issued += 1
            ticks += issue * (s.amount[position] & LISTED)
        elif what >= JOIN:  # control, as what is of a class was seen before
            break
        else:
            if what == ASYNC and asyncs_are_full(s, w, t + ticks):
                break
            book_issuing(s, g, position, np.int64(1), np.int64(1))
            access = what
            count = s.amount[position]
            issued += 1
            ticks += issue
            position += 1
            break
        position += 1
    s.warp[w, WARP_POSITION] = position
    if memory != NO and SHARED < access < JOIN:
        fetch_lines(s, g, s.warp[w, WARP_CHUNK], count & LISTED)
    s.group[g, GROUP_ISSUED] += issued
    s.group[g, GROUP_PORT_BUSY] += ticks
    s.port[p, PORT_RELEASE] = t + ticks
    s.port[p, PORT_WARP] = slot
    s.port[p, PORT_ACCESS] = access
    s.port[p, PORT_COUNT] = count


@inlined
def instruction(s, g, slot, t, p):
    """Give the port one instruction (section 5, every-instruction)."""
    w = g * s.parameters[P_SLOTS] + slot
    position = s.warp[w, WARP_POSITION]
    what = np.int64(s.kind[position])
    ticks = s.parameters[P_ISSUE]
    access = np.int64(-1)
    keeps = what == SHARED and s.parameters[P_PIPED] == 0
    degree = s.amount[position] & LISTED if keeps else np.int64(1)
    book_issuing(s, g, position, np.int64(1), degree)
    if what == COMPUTE or what >= OF_CLASS:
        if has_pipe(s, what):
            access = what
        s.warp[w, WARP_COMPUTED] += 1
        if s.warp[w, WARP_COMPUTED] == s.amount[position]:
            s.warp[w, WARP_COMPUTED] = 0
            s.warp[w, WARP_POSITION] = position + 1
    else:
        if keeps:
            ticks *= degree
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
def act(s, memory, order, g, w, p, t):  # noqa: C901 - a case for each kind of access; calls cost here
    """The segment's memory instruction leaves its port: its finish if the warp waits for it, else -1."""
    what = s.port[p, PORT_ACCESS]
    if what < 0 or what >= JOIN:
        return np.int64(-1)
    amount = s.port[p, PORT_COUNT]
    if what == SHARED:
        place = place_at(s, s.warp[w, WARP_POSITION] - 1)
        conflicts = (amount & LISTED) - (amount >> PASSES_SHIFT) - 1
        pass_shared(s, g, w, amount & LISTED, conflicts, place, t)
        count_conflicts(s, g, place, conflicts)
        return np.int64(-1)
    count = amount & LISTED
    first = s.warp[w, WARP_CHUNK]
    s.warp[w, WARP_CHUNK] = first + count
    l1_hits = s.group[g, GROUP_L1_HITS]
    l2_hits = s.group[g, GROUP_L2_HITS]
    l1_stores = s.group[g, GROUP_L1_STORES]
    l2_sectors = s.group[g, GROUP_L2_SECTORS]
    memory_sectors = s.group[g, GROUP_MEMORY_SECTORS]
    passes = (amount >> PASSES_SHIFT) + 1
    finish = transfer_chunks(s, memory, g, w, what, first, count, passes, t)
    if s.parameters[P_BOOKS] != 0:
        place = place_at(s, s.warp[w, WARP_POSITION] - 1)
        count_access(s, g, place, count, l1_hits, l2_hits, l1_stores, l2_sectors, memory_sectors)
    if order == OWN and what in (ASYNC, LOAD):
        hits = s.group[g, GROUP_L1_HITS] - l1_hits
        s.seen[w, SEEN_HITS] += hits
        s.seen[w, SEEN_MISSES] += count - hits
    if what == ASYNC:
        number = s.warp[w, WARP_ASYNCS]
        last = s.finishes.shape[1] - 1
        if s.parameters[P_WATCH] != 0:
            is_latest = number == 0 or finish > s.finishes[w, (number - 1) & last]
            keep_path(s, g, w, number, last, is_latest, place_at(s, s.warp[w, WARP_POSITION] - 1))
        s.finishes[w, number & last] = finish if number == 0 else max(finish, s.finishes[w, (number - 1) & last])
        s.warp[w, WARP_ASYNCS] = number + 1
        if number >= last and s.finishes[w, (number + 1) & last] > t:
            s.parameters[R_FULL] = 1  # the next async takes the place of one that is not over
        if s.parameters[P_OUTSTANDING] > 0:
            for index in range(s.in_flight.shape[1]):
                if s.in_flight[w, index] <= t:
                    s.in_flight[w, index] = finish
                    break
        return np.int64(-1)
    if what == COPY:
        if s.warp[w, WARP_COPIED] == 0:
            s.warp[w, WARP_COPYING] = t
        note_copy(s, g, w, finish)
        begin = max(t, s.group[g, GROUP_COPY_FREE] - s.parameters[P_COPY_INTERVAL])
        note_unit(s, g, w, np.int64(COPIES), begin, finish)
        s.warp[w, WARP_COPIED] = max(s.warp[w, WARP_COPIED], finish)
        return np.int64(-1)
    if what == STORE:
        s.warp[w, WARP_LEFT] = max(t, s.group[g, GROUP_DRAIN_FREE])
    if what == REDUCE or (what == STORE and s.parameters[P_BLOCKING] == 0):
        if s.parameters[P_AT_END] != 0:
            keep_store(s, g, w, finish, place_at(s, s.warp[w, WARP_POSITION] - 1))
        return np.int64(-1)
    return finish


@inlined
def next_issues(s, w, t):
    """Whether a warp's next operation needs a port and may start now."""
    if s.warp[w, WARP_POSITION] == s.warp[w, WARP_END] and has_more(s, w):
        fill(s, w)
    if s.warp[w, WARP_POSITION] == s.warp[w, WARP_END]:
        return False
    what = np.int64(s.kind[s.warp[w, WARP_POSITION]])
    if is_control(what):
        return False
    return not (what == ASYNC and asyncs_are_full(s, w, t))


@inlined
def release_ports(s, switch, memory, order, g, t):  # noqa: C901 - whether the warp issues on is decided here
    """Phase 1 for a group: ports whose segment ends now."""
    ports = s.parameters[P_PORTS]
    for p in range(g * ports, g * ports + ports):
        if s.port[p, PORT_RELEASE] != t:
            continue
        slot = s.port[p, PORT_WARP]
        w = g * s.parameters[P_SLOTS] + slot
        access = s.port[p, PORT_ACCESS]
        finish = act(s, memory, order, g, w, p, t)
        start = t
        if access >= OF_CLASS:
            count = s.port[p, PORT_COUNT] if switch == ON_STALL else np.int64(1)
            start = max(t, pass_pipe(s, g, slot, access, t - (count - 1) * s.parameters[P_ISSUE], count))
        if switch == ON_STALL and finish < 0 and start == t and access >= 0 and next_issues(s, w, t):
            issued = s.group[g, GROUP_ISSUED]
            segment(s, memory, g, slot, t, p)
            if order == OWN:
                s.seen[w, SEEN_ISSUED] += s.group[g, GROUP_ISSUED] - issued
            continue
        s.port[p, PORT_RELEASE] = NEVER
        s.group[g, GROUP_HELD] -= 1
        if finish >= 0:
            place = place_at(s, s.warp[w, WARP_POSITION] - 1)
            reason = np.int64(0)
            if s.parameters[P_WATCH] != 0:
                reason = book_wait(s, g, place, finish - t)
            sleep(s, g, t, finish, slot, place, reason)
        elif switch == ON_STALL:
            if start == t:
                settle(s, order, g, slot, t)
            else:
                place = place_at(s, s.warp[w, WARP_POSITION] - 1)
                turn(s, g, w, PIPELINE, place, PIPE_QUEUE, t)
                book(s, g, place, PIPE_QUEUE, start - t)
                push(s, OTHER_TICKS, g, start, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)
        else:
            wake = max(t, s.port[p, PORT_GRANTED] + s.parameters[P_DEPTH])
            queue = max(np.int64(0), start - wake)
            turn(s, g, w, PIPELINE, np.int64(KEEP), PIPE_QUEUE if queue > wake - t else INSTRUCTION, t)
            if s.parameters[P_BOOKS] != 0:
                book(s, g, s.watch[w, WATCH_PLACE], INSTRUCTION, wake - t)
                if queue > 0:
                    book(s, g, s.watch[w, WATCH_PLACE], PIPE_QUEUE, queue)
                    if s.parameters[P_JUMPS] != 0:
                        s.queued[w] += queue
            push(s, OTHER_TICKS, g, wake + queue, slot, GROUP_OTHER_TAIL, GROUP_OTHER_HEAD)


@inlined
def grant(s, switch, memory, g, p, slot, t):
    """Grant a port to the warp in a slot."""
    s.group[g, GROUP_GRANTED_SLOT] = slot
    s.group[g, GROUP_GRANTED_AGE] = s.warp[g * s.parameters[P_SLOTS] + slot, WARP_AGE]
    book_waiting(s, g, g * s.parameters[P_SLOTS] + slot, NOT_GRANTED, t)
    turn(s, g, g * s.parameters[P_SLOTS] + slot, ISSUING, np.int64(KEEP), ISSUES, t)
    s.group[g, GROUP_HELD] += 1
    if switch == ON_STALL:
        segment(s, memory, g, slot, t, p)
    else:
        instruction(s, g, slot, t, p)


@inlined
def grant_ports(s, switch, memory, order, g, t):
    """Phase 4 for a group: grant free ports to ready warps."""
    ports = s.parameters[P_PORTS]
    if s.group[g, GROUP_HELD] == ports:
        return
    for p in range(g * ports, g * ports + ports):
        if s.group[g, GROUP_READY] == 0:
            return
        if s.port[p, PORT_RELEASE] != NEVER:
            continue
        slot = pick(s, order, g) if s.parameters[P_OWN_PORTS] == 0 else pick_of_port(s, order, g, p)
        if slot < 0:
            continue
        grant(s, switch, memory, g, p, slot, t)
