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
    count_last_level,
    count_shared_l1,
    keep_path,
    keep_store,
    place_at,
)
from simtmm.engine.fast.attribution.stalls import ISSUING as ISSUES
from simtmm.engine.fast.attribution.units import note_unit
from simtmm.engine.fast.layout import ISSUING, NEVER, NO, ON_STALL, OTHER_TICKS, OWN, PIPELINE, Group
from simtmm.engine.fast.memory.path import fetch_lines, transfer_chunks
from simtmm.engine.fast.memory.pipe import pass_shared
from simtmm.engine.fast.ports.own_ports import pick_of_port
from simtmm.engine.fast.ports.pipes import has_pipe, pass_pipe
from simtmm.engine.fast.ports.scheduler import pick, push
from simtmm.engine.fast.supply.windows import fill, has_more
from simtmm.engine.fast.warps.advance import asyncs_are_full, is_control, settle, sleep
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
    w = g * s.parameters.slots + slot
    issue = s.parameters.issue
    position = s.warp[w].position
    end = s.warp[w].end
    ticks = np.int64(0)
    issued = np.int64(0)
    access = np.int64(-1)
    count = np.int64(0)
    while True:
        if position == end:
            if not has_more(s, w):
                break
            fill(s, w)
            position = s.warp[w].position
            end = s.warp[w].end
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
        elif what == SHARED and s.parameters.piped == 0:
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
    s.warp[w].position = position
    if memory != NO and SHARED < access < JOIN:
        fetch_lines(s, g, w, access, count & LISTED)
    s.group[g].issued += issued
    s.group[g].port_busy += ticks
    s.port[p].release = t + ticks
    s.port[p].warp = slot
    s.port[p].access = access
    s.port[p].count = count


@inlined
def instruction(s, g, slot, t, p):
    """Give the port one instruction (section 5, every-instruction)."""
    w = g * s.parameters.slots + slot
    position = s.warp[w].position
    what = np.int64(s.kind[position])
    ticks = s.parameters.issue
    access = np.int64(-1)
    keeps = what == SHARED and s.parameters.piped == 0
    degree = s.amount[position] & LISTED if keeps else np.int64(1)
    book_issuing(s, g, position, np.int64(1), degree)
    if what == COMPUTE or what >= OF_CLASS:
        if has_pipe(s, what):
            access = what
        s.warp[w].computed += 1
        if s.warp[w].computed == s.amount[position]:
            s.warp[w].computed = 0
            s.warp[w].position = position + 1
    else:
        if keeps:
            ticks *= degree
        else:
            access = what
        s.warp[w].position = position + 1
    s.group[g].issued += 1
    s.group[g].port_busy += ticks
    s.port[p].release = t + ticks
    s.port[p].warp = slot
    s.port[p].access = access
    s.port[p].count = s.amount[position]
    s.port[p].granted = t


@inlined
def act(s, memory, order, g, w, p, t):  # noqa: C901 - a case for each kind of access; calls cost here
    """The segment's memory instruction leaves its port: its finish if the warp waits for it, else -1."""
    what = s.port[p].access
    if what < 0 or what >= JOIN:
        return np.int64(-1)
    amount = s.port[p].count
    if what == SHARED:
        place = place_at(s, s.warp[w].position - 1)
        conflicts = (amount & LISTED) - (amount >> PASSES_SHIFT) - 1
        pass_shared(s, g, w, amount & LISTED, conflicts, place, t)
        count_conflicts(s, g, place, conflicts)
        return np.int64(-1)
    count = amount & LISTED
    first = s.warp[w].chunk
    s.warp[w].chunk = first + count
    l1_hits = s.group[g].l1_hits
    l2_hits = s.group[g].l2_hits
    l1_stores = s.group[g].l1_stores
    l2_sectors = s.group[g].l2_sectors
    memory_sectors = s.group[g].memory_sectors
    last_level_hits = s.group[g].last_level_hits
    last_level_sectors = s.group[g].last_level_sectors
    shared_l1_hits, shared_l1_sectors = s.group[g].shared_l1_hits, s.group[g].shared_l1_sectors
    passes = (amount >> PASSES_SHIFT) + 1
    finish = transfer_chunks(s, memory, g, w, what, first, count, passes, t)
    if s.parameters.books != 0:
        place = place_at(s, s.warp[w].position - 1)
        count_access(s, g, place, count, l1_hits, l2_hits, l1_stores, l2_sectors, memory_sectors)
        count_last_level(s, g, place, last_level_hits, last_level_sectors)
        count_shared_l1(s, g, place, shared_l1_hits, shared_l1_sectors)
    if order == OWN and what in (ASYNC, LOAD):
        hits = s.group[g].l1_hits - l1_hits
        s.seen[w].hits += hits
        s.seen[w].misses += count - hits
    if what == ASYNC:
        number = s.warp[w].asyncs
        last = s.finishes.shape[1] - 1
        if s.parameters.watch != 0:
            is_latest = number == 0 or finish > s.finishes[w, (number - 1) & last]
            keep_path(s, g, w, number, last, is_latest, place_at(s, s.warp[w].position - 1))
        s.finishes[w, number & last] = finish if number == 0 else max(finish, s.finishes[w, (number - 1) & last])
        s.warp[w].asyncs = number + 1
        if number >= last and s.finishes[w, (number + 1) & last] > t:
            s.parameters.full = 1  # the next async takes the place of one that is not over
        if s.parameters.outstanding > 0:
            for index in range(s.in_flight.shape[1]):
                if s.in_flight[w, index] <= t:
                    s.in_flight[w, index] = finish
                    break
        return np.int64(-1)
    if what == COPY:
        if s.warp[w].copied == 0:
            s.warp[w].copying = t
        note_copy(s, g, w, finish)
        begin = max(t, s.group[g].copy_free - s.parameters.copy_interval)
        note_unit(s, g, w, np.int64(COPIES), begin, finish)
        s.warp[w].copied = max(s.warp[w].copied, finish)
        return np.int64(-1)
    if what == STORE:
        s.warp[w].left = max(t, s.group[g].drain_free)
    if what == REDUCE or (what == STORE and s.parameters.blocking == 0):
        if s.parameters.at_end != 0:
            keep_store(s, g, w, finish, place_at(s, s.warp[w].position - 1))
        return np.int64(-1)
    return finish


