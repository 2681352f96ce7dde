"""Where warps' ticks go, by place and reason (docs/machine.md, section 10). What takes a known time is booked when it
begins; a wait for a port or at a barrier when it ends.
"""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.engine.fast.layout import PATH_ROW
from simtmm.native import inlined
from simtmm.stalls import Reason

ISSUING, CONFLICTS, NOT_GRANTED = int(Reason.ISSUING), int(Reason.BANK_CONFLICTS), int(Reason.NOT_GRANTED)
INSTRUCTION, PIPE_QUEUE = int(Reason.INSTRUCTION_LATENCY), int(Reason.PIPE_QUEUE)
FIRST_OF_PATH = int(Reason.PORT_QUEUE)
WHOLE_LATENCY = int(Reason.MEMORY_LATENCY) - FIRST_OF_PATH


@inlined
def place_at(s, position):
    """Where an operation comes from."""
    return np.int64(s.place[position]) if s.parameters.placed != 0 else np.int64(s.kind[position])


@inlined
def book_issuing(s, g, position, instructions, degree):
    """Book what an operation takes its port for."""
    if s.parameters.books != 0:
        place = place_at(s, position)
        lane = s.group[g].lane
        s.booked[lane, place, ISSUING] += instructions * s.parameters.issue
        if degree > 1:
            s.booked[lane, place, CONFLICTS] += (degree - 1) * s.parameters.issue
            s.booked[lane, place].conflicts += degree - 1


@inlined
def count_conflicts(s, g, place, conflicts):
    """Count the passes of a shared access that it would not take without conflicts."""
    if s.parameters.books != 0:
        s.booked[s.group[g].lane, place].conflicts += conflicts


@inlined
def begin_waiting(s, w, place, t):
    """A warp is ready, or at a barrier, from now on: nobody knows how long."""
    if s.parameters.books != 0:
        s.watch[w].since = t
        s.watch[w].place = place


@inlined
def book_waiting(s, g, w, reason, t):
    """Book what a warp has waited since, for a port or at a barrier."""
    if s.parameters.books != 0:
        s.booked[s.group[g].lane, s.watch[w].place, reason] += t - s.watch[w].since


@inlined
def book(s, g, place, reason, ticks):
    """Book a wait whose end is known."""
    if s.parameters.books != 0:
        s.booked[s.group[g].lane, place, reason] += ticks


@inlined
def count_access(s, g, place, chunks, l1_hits, l2_hits, l1_stores, l2_sectors, memory_sectors):  # noqa: PLR0913, PLR0917 - each is a count before the access
    """Count a memory instruction. l1_hits and those behind it: of the group before it."""
    lane = s.group[g].lane
    s.booked[lane, place].requests += 1
    s.booked[lane, place].chunks += chunks
    s.booked[lane, place].l1_hits += s.group[g].l1_hits - l1_hits
    s.booked[lane, place].l2_hits += s.group[g].l2_hits - l2_hits
    s.booked[lane, place].l1_stores += s.group[g].l1_stores - l1_stores
    s.booked[lane, place].l2_sectors += s.group[g].l2_sectors - l2_sectors
    s.booked[lane, place].memory_sectors += s.group[g].memory_sectors - memory_sectors


@inlined
def count_last_level(s, g, place, hits, sectors):
    """Count what a memory instruction found in the last-level cache, and moved there. hits, sectors: as above."""
    lane = s.group[g].lane
    s.booked[lane, place].last_level_hits += s.group[g].last_level_hits - hits
    s.booked[lane, place].last_level_sectors += s.group[g].last_level_sectors - sectors


@inlined
def count_shared_l1(s, g, place, hits, sectors):
    """Likewise of its shared L1."""
    lane = s.group[g].lane
    s.booked[lane, place].shared_l1_hits += s.group[g].shared_l1_hits - hits
    s.booked[lane, place].shared_l1_sectors += s.group[g].shared_l1_sectors - sectors


def keep_path(s, g, w, number, last, is_latest, place):
    """Keep the path of the async that finishes last of a warp's first ones: this one's, or the one's before it."""
    row = number & last
    if is_latest:
        for index in range(PATH_ROW):
            s.paths[w, row, index] = s.path[g, index]
        s.paths[w, row].place = place
    else:
        for index in range(PATH_ROW + 1):
            s.paths[w, row, index] = s.paths[w, (number - 1) & last, index]


def book_wait(s, g, place, ticks):
    """Book a wait for the access whose path is the group's: the last so many ticks. The reason of most of them."""
    longest = np.int64(WHOLE_LATENCY)
    most = np.int64(0)
    index = np.int64(PATH_ROW - 1)
    while index >= 0 and ticks > 0:
        part = min(ticks, s.path[g, index])
        if part > 0:
            ticks -= part
            if s.parameters.books != 0:
                s.booked[s.group[g].lane, place, FIRST_OF_PATH + index] += part
            if part >= most:
                longest = index
                most = part
        index -= 1
    return FIRST_OF_PATH + longest


def book_async_wait(s, g, w, row, ticks):
    """Likewise for an async that is kept in a row of the warp's."""
    for index in range(PATH_ROW):
        s.path[g, index] = s.paths[w, row, index]
    return book_wait(s, g, s.paths[w, row].place, ticks)


def book_shared_wait(s, g, w, row, ticks):
    """Likewise for a shared access that is kept in a row of the warp's."""
    latency = min(ticks, s.unsettled[w, row].own)
    conflicts = min(ticks - latency, s.unsettled[w, row].conflicts)
    queue = ticks - latency - conflicts
    place = s.unsettled[w, row].place
    book(s, g, place, INSTRUCTION, latency)
    book(s, g, place, CONFLICTS, conflicts)
    book(s, g, place, FIRST_OF_PATH, queue)
    if latency >= max(conflicts, queue):
        return np.int64(INSTRUCTION)
    return np.int64(CONFLICTS) if conflicts >= queue else np.int64(FIRST_OF_PATH)


@inlined
def keep_store(s, g, w, finish, place):
    """Keep the store of a warp that finishes last, the first of equals."""
    if finish > s.stored[w].finish:
        s.stored[w].finish = finish
        if s.parameters.watch != 0:
            for index in range(PATH_ROW):
                s.stored[w, index] = s.path[g, index]
            s.stored[w].place = place


def book_stores_wait(s, g, w, ticks):
    """Likewise for the store that is kept of a warp."""
    for index in range(PATH_ROW):
        s.path[g, index] = s.stored[w, index]
    return book_wait(s, g, s.stored[w].place, ticks)


def book_periods(s, g, w, times, instructions, period, queue):
    """Book what a warp does in periods that are jumped over: it issues, waits out the pipeline and for its pipe, for so
    many ticks of a period, and is ready.
    """
    issuing = instructions * s.parameters.issue
    waiting = instructions * max(np.int64(0), s.parameters.depth - s.parameters.issue)
    place = place_at(s, s.warp[w].position)
    lane = s.group[g].lane
    s.booked[lane, place, ISSUING] += times * issuing
    s.booked[lane, place, INSTRUCTION] += times * waiting
    s.booked[lane, place, PIPE_QUEUE] += times * queue
    s.booked[lane, place, NOT_GRANTED] += times * (period - issuing - waiting - queue)
    s.watch[w].since += times * period
