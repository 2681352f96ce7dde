"""A warp on its way along its block: one operation after another, up to where room ends."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.stalls import CLASSES
from simtmm.trace.runs.layout import SITE_MASK
from simtmm.trace.schema import Kind
from simtmm.trace.warps.acts import act_on
from simtmm.trace.warps.arrivals import commit, give_results, last_arrival, last_ready, latest_needed, spend
from simtmm.trace.warps.barriers import is_first_at, note_barrier
from simtmm.trace.warps.groups import settle
from simtmm.trace.warps.holding import add_due, hold, hold_due, left_of_stall, let_go, put, take_turn
from simtmm.trace.warps.lanes import kind_of, leader_at, next_site, takes_part
from simtmm.trace.warps.layout import AT_BARRIER, NO_SITE, PLAIN_NODE
from simtmm.trace.warps.load_store_units import MOST_COPIED, may_join
from simtmm.trace.warps.places import place_at
from simtmm.workload import COMPUTE, JOIN, MOST_UNSETTLED, PAUSE, SETTLE

# Of a step: what was held, a join, a settle, a pause, a compute, one of each class, a pause, and what it is itself: at
# an mbarrier one for each lane
MOST_OPERATIONS = 6 + len(CLASSES) + 64
MOST_OPERATIONS_OF_COPY = 6 + len(CLASSES)

ENDED, IS_FULL, IS_REFUSED = range(3)  # what comes of a walk

_WORK, _BARRIER, _COPY = int(Kind.WORK), int(Kind.BARRIER), int(Kind.COPY)


def go_on(walk, runs, values, w, output, most_chunks):
    """Write operations of a warp: ENDED, IS_FULL where there may be no room for the next step, or IS_REFUSED.

    most_chunks: that an operation of this warp lists at most.
    """
    walk.warp[w].last_copy = -1
    while True:
        if (
            output.used.operations + MOST_OPERATIONS > output.used.end_operations
            or output.used.chunks + most_chunks + MOST_COPIED > output.used.end_chunks
        ) and not goes_on_copying(walk, w, output, most_chunks):
            return np.int64(IS_FULL)
        if walk.warp[w].turns > 0:
            if not take_turn(walk, w, output):
                return np.int64(IS_REFUSED)
            continue
        at = next_site(walk, w)
        if at == NO_SITE:
            let_go(walk, w, output)
            return np.int64(ENDED)
        if not take_step(walk, runs, values, w, at, output):
            return np.int64(IS_REFUSED)


@inlined
def goes_on_copying(walk, w, output, most_chunks):
    """Whether the next step may join the copy written last, which is one operation wherever room ends, and fits.

    Of a copy that has begun, MOST_COPIED chunks always do.
    """
    if not may_join(walk, w, output) or walk.warp[w].turns > 0:
        return False
    if (
        output.used.operations + MOST_OPERATIONS_OF_COPY > output.used.end_operations
        or output.used.chunks + most_chunks > output.used.end_chunks
    ):
        return False
    at = next_site(walk, w)
    if at == NO_SITE:
        return False
    what = walk.group[w, leader_at(walk, w, at)].what
    return kind_of(what) == _COPY and what & SITE_MASK == walk.warp[w].copy_site


@inlined
def take_step(walk, runs, values, w, at, output):  # noqa: C901, PLR0912, PLR0915 - a compiled loop: section 9's steps in their order
    """The operations of the lanes at the lowest site; whether they can be determined."""
    leader = leader_at(walk, w, at)
    what = walk.group[w, leader].what
    kind = kind_of(what)
    site = what & SITE_MASK
    before = np.int64(0)
    piped = np.int64(0)
    stall = np.int64(0)
    for index in range(walk.due.shape[0]):
        walk.due[index] = 0
    latest = walk.warp[w].waited
    arrival = np.int64(0)  # of its own cycles, the one from which on it has what it needs of shared memory
    ready = np.int64(0)  # likewise, of instructions
    says = site < walk.work.shape[0]
    if kind == _BARRIER:
        for g in range(walk.warp[w].groups):
            if walk.group[w, g].site == AT_BARRIER and is_first_at(walk, w, g):
                own = walk.group[w, g].what & SITE_MASK
                if walk.rules.places != 0:
                    note_barrier(walk, w, own)
                if own < walk.work.shape[0]:
                    latest = latest_needed(walk, w, own, latest)
                    arrival = last_arrival(walk, w, own, arrival)
                    ready = last_ready(walk, w, own, ready)
                    before += walk.work[own]
                    piped += add_due(walk, own)
                    stall += walk.stall[own]
                    commit(walk, w, own, np.int64(1))
    elif says:
        latest = latest_needed(walk, w, site, latest)
        arrival = last_arrival(walk, w, site, arrival)
        ready = last_ready(walk, w, site, ready)
        before = walk.work[site]
        piped = add_due(walk, site)
        stall = walk.stall[site]
        if kind != _WORK:
            commit(walk, w, site, np.int64(1))
    place = place_at(walk, site)
    if latest > walk.warp[w].waited:
        put(walk, w, output, JOIN, walk.warp[w].asyncs - latest, place)
        walk.warp[w].waited = latest
        spend(walk, w, walk.rules.longest)  # long enough for whatever its own cycles count for
    has_pipe = walk.rules.pipe_lanes > 0
    if has_pipe and arrival > walk.warp[w].settled:
        unsettled = min(walk.warp[w].shared - arrival, np.int64(MOST_UNSETTLED))
        put(walk, w, output, SETTLE, unsettled, place)
        walk.warp[w].settled = walk.warp[w].shared - unsettled
    missing = (ready if has_pipe else max(ready, arrival)) - walk.warp[w].cycles
    if missing > 0:
        if not hold(walk, w, output, PAUSE, missing, place):
            return False
        spend(walk, w, missing)
    if kind != _WORK and not (
        hold(walk, w, output, COMPUTE, before, place)
        and hold_due(walk, w, output, place)
        and hold(walk, w, output, PAUSE, left_of_stall(walk, stall), place)
    ):
        return False
    if kind != _WORK:
        spend(walk, w, before + piped)
        spend(walk, w, stall)
    if kind == _BARRIER:
        for g in range(walk.warp[w].groups):
            own = walk.group[w, g].what & SITE_MASK
            if walk.group[w, g].site == AT_BARRIER and own < walk.work.shape[0]:
                give_results(walk, w, own)
    elif says and kind != _WORK:
        give_results(walk, w, site)
    if not act_on(walk, runs, values, w, at, leader, kind, site, says, before, piped, stall, output):
        return False
    g = walk.warp[w].groups - 1
    while g >= 0:  # from the last on: groups that are no more give their numbers to later ones, and new ones come last
        if takes_part(walk, w, g, at, kind):
            walk.group[w, g].step += 2 if walk.group[w, g].node == PLAIN_NODE else 1
            settle(walk, runs, values, w, g)
        g -= 1
    return True