@inlined
def next_issues(s, w, t):
    """Whether a warp's next operation needs a port and may start now."""
    if s.warp[w].position == s.warp[w].end and has_more(s, w):
        fill(s, w)
    if s.warp[w].position == s.warp[w].end:
        return False
    what = np.int64(s.kind[s.warp[w].position])
    if is_control(what):
        return False
    return not (what == ASYNC and asyncs_are_full(s, w, t))


@inlined
def release_ports(s, switch, memory, order, g, t):  # noqa: C901 - whether the warp issues on is decided here
    """Phase 1 for a group: ports whose segment ends now."""
    ports = s.parameters.ports
    for p in range(g * ports, g * ports + ports):
        if s.port[p].release != t:
            continue
        slot = s.port[p].warp
        w = g * s.parameters.slots + slot
        access = s.port[p].access
        finish = act(s, memory, order, g, w, p, t)
        start = t
        if access >= OF_CLASS:
            count = s.port[p].count if switch == ON_STALL else np.int64(1)
            start = max(t, pass_pipe(s, g, slot, access, t - (count - 1) * s.parameters.issue, count))
        if switch == ON_STALL and finish < 0 and start == t and access >= 0 and next_issues(s, w, t):
            issued = s.group[g].issued
            segment(s, memory, g, slot, t, p)
            if order == OWN:
                s.seen[w].issued += s.group[g].issued - issued
            continue
        s.port[p].release = NEVER
        s.group[g].held -= 1
        if finish >= 0:
            place = place_at(s, s.warp[w].position - 1)
            reason = np.int64(0)
            if s.parameters.watch != 0:
                reason = book_wait(s, g, place, finish - t)
            sleep(s, g, t, finish, slot, place, reason)
        elif switch == ON_STALL:
            if start == t:
                settle(s, order, g, slot, t)
            else:
                place = place_at(s, s.warp[w].position - 1)
                turn(s, g, w, PIPELINE, place, PIPE_QUEUE, t)
                book(s, g, place, PIPE_QUEUE, start - t)
                push(s, OTHER_TICKS, g, start, slot, Group.other_tail, Group.other_head)
        else:
            wake = max(t, s.port[p].granted + s.parameters.depth)
            queue = max(np.int64(0), start - wake)
            turn(s, g, w, PIPELINE, np.int64(KEEP), PIPE_QUEUE if queue > wake - t else INSTRUCTION, t)
            if s.parameters.books != 0:
                book(s, g, s.watch[w].place, INSTRUCTION, wake - t)
                if queue > 0:
                    book(s, g, s.watch[w].place, PIPE_QUEUE, queue)
                    if s.parameters.jumps != 0:
                        s.queued[w] += queue
            push(s, OTHER_TICKS, g, wake + queue, slot, Group.other_tail, Group.other_head)


@inlined
def grant(s, switch, memory, g, p, slot, t):
    """Grant a port to the warp in a slot."""
    s.group[g].granted_slot = slot
    s.group[g].granted_age = s.warp[g * s.parameters.slots + slot].age
    book_waiting(s, g, g * s.parameters.slots + slot, NOT_GRANTED, t)
    turn(s, g, g * s.parameters.slots + slot, ISSUING, np.int64(KEEP), ISSUES, t)
    s.group[g].held += 1
    if switch == ON_STALL:
        segment(s, memory, g, slot, t, p)
    else:
        instruction(s, g, slot, t, p)


@inlined
def grant_ports(s, switch, memory, order, g, t):
    """Phase 4 for a group: grant free ports to ready warps."""
    ports = s.parameters.ports
    if s.group[g].held == ports:
        return
    for p in range(g * ports, g * ports + ports):
        if s.group[g].ready == 0:
            return
        if s.port[p].release != NEVER:
            continue
        slot = pick(s, order, g) if s.parameters.own_ports == 0 else pick_of_port(s, order, g, p)
        if slot < 0:
            continue
        grant(s, switch, memory, g, p, slot, t)
