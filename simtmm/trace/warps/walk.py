"""A warp on its way along its block: one operation after another, up to where room ends."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.stalls import CLASSES
from simtmm.trace.runs.layout import SITE_MASK
from simtmm.trace.schema import GRID_WORKSPACE, GRID_WORKSPACE_BYTES, Kind
from simtmm.trace.warps.accesses import (
    REFUSED,
    add_lanes,
    any_refused,
    clear_sectors,
    count_words,
    is_any_outside,
    least_left_out,
    list_chunks,
    list_local_chunks,
    list_updates,
    list_updates_by_word,
    most_words,
    most_work,
)
from simtmm.trace.warps.arrivals import commit, give_results, last_arrival, last_ready, latest_needed, spend
from simtmm.trace.warps.groups import settle
from simtmm.trace.warps.half_warps import list_local_transactions, list_transactions
from simtmm.trace.warps.holding import add_due, begin_turns, hold, hold_due, left_of_stall, let_go, put, take_turn
from simtmm.trace.warps.lanes import (
    base_of,
    first_value,
    gather,
    is_alone,
    is_even,
    is_same,
    kind_of,
    leader_at,
    list_rows,
    next_site,
    plain_or_even_value,
    takes_part,
)
from simtmm.trace.warps.layout import (
    AT_BARRIER,
    END_CHUNKS,
    END_OPERATIONS,
    GROUP_LANES,
    GROUP_NODE,
    GROUP_SITE,
    GROUP_STEP,
    GROUP_WHAT,
    MADE_CHUNKS,
    MADE_OPERATIONS,
    NO_SITE,
    PLAIN_NODE,
    RULE_BY_WORD,
    RULE_GRID_BARRIERS,
    RULE_HALF_WARPS,
    RULE_LONGEST,
    RULE_PIPE_LANES,
    RULE_PLACES,
    RULE_REDUCES,
    THREADS_LANES,
    THREADS_TIMES,
    WARP_ASYNCS,
    WARP_BEHIND_BARRIER,
    WARP_CYCLES,
    WARP_GROUPS,
    WARP_LAST_COPY,
    WARP_SETTLED,
    WARP_SHARED,
    WARP_TURNS,
    WARP_TURNS_SITE,
    WARP_WAITED,
)
from simtmm.trace.warps.load_store_units import access, access_shared
from simtmm.trace.warps.mbarriers import multiply, use_mbarriers
from simtmm.trace.warps.passes import bank_passes, taken_by
from simtmm.trace.warps.places import note_done, note_lanes, note_threads, place_at, place_of
from simtmm.trace.warps.shared_memory import NOT_SO, degree_of, even_degree
from simtmm.workload import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    COPY,
    GRID_BARRIER,
    JOIN,
    LARGEST,
    LOAD,
    MOST_UNSETTLED,
    PAUSE,
    REDUCE,
    SETTLE,
    STORE,
    SYNC,
)

# Of a step: what was held, a join, a settle, a pause, a compute, one of each class, a pause, and what it is itself: at
# an mbarrier one for each lane
MOST_OPERATIONS = 6 + len(CLASSES) + 64

ENDED, IS_FULL, IS_REFUSED = range(3)  # what comes of a walk

_WORK, _LOAD, _ASYNC = int(Kind.WORK), int(Kind.LOAD), int(Kind.ASYNC)
_STORE, _ATOMIC, _JOIN, _BARRIER = int(Kind.STORE), int(Kind.ATOMIC), int(Kind.JOIN), int(Kind.BARRIER)
_SHARED_ATOMIC = int(Kind.SHARED_ATOMIC)
_LOCAL_LOAD, _LOCAL_STORE = int(Kind.LOCAL_LOAD), int(Kind.LOCAL_STORE)
_CONSTANT_LOAD, _COPY = int(Kind.CONSTANT_LOAD), int(Kind.COPY)
_MBARRIER, _PRODUCT = int(Kind.MBARRIER), int(Kind.PRODUCT)


def go_on(walk, runs, values, w, output, most_chunks):
    """Write operations of a warp: ENDED, IS_FULL where there may be no room for the next step, or IS_REFUSED.

    most_chunks: that an operation of this warp lists at most.
    """
    walk.warp[w, WARP_LAST_COPY] = -1
    while True:
        if (
            output.used[MADE_OPERATIONS] + MOST_OPERATIONS > output.used[END_OPERATIONS]
            or output.used[MADE_CHUNKS] + most_chunks > output.used[END_CHUNKS]
        ):
            return np.int64(IS_FULL)
        if walk.warp[w, WARP_TURNS] > 0:
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
def take_step(walk, runs, values, w, at, output):
    """The operations of the lanes at the lowest site; whether they can be determined."""
    leader = leader_at(walk, w, at)
    what = walk.group[w, leader, GROUP_WHAT]
    kind = kind_of(what)
    site = what & SITE_MASK
    before = np.int64(0)
    piped = np.int64(0)
    stall = np.int64(0)
    for index in range(walk.due.shape[0]):
        walk.due[index] = 0
    latest = walk.warp[w, WARP_WAITED]
    arrival = np.int64(0)  # of its own cycles, the one from which on it has what it needs of shared memory
    ready = np.int64(0)  # likewise, of instructions
    says = site < walk.work.shape[0]
    if kind == _BARRIER:
        for g in range(walk.warp[w, WARP_GROUPS]):
            if walk.group[w, g, GROUP_SITE] == AT_BARRIER and is_first_at(walk, w, g):
                own = walk.group[w, g, GROUP_WHAT] & SITE_MASK
                if walk.rules[RULE_PLACES] != 0:
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
    if latest > walk.warp[w, WARP_WAITED]:
        put(walk, w, output, JOIN, walk.warp[w, WARP_ASYNCS] - latest, place)
        walk.warp[w, WARP_WAITED] = latest
        spend(walk, w, walk.rules[RULE_LONGEST])  # long enough for whatever its own cycles count for
    has_pipe = walk.rules[RULE_PIPE_LANES] > 0
    if has_pipe and arrival > walk.warp[w, WARP_SETTLED]:
        unsettled = min(walk.warp[w, WARP_SHARED] - arrival, np.int64(MOST_UNSETTLED))
        put(walk, w, output, SETTLE, unsettled, place)
        walk.warp[w, WARP_SETTLED] = walk.warp[w, WARP_SHARED] - unsettled
    missing = (ready if has_pipe else max(ready, arrival)) - walk.warp[w, WARP_CYCLES]
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
        for g in range(walk.warp[w, WARP_GROUPS]):
            own = walk.group[w, g, GROUP_WHAT] & SITE_MASK
            if walk.group[w, g, GROUP_SITE] == AT_BARRIER and own < walk.work.shape[0]:
                give_results(walk, w, own)
    elif says and kind != _WORK:
        give_results(walk, w, site)
    if not act_on(walk, runs, values, w, at, leader, kind, site, says, before, piped, stall, output):
        return False
    g = walk.warp[w, WARP_GROUPS] - 1
    while g >= 0:  # from the last on: groups that are no more give their numbers to later ones, and new ones come last
        if takes_part(walk, w, g, at, kind):
            walk.group[w, g, GROUP_STEP] += 2 if walk.group[w, g, GROUP_NODE] == PLAIN_NODE else 1
            settle(walk, runs, values, w, g)
        g -= 1
    return True


@inlined
def act_on(walk, runs, values, w, at, leader, kind, site, says, before, piped, stall, output):
    """What the lanes of a step do in addition to what their site says, found without asking each where that can be."""
    lanes = np.int64(0)
    if walk.rules[RULE_GRID_BARRIERS] != 0 and kind in (_LOAD, _ASYNC, _ATOMIC) and is_alone(walk, w, at, kind):
        address = plain_or_even_value(walk, runs, values, w, leader)
        if GRID_WORKSPACE <= address < GRID_WORKSPACE + GRID_WORKSPACE_BYTES:
            place = place_at(walk, site)
            if walk.rules[RULE_PLACES] != 0:
                note_threads(walk, w, leader, place, np.int64(1))
            if kind == _ATOMIC:  # that it is counted; loads that look for the others find them there behind it
                put(walk, w, output, GRID_BARRIER, 0, place)
            return True
    if kind != _BARRIER:
        alone = is_alone(walk, w, at, kind)
        if alone and kind in (_WORK, _JOIN) and is_same(walk, runs, w, leader):
            walk.value[0] = base_of(walk, runs, values, w, leader)
            lanes = np.int64(1)
        elif (
            alone
            and kind in (_LOAD, _ASYNC, _STORE, _COPY)
            and walk.rules[RULE_HALF_WARPS] == 0
            and is_even(walk, runs, w, leader)
        ):
            listed = output.used[MADE_CHUNKS]
            count = list_rows(walk, runs, values, w, leader, output.chunks, output.sectors, listed)
            if count == REFUSED:
                return False
            passes = np.int64(1)
            if count >= 0 and walk.rules[RULE_PIPE_LANES] > 0:
                passes = even_degree(walk, runs, values, w, leader, kind)
            if count >= 0 and passes != NOT_SO:
                place = np.int64(0)
                if walk.rules[RULE_PLACES] != 0:
                    place = place_of(walk, site, first_value(walk, runs, values, w, leader))
                    note_threads(walk, w, leader, place, np.int64(1))
                passes = taken_by(kind, passes) if kind != _COPY else np.int64(1)
                access(walk, w, operation_of(kind), site, says, count, passes, output, place)
                return True
        elif alone and _ATOMIC < kind <= _SHARED_ATOMIC and is_even(walk, runs, w, leader):
            degree = even_degree(walk, runs, values, w, leader, kind)
            if degree != NOT_SO:
                if walk.rules[RULE_PLACES] != 0:
                    note_threads(walk, w, leader, place_at(walk, site), np.int64(1))
                access_shared(walk, w, kind, site, says, degree, output)
                return True
        if lanes == 0:
            lanes = gather(walk, runs, values, w, at, kind, leader, alone)
            if walk.rules[RULE_PLACES] != 0 and kind in (_WORK, _JOIN):
                note_lanes(walk, lanes, place_at(walk, site), kind == _WORK)
        elif walk.rules[RULE_PLACES] != 0:
            times = walk.value[0] if kind == _WORK else np.int64(1)
            note_threads(walk, w, leader, place_at(walk, site), times)
    return act(walk, w, kind, site, says, before, piped, stall, lanes, output)


@inlined
def operation_of(kind):
    """What an access to global memory is."""
    if kind == _ASYNC:
        return np.int64(ASYNC)
    if kind == _COPY:
        return np.int64(COPY)
    if kind == _STORE:
        return np.int64(STORE)
    return np.int64(ATOMIC) if kind == _ATOMIC else np.int64(LOAD)


@inlined
def act(walk, w, kind, site, says, before, piped, stall, lanes, output):
    """What the lanes of a step do in addition to what their site says; whether that can be determined."""
    count = output.used[MADE_CHUNKS]
    halves = walk.rules[RULE_HALF_WARPS] != 0
    place = place_at(walk, site)
    if kind != _BARRIER and kind <= _COPY and any_refused(walk, lanes):
        return False
    if walk.rules[RULE_PLACES] != 0 and kind not in (_BARRIER, _WORK, _JOIN):
        if _LOAD <= kind <= _ATOMIC or kind == _COPY:
            place = place_of(walk, site, walk.value[0])
        elif kind in (_LOCAL_LOAD, _LOCAL_STORE):
            place += walk.rules[RULE_PLACES] - 1
        note_lanes(walk, lanes, place, False)
    if kind == _WORK:
        amount = most_work(walk, lanes)
        # A site that says nothing of its work does the operations themselves.
        each = max(before + piped, np.int64(1))
        if amount > LARGEST // each or (stall > 0 and amount > LARGEST // stall):
            return False
        if says and amount > 1:  # each time waits for what the one before gives
            stall += walk.again[site]
            if amount > LARGEST // max(stall, np.int64(1)):
                return False
        spend(walk, w, amount * each)
        spend(walk, w, amount * stall)
        if amount > 0:
            if says:
                commit(walk, w, site, amount)
                if amount == 1 or walk.again[site] == 0:
                    give_results(walk, w, site)
            walk.warp[w, WARP_TURNS_SITE] = site if says else np.int64(-1)
            begin_turns(walk, w, amount, each - piped, piped + stall > 0, stall, place)
            return take_turn(walk, w, output)
        return True
    if kind == _MBARRIER:
        use_mbarriers(walk, w, lanes, output, place)
        return True
    if kind == _PRODUCT:
        multiply(walk, w, site, walk.value[0], output, place)
        return True
    if kind == _CONSTANT_LOAD:
        words = count_words(walk, lanes)
        spend(walk, w, words)
        return hold(walk, w, output, COMPUTE, words, place)
    if kind == _JOIN:
        left_out = least_left_out(walk, lanes)
        put(walk, w, output, JOIN, left_out, place)
        spend(walk, w, walk.rules[RULE_LONGEST])
        walk.warp[w, WARP_WAITED] = max(walk.warp[w, WARP_WAITED], walk.warp[w, WARP_ASYNCS] - left_out)
        return True
    if kind == _BARRIER:
        behind = walk.warp[w, WARP_BEHIND_BARRIER]
        spend(walk, w, behind)
        if leaves_loads_in_flight(walk, w):
            put(walk, w, output, SYNC, 0, place)
            return hold(walk, w, output, PAUSE, behind, place)
        put(walk, w, output, BARRIER, 0, place)
        walk.warp[w, WARP_WAITED] = walk.warp[w, WARP_ASYNCS]
        return hold(walk, w, output, PAUSE, behind, place)
    if _ATOMIC < kind <= _SHARED_ATOMIC:
        access_shared(walk, w, kind, site, says, degree_of(walk, w, lanes, kind), output)
        return True
    operation = operation_of(kind)
    if kind == _ATOMIC and walk.rules[RULE_REDUCES] != 0 and site < walk.unused.shape[0] and walk.unused[site] != 0:
        operation = np.int64(REDUCE)
    if kind <= _ATOMIC or kind == _COPY:
        if kind == _ATOMIC and walk.rules[RULE_BY_WORD] != 0:
            count = list_updates_by_word(walk, lanes, output.chunks, count)
        elif halves:
            count = list_transactions(walk, lanes, kind == _ATOMIC, output.chunks, count)
        elif kind == _ATOMIC:
            count = list_updates(walk, lanes, output.chunks, count)
        else:
            count = list_chunks(walk, lanes, output.chunks, count)
        add_lanes(walk, lanes, output.chunks, output.sectors, output.used[MADE_CHUNKS], count)
    else:  # local memory; a load whose value nobody could wait for is waited for at once
        if is_any_outside(walk, w, lanes):
            return False
        if kind == _LOCAL_STORE:
            operation = np.int64(STORE)
        elif says and walk.gives_end[site] < walk.gives_end[site + 1]:
            operation = np.int64(ASYNC)
        if halves:
            count = list_local_transactions(walk, w, lanes, output.chunks, count)
        else:
            count = list_local_chunks(walk, w, lanes, output.chunks, count)
        clear_sectors(walk, output.sectors, output.used[MADE_CHUNKS], count)
    passes = np.int64(1)
    if walk.rules[RULE_PIPE_LANES] > 0 and kind not in (_ATOMIC, _COPY):
        passes = taken_by(kind, bank_passes(walk, lanes, kind)) if kind < _ATOMIC else most_words(walk, lanes)
    access(walk, w, operation, site, says, count, passes, output, place)
    return True


@inlined
def note_barrier(walk, w, site):
    """All lanes that wait at a barrier's site passed it."""
    lanes = np.int64(0)
    for g in range(walk.warp[w, WARP_GROUPS]):
        if walk.group[w, g, GROUP_SITE] == AT_BARRIER and walk.group[w, g, GROUP_WHAT] & SITE_MASK == site:
            lanes += walk.group[w, g, GROUP_LANES]
    place = place_at(walk, site)
    walk.threads[place, THREADS_TIMES] += 1
    walk.threads[place, THREADS_LANES] += lanes
    note_done(walk, place, lanes)


@inlined
def leaves_loads_in_flight(walk, w):
    """Whether all sites that its lanes wait at say that their barrier is a sync."""
    for g in range(walk.warp[w, WARP_GROUPS]):
        site = walk.group[w, g, GROUP_WHAT] & SITE_MASK
        if walk.group[w, g, GROUP_SITE] == AT_BARRIER and (site >= walk.sync.shape[0] or walk.sync[site] == 0):
            return False
    return True


@inlined
def is_first_at(walk, w, g):
    """Whether a group is the first one that waits at its barrier's site."""
    site = walk.group[w, g, GROUP_WHAT] & SITE_MASK
    for other in range(g):
        if walk.group[w, other, GROUP_SITE] == AT_BARRIER and walk.group[w, other, GROUP_WHAT] & SITE_MASK == site:
            return False
    return True
